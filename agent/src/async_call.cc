#include "plimsoll/agent/async_call.h"

#include <atomic>
#include <string>
#include <utility>

#include "plimsoll/agent/deadline.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {
namespace internal {
namespace {

using Start = std::function<void(const Attempt&, AttemptDone)>;
using Report = std::function<void(const GuardReport&)>;

CallOptions WithTenant(CallOptions options, const std::string& tenant) {
  options.tenant = tenant;
  return options;
}

}  // namespace

// One call. Held alive by what it waits for: a step, or the end of an attempt.
class AsyncCall : public std::enable_shared_from_this<AsyncCall> {
 public:
  AsyncCall(Guard& guard, const CallOptions& options, Start start, Report done,
            AsyncCallOptions async, CallSite site)
      : tenant_(options.tenant),
        start_(std::move(start)),
        done_(std::move(done)),
        executor_(std::move(async.executor)),
        call_(guard, WithTenant(options, tenant_), std::move(async.stop), site) {}

  void Next() {
    call_.NextAsync([self = shared_from_this()](
                        bool begun) { begun ? self->Begin() : self->done_(self->call_.report()); },
                    executor_);
  }
  void End(const AttemptEnd& end) { call_.End(end) ? Next() : done_(call_.report()); }

 private:
  void Begin();

  const std::string tenant_;
  const Start start_;
  const Report done_;
  const GuardedCall::Executor executor_;
  GuardedCall call_;
};

// One attempt of it, which ends once.
class RunningAttempt {
 public:
  explicit RunningAttempt(std::shared_ptr<AsyncCall> call) : call_(std::move(call)) {}
  ~RunningAttempt() { End(Outcome::kError); }
  RunningAttempt(const RunningAttempt&) = delete;
  RunningAttempt& operator=(const RunningAttempt&) = delete;

  void End(const AttemptEnd& end) {
    if (!ended_.exchange(true)) call_->End(end);
  }

 private:
  const std::shared_ptr<AsyncCall> call_;
  std::atomic<bool> ended_{false};
};

// The attempt may end, and the next one begin, before its start has returned.
void AsyncCall::Begin() {
  const Attempt attempt = call_.attempt();
  const DeadlineScope deadline(attempt.deadline);
  const RetryScope retries(call_.retries_left());
  start_(attempt, AttemptDone(std::make_shared<RunningAttempt>(shared_from_this())));
}

}  // namespace internal

void AttemptDone::operator()(const AttemptEnd& end) const { attempt_->End(end); }

void CallAsync(Guard& guard, const CallOptions& options,
               std::function<void(const Attempt&, AttemptDone)> start,
               std::function<void(const GuardReport&)> done, AsyncCallOptions async,
               CallSite site) {
  std::make_shared<internal::AsyncCall>(guard, options, std::move(start), std::move(done),
                                        std::move(async), site)
      ->Next();
}

}  // namespace plimsoll
