#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/timeline.h"

namespace plimsoll {

// Where time comes from. Handed to whatever needs it, so that tests and the simulator can supply
// their own. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // The lease clock: never goes back, is not slewed towards a time server, counts the time that the
  // machine was suspended. For intervals, leases and deadlines.
  virtual Instant Now() const = 0;

  // As Now(), but read up to a microsecond before what comes first in the program, since the
  // processor looks ahead: so from one thread to another, time may seem to go back by as much. For
  // the request path, where waiting for the rest of the program costs more than the reading.
  virtual Instant Glance() const { return Now(); }

  // Glance() in two halves, for a path that has something better to do in between: an atomic
  // operation whose operand need not wait for the arithmetic. The moment is that of Look().
  struct Reading {
    std::uint64_t value;
    bool ticks;  // of the processor's counter; else nanoseconds of the lease clock
  };
  Reading Look() const {
#if defined(__x86_64__)
    if (counter_ != nullptr && counter_->by_counter()) [[likely]]
      return {__builtin_ia32_rdtsc(), true};
#endif
    return {static_cast<std::uint64_t>(Glance().ns), false};
  }
  // That moment; now, if the counter has been given up since.
  Instant At(const Reading& reading) const {
    if (!reading.ticks) return {static_cast<std::int64_t>(reading.value)};
    bool valid = false;
    const std::int64_t ns = counter_->Now([&](const internal::Timeline& timeline) {
      valid = timeline.by_counter();
      return timeline.AtTicks(reading.value);
    });
    return valid ? Instant{ns} : Glance();
  }

  // Calendar time, which may jump either way. For logs, people, and the check for lost time.
  virtual absl::Time WallTime() const = 0;

  // Looks again at how long the machine was suspended. Now() counts suspends only up to the last
  // call: cheap reads are what the request path needs, so the background threads call this before
  // they act. Does nothing on clocks that need no such care.
  virtual void Refresh() const {}

 protected:
  Clock() = default;
  // Where a clock that may go by the processor's counter publishes how. Must live as long.
  explicit Clock(const internal::PublishedTimeline* counter) : counter_(counter) {}

 private:
  const internal::PublishedTimeline* counter_ = nullptr;
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
