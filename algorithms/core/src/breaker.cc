#include "plimsoll/core/breaker.h"

namespace plimsoll {
namespace {

bool Reaches(std::int64_t part, std::int64_t total, double rate) {
  return rate > 0 && static_cast<double>(part) >= rate * static_cast<double>(total);
}

}  // namespace

std::optional<BreakerRule> Judge(const BreakerRules& rules, const BreakerEvidence& evidence) {
  const std::int64_t in_a_row =
      evidence.failures_in_a_row + (evidence.succeeded == 0 ? evidence.hanging : 0);
  if (rules.consecutive_failures > 0 && in_a_row >= rules.consecutive_failures) {
    return BreakerRule::kFailuresInARow;
  }
  const std::int64_t total = evidence.total();
  if (total == 0 || total < rules.calls_min) return std::nullopt;
  if (Reaches(evidence.failed + evidence.hanging, total, rules.failure_rate)) {
    return BreakerRule::kFailureRate;
  }
  if (Reaches(evidence.slow + evidence.hanging, total, rules.slow_rate)) {
    return BreakerRule::kSlowRate;
  }
  return std::nullopt;
}

}  // namespace plimsoll
