#include "plimsoll/simulation/virtual_clock.h"

#include <cmath>
#include <cstdint>

#include "plimsoll/core/check.h"

namespace plimsoll {

VirtualClock::VirtualClock(const TrueTime& time, double rate, Instant start)
    : time_(time), rate_(rate), start_(start) {
  PLIMSOLL_CHECK(rate > 0, "a clock that stands still or goes back is no clock");
}

Instant VirtualClock::Now() const {
  const double passed = static_cast<double>(time_.now().ns) * rate_;
  return {start_.ns + static_cast<std::int64_t>(passed)};
}

absl::Time VirtualClock::WallTime() const {
  return absl::UnixEpoch() + absl::Nanoseconds(time_.now().ns);
}

Instant VirtualClock::TrueTimeOf(Instant at) const {
  if (at == kInfiniteFuture) return kInfiniteFuture;
  const double passed = static_cast<double>(at.ns - start_.ns) / rate_;
  return {static_cast<std::int64_t>(std::ceil(passed)) + 1};
}

}  // namespace plimsoll
