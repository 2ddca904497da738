#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/guard_result.h"
#include "plimsoll/agent/guarded_call.h"
#include "plimsoll/agent/retry_budget.h"
#include "plimsoll/agent/retry_policy.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {

// What stands between a caller and a dependency. Any may be absent (null). They are not owned and
// must outlive the guard; several guards of one dependency share them.
struct GuardLayers {
  Breaker* breaker = nullptr;
  Bulkhead* bulkhead = nullptr;
  // Null: the guard has one of its own with the defaults, if its policy retries at all.
  RetryBudget* retry_budget = nullptr;
};

// What a permit of the bulkhead covers, if a call is tried again.
enum class PermitCovers {
  // One attempt. It is given back for the pause. What is in flight is what the dependency works on;
  // each attempt is a sample with its own latency and outcome, so an overload that a retry made
  // good again is not hidden from the limit. A retry may be refused by the limit: the call then
  // ends with its last outcome, which under overload is what should happen.
  kAttempt,
  // The whole call with its pauses. A call that was admitted once is never refused half-way, and
  // the bulkhead bounds callers rather than attempts. But pauses count as in flight and as latency,
  // only the last outcome is seen, and the permit's call deadline must suffice for all attempts.
  kCall,
};

struct GuardOptions {
  // Give kNoRetries to try once.
  RetryPolicy retry = {};
  // The longest that one attempt may take; zero: as long as the call may. It is told to the
  // function, which must keep it; a ThreadPool enforces it from outside.
  std::chrono::nanoseconds attempt_timeout{0};
  PermitCovers permit_covers = PermitCovers::kAttempt;
  // How a thread pauses between attempts. Empty: it blocks. Fibers give their own. Called with
  // no locks held; may return early, but then attempts come early. Only the default one ends at
  // once when a call is cancelled.
  std::function<void(std::chrono::nanoseconds)> pause = {};
};

// Calls a dependency through all layers, in the one order in which none works against another:
//
//   breaker -> bulkhead -> retry -> deadline of the attempt -> your function
//
// - The breaker is outermost: an open one costs neither a permit nor a retry. It is told of the
//   call as a whole. A refusal on this side is no failure, and a probe that the bulkhead refuses
//   gives its place back. A probe is one attempt.
// - The deadline of an attempt is the earliest of CallOptions, Deadline::Current(), the permit's
//   and the attempt's time-out; while the function runs, it is Deadline::Current(). If it has
//   passed, the call is refused with kDeadline, or its last outcome stands.
// - Retries are bounded by the policy, by the RetryScopes this thread is in, and by the budget.
// - If the function throws, the attempt counts as kError, nothing is tried again, and the exception
//   goes on to the caller.
//
// Thread-safe. Call() runs the function in the calling thread; it allocates nothing of its own and
// takes no lock. For clients that do not block: CallAsync() and GuardedCall.
class Guard {
 public:
  // Aborts if Validate(options) finds faults.
  explicit Guard(GuardLayers layers, GuardOptions options = {});
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // `function(const Attempt&)` returns an Outcome, an AttemptEnd, or a std::pair of one of them and
  // a value, which becomes GuardResult::value:
  //
  //   auto charged = guard.Call({.deadline = Deadline::In(1s)}, [&](const Attempt& attempt) {
  //     Reply reply = client.Post("/charge", body, attempt.deadline.left());
  //     return std::pair(OutcomeOf(reply), std::move(reply));
  //   });
  //   if (charged.refused()) return Unavailable(*charged.rejection, charged.retry_after);
  template <typename F>
  auto Call(const CallOptions& options, F&& function, CallSite site = CallSite::Here()) {
    return Call(options, std::stop_token(), std::forward<F>(function), site);
  }
  // The same until `stop` is requested, which ends a pause or a wait for a permit at once; then
  // GuardReport::cancelled(). An attempt that runs is the function's own affair, but is the last.
  template <typename F>
  auto Call(const CallOptions& options, const std::stop_token& stop, F&& function,
            CallSite site = CallSite::Here()) {
    using Answer = internal::GuardAnswer<std::decay_t<std::invoke_result_t<F&, const Attempt&>>>;
    GuardResult<typename Answer::Value> result;
    const RetryScope retries(retries_shared());
    GuardedCall call(*this, options, stop, site);
    while (call.Begin()) {
      const DeadlineScope deadline(call.attempt().deadline);
      if (!call.End(Answer::Take(function(call.attempt()), result))) break;
      Pause(call.pause(), stop);
    }
    static_cast<GuardReport&>(result) = call.report();
    return result;
  }
  template <typename F>
  auto Call(F&& function, CallSite site = CallSite::Here()) {
    return Call(CallOptions(), std::forward<F>(function), site);
  }

  const GuardOptions& options() const { return options_; }

 private:
  friend class GuardFactory;
  friend class GuardedCall;
  struct Parts;
  Guard(GuardLayers layers, GuardOptions options, std::unique_ptr<Parts> parts);

  // A guard that tries once leaves the number to those within it.
  int retries_shared() const {
    const int retries = options_.retry.attempts_max - 1;
    return retries > 0 ? retries : RetryScope::kUnlimited;
  }
  void Pause(std::chrono::nanoseconds duration, const std::stop_token& stop);

  const GuardOptions options_;
  const GuardLayers layers_;
  const std::unique_ptr<Parts> parts_;
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const GuardOptions& options);

}  // namespace plimsoll
