#include "plimsoll/agent/breaker_options.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "agent/src/breaker_word.h"

namespace plimsoll {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kShortest{10'000'000};
constexpr nanoseconds kLongest = std::chrono::hours(1);
constexpr nanoseconds kWindowMin{100'000'000};
constexpr nanoseconds kWindowMax = std::chrono::minutes(10);
constexpr int kHangWindowsMax = 16;
constexpr int kInARowMax = 1'000;
constexpr int kCallsMinMax = 1'000'000;
constexpr double kGrowthMax = 10;
constexpr double kJitterMax = 0.9;

std::string Show(nanoseconds value) { return absl::FormatDuration(absl::FromChrono(value)); }

// Collects what is wrong with one set of options.
class Checker {
 public:
  void InRange(const std::string& name, double value, double low, double high) {
    if (value >= low && value <= high) return;  // not a number is neither
    Add(absl::StrFormat("%s is %g: must be %g to %g", name, value, low, high));
  }
  void InRange(const std::string& name, nanoseconds value, nanoseconds low, nanoseconds high) {
    if (value >= low && value <= high) return;
    Add(absl::StrCat(name, " is ", Show(value), ": must be ", Show(low), " to ", Show(high)));
  }
  void Add(std::string violation) { violations_.push_back(std::move(violation)); }

  absl::Status Result() const {
    if (violations_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("breaker options: ", absl::StrJoin(violations_, "; ")));
  }

 private:
  std::vector<std::string> violations_;
};

void CheckRules(const BreakerOptions& options, Checker& checker) {
  checker.InRange("consecutive_failures", options.consecutive_failures, 0, kInARowMax);
  checker.InRange("failure_rate", options.failure_rate, 0, 1);
  checker.InRange("slow_rate", options.slow_rate, 0, 1);
  checker.InRange("calls_min", options.calls_min, 1, kCallsMinMax);
  if (options.consecutive_failures == 0 && options.failure_rate == 0 && options.slow_rate == 0) {
    checker.Add(
        "consecutive_failures, failure_rate and slow_rate are 0: set one, or it never opens");
  }
  if (options.slow_rate > 0 && options.slow_after <= nanoseconds(0)) {
    checker.Add(absl::StrCat("slow_after is ", Show(options.slow_after),
                             ": must be more than 0 if slow_rate is set"));
  }
}

void CheckWindow(const BreakerOptions& options, Checker& checker) {
  checker.InRange("window", options.window, kWindowMin, kWindowMax);
  if (options.hang_after == nanoseconds(0)) return;
  if (options.window < kWindowMin || options.window > kWindowMax) return;  // said above
  checker.InRange("hang_after", options.hang_after, options.window / 8,
                  options.window * kHangWindowsMax);
}

void CheckWayBack(const BreakerOptions& options, Checker& checker) {
  checker.InRange("cool_off", options.cool_off, kShortest, kLongest);
  checker.InRange("cool_off_max", options.cool_off_max, options.cool_off, kLongest);
  checker.InRange("cool_off_growth", options.cool_off_growth, 1, kGrowthMax);
  checker.InRange("cool_off_jitter", options.cool_off_jitter, 0, kJitterMax);
  checker.InRange("probe_deadline", options.probe_deadline, kShortest, kLongest);
  constexpr int kProbesMax = internal::BreakerWord::kProbesMax;
  checker.InRange("probes_to_close", options.probes_to_close, 1, kProbesMax);
  checker.InRange("probe_failures_to_open", options.probe_failures_to_open, 1, kProbesMax);
}

}  // namespace

absl::Status Validate(const BreakerOptions& options) {
  Checker checker;
  CheckRules(options, checker);
  CheckWindow(options, checker);
  CheckWayBack(options, checker);
  return checker.Result();
}

std::string_view ToString(BreakerState state) {
  switch (state) {
    case BreakerState::kClosed:
      return "closed";
    case BreakerState::kOpen:
      return "open";
    case BreakerState::kHalfOpen:
      return "half_open";
    case BreakerState::kForcedOpen:
      return "forced_open";
    case BreakerState::kDisabled:
      return "disabled";
  }
  return "";
}

std::string_view ToString(BreakerReason reason) {
  switch (reason) {
    case BreakerReason::kFailuresInARow:
      return "failures_in_a_row";
    case BreakerReason::kFailureRate:
      return "failure_rate";
    case BreakerReason::kSlowRate:
      return "slow_rate";
    case BreakerReason::kProbing:
      return "probing";
    case BreakerReason::kProbeFailed:
      return "probe_failed";
    case BreakerReason::kProbesPassed:
      return "probes_passed";
    case BreakerReason::kFleet:
      return "fleet";
    case BreakerReason::kOperator:
      return "operator";
  }
  return "";
}

}  // namespace plimsoll
