#include "controller/main/watchdog.h"

#include <algorithm>

namespace plimsoll {

bool Watchdog::Look(Instant now) {
  if (half_ <= absl::ZeroDuration()) return false;
  const bool first = answered_ == nullptr;
  if (!first && (now < due_ || !*answered_)) return false;
  AskAnew(now);
  return !first;
}

absl::Duration Watchdog::Pause(Instant now, absl::Duration longest) const {
  if (half_ <= absl::ZeroDuration()) return longest;
  // Overdue: an answer that comes at last is to be told soon.
  const absl::Duration soon = std::max(half_ / 10, absl::Milliseconds(1));
  const absl::Duration left = due_ - now;
  return std::min(longest, left > absl::ZeroDuration() ? left : soon);
}

void Watchdog::AskAnew(Instant now) {
  answered_ = std::make_shared<std::atomic<bool>>(false);
  due_ = now + half_;
  ask_([answered = answered_] { *answered = true; });
}

}  // namespace plimsoll
