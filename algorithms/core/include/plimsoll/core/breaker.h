#pragma once

#include <cstdint>
#include <optional>

namespace plimsoll {

// What speaks for and against a dependency: calls of a window, of one process or of a whole fleet.
struct BreakerEvidence {
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t slow = 0;               // among both
  std::int64_t hanging = 0;            // in flight for too long; in none of the above
  std::int64_t failures_in_a_row = 0;  // with no success in between

  std::int64_t total() const { return succeeded + failed + hanging; }

  friend bool operator==(const BreakerEvidence&, const BreakerEvidence&) = default;
};

// The rules by which evidence opens a breaker; what is zero is off.
struct BreakerRules {
  std::int64_t consecutive_failures = 0;
  double failure_rate = 0;
  double slow_rate = 0;
  std::int64_t calls_min = 1;  // fewer calls say nothing about rates

  friend bool operator==(const BreakerRules&, const BreakerRules&) = default;
};

enum class BreakerRule { kFailuresInARow, kFailureRate, kSlowRate };

// The first rule that says "open". Calls that hang are failures, and slow; in a row with those that
// ended only if no call of the window succeeded, or a few that never end would open a breaker of
// a dependency that works.
std::optional<BreakerRule> Judge(const BreakerRules& rules, const BreakerEvidence& evidence);

}  // namespace plimsoll
