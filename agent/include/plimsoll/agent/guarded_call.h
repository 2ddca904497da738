#pragma once

#include <chrono>
#include <optional>

#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/guard_result.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/agent/retry_policy.h"

namespace plimsoll {

class Guard;

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
// Destroyed between Begin() and End(), it ends the attempt as kError; destroyed in a pause, nothing
// more happens. Thread-compatible: steps may be taken by different threads, one after the other.
// What the first thread was in (DeadlineScope, RetryScope) holds for all steps; open scopes of your
// own around the work of an attempt if it makes nested calls. May not outlive its guard. Not
// movable: keep it where it is made.
class GuardedCall {
 public:
  // `options` is copied, but not the text of its tenant, which must outlive the call.
  GuardedCall(Guard& guard, const CallOptions& options, CallSite site = CallSite::Here());
  ~GuardedCall();
  GuardedCall(const GuardedCall&) = delete;
  GuardedCall& operator=(const GuardedCall&) = delete;

  // Asks all layers for the next attempt. False: refused, and report() is final. Blocks only if the
  // bulkhead has a queue and CallOptions::wait is positive.
  bool Begin();
  // The attempt that Begin() allowed.
  const Attempt& attempt() const { return attempt_; }
  // How it ended. True: it should be tried again, after pause(). False: report() is final. Requires
  // that an attempt was begun and has not ended.
  bool End(const AttemptEnd& end);
  std::chrono::nanoseconds pause() const { return pause_; }

  const GuardReport& report() const { return report_; }

 private:
  bool Refuse(Rejection rejection, std::chrono::nanoseconds retry_after = {});
  bool PassBreaker();
  bool AcquirePermit();
  void StartAttempt();
  std::optional<RetryEnd> WhyNotAgain(const AttemptEnd& end);
  void Conclude(RetryEnd end);
  std::chrono::nanoseconds Left(Deadline deadline) const;

  Guard& guard_;
  const CallOptions options_;  // its deadline: of the call as a whole
  const CallSite site_;
  int retries_left_;      // of the scopes that the first thread was in
  bool running_ = false;  // between Begin() and End()
  bool concluded_ = false;
  std::optional<BreakerTicket> ticket_;
  std::optional<Permit> permit_;
  Attempt attempt_;
  std::chrono::nanoseconds pause_{0};
  GuardReport report_;
};

}  // namespace plimsoll
