#include "plimsoll/agent/guarded_call.h"

#include <algorithm>

#include "agent/src/admit.h"
#include "agent/src/guard_parts.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

using std::chrono::nanoseconds;

CallOptions WithInheritedDeadline(CallOptions options) {
  options.deadline = std::min(options.deadline, Deadline::Current());
  return options;
}

bool LetsCallsPass(BreakerState state) {
  return state == BreakerState::kClosed || state == BreakerState::kDisabled;
}

}  // namespace

GuardedCall::GuardedCall(Guard& guard, const CallOptions& options, CallSite site)
    : guard_(guard),
      options_(WithInheritedDeadline(options)),
      site_(site),
      retries_left_(RetryScope::Left()) {}

GuardedCall::~GuardedCall() {
  if (running_) {
    report_.outcome = Outcome::kError;
    Conclude(RetryEnd::kOutcome);
  } else if (!concluded_ && report_.attempts > 0) {
    Conclude(RetryEnd::kOutcome);
  }
}

nanoseconds GuardedCall::Left(Deadline deadline) const {
  return deadline.never() ? nanoseconds::max()
                          : nanoseconds(deadline.lease_clock_ns() - guard_.parts_->clock.Now().ns);
}

bool GuardedCall::Begin() {
  PLIMSOLL_CHECK(!running_, "the attempt before must have ended");
  if (concluded_) return false;
  if (Left(options_.deadline) <= nanoseconds::zero()) return Refuse(Rejection::kDeadline);
  if (!PassBreaker() || !AcquirePermit()) return false;
  StartAttempt();
  return true;
}

// Always false. Nothing on this side is a failure of the dependency: layers that already let the
// call in are told that it was not sent, or of the last attempt if there was one.
bool GuardedCall::Refuse(Rejection rejection, nanoseconds retry_after) {
  const bool late = rejection == Rejection::kDeadline && report_.attempts > 0;
  if (!late) report_.rejection = rejection;
  report_.retry_after = std::max(report_.retry_after, retry_after);
  Conclude(late ? RetryEnd::kDeadline : RetryEnd::kRefused);
  return false;
}

// A retry does not ask again, but neither does it go on against a breaker that opened meanwhile.
bool GuardedCall::PassBreaker() {
  Breaker* const breaker = guard_.layers_.breaker;
  if (breaker == nullptr) return true;
  if (report_.attempts > 0) {
    return LetsCallsPass(breaker->state()) ||
           Refuse(Rejection::kBreakerOpen, breaker->Snapshot().next_probe);
  }
  BreakerEntry entry = breaker->TryEnter();
  if (!entry) return Refuse(Rejection::kBreakerOpen, entry.retry_after());
  ticket_.emplace(*std::move(entry));
  return true;
}

bool GuardedCall::AcquirePermit() {
  if (guard_.layers_.bulkhead == nullptr || permit_.has_value()) return true;
  Admission admission = internal::Admit(*guard_.layers_.bulkhead, options_, site_);
  if (!admission) return Refuse(admission.rejection());
  permit_.emplace(*std::move(admission));
  return true;
}

void GuardedCall::StartAttempt() {
  if (report_.attempts == 0 && guard_.parts_->budget != nullptr) guard_.parts_->budget->CountCall();
  running_ = true;
  attempt_.number = ++report_.attempts;
  attempt_.deadline = options_.deadline;
  if (permit_.has_value()) attempt_.deadline = std::min(attempt_.deadline, permit_->due());
  if (const nanoseconds timeout = guard_.options_.attempt_timeout; timeout > nanoseconds::zero()) {
    const Instant end = guard_.parts_->clock.Now() + absl::FromChrono(timeout);
    attempt_.deadline = std::min(attempt_.deadline, Deadline::FromLeaseClock(end.ns));
  }
}

bool GuardedCall::End(const AttemptEnd& end) {
  PLIMSOLL_CHECK(running_, "no attempt has been begun");
  running_ = false;
  report_.outcome = end.outcome;
  report_.retry_after = std::max(end.retry_after, nanoseconds::zero());
  if (const std::optional<RetryEnd> why = WhyNotAgain(end)) {
    Conclude(*why);
    return false;
  }
  if (guard_.options_.permit_covers == PermitCovers::kAttempt && permit_.has_value()) {
    permit_->Finish(end.outcome);
    permit_.reset();
  }
  return true;
}

// The budget is asked last, so that nothing is taken out of it in vain.
std::optional<RetryEnd> GuardedCall::WhyNotAgain(const AttemptEnd& end) {
  const RetryPolicy& policy = guard_.options_.retry;
  if (!internal::IsRetryable(policy, end.outcome, options_.idempotent)) return RetryEnd::kOutcome;
  if (report_.attempts >= policy.attempts_max) return RetryEnd::kAttempts;
  if (ticket_.has_value() && ticket_->probe()) return RetryEnd::kAttempts;
  if (std::min(retries_left_, RetryScope::Left()) == 0) return RetryEnd::kAttempts;
  pause_ = guard_.parts_->PauseAfter(policy, report_.attempts, end);
  const bool kept = guard_.options_.permit_covers == PermitCovers::kCall && permit_.has_value();
  if (pause_ >= Left(options_.deadline) || (kept && pause_ >= permit_->time_left())) {
    return RetryEnd::kDeadline;
  }
  if (!guard_.parts_->budget->TryTake()) return RetryEnd::kBudget;
  --retries_left_;
  RetryScope::TryTake();
  return std::nullopt;
}

// Everything that let the call in is told how it ended; kIgnored if there was no attempt, which
// frees the place of a probe.
void GuardedCall::Conclude(RetryEnd end) {
  running_ = false;
  concluded_ = true;
  report_.end = end;
  if (permit_.has_value()) permit_->Finish(report_.outcome);
  permit_.reset();
  if (ticket_.has_value()) ticket_->Finish(report_.outcome);
  ticket_.reset();
}

}  // namespace plimsoll
