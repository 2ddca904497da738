#include "plimsoll/agent/breaker_options.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "agent/src/breaker_settings.h"

namespace plimsoll {
namespace internal {

BreakerSettings SettingsOf(const BreakerOptions& options) {
  BreakerSettings settings;
  settings.rules.consecutive_failures = options.consecutive_failures;
  settings.rules.failure_rate = options.failure_rate;
  settings.rules.slow_rate = options.slow_rate;
  settings.rules.calls_min = options.calls_min;
  settings.slow_after = absl::FromChrono(options.slow_after);
  settings.window = absl::FromChrono(options.window);
  settings.hang_after = absl::FromChrono(options.hang_after);
  settings.cool_off = absl::FromChrono(options.cool_off);
  settings.cool_off_max = absl::FromChrono(options.cool_off_max);
  settings.cool_off_growth = options.cool_off_growth;
  settings.cool_off_jitter = options.cool_off_jitter;
  settings.probe_deadline = absl::FromChrono(options.probe_deadline);
  settings.probes_to_close = options.probes_to_close;
  settings.probe_failures_to_open = options.probe_failures_to_open;
  return settings;
}

}  // namespace internal

absl::Status Validate(const BreakerOptions& options) {
  const std::vector<std::string> violations = ViolationsOf(internal::SettingsOf(options));
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("breaker options: ", absl::StrJoin(violations, "; ")));
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
