#include "plimsoll/agent/deadline.h"

#include <algorithm>

#include "plimsoll/core/clock.h"

namespace plimsoll {
namespace {

using std::chrono::nanoseconds;

}  // namespace

namespace internal {
thread_local constinit Deadline current_deadline;
}  // namespace internal
using internal::current_deadline;

Deadline Deadline::In(nanoseconds left) {
  if (left == nanoseconds::max()) return Never();
  const std::int64_t now = RealClock().Now().ns;
  if (left <= nanoseconds::zero()) return Deadline(now);
  return left.count() >= kNever - now ? Never() : Deadline(now + left.count());
}

Deadline Deadline::At(std::chrono::steady_clock::time_point when) {
  using TimePoint = std::chrono::steady_clock::time_point;
  if (when == TimePoint::max()) return Never();
  return In(when - std::chrono::steady_clock::now());
}

nanoseconds Deadline::left() const {
  return never() ? nanoseconds::max() : nanoseconds(ns_ - RealClock().Now().ns);
}

DeadlineScope::DeadlineScope(Deadline deadline)
    : before_(current_deadline), current_(std::min(before_, deadline)) {
  current_deadline = current_;
}

DeadlineScope::~DeadlineScope() { current_deadline = before_; }

}  // namespace plimsoll
