#pragma once

#include <cstdint>

#include "plimsoll/core/timeline.h"

namespace plimsoll::internal {

// What the clocks of the machine said at one moment.
struct ClockReading {
  std::uint64_t ticks = 0;        // the processor's counter, read before raw_ns
  std::uint64_t width = 0;        // ticks until everything had been read
  std::int64_t raw_ns = 0;        // CLOCK_MONOTONIC_RAW
  std::int64_t suspended_ns = 0;  // CLOCK_BOOTTIME - CLOCK_MONOTONIC
  // The counter is invariant, and the kernel itself tells the time by it at this moment.
  bool counter_usable = false;

  std::int64_t lease_ns() const { return raw_ns + suspended_ns; }
};

// Decides by which timeline the lease clock goes. Begins with the system's clock. Two stretches of
// time that give the same rate of the counter, kStretchNs or longer each, make it go by the
// counter. From then on each reading is compared with the system's clock:
//
// - Behind it: the clock steps forward to it. After a suspend that may be far.
// - Ahead of it, or behind it, by more than kRateError of the time since the last reading and
//   kJitterNs, a suspend aside: the counter is not what it was - a virtual machine was moved, the
//   processors' counters differ - and the system's clock it is for good, as when the kernel stops
//   using the counter.
//
// So over any stretch of time between two readings the clock is right within kRateError and
// kJitterNs, unless the counter itself changes its pace: then until the next reading. While the
// kernel goes by the counter, CLOCK_MONOTONIC_RAW would be as wrong until then. What remains ahead
// stays ahead: the lease clock may begin anywhere, it is only time that passes which counts, and
// running ahead lets leases end early, never late.
//
// The clock does not go back at a change of timelines either: the new one is kSlackNs ahead of what
// was read for it, which makes up for the time until it is published.
//
// Pure: readings are handed in. Thread-compatible.
class ClockSteering {
 public:
  static constexpr std::int64_t kStretchNs = 50'000'000;
  static constexpr std::int64_t kJitterNs = 20'000;
  static constexpr double kRateError = 0.00025;
  // Two measured rates that differ by more are not of one counter.
  static constexpr double kRatesDiffer = 0.0001;
  static constexpr std::int64_t kSlackNs = 1'000;
  static constexpr double kPublishedWithinNs = 1'000'000;
  // A reading that took longer says too little.
  static constexpr double kWidthNsMax = 2'000;
  static constexpr int kTrialsMax = 8;

  explicit ClockSteering(const ClockReading& first);

  // Requires readings in the order of time. Returns whether the timeline changed.
  bool Look(const ClockReading& reading);

  const Timeline& timeline() const { return timeline_; }
  // The counter will not be used any more.
  bool given_up() const { return given_up_; }

 private:
  bool TooWide(const ClockReading& reading) const;
  bool Measure(const ClockReading& reading);
  bool Restart(const ClockReading& reading);
  bool FollowSystem(const ClockReading& reading);
  bool Compare(const ClockReading& reading);
  bool UseCounter(const ClockReading& reading, double ns_per_tick);
  bool GiveUp(const ClockReading& reading, std::int64_t now_ns);

  Timeline timeline_;
  bool given_up_ = false;
  std::int64_t ahead_ns_ = 0;  // of the system's clock, at the last reading
  ClockReading last_;

  // While the rate is being measured.
  ClockReading start_;
  double first_rate_ = 0;  // of the first stretch; 0: not over yet
  int trials_ = 0;
};

}  // namespace plimsoll::internal
