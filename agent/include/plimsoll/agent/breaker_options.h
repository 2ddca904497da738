#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"

namespace plimsoll {

enum class BreakerState {
  kClosed,      // calls pass, and are counted
  kOpen,        // calls are refused until the cool-off has passed
  kHalfOpen,    // one call at a time is let through, to see
  kForcedOpen,  // an operator's word: refused until another word
  kDisabled,    // an operator's word: everything passes, nothing is counted
};
// "closed", "open", "half_open", "forced_open", "disabled"; of static storage.
std::string_view ToString(BreakerState state);

// Why a breaker went from one state to another.
enum class BreakerReason {
  kFailuresInARow,  // consecutive_failures
  kFailureRate,     // failure_rate
  kSlowRate,        // slow_rate
  kProbing,         // the cool-off has passed, and a call came
  kProbeFailed,     // as many probes as probe_failures_to_open
  kProbesPassed,    // as many probes as probes_to_close
  kFleet,           // the controller said so
  kOperator,        // Force() said so
};
// "failures_in_a_row", "failure_rate", …; of static storage.
std::string_view ToString(BreakerReason reason);

struct BreakerChange {
  BreakerState from = BreakerState::kClosed;
  BreakerState to = BreakerState::kClosed;
  BreakerReason reason = BreakerReason::kOperator;
};

// When a breaker opens, and how it finds its way back. Three rules open it; each that is set does
// so alone. What counts is told by Outcome: kError and kTimeout are failures, kSuccess is a
// success, all others are nothing. Refusals of the process's own are never counted.
struct BreakerOptions {
  // Failures without a success in between; 0 to 1,000; 0: off. Right for dependencies that are up
  // or down. The more calls are in flight at once, the larger it should be.
  int consecutive_failures = 5;

  // Share of failures in the calls of the window; 0 to 1; 0: off. Needs calls_min. Right for
  // dependencies with some errors at all times: set it well above what is usual, 0.5 if in doubt.
  double failure_rate = 0;

  // Share of calls in the window that took longer than slow_after, however they ended; 0 to 1; 0:
  // off. Needs calls_min and slow_after. A limit handles slowness better than a breaker, which can
  // only stop everything: set this if slow answers are worse than none.
  double slow_rate = 0;
  std::chrono::nanoseconds slow_after{0};  // more than 0 if slow_rate is set

  // The rates say nothing before so many calls have been counted in the window; 1 to 1,000,000.
  // Not asked of probes.
  int calls_min = 20;

  // How far back the rates look; 100 ms to 10 min. Counted in 8 to 16 slices, so up to an eighth
  // more is looked at.
  std::chrono::nanoseconds window{10'000'000'000};

  // A call that has been in flight for longer counts as a failure, and as slow, until it ends or a
  // window later; 0: off, else an eighth of the window to 16 windows. So calls that hang are seen
  // before they time out, and those that never end are seen at all. Set it to the longest time that
  // a call may take.
  std::chrono::nanoseconds hang_after{30'000'000'000};

  // How long calls are refused after it opened; 10 ms to 1 h. With each time that probes fail it is
  // multiplied by cool_off_growth, 1 to 10, up to cool_off_max, cool_off to 1 h. Of each, a random
  // part of up to cool_off_jitter, 0 to 0.9, is cut off, so that a fleet does not probe in step.
  // The dependency's return is noticed at most cool_off_max and one probe later, if there are
  // calls.
  std::chrono::nanoseconds cool_off{1'000'000'000};
  std::chrono::nanoseconds cool_off_max{10'000'000'000};
  double cool_off_growth = 2;
  double cool_off_jitter = 0.2;

  // Half-open, exactly one call is in flight as a probe. If it has not ended after so long, its
  // place is free for another; 10 ms to 1 h. A little more than a call usually takes.
  std::chrono::nanoseconds probe_deadline{5'000'000'000};

  // How many probes must succeed, one after the other, to close; and how many failures among them
  // open it again; 1 to 15 each. More than 1 failure forgives a flaky probe. Neither says how many
  // probes run at once: that is always one. If slow_rate is set, a slow probe has failed.
  int probes_to_close = 1;
  int probe_failures_to_open = 1;

  // Called at each change of state, by the thread that caused it, at once and outside of any lock:
  // must neither block nor throw, and may be called by several threads at once. May be empty.
  std::function<void(const BreakerChange& change)> on_change;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const BreakerOptions& options);

}  // namespace plimsoll
