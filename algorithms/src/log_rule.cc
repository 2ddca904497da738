#include <charconv>

#include "absl/strings/str_cat.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll {
namespace {

constexpr std::string_view kFixed = "fixed:";
constexpr std::string_view kLog10 = "log10";
constexpr std::string_view kTimesLog10 = "*log10";

std::optional<Calls> ParseFactor(std::string_view text) {
  Calls factor = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, factor);
  if (error != std::errc() || stop != end || factor < 0) return std::nullopt;
  return factor;
}

}  // namespace

std::string ToString(const LogRule& rule) {
  if (!rule.by_log10) return absl::StrCat(rule.factor);
  return rule.factor == 1 ? "log10" : absl::StrCat(rule.factor, "*log10");
}

std::string_view ToString(VegasStep step) {
  switch (step) {
    case VegasStep::kAddLog10:
      return "limit+log10";
    case VegasStep::kSubtractLog10:
      return "limit-log10";
    case VegasStep::kHalve:
      return "limit/2";
  }
  return "unknown";
}

std::optional<LogRule> ParseLogRule(std::string_view text) {
  if (text == kLog10) return LogRule{true, 1};
  bool by_log10 = false;
  if (text.ends_with(kTimesLog10)) {
    by_log10 = true;
    text.remove_suffix(kTimesLog10.size());
  } else if (text.starts_with(kFixed)) {
    text.remove_prefix(kFixed.size());
  }
  const std::optional<Calls> factor = ParseFactor(text);
  if (!factor) return std::nullopt;
  return LogRule{by_log10, *factor};
}

}  // namespace plimsoll
