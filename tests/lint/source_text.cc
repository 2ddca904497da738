#include "tests/lint/source_text.h"

#include <algorithm>

namespace plimsoll::lint {
namespace {

// Blanks out what is not code, character by character, across lines.
class Stripper {
 public:
  std::string Strip(const std::string& line) {
    std::string out = line;
    for (std::size_t i = 0; i < line.size();) i = Step(line, i, out);
    if (state_ == State::kLineComment || state_ == State::kString) state_ = State::kCode;
    return out;
  }

 private:
  enum class State { kCode, kLineComment, kBlockComment, kString, kCharacter, kRawString };

  static void Blank(std::string& out, std::size_t from, std::size_t count) {
    std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(from), std::min(count, out.size() - from),
                ' ');
  }

  std::size_t Step(const std::string& line, std::size_t i, std::string& out) {
    if (state_ == State::kCode) return StepInCode(line, i, out);
    const std::size_t length = EndHere(line, i);
    if (length > 0) {
      state_ = State::kCode;
      return i + length;
    }
    const bool escape = line[i] == '\\' && state_ != State::kRawString;
    Blank(out, i, escape ? 2 : 1);
    return i + (escape ? 2 : 1);
  }

  // Length of what ends the present state at `i`; 0 if nothing does.
  std::size_t EndHere(const std::string& line, std::size_t i) const {
    switch (state_) {
      case State::kBlockComment:
        return line.compare(i, 2, "*/") == 0 ? 2 : 0;
      case State::kString:
        return line[i] == '"' ? 1 : 0;
      case State::kCharacter:
        return line[i] == '\'' ? 1 : 0;
      case State::kRawString:
        return line.compare(i, raw_end_.size(), raw_end_) == 0 ? raw_end_.size() : 0;
      default:
        return 0;
    }
  }

  std::size_t StepInCode(const std::string& line, std::size_t i, std::string& out) {
    if (line.compare(i, 2, "//") == 0) {
      Blank(out, i, line.size() - i);
      return line.size();
    }
    if (line.compare(i, 2, "/*") == 0) {
      state_ = State::kBlockComment;
      return i + 2;
    }
    if (line.compare(i, 2, "R\"") == 0) {
      const std::size_t open = line.find('(', i);
      if (open == std::string::npos) return i + 2;
      raw_end_ = ")" + line.substr(i + 2, open - i - 2) + "\"";
      state_ = State::kRawString;
      return open + 1;
    }
    const bool digit_separator =
        i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0;
    if (line[i] == '"') state_ = State::kString;
    if (line[i] == '\'' && !digit_separator) state_ = State::kCharacter;
    return i + 1;
  }

  State state_ = State::kCode;
  std::string raw_end_;
};

}  // namespace

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::vector<std::string> CodeOnly(const std::vector<std::string>& lines) {
  std::vector<std::string> code;
  Stripper stripper;
  for (const std::string& line : lines) code.push_back(stripper.Strip(line));
  return code;
}

std::string IncludedPath(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(' ');
  if (hash == std::string::npos || line.compare(hash, 8, "#include") != 0) return "";
  const std::size_t open = line.find_first_of("<\"", hash);
  if (open == std::string::npos) return "";
  const std::size_t close = line.find_first_of(">\"", open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

std::size_t Width(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

}  // namespace plimsoll::lint
