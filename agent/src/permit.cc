#include "plimsoll/agent/permit.h"

#include <utility>

#include "agent/src/limiter.h"
#include "plimsoll/core/reason.h"

namespace plimsoll {
namespace {

constexpr bool SameNumber(Rejection rejection, RejectReason reason) {
  return static_cast<int>(rejection) == static_cast<int>(reason);
}
static_assert(SameNumber(Rejection::kLimit, RejectReason::kLimit) &&
              SameNumber(Rejection::kQueueFull, RejectReason::kQueueFull) &&
              SameNumber(Rejection::kDeadline, RejectReason::kDeadline) &&
              SameNumber(Rejection::kBreakerOpen, RejectReason::kBreakerOpen) &&
              SameNumber(Rejection::kDraining, RejectReason::kDraining) &&
              SameNumber(Rejection::kTenant, RejectReason::kTenant) &&
              kRejections == static_cast<int>(kRejectReasons));

void EndOnce(internal::Limiter*& limiter, Outcome outcome, const internal::HeldCall& call) {
  if (limiter == nullptr) return;
  std::exchange(limiter, nullptr)->End(outcome, call);
}

void LeakOnce(internal::Limiter*& limiter, const internal::HeldCall& call) {
  if (limiter == nullptr) return;
  std::exchange(limiter, nullptr)->EndLeaked(call);
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
  LeakOnce(limiter_, call_);
  limiter_ = std::exchange(other.limiter_, nullptr);
  call_ = other.call_;
  return *this;
}

void Permit::Leak() { LeakOnce(limiter_, call_); }

void Permit::Succeed() { Finish(Outcome::kSuccess); }
void Permit::Drop() { Finish(Outcome::kOverload); }
void Permit::Ignore() { Finish(Outcome::kIgnored); }
void Permit::Finish(Outcome outcome) { EndOnce(limiter_, outcome, call_); }

std::chrono::steady_clock::time_point Permit::deadline() const {
  using TimePoint = std::chrono::steady_clock::time_point;
  const std::chrono::nanoseconds left = time_left();
  const TimePoint now = std::chrono::steady_clock::now();
  return left > TimePoint::max() - now ? TimePoint::max() : now + left;
}

std::chrono::nanoseconds Permit::time_left() const {
  if (limiter_ == nullptr) return std::chrono::nanoseconds::zero();
  if (call_.deadline_ns == kInfiniteFuture.ns) return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds(call_.deadline_ns - limiter_->clock().Now().ns);
}

}  // namespace plimsoll
