#include "controller/src/explain_breaker.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

std::string Round(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1)));
}

std::string WhatWasSeen(const BreakerSettings& settings, const BreakerDecision& decision) {
  const BreakerEvidence& seen = decision.evidence;
  const std::string instances =
      absl::StrCat(decision.instances, decision.instances == 1 ? " instance" : " instances");
  switch (decision.rule.value_or(BreakerRule::kFailureRate)) {
    case BreakerRule::kFailuresInARow:
      return absl::StrFormat("%d calls of %s failed or hung with no success between",
                             seen.failures_in_a_row + seen.hanging, instances);
    case BreakerRule::kFailureRate:
      return absl::StrFormat("%d of %d calls of %s within %s failed or hung, where %g is too many",
                             seen.failed + seen.hanging, seen.total(), instances,
                             Round(settings.window), settings.rules.failure_rate);
    case BreakerRule::kSlowRate:
      return absl::StrFormat(
          "%d of %d calls of %s within %s took longer than %s, where %g is too many",
          seen.slow + seen.hanging, seen.total(), instances, Round(settings.window),
          Round(settings.slow_after), settings.rules.slow_rate);
  }
  return "";
}

// Of a probe that decided.
std::string AfterHowMuch(const BreakerDecision& decision) {
  const int failed = decision.probes_failed;
  return absl::StrCat(Round(decision.open_for),
                      failed == 0 ? " without a probe that failed" : absl::StrCat(" and ", failed),
                      failed == 0   ? ""
                      : failed == 1 ? " failed probe"
                                    : " failed probes");
}

}  // namespace

std::string ExplainBreaker(const DependencyId& dependency, const BreakerSettings& settings,
                           const BreakerDecision& decision, const InstanceId& instance) {
  const std::string prober = instance.empty() ? "an instance" : instance.value;
  switch (decision.kind) {
    case BreakerDecision::Kind::kOpened:
      return absl::StrCat(WhatWasSeen(settings, decision), ": the breaker of ", dependency.value,
                          " is open everywhere for ", Round(decision.cool_off), ".");
    case BreakerDecision::Kind::kReopened:
      return absl::StrCat("The probe of ", prober, " failed: the breaker of ", dependency.value,
                          " stays open for ", Round(decision.cool_off), ", after ",
                          AfterHowMuch(decision), ".");
    case BreakerDecision::Kind::kClosed:
      return absl::StrCat("The probe of ", prober, " succeeded: the breaker of ", dependency.value,
                          " is closed everywhere, after ", AfterHowMuch(decision), ".");
    case BreakerDecision::Kind::kInherited:
      return absl::StrCat("The breaker of ", dependency.value,
                          " was open in the reign before, and stays so for ",
                          Round(decision.cool_off), ".");
  }
  return "";
}

}  // namespace plimsoll::internal
