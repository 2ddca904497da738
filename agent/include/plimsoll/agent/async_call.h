#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/guard_result.h"
#include "plimsoll/agent/guarded_call.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/agent/retry_policy.h"

namespace plimsoll {

namespace internal {
class RunningAttempt;
}  // namespace internal

// Tells how an attempt of CallAsync() ended. The first call counts, of whatever copy; if none comes
// before the last copy is destroyed, the attempt was a kError. Thread-safe.
class AttemptDone {
 public:
  explicit AttemptDone(std::shared_ptr<internal::RunningAttempt> attempt)
      : attempt_(std::move(attempt)) {}

  void operator()(const AttemptEnd& end) const;

 private:
  std::shared_ptr<internal::RunningAttempt> attempt_;
};

struct AsyncCallOptions {
  // Ends a wait for a permit or a pause at once, and lets no further attempt begin. An attempt that
  // runs is yours to cancel: it has still to tell its end.
  std::stop_token stop = {};
  // Where attempts are started. Empty: where GuardedCall::NextAsync() says.
  GuardedCall::Executor executor = {};
};

// Guard::Call() for clients that do not block: breaker, bulkhead, attempts, pauses and deadlines in
// the same order. A call that waits, for a permit or in a pause, has no thread.
//
//   CallAsync(guard, {.deadline = Deadline::In(1s), .wait = 50ms},
//             [client](const Attempt& attempt, AttemptDone done) {
//               client->Post(body, attempt.deadline, [done](int code) { done(OutcomeOf(code)); });
//             },
//             [](const GuardReport& report) { … });
//
// `start` begins an attempt and returns; Deadline::Current() and RetryScope::Left() hold for it
// while it does. `done` gets the report, exactly once, on the thread that told the last end, or
// where the next attempt would have begun; in this call, if it is refused at once. Neither may
// block or throw. Nested calls share the number of retries within each attempt.
//
// `options` and its tenant are copied. The guard and its layers must outlive the call, which ends
// soon after its stop is requested and its attempt has ended.
void CallAsync(Guard& guard, const CallOptions& options,
               std::function<void(const Attempt&, AttemptDone)> start,
               std::function<void(const GuardReport&)> done, AsyncCallOptions async = {},
               CallSite site = CallSite::Here());

}  // namespace plimsoll
