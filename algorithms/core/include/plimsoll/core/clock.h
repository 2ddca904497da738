#pragma once

#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll {

// Where time comes from. Handed to whatever needs it, so that tests and the simulator can supply
// their own. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // The lease clock: never goes back, is not slewed towards a time server, counts the time that the
  // machine was suspended. For intervals, leases and deadlines.
  virtual Instant Now() const = 0;

  // Calendar time, which may jump either way. For logs, people, and the check for lost time.
  virtual absl::Time WallTime() const = 0;

  // Looks again at how long the machine was suspended. Now() counts suspends only up to the last
  // call: cheap reads are what the request path needs, so the background threads call this before
  // they act. Does nothing on clocks that need no such care.
  virtual void Refresh() const {}
};

// The clocks of the machine: Now() is CLOCK_MONOTONIC_RAW plus the time spent suspended, which is
// CLOCK_BOOTTIME - CLOCK_MONOTONIC. CLOCK_MONOTONIC alone would be slewed by up to 8 % and stand
// still in suspend. Lives until the process ends.
//
// Where the processor's counter is invariant and the kernel itself goes by it, so does Now() from
// the third Refresh() on, for less than half of the cost; each Refresh() compares the two, and goes
// back to the system's clock for good when they differ by more than 0.025 %. See clock_steering.h.
const Clock& RealClock();

}  // namespace plimsoll
