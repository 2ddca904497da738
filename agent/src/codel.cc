#include "agent/src/codel.h"

#include <algorithm>

namespace plimsoll::internal {

bool Codel::Allows(absl::Duration waited, Instant now) const {
  if (target_ <= absl::ZeroDuration() || now > interval_end_) return true;
  return !overloaded_ || waited <= 2 * target_;
}

void Codel::Note(absl::Duration waited, Instant now) {
  if (now > interval_end_) {
    overloaded_ = shortest_ > target_;
    interval_end_ = now + interval_;
    shortest_ = waited;
  }
  shortest_ = std::min(shortest_, waited);
}

}  // namespace plimsoll::internal
