#include "plimsoll/agent/permit.h"

#include <utility>

#include "agent/src/limiter.h"
#include "plimsoll/core/reason.h"

namespace plimsoll {
namespace {

using internal::Ending;

constexpr bool SameNumber(Rejection rejection, RejectReason reason) {
  return static_cast<int>(rejection) == static_cast<int>(reason);
}
static_assert(SameNumber(Rejection::kLimit, RejectReason::kLimit) &&
              SameNumber(Rejection::kQueueFull, RejectReason::kQueueFull) &&
              SameNumber(Rejection::kDeadline, RejectReason::kDeadline) &&
              SameNumber(Rejection::kBreakerOpen, RejectReason::kBreakerOpen) &&
              SameNumber(Rejection::kDraining, RejectReason::kDraining) &&
              SameNumber(Rejection::kTenant, RejectReason::kTenant));

void EndOnce(internal::Limiter*& limiter, Ending ending, std::int64_t admitted_ns,
             std::int64_t deadline_ns) {
  if (limiter == nullptr) return;
  std::exchange(limiter, nullptr)->End(ending, admitted_ns, deadline_ns);
}

}  // namespace

std::string_view ToString(Rejection rejection) {
  switch (rejection) {
    case Rejection::kLimit:
      return "limit";
    case Rejection::kQueueFull:
      return "queue_full";
    case Rejection::kDeadline:
      return "deadline";
    case Rejection::kBreakerOpen:
      return "breaker_open";
    case Rejection::kDraining:
      return "draining";
    case Rejection::kTenant:
      return "tenant";
  }
  return "";
}

Permit& Permit::operator=(Permit&& other) noexcept {
  if (this == &other) return *this;
  EndOnce(limiter_, Ending::kLeaked, admitted_ns_, deadline_ns_);
  limiter_ = std::exchange(other.limiter_, nullptr);
  admitted_ns_ = other.admitted_ns_;
  deadline_ns_ = other.deadline_ns_;
  return *this;
}

Permit::~Permit() { EndOnce(limiter_, Ending::kLeaked, admitted_ns_, deadline_ns_); }

void Permit::Succeed() { EndOnce(limiter_, Ending::kSucceeded, admitted_ns_, deadline_ns_); }
void Permit::Drop() { EndOnce(limiter_, Ending::kDropped, admitted_ns_, deadline_ns_); }
void Permit::Ignore() { EndOnce(limiter_, Ending::kIgnored, admitted_ns_, deadline_ns_); }

void Permit::Finish(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSuccess:
    case Outcome::kError:
      return Succeed();
    case Outcome::kOverload:
    case Outcome::kTimeout:
      return Drop();
    case Outcome::kCancelled:
    case Outcome::kIgnored:
      return Ignore();
  }
}

std::chrono::steady_clock::time_point Permit::deadline() const {
  using TimePoint = std::chrono::steady_clock::time_point;
  const std::chrono::nanoseconds left = time_left();
  const TimePoint now = std::chrono::steady_clock::now();
  return left > TimePoint::max() - now ? TimePoint::max() : now + left;
}

std::chrono::nanoseconds Permit::time_left() const {
  if (limiter_ == nullptr) return std::chrono::nanoseconds::zero();
  if (deadline_ns_ == kInfiniteFuture.ns) return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds(deadline_ns_ - limiter_->clock().Now().ns);
}

}  // namespace plimsoll
