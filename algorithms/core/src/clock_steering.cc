#include "algorithms/core/src/clock_steering.h"

#include <algorithm>
#include <cmath>

namespace plimsoll::internal {
namespace {

double NsPerTick(const ClockReading& start, const ClockReading& end) {
  return static_cast<double>(end.raw_ns - start.raw_ns) /
         static_cast<double>(end.ticks - start.ticks);
}

// Counters of 100 MHz to 10 GHz.
bool IsPlausible(double ns_per_tick) { return ns_per_tick >= 0.1 && ns_per_tick <= 10; }

}  // namespace

ClockSteering::ClockSteering(const ClockReading& first) : last_(first), start_(first) {
  timeline_.ns = first.suspended_ns;
}

bool ClockSteering::Look(const ClockReading& reading) {
  if (timeline_.by_counter() && reading.counter_usable && TooWide(reading)) return false;
  const bool changed = timeline_.by_counter() ? Compare(reading) : Measure(reading);
  last_ = reading;
  return changed;
}

// The suspended time is read less exactly than it changes, so it only counts upwards.
bool ClockSteering::FollowSystem(const ClockReading& reading) {
  const std::int64_t offset = reading.suspended_ns + ahead_ns_;
  if (offset <= timeline_.ns) return false;
  timeline_.ns = offset;
  return true;
}

// It proves nothing; the next one will do.
bool ClockSteering::TooWide(const ClockReading& reading) const {
  const double scaled =
      static_cast<double>(reading.width) * static_cast<double>(timeline_.ns_per_tick);
  return std::ldexp(scaled, -Timeline::kScaleBits) > kWidthNsMax;
}

bool ClockSteering::Measure(const ClockReading& reading) {
  const bool changed = FollowSystem(reading);
  if (given_up_) return changed;
  if (!reading.counter_usable || reading.ticks <= last_.ticks) {
    given_up_ = true;
    return changed;
  }
  const bool suspended = reading.suspended_ns - start_.suspended_ns > kJitterNs;
  if (suspended) return Restart(reading) || changed;
  if (reading.raw_ns - start_.raw_ns < kStretchNs) return changed;
  const double rate = NsPerTick(start_, reading);
  if (!IsPlausible(rate) || static_cast<double>(reading.width) * rate > kWidthNsMax) {
    return Restart(reading) || changed;
  }
  if (first_rate_ == 0) {
    first_rate_ = rate;
    start_ = reading;
    return changed;
  }
  if (std::abs(rate / first_rate_ - 1) > kRatesDiffer) return Restart(reading) || changed;
  return UseCounter(reading, rate);
}

bool ClockSteering::Restart(const ClockReading& reading) {
  given_up_ = ++trials_ >= kTrialsMax;
  start_ = reading;
  first_rate_ = 0;
  return false;
}

// The counter was read first, so the line lies ahead of the system's clock from the beginning.
bool ClockSteering::UseCounter(const ClockReading& reading, double ns_per_tick) {
  timeline_ = {static_cast<std::uint64_t>(std::ldexp(ns_per_tick, Timeline::kScaleBits)),
               reading.ticks, reading.raw_ns + timeline_.ns + kSlackNs};
  ahead_ns_ = timeline_.ns - reading.lease_ns();
  return true;
}

bool ClockSteering::Compare(const ClockReading& reading) {
  const std::int64_t by_counter_ns = timeline_.AtTicks(reading.ticks);
  const std::int64_t by_system_ns = reading.lease_ns() + ahead_ns_;
  const std::int64_t drift_ns = by_counter_ns - by_system_ns;
  const std::int64_t passed_ns = reading.lease_ns() - last_.lease_ns();
  const std::int64_t suspended_ns =
      std::max<std::int64_t>(0, reading.suspended_ns - last_.suspended_ns);
  const auto tolerated_ns =
      kJitterNs + static_cast<std::int64_t>(static_cast<double>(passed_ns) * kRateError);
  const bool backwards = reading.ticks <= last_.ticks;
  if (!reading.counter_usable || backwards || drift_ns > tolerated_ns ||
      drift_ns < -tolerated_ns - suspended_ns) {
    return GiveUp(reading, std::max(by_counter_ns, by_system_ns));
  }
  if (drift_ns >= 0) {
    ahead_ns_ += drift_ns;
    return false;
  }
  timeline_.ticks = reading.ticks;
  timeline_.ns = by_system_ns;
  return true;
}

// If the counter has become faster, readings go on by it until the new timeline is published.
bool ClockSteering::GiveUp(const ClockReading& reading, std::int64_t now_ns) {
  given_up_ = true;
  const auto passed_ns = static_cast<double>(reading.lease_ns() - last_.lease_ns());
  const auto too_much_ns = static_cast<double>(now_ns - reading.lease_ns() - ahead_ns_);
  const double pace = passed_ns > 0 ? std::clamp(too_much_ns / passed_ns, 0.0, 1.0) : 1;
  const auto slack_ns = kSlackNs + static_cast<std::int64_t>(pace * kPublishedWithinNs);
  ahead_ns_ = now_ns - reading.lease_ns() + slack_ns;
  timeline_ = {0, 0, reading.suspended_ns + ahead_ns_};
  return true;
}

}  // namespace plimsoll::internal
