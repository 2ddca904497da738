#include "controller/main/log.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace plimsoll {
namespace {

void AppendEscaped(unsigned char c, std::string& out) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      // 0x7f is legal in JSON, but not harmless on a terminal.
      if (c < 0x20 || c == 0x7f) {
        absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
      } else {
        out.push_back(static_cast<char>(c));
      }
  }
}

// A JSON string, which serves the text format as well.
std::string InQuotes(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) AppendEscaped(static_cast<unsigned char>(c), out);
  return out + "\"";
}

std::string InQuotesIfNeeded(const std::string& text) {
  bool plain = !text.empty();
  for (const char c : text)
    plain = plain && absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '=' &&
            c != '\\';
  return plain ? text : InQuotes(text);
}

// A message is for people: only what would break the line is escaped.
std::string OnOneLine(const std::string& text) {
  const std::string quoted = InQuotes(text);
  return quoted.find('\\') == std::string::npos ? text : quoted;
}

std::string TextLine(const std::string& time, LogLevel level, const std::string& message,
                     const LogFields& fields) {
  std::string line = absl::StrFormat("%s %-7s %s", time, ToString(level), OnOneLine(message));
  for (const auto& [name, value] : fields) {
    absl::StrAppend(&line, " ", name, "=", InQuotesIfNeeded(value));
  }
  return line + "\n";
}

std::string JsonLine(const std::string& time, LogLevel level, const std::string& message,
                     const LogFields& fields) {
  std::string line = absl::StrFormat(R"({"time":"%s","level":"%s","message":%s)", time,
                                     ToString(level), InQuotes(message));
  for (const auto& [name, value] : fields) {
    absl::StrAppend(&line, ",", InQuotes(name), ":", InQuotes(value));
  }
  return line + "}\n";
}

}  // namespace

std::string_view ToString(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

std::string FormatLogLine(LogFormat format, absl::Time time, LogLevel level,
                          const std::string& message, const LogFields& fields) {
  const std::string text = absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
  return format == LogFormat::kJson ? JsonLine(text, level, message, fields)
                                    : TextLine(text, level, message, fields);
}

void Logger::Log(LogLevel level, const std::string& message, const LogFields& fields) const {
  if (level < level_) return;
  const std::string line = FormatLogLine(format_, clock_.WallTime(), level, message, fields);
  std::fwrite(line.data(), 1, line.size(), file_);
  std::fflush(file_);
}

}  // namespace plimsoll
