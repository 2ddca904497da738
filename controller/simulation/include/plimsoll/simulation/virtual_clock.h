#pragma once

#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/time.h"

namespace plimsoll {

// The time that passes in a simulated world. No simulated process can read it: each has a
// VirtualClock. Thread-compatible.
class TrueTime {
 public:
  Instant now() const { return now_; }
  // Does nothing if `at` has passed.
  void AdvanceTo(Instant at) {
    if (at > now_) now_ = at;
  }

 private:
  Instant now_;
};

// The clock of one simulated process: it runs at a constant wrong rate and says something
// arbitrary, Now() = start + true time * rate. It moves only when the true time is moved.
// Thread-compatible.
class VirtualClock final : public Clock {
 public:
  // `time` must outlive the clock. Requires rate > 0.
  VirtualClock(const TrueTime& time, double rate, Instant start);

  Instant Now() const override;
  absl::Time WallTime() const override;

  // The true time at which this clock will say `at`, or have just passed it.
  Instant TrueTimeOf(Instant at) const;

 private:
  const TrueTime& time_;
  const double rate_;
  const Instant start_;
};

}  // namespace plimsoll
