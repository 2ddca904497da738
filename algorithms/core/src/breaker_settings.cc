#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kShortest = absl::Milliseconds(10);
constexpr absl::Duration kLongest = absl::Hours(1);
constexpr absl::Duration kWindowMin = absl::Milliseconds(100);
constexpr absl::Duration kWindowMax = absl::Minutes(10);
constexpr int kHangWindowsMax = 16;
constexpr double kInARowMax = 1'000;
constexpr double kCallsMinMax = 1'000'000;
constexpr double kGrowthMax = 10;
constexpr double kJitterMax = 0.9;
constexpr int kProbesMax = 15;  // a word of the agent has four bits for them

// Collects what is wrong with one set of settings.
class Checker {
 public:
  void InRange(const char* name, double value, double low, double high) {
    found_.Require(value >= low && value <= high, name, value,
                   absl::StrCat("must be ", low, " to ", high));
  }
  void InRange(const char* name, absl::Duration value, absl::Duration low, absl::Duration high) {
    found_.Require(
        value >= low && value <= high, name, value,
        absl::StrCat("must be ", absl::FormatDuration(low), " to ", absl::FormatDuration(high)));
  }
  void Require(bool holds, const char* name, const Violations::Value& value, const char* rule) {
    found_.Require(holds, name, value, rule);
  }
  const std::vector<std::string>& lines() const { return found_.lines(); }

 private:
  Violations found_;
};

void CheckRules(const BreakerSettings& settings, Checker& checker) {
  const BreakerRules& rules = settings.rules;
  checker.InRange("consecutive_failures", static_cast<double>(rules.consecutive_failures), 0,
                  kInARowMax);
  checker.InRange("failure_rate", rules.failure_rate, 0, 1);
  checker.InRange("slow_rate", rules.slow_rate, 0, 1);
  checker.InRange("calls_min", static_cast<double>(rules.calls_min), 1, kCallsMinMax);
  const bool opens =
      rules.consecutive_failures != 0 || rules.failure_rate != 0 || rules.slow_rate != 0;
  checker.Require(opens, "consecutive_failures", 0,
                  "must be set, or failure_rate or slow_rate, or the breaker never opens");
  checker.Require(!(rules.slow_rate > 0) || settings.slow_after > absl::ZeroDuration(),
                  "slow_after", settings.slow_after, "must be above 0 if slow_rate is set");
}

void CheckWindow(const BreakerSettings& settings, Checker& checker) {
  checker.InRange("window", settings.window, kWindowMin, kWindowMax);
  if (settings.hang_after == absl::ZeroDuration()) return;
  if (settings.window < kWindowMin || settings.window > kWindowMax) return;  // said above
  checker.InRange("hang_after", settings.hang_after, settings.window / 8,
                  settings.window * kHangWindowsMax);
}

void CheckWayBack(const BreakerSettings& settings, Checker& checker) {
  checker.InRange("cool_off", settings.cool_off, kShortest, kLongest);
  checker.InRange("cool_off_max", settings.cool_off_max, settings.cool_off, kLongest);
  checker.InRange("cool_off_growth", settings.cool_off_growth, 1, kGrowthMax);
  checker.InRange("cool_off_jitter", settings.cool_off_jitter, 0, kJitterMax);
  checker.InRange("probe_deadline", settings.probe_deadline, kShortest, kLongest);
  checker.InRange("probes_to_close", settings.probes_to_close, 1, kProbesMax);
  checker.InRange("probe_failures_to_open", settings.probe_failures_to_open, 1, kProbesMax);
}

}  // namespace

std::vector<std::string> ViolationsOf(const BreakerSettings& settings) {
  Checker checker;
  CheckRules(settings, checker);
  CheckWindow(settings, checker);
  CheckWayBack(settings, checker);
  return checker.lines();
}

absl::Duration CoolOff(const BreakerSettings& settings, int attempts) {
  // Past all that matters, and far from infinite.
  const double factor = std::min(std::pow(settings.cool_off_growth, attempts), 1e9);
  return std::min(settings.cool_off * factor, settings.cool_off_max);
}

}  // namespace plimsoll
