#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/guard_result.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/agent/retry_policy.h"

namespace plimsoll {

class Guard;
class NextAwaiter;
namespace internal {
class AsyncStep;
}  // namespace internal

// One attempt of a call, as its function sees it.
struct Attempt {
  int number = 0;     // 1 for the first
  Deadline deadline;  // by which it must have ended: cut it there

  std::chrono::nanoseconds time_left() const { return deadline.left(); }
};

// A call through a Guard, step by step, for clients that do not block: Guard::Call() is
//
//   while (call.Begin()) {
//     … send call.attempt(), wait for its end …
//     if (!call.End(end)) break;
//     … wait for call.pause() …
//   }
//   … call.report() …
//
// and without blocking anywhere, with a callback or in a coroutine (next_await.h):
//
//   while (co_await call.NextAwait(executor)) call.End(co_await Send(call.attempt()));
//
// Once `stop` is requested, no attempt begins any more, and a wait or pause of NextAsync() ends at
// once; what runs is the caller's own affair. report().cancelled() then.
//
// Destroyed between Begin() and End(), it ends the attempt as kError; destroyed in a pause or
// a wait, nothing more happens. Thread-compatible: steps may be taken by different threads, one
// after the other. What the first thread was in (DeadlineScope, RetryScope) holds for all steps;
// open scopes of your own around the work of an attempt if it makes nested calls. May not outlive
// its guard. Not movable: keep it where it is made.
class GuardedCall {
 public:
  // `options` is copied, but not the text of its tenant, which must outlive the call.
  GuardedCall(Guard& guard, const CallOptions& options, CallSite site = CallSite::Here())
      : GuardedCall(guard, options, std::stop_token(), site) {}
  GuardedCall(Guard& guard, const CallOptions& options, std::stop_token stop,
              CallSite site = CallSite::Here());
  ~GuardedCall();
  GuardedCall(const GuardedCall&) = delete;
  GuardedCall& operator=(const GuardedCall&) = delete;

  // Asks all layers for the next attempt. False: refused, and report() is final. Blocks only if the
  // bulkhead has a queue and CallOptions::wait is positive, until `stop` is requested at most.
  bool Begin();

  // The same without blocking, after pause() if there was an attempt before. `then` gets what
  // Begin() returns, exactly once, unless the call is destroyed before: in this call if there is
  // nothing to wait for; else in `executor`; without one on the thread that makes room by ending a
  // call, drains or destroys the bulkhead, requests the stop, or on the library's timer thread. It
  // must be quick then, and neither block nor throw. It may destroy the call. Never called in a
  // forked child. Touch the call only in `then` or after it, and destroy it earlier only where
  // `then` cannot run meanwhile, as in the executor's thread. If the system has no thread left for
  // timers, the pause is none.
  using Executor = std::function<void(std::function<void()>)>;
  void NextAsync(std::function<void(bool)> then, Executor executor = nullptr);
  // The same for a coroutine. Include next_await.h.
  NextAwaiter NextAwait(Executor executor = nullptr);

  // The attempt that Begin() allowed.
  const Attempt& attempt() const { return attempt_; }
  // How it ended. True: it should be tried again, after pause(). False: report() is final. Requires
  // that an attempt was begun and has not ended.
  bool End(const AttemptEnd& end);
  std::chrono::nanoseconds pause() const { return pause_; }

  const GuardReport& report() const { return report_; }
  // How many retries this call, and what is nested in it, may still cause; kUnlimited if it tries
  // once and nobody around it set a number. For a RetryScope around the work of an attempt.
  int retries_left() const;

 private:
  friend class NextAwaiter;
  bool Refuse(Rejection rejection, std::chrono::nanoseconds retry_after = {});
  bool Cancel();
  bool MayAsk();
  bool PassBreaker();
  bool AcquirePermit();
  bool TakeAnswer(std::optional<Admission> answer);
  // The halves of NextAsync(): what is known without waiting, and the rest.
  std::optional<bool> NextAtOnce();
  std::optional<bool> AskAtOnce();
  void NextLater(std::function<void(bool)> then, Executor executor);
  void WaitForPermit(std::function<void(bool)> then, Executor executor);
  bool WaitUntilStopped();
  bool StartAttempt();
  std::optional<RetryEnd> WhyNotAgain(const AttemptEnd& end);
  void Conclude(RetryEnd end);
  std::chrono::nanoseconds Left(Deadline deadline) const;

  Guard& guard_;
  const CallOptions options_;  // its deadline: of the call as a whole
  const CallSite site_;
  const std::stop_token stop_;
  int retries_left_;      // of the scopes that the first thread was in
  bool running_ = false;  // between Begin() and End()
  bool concluded_ = false;
  std::optional<BreakerTicket> ticket_;
  std::optional<Permit> permit_;
  std::shared_ptr<internal::AsyncStep> step_;  // while NextAsync() waits
  Attempt attempt_;
  std::chrono::nanoseconds pause_{0};
  GuardReport report_;
};

}  // namespace plimsoll
