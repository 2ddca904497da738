#pragma once

#include <chrono>

#include "plimsoll/agent/bulkhead.h"

namespace plimsoll::internal {

// A permit as the options want it: waiting for one only if they say so.
inline Admission Admit(Bulkhead& bulkhead, const CallOptions& options) {
  return options.wait > std::chrono::nanoseconds::zero() ? bulkhead.Acquire(options)
                                                         : bulkhead.TryAcquire(options);
}

}  // namespace plimsoll::internal
