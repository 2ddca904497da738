#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "agent/src/ticket.h"
#include "agent/src/timers.h"
#include "plimsoll/agent/bulkhead.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

class PermitQueue;

// Waits once, without blocking, for a permit or for a time, until a stop is requested. It ends in
// exactly one way: what it waits for comes, the stop does, or its owner abandons it.
//
// Whoever wins takes the source away from the others: the queue's ticket has one claim, a timer
// runs or is cancelled. The source holds the step alive while it stands; the step holds neither.
// Thread-safe, but for what Abandon() says.
class AsyncStep : public std::enable_shared_from_this<AsyncStep> {
 public:
  // Gets the answer, or nothing if it is the time or the stop that came.
  using Then = std::function<void(std::optional<Admission>)>;
  using Executor = AsyncTicket::Executor;

  // `then` runs in the executor, without one where the answer comes up. It must not throw.
  AsyncStep(Then then, Executor executor, std::stop_token stop)
      : then_(std::move(then)), executor_(std::move(executor)), stop_(std::move(stop)) {}

  // One of the two, once. `then` may have run, and its owner be gone, before they return.
  //
  // A bulkhead at which TryWithoutWaiting() did not have an answer.
  void WaitForPermit(Bulkhead& bulkhead, const CallOptions& options, CallSite site);
  void WaitUntil(Instant at, Timers& timers);

  // If `then` has not begun, it never will, and a permit that was on its way is given back. Must
  // not meet it running.
  void Abandon();

  // An answer, unless the call has to wait for one.
  static std::optional<Admission> TryWithoutWaiting(Bulkhead& bulkhead, const CallOptions& options,
                                                    CallSite site);

 private:
  struct OnStop {
    AsyncStep* step;
    void operator()() const { step->Stop(); }
  };

  void Stop();
  // True: what was waited for will not come any more.
  bool TakeBack();
  void Finish(std::optional<Admission> answer);
  void FinishInExecutor();

  Then then_;
  const Executor executor_;
  const std::stop_token stop_;
  std::atomic<bool> done_{false};

  PermitQueue* queue_ = nullptr;  // queues are never freed
  std::weak_ptr<AsyncTicket> ticket_;
  Timers* timers_ = nullptr;
  std::atomic<TimerId> timer_{kNoTimer};

  std::optional<std::stop_callback<OnStop>> on_stop_;  // last, so that it goes first
};

}  // namespace plimsoll::internal
