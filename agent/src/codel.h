#pragma once

#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Controlled delay, in the form of folly's Codel (folly/executors/Codel.cpp): once even the
// shortest wait of an interval was above the target, those who waited longer than twice the target
// are refused when their turn comes. Refusals are not spaced by a control law, and the first turn
// of an interval is always given. The shortest wait is the sign of a standing queue; unlike a mean
// it does not depend on how long calls take or on bursts. Thread-compatible.
class Codel {
 public:
  // A target of zero refuses nobody.
  Codel(absl::Duration target, absl::Duration interval) : target_(target), interval_(interval) {}

  // Whether one who has waited for so long may go now.
  bool Allows(absl::Duration waited, Instant now) const;

  // Its turn has come, whether it is allowed or not. In order of time.
  void Note(absl::Duration waited, Instant now);

  // Nobody waits any more. Whoever finds room before somebody waits again is not seen here and has
  // waited for nothing, which is then the shortest wait.
  void RanEmpty() { shortest_ = absl::ZeroDuration(); }

 private:
  absl::Duration target_;
  absl::Duration interval_;
  Instant interval_end_{0};
  absl::Duration shortest_ = absl::ZeroDuration();  // of the interval
  bool overloaded_ = false;                         // the interval before it was
};

}  // namespace plimsoll::internal
