#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/types.h"

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

// What the policy of a dependency says of its breaker. The fields are those of BreakerOptions of
// the agent, where each is explained; the rules are asked of the evidence of the whole fleet, and
// of that of each process by itself.
struct BreakerSettings {
  BreakerRules rules = {.consecutive_failures = 5, .calls_min = 20};
  absl::Duration slow_after;
  absl::Duration window = absl::Seconds(10);
  absl::Duration hang_after = absl::Seconds(30);
  absl::Duration cool_off = absl::Seconds(1);
  absl::Duration cool_off_max = absl::Seconds(10);
  double cool_off_growth = 2;
  double cool_off_jitter = 0.2;
  absl::Duration probe_deadline = absl::Seconds(5);
  int probes_to_close = 1;
  int probe_failures_to_open = 1;

  friend bool operator==(const BreakerSettings&, const BreakerSettings&) = default;
};

// Every violation, as "name = value: rule". None: valid.
std::vector<std::string> ViolationsOf(const BreakerSettings& settings);

// How long a breaker stays open after probes have failed `attempts` times, before jitter.
absl::Duration CoolOff(const BreakerSettings& settings, int attempts);

// What one process says of its breaker.
enum class BreakerView {
  kClosed,
  kOpen,
  kHalfOpen,  // the next call will be a probe
  kProbing,   // a probe is in flight
};
inline constexpr int kBreakerViews = 4;

// What the controller says to one process.
enum class BreakerCommand {
  kClose,  // ends what an earlier order began; a breaker that opened by itself stays open
  kOpen,   // until the next order, but for `hold` at most
  kProbe,  // the next call is the fleet's probe
};
inline constexpr int kBreakerCommands = 3;

// Orders of breakers are ordered by (epoch, seq), as grants are: an older one is never obeyed.
// 0/0 is none.
struct BreakerOrderId {
  Epoch epoch;
  Seq seq;

  friend auto operator<=>(const BreakerOrderId&, const BreakerOrderId&) = default;
};

struct BreakerOrder {
  DependencyId dependency;
  BreakerOrderId id;
  BreakerCommand command = BreakerCommand::kClose;
  // kOpen: who has heard nothing more for so long goes on by itself, with probes of its own.
  absl::Duration hold;

  friend bool operator==(const BreakerOrder&, const BreakerOrder&) = default;
};

// In every sync, if the policy has a breaker and the process uses it.
struct BreakerReport {
  BreakerOrderId order;  // the newest that was obeyed
  BreakerCommand command = BreakerCommand::kClose;
  BreakerView view = BreakerView::kClosed;
  BreakerEvidence evidence;  // of its window as it slides, so a report that is lost takes nothing
  std::int64_t refused = 0;  // calls, since the last report

  friend bool operator==(const BreakerReport&, const BreakerReport&) = default;
};

}  // namespace plimsoll
