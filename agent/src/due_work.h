#pragma once

#include "plimsoll/core/time.h"

namespace plimsoll::internal {

class Limiter;

// What a limiter without a thread of its own has the threads of its callers do now and then.
class DueWork {
 public:
  virtual ~DueWork() = default;

  // A call is ending at `at`, and the time of Limiter::SetDue() has come. Must set the next one.
  // Several threads may call at once; none should be kept waiting.
  virtual void Run(Limiter& limiter, Instant at) = 0;
};

}  // namespace plimsoll::internal
