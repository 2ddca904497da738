#pragma once

#include <vector>

#include "tests/integration/chaos/schedule.h"

namespace plimsoll::chaos {

// The least time between the beginnings of two of the faults below, and after the end of one: so
// long may it take until all is granted again. Within it a second failure would be another promise.
inline constexpr double kControlGap = 5;
inline constexpr double kControlRest = 1.5;

// What goes wrong with several controllers and their etcd, in the order of time: a pure function of
// the options. At most one fault of the controllers and one of etcd at a time, so that a controller
// is left that reaches a quorum, but where the kind of fault says otherwise.
std::vector<Fault> MakeControlSchedule(const ScheduleOptions& options);

}  // namespace plimsoll::chaos
