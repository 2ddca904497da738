#include "api/cli/src/humane.h"

#include <cctype>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::cli {
namespace {

std::string TwoParts(double seconds, double unit, const char* name, double smaller,
                     const char* smaller_name) {
  const auto whole = static_cast<long long>(seconds / unit);
  const auto rest = static_cast<long long>((seconds - static_cast<double>(whole) * unit) / smaller);
  if (rest == 0) return absl::StrCat(whole, " ", name);
  return absl::StrCat(whole, " ", name, " ", rest, " ", smaller_name);
}

}  // namespace

std::string HumaneSeconds(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  if (seconds < 0) return absl::StrCat("-", HumaneSeconds(-seconds));
  if (seconds < 0.0009995) return absl::StrFormat("%.3g us", seconds * 1e6);
  if (seconds < 0.9995) return absl::StrFormat("%.3g ms", seconds * 1e3);
  if (seconds < 60) return absl::StrFormat("%.3g s", seconds);
  if (seconds < 3600) return TwoParts(seconds, 60, "min", 1, "s");
  if (seconds < 86400) return TwoParts(seconds, 3600, "h", 60, "min");
  return TwoParts(seconds, 86400, "d", 3600, "h");
}

std::string HumaneNumber(double number) {
  if (!std::isfinite(number)) return "-";
  if (number == std::round(number) || std::abs(number) >= 100) {
    return absl::StrFormat("%.0f", number);
  }
  return absl::StrFormat("%.3g", number);
}

std::optional<absl::Time> ParseTime(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return std::nullopt;
  return time;
}

std::string HumaneTime(const std::string& text, absl::Time now) {
  const std::optional<absl::Time> time = ParseTime(text);
  if (!time.has_value()) return text;
  const double seconds = absl::ToDoubleSeconds(now - *time);
  if (std::abs(seconds) < 1) return "now";
  const std::string span = HumaneSeconds(std::floor(std::abs(seconds)));
  return seconds > 0 ? absl::StrCat(span, " ago") : absl::StrCat("in ", span);
}

std::string Tame(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return text;
}

std::string Coloured(const std::string& text, Colour colour) {
  static constexpr const char* kCodes[] = {"", "32", "33", "31", "1"};
  if (colour == Colour::kNone) return text;
  return absl::StrCat("\x1b[", kCodes[static_cast<std::size_t>(colour)], "m", text, "\x1b[0m");
}

Colour ColourOf(const std::string& word) {
  static const auto& colours = *new std::map<std::string, Colour>{
      {"OK", Colour::kGood},      {"CONNECTED", Colour::kGood}, {"LIMITED", Colour::kCare},
      {"QUOTA", Colour::kCare},   {"OVERRIDE", Colour::kCare},  {"CEILING", Colour::kCare},
      {"SILENT", Colour::kBad},   {"FENCED", Colour::kBad},     {"STARVED", Colour::kBad},
      {"AT_FLOOR", Colour::kBad}, {"FLOOR", Colour::kBad},      {"FALLBACK", Colour::kBad},
      {"LEAVING", Colour::kCare}, {"OBSERVE", Colour::kCare},   {"BASE", Colour::kBad},
      {"RESERVE", Colour::kBad},  {"HALF_OPEN", Colour::kCare}, {"OPEN", Colour::kBad},
  };
  const auto found = colours.find(word);
  return found == colours.end() ? Colour::kNone : found->second;
}

}  // namespace plimsoll::cli
