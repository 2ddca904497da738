#include "controller/config/scalars.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

absl::Status Wrong(const YamlNode& node, const std::string& expected) {
  return absl::InvalidArgumentError(absl::StrCat("must be ", expected, ", not ", Describe(node)));
}

std::size_t DigitsAt(const std::string& text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
  return end - from;
}

// Length of the decimal number `text` begins with: digits without leading zeros, then perhaps a
// fraction. 0 if there is none.
std::size_t NumberPrefix(const std::string& text) {
  const std::size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = DigitsAt(text, sign);
  if (whole == 0 || (whole > 1 && text[sign] == '0')) return 0;
  const std::size_t end = sign + whole;
  if (end >= text.size() || text[end] != '.') return end;
  const std::size_t fraction = DigitsAt(text, end + 1);
  return fraction == 0 ? end : end + 1 + fraction;
}

bool IsNumber(const std::string& text) {
  std::size_t end = NumberPrefix(text);
  if (end == 0) return false;
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    ++end;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    const std::size_t exponent = DigitsAt(text, end);
    if (exponent == 0) return false;
    end += exponent;
  }
  return end == text.size();
}

// What somebody may have meant by a plain scalar that is no number; empty if nothing comes to mind.
std::string NumberHint(const YamlNode& node) {
  const std::string& text = node.text;
  if (node.quoted && IsNumber(text)) return absl::StrCat("; without the quotes: ", text);
  const std::size_t digits = DigitsAt(text, 0);
  if (digits == text.size() && digits > 1) {
    const std::size_t zeros = std::min(text.find_first_not_of('0'), digits - 1);
    return absl::StrCat("; without leading zeros: ", text.substr(zeros));
  }
  if (absl::StrContains(text, '_')) return "; without underscores";
  if (text.size() > 1 && text[0] == '0' &&
      absl::ascii_isalpha(static_cast<unsigned char>(text[1]))) {
    return "; in decimal digits";
  }
  return "";
}

absl::Status WrongNumber(const YamlNode& node, const std::string& expected) {
  const std::string hint = node.kind == YamlNode::Kind::kScalar ? NumberHint(node) : "";
  return Wrong(node, expected + hint);
}

bool IsPlainScalar(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && !node.quoted;
}

struct NumberAndUnit {
  double number = 0;
  std::string unit;
};

// Splits "1.5s"; an empty unit if there is none, nothing if it does not begin with a number.
std::optional<NumberAndUnit> SplitUnit(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return std::nullopt;
  const std::size_t end = NumberPrefix(node.text);
  NumberAndUnit parts;
  if (end == 0 || !absl::SimpleAtod(node.text.substr(0, end), &parts.number)) return std::nullopt;
  if (parts.number < 0) return std::nullopt;
  parts.unit = node.text.substr(end);
  return parts;
}

template <typename Value>
using Units = std::vector<std::pair<std::string, Value>>;

const Units<absl::Duration>& DurationUnits() {
  static const auto& units = *new Units<absl::Duration>{{"us", absl::Microseconds(1)},
                                                        {"ms", absl::Milliseconds(1)},
                                                        {"s", absl::Seconds(1)},
                                                        {"m", absl::Minutes(1)},
                                                        {"h", absl::Hours(1)}};
  return units;
}

const Units<double>& SizeUnits() {
  static const auto& units =
      *new Units<double>{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  return units;
}

template <typename Value>
const Value* FindUnit(const Units<Value>& units, const std::string& unit) {
  for (const auto& [name, value] : units) {
    if (name == unit) return &value;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::int32_t> ParseWhole(const YamlNode& node) {
  const char* const expected = "a whole number such as 20";
  if (!IsPlainScalar(node) || NumberPrefix(node.text) != node.text.size()) {
    return WrongNumber(node, expected);
  }
  std::int32_t value = 0;
  if (absl::SimpleAtoi(node.text, &value)) return value;
  return Wrong(node, absl::StrContains(node.text, '.') ? expected : "at most 2147483647");
}

absl::StatusOr<double> ParseNumber(const YamlNode& node) {
  const char* const expected = "a number such as 0.5";
  if (!IsPlainScalar(node) || !IsNumber(node.text)) return WrongNumber(node, expected);
  double value = 0;
  if (absl::SimpleAtod(node.text, &value) && std::isfinite(value)) return value;
  return Wrong(node, expected);
}

absl::StatusOr<bool> ParseFlag(const YamlNode& node) {
  if (IsPlainScalar(node) && (node.text == "true" || node.text == "false")) {
    return node.text == "true";
  }
  return Wrong(node, "true or false");
}

absl::StatusOr<absl::Duration> ParseDuration(const YamlNode& node) {
  const char* const expected = "a duration such as 250ms, 1.5s, 2m or 4h";
  const std::optional<NumberAndUnit> parts = SplitUnit(node);
  if (!parts.has_value()) return Wrong(node, expected);
  if (parts->unit.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a duration needs a unit: ", node.text, "s or ",
                                                   node.text, "ms, not ", Describe(node)));
  }
  const absl::Duration* const unit = FindUnit(DurationUnits(), parts->unit);
  if (unit == nullptr) return Wrong(node, expected);
  return *unit * parts->number;
}

absl::StatusOr<std::uint64_t> ParseSize(const YamlNode& node) {
  const char* const expected = "a size such as 512B, 64KiB or 1MiB, at most 1GiB";
  const std::optional<NumberAndUnit> parts = SplitUnit(node);
  if (!parts.has_value()) return Wrong(node, expected);
  if (parts->unit.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("a size needs a unit: ", node.text, "B or ",
                                                   node.text, "KiB, not ", Describe(node)));
  }
  const double* const unit = FindUnit(SizeUnits(), parts->unit);
  if (unit == nullptr) return Wrong(node, expected);
  const double bytes = parts->number * *unit;
  if (bytes < 1 || bytes > 1 << 30) return Wrong(node, expected);
  return static_cast<std::uint64_t>(bytes);
}

absl::StatusOr<std::string> ParseText(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return Wrong(node, "a string");
  const std::string& text = node.text;
  if (!node.quoted && (IsNumber(text) || text == "true" || text == "false")) {
    return absl::InvalidArgumentError(absl::StrCat("must be a string; in quotes: \"", text, "\""));
  }
  return text;
}

}  // namespace plimsoll
