#include "plimsoll/agent/guarded_call.h"

#include <algorithm>
#include <utility>

#include "agent/src/admit.h"
#include "agent/src/async_step.h"
#include "agent/src/guard_parts.h"
#include "agent/src/longest_nap.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/next_await.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/mutex.h"

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

GuardedCall::GuardedCall(Guard& guard, const CallOptions& options, std::stop_token stop,
                         CallSite site)
    : guard_(guard),
      options_(WithInheritedDeadline(options)),
      site_(site),
      stop_(std::move(stop)),
      retries_left_(RetryScope::Left()) {}

GuardedCall::~GuardedCall() {
  if (step_ != nullptr) step_->Abandon();
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
  return MayAsk() && AcquirePermit();
}

std::optional<bool> GuardedCall::NextAtOnce() {
  PLIMSOLL_CHECK(!running_ && step_ == nullptr, "the attempt before must have ended");
  if (concluded_) return false;
  if (stop_.stop_requested()) return Cancel();
  if (report_.attempts > 0) return std::nullopt;  // there is a pause
  return AskAtOnce();
}

std::optional<bool> GuardedCall::AskAtOnce() {
  if (!MayAsk()) return false;
  Bulkhead* const bulkhead = guard_.layers_.bulkhead;
  if (bulkhead == nullptr || permit_.has_value()) return StartAttempt();
  auto answer = internal::AsyncStep::TryWithoutWaiting(*bulkhead, options_, site_);
  return answer.has_value() ? std::optional(TakeAnswer(std::move(answer))) : std::nullopt;
}

void GuardedCall::NextAsync(std::function<void(bool)> then, Executor executor) {
  if (const std::optional<bool> at_once = NextAtOnce()) return then(*at_once);
  NextLater(std::move(then), std::move(executor));
}

// Once a step waits, this may be gone.
void GuardedCall::NextLater(std::function<void(bool)> then, Executor executor) {
  if (report_.attempts == 0) return WaitForPermit(std::move(then), std::move(executor));
  const auto ask = [this, then, executor](const std::optional<Admission>&) {
    step_ = nullptr;
    if (const std::optional<bool> at_once = AskAtOnce()) return then(*at_once);
    WaitForPermit(then, executor);
  };
  const Instant end = guard_.parts_->clock.Now() + absl::FromChrono(pause_);
  internal::Timers& timers = guard_.parts_->timers();
  const auto step = std::make_shared<internal::AsyncStep>(ask, std::move(executor), stop_);
  step_ = step;
  step->WaitUntil(end, timers);
}

void GuardedCall::WaitForPermit(std::function<void(bool)> then, Executor executor) {
  const auto go_on = [this, then = std::move(then)](std::optional<Admission> answer) {
    step_ = nullptr;
    then(TakeAnswer(std::move(answer)));
  };
  const auto step = std::make_shared<internal::AsyncStep>(go_on, std::move(executor), stop_);
  step_ = step;
  step->WaitForPermit(*guard_.layers_.bulkhead, options_, site_);
}

// None: the stop came first. It may also have come between the answer and here.
bool GuardedCall::TakeAnswer(std::optional<Admission> answer) {
  if (stop_.stop_requested()) {
    if (answer.has_value() && *answer) (*answer)->Ignore();
    return Cancel();
  }
  if (!*answer) return Refuse(answer->rejection());
  permit_.emplace(**std::move(answer));
  return StartAttempt();
}

NextAwaiter GuardedCall::NextAwait(Executor executor) {
  return NextAwaiter(*this, std::move(executor));
}

bool GuardedCall::MayAsk() {
  if (concluded_) return false;
  if (stop_.stop_requested()) return Cancel();
  if (Left(options_.deadline) <= nanoseconds::zero()) return Refuse(Rejection::kDeadline);
  return PassBreaker();
}

// Always false. Says nothing of the dependency; what the last attempt said, if there was one,
// holds.
bool GuardedCall::Cancel() {
  if (report_.attempts == 0) report_.outcome = Outcome::kCancelled;
  Conclude(RetryEnd::kCancelled);
  return false;
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
  Bulkhead* const bulkhead = guard_.layers_.bulkhead;
  if (bulkhead == nullptr || permit_.has_value()) return StartAttempt();
  const bool waits = options_.wait > nanoseconds::zero();
  if (waits && stop_.stop_possible()) return WaitUntilStopped();
  return TakeAnswer(internal::Admit(*bulkhead, options_, site_));
}

// A thread that sleeps in the queue hears of no stop, so a callback waits in its place.
bool GuardedCall::WaitUntilStopped() {
  Bulkhead& bulkhead = *guard_.layers_.bulkhead;
  auto at_once = internal::AsyncStep::TryWithoutWaiting(bulkhead, options_, site_);
  if (at_once.has_value()) return TakeAnswer(std::move(at_once));
  Mutex mutex;
  CondVar changed;
  std::optional<bool> begun;
  const auto wake = [&](bool answer) {
    const MutexLock lock(mutex);
    begun = answer;
    changed.NotifyAll();
  };
  WaitForPermit(wake, nullptr);
  const MutexLock lock(mutex);
  while (!begun.has_value()) changed.WaitFor(mutex, internal::kLongestNap);
  return *begun;
}

// Always true.
bool GuardedCall::StartAttempt() {
  if (report_.attempts == 0 && guard_.parts_->budget != nullptr) guard_.parts_->budget->CountCall();
  running_ = true;
  attempt_.number = ++report_.attempts;
  attempt_.deadline = options_.deadline;
  if (permit_.has_value()) attempt_.deadline = std::min(attempt_.deadline, permit_->due());
  if (const nanoseconds timeout = guard_.options_.attempt_timeout; timeout > nanoseconds::zero()) {
    const Instant end = guard_.parts_->clock.Now() + absl::FromChrono(timeout);
    attempt_.deadline = std::min(attempt_.deadline, Deadline::FromLeaseClock(end.ns));
  }
  return true;
}

int GuardedCall::retries_left() const {
  const int of_policy = guard_.options_.retry.attempts_max - std::max(report_.attempts, 1);
  const bool once = guard_.options_.retry.attempts_max == 1;
  return std::min(retries_left_, once ? RetryScope::kUnlimited : std::max(of_policy, 0));
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
  const bool retryable = internal::IsRetryable(policy, end.outcome, options_.idempotent);
  const bool stopped = stop_.stop_requested();
  if (stopped && (retryable || end.outcome == Outcome::kCancelled)) return RetryEnd::kCancelled;
  if (!retryable || end.final) return RetryEnd::kOutcome;
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
