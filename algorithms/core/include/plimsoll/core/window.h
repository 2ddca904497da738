#pragma once

#include <array>
#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What a bulkhead measured under one limit. A window never spans two limits: it is closed when a
// grant is installed, when a step of the grant ends, and when the interval is over.
// Counts are of what happened inside the window; a call may be admitted in one and end in another.
// Thread-compatible.
struct Window {
  GrantStamp stamp;       // the grant that was in force
  absl::Duration length;  // > 0, on the agent's own clock

  std::int64_t admitted = 0;
  std::int64_t succeeded = 0;
  std::int64_t dropped = 0;  // ended by overload: a sign that the limit is too high
  std::int64_t ignored = 0;  // ended, but says nothing of the dependency
  std::array<std::int64_t, kRejectReasons> rejected{};  // indexed by RejectReason

  Calls in_flight_max = 0;   // the most calls in flight at once
  absl::Duration in_flight;  // the integral of calls in flight over time: call-seconds
  absl::Duration at_limit;   // how long in flight was at the limit, at most `length`
  LatencyHistogram latency;  // of the calls that succeeded or were dropped

  std::int64_t completed() const { return succeeded + dropped; }
  std::int64_t rejected_by(RejectReason reason) const {
    return rejected[static_cast<std::size_t>(reason)];
  }
  // Mean time in the dependency by Little's law: the integral of calls in flight divided by what
  // ended. Calls that hang count while they hang. Zero if nothing ended.
  absl::Duration MeanLatency() const;

  // Adds what another agent, or the same one later, measured. The stamp stays; `length` becomes the
  // longer of the two, because windows of a pool run side by side; in_flight_max adds up to at most
  // kCallsMax, an upper bound of the pool's own maximum.
  void MergeParallel(const Window& other);

  friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace plimsoll
