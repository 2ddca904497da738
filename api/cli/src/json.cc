#include "api/cli/src/json.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "api/cli/src/yaml_writer.h"

namespace plimsoll::cli {
namespace {

constexpr auto kReplace = Json::error_handler_t::replace;

// A key or text that YAML 1.1 and 1.2 read as just that, without quotes.
bool IsPlain(const std::string& text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  for (const char c : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                      c == '.' || c == '/';
    if (!fits) return false;
  }
  for (const char* const word : {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}) {
    if (text.size() == std::string(word).size() &&
        std::equal(text.begin(), text.end(), word,
                   [](char a, char b) { return std::tolower(a) == b; })) {
      return false;
    }
  }
  return true;
}

std::string Scalar(const Json& value) {
  if (!value.is_string()) return value.dump(-1, ' ', false, kReplace);
  const auto& text = value.get_ref<const std::string&>();
  return IsPlain(text) ? text : value.dump(-1, ' ', false, kReplace);
}

bool IsBlock(const Json& value) { return value.is_structured() && !value.empty(); }

void WriteYaml(const Json& value, std::size_t indent, std::string& text) {
  const std::string margin(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      absl::StrAppend(&text, margin, IsPlain(key) ? key : QuotedText(key), ":");
      if (!IsBlock(member)) {
        absl::StrAppend(&text, " ", Scalar(member), "\n");
        continue;
      }
      text += "\n";
      WriteYaml(member, indent + 2, text);
    }
    return;
  }
  for (const Json& item : value) {
    if (!IsBlock(item)) {
      absl::StrAppend(&text, margin, "- ", Scalar(item), "\n");
      continue;
    }
    const std::size_t at = text.size();
    WriteYaml(item, indent + 2, text);
    text[at + indent] = '-';
  }
}

}  // namespace

const Json& At(const Json& value, const std::string& pointer) {
  static const Json& none = *new Json(nullptr);
  const Json::json_pointer place(pointer);
  return value.contains(place) ? value.at(place) : none;
}

std::string TextAt(const Json& value, const std::string& pointer) {
  const Json& found = At(value, pointer);
  return found.is_string() ? found.get<std::string>() : std::string();
}

double NumberAt(const Json& value, const std::string& pointer, double usual) {
  const Json& found = At(value, pointer);
  return found.is_number() ? found.get<double>() : usual;
}

std::string ToLine(const Json& value) { return value.dump(-1, ' ', false, kReplace); }

std::string ToPretty(const Json& value) {
  return absl::StrCat(value.dump(2, ' ', false, kReplace), "\n");
}

std::string ToYaml(const Json& value) {
  if (!IsBlock(value)) return absl::StrCat(Scalar(value), "\n");
  std::string text;
  WriteYaml(value, 0, text);
  return text;
}

}  // namespace plimsoll::cli
