#pragma once

#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// A grant as the agent's own clock sees it. In force is `limit` before limit_end, then `base`
// before base_end, then `reserve`. It replaces the function before it as a whole.
struct StepFunction {
  GrantStamp stamp;
  Steps steps;
  Instant limit_end;
  Instant base_end;
  absl::Duration call_deadline = absl::InfiniteDuration();
  Explanation explanation;

  Calls InForce(Instant now) const {
    if (now < limit_end) return steps.limit;
    return now < base_end ? steps.base : steps.reserve;
  }
  // 0 while the limit is in force, 1 while the base is, 2 afterwards.
  int StepAt(Instant now) const {
    if (now < limit_end) return 0;
    return now < base_end ? 1 : 2;
  }
  // The steps that can still be in force at `now` or later: ended ones are as low as the next.
  Steps Remaining(Instant now) const {
    if (now < limit_end) return steps;
    if (now < base_end) return {steps.base, steps.base, steps.reserve};
    return {steps.reserve, steps.reserve, steps.reserve};
  }
};

// What a sync tells of a dependency beside the grant.
struct Measurement {
  Calls in_flight = 0;
  Calls in_flight_max = 0;  // since the last measurement
  Calls waiting = 0;
  std::vector<Window> windows;  // closed since the last measurement
};

// A permit that has been held for longer than BulkheadOptions::permit_age_max.
struct OverduePermit {
  const char* file;  // where it was taken; of static storage
  int line;
  absl::Duration age;
};

// What the session needs of a bulkhead: the limiter in production and in the simulator, a fake in
// unit tests. Confined to the agent's thread.
class GrantPort {
 public:
  virtual ~GrantPort() = default;

  // Closes the window and puts the function in force. When it returns, no call is admitted above
  // the new limit any more, and every call that was is counted by Measure(): rule A3.
  virtual void Install(const StepFunction& function, Instant now) = 0;
  // True: admits every call, and counts those above the limit. False, as at first: refuses them.
  // When it returns false, no call is admitted above the limit any more, and every call that was is
  // counted by Measure().
  virtual void SetObserve(bool observe) = 0;
  // Admits nothing from now on, not even when observing: the agent is leaving.
  virtual void StopAdmitting() = 0;
  // Reads the counters. Closes the window if `interval` has passed since it was opened, or if a
  // step of the grant ended meanwhile.
  virtual Measurement Measure(Instant now, absl::Duration interval) = 0;
  // Permits that became overdue since the last time.
  virtual std::vector<OverduePermit> TakeOverdue(Instant /*now*/) { return {}; }
};

}  // namespace plimsoll::internal
