#pragma once

#include <chrono>

#include "plimsoll/agent/bulkhead.h"

namespace plimsoll::internal {

// A permit as the options want it: waiting for one only if they say so.
inline Admission Admit(Bulkhead& bulkhead, const CallOptions& options, CallSite site) {
  return options.wait > std::chrono::nanoseconds::zero() ? bulkhead.Acquire(options, site)
                                                         : bulkhead.TryAcquire(options, site);
}

}  // namespace plimsoll::internal
