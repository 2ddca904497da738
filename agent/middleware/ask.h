#pragma once

#include <algorithm>

#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"

namespace plimsoll::internal {

// What comes over the network must not reach the bulkhead's own checks, which abort.
inline CallOptions Bounded(CallOptions call) {
  call.cost = std::clamp(call.cost, 1, 1'000'000);
  call.priority = std::max(call.priority, 0);
  return call;
}

// Waits only if the call says so.
inline Admission Ask(Bulkhead& bulkhead, const CallOptions& call, CallSite site) {
  const bool waits = call.wait > std::chrono::nanoseconds::zero();
  return waits ? bulkhead.Acquire(call, site) : bulkhead.TryAcquire(call, site);
}

}  // namespace plimsoll::internal
