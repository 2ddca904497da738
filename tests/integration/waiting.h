#pragma once

#include <thread>

#include "absl/time/time.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

inline void Pass(absl::Duration time) {
  std::this_thread::sleep_for(absl::ToChronoNanoseconds(time));
}

// Whether `condition` has become true by then. It is looked at every 50 ms, or as often as said.
template <typename Condition>
bool Until(absl::Duration time, Condition condition,
           absl::Duration pause = absl::Milliseconds(50)) {
  for (const Instant end = RealClock().Now() + time; RealClock().Now() < end;) {
    if (condition()) return true;
    Pass(pause);
  }
  return false;
}

// Within a minute.
template <typename Condition>
bool Until(Condition condition) {
  return Until(absl::Minutes(1), condition);
}

}  // namespace plimsoll
