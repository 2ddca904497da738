#pragma once

#include <compare>
#include <cstdint>
#include <limits>

#include "absl/time/time.h"

namespace plimsoll {

// A point on the lease clock of one process: nanoseconds since a start that is fixed for the life
// of the machine. Instants of two processes must never be compared or subtracted.
struct Instant {
  std::int64_t ns = 0;

  friend constexpr auto operator<=>(Instant, Instant) = default;
};

inline constexpr Instant kInfiniteFuture{std::numeric_limits<std::int64_t>::max()};

// Saturates at both ends, and kInfiniteFuture stays where it is; `duration` may be negative or
// infinite.
inline Instant operator+(Instant at, absl::Duration duration) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (at == kInfiniteFuture) return at;
  const std::int64_t ns = absl::ToInt64Nanoseconds(duration);
  if (ns > 0 && at.ns > Limits::max() - ns) return kInfiniteFuture;
  if (ns < 0 && at.ns < Limits::min() - ns) return {Limits::min()};
  return {at.ns + ns};
}
inline Instant operator-(Instant at, absl::Duration duration) { return at + (-duration); }
inline absl::Duration operator-(Instant end, Instant start) {
  return absl::Nanoseconds(end.ns) - absl::Nanoseconds(start.ns);
}

}  // namespace plimsoll
