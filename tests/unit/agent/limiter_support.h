#pragma once

#include <memory>

#include "absl/time/time.h"
#include "agent/src/bulkhead_factory.h"
#include "agent/src/grant_port.h"
#include "agent/src/limiter.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/grant.h"

namespace plimsoll {

inline internal::StepFunction MakeFunction(std::int64_t seq, Steps steps, Instant limit_end,
                                           Instant base_end) {
  internal::StepFunction function;
  function.stamp = {Epoch(1), Seq(seq)};
  function.steps = steps;
  function.limit_end = limit_end;
  function.base_end = base_end;
  return function;
}

// A grant of `limit` that outlasts every test.
inline internal::StepFunction MakeFunction(std::int64_t seq, Calls limit, const Clock& clock) {
  return MakeFunction(seq, {limit, 0, 0}, clock.Now() + absl::Hours(1),
                      clock.Now() + absl::Hours(2));
}

// A limiter, abandoned at the end of the scope.
struct AbandonLimiter {
  void operator()(internal::Limiter* limiter) const { limiter->Abandon(); }
};
using LimiterPtr = std::unique_ptr<internal::Limiter, AbandonLimiter>;

inline LimiterPtr MakeLimiter(const Clock& clock, const BulkheadOptions& options = {}) {
  return LimiterPtr(internal::Limiter::Make(clock, options));
}

}  // namespace plimsoll
