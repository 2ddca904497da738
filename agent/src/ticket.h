#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "agent/src/call_request.h"
#include "agent/src/queue_owner.h"
#include "agent/src/timers.h"
#include "agent/src/wait_queue.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

class AsyncTicket;

// What a caller holds while it waits. Guarded by the lock of its queue until it has its answer.
struct Ticket : Waiter {
  explicit Ticket(const CallRequest& asked) : request(asked) {
    priority = asked.priority;
    cost = asked.cost;
    answer_by = Instant{asked.deadline.lease_clock_ns()};
  }
  virtual ~Ticket() = default;
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  // It has its answer: wakes who waits for it, or returns itself to be delivered.
  virtual std::shared_ptr<AsyncTicket> OnAnswer() = 0;
  // A thread that sleeps is to look at the clock.
  virtual void LookAgain() {}

  const CallRequest request;
  QueueOwner* owner = nullptr;  // of the queue it stood in; lives as long as a permit in the answer
  std::optional<Admission> answer;
};

// Of a thread that sleeps.
struct BlockedTicket final : Ticket {
  using Ticket::Ticket;
  std::shared_ptr<AsyncTicket> OnAnswer() override {
    condition.NotifyAll();
    return nullptr;
  }
  void LookAgain() override { condition.NotifyAll(); }

  CondVar condition;
};

// Of a callback.
class AsyncTicket final : public Ticket {
 public:
  using Callback = std::function<void(Admission)>;
  // Runs what it is given, once, soon, in a place of the caller's choice.
  using Executor = std::function<void(std::function<void()>)>;

  // Without an executor the callback runs where the answer came up. Neither may throw.
  AsyncTicket(const CallRequest& asked, Callback callback, Executor executor = nullptr)
      : Ticket(asked), callback_(std::move(callback)), executor_(std::move(executor)) {}

  std::shared_ptr<AsyncTicket> OnAnswer() override { return std::move(self); }

  // Requires an answer.
  static void Deliver(const std::shared_ptr<AsyncTicket>& ticket);
  // True for one: it alone may look at the answer and run the callback.
  bool Claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }

  std::shared_ptr<AsyncTicket> self;  // while it stands
  Timers* timers = nullptr;           // where the next one is
  std::atomic<TimerId> timer{kNoTimer};

 private:
  void Run();

  const Callback callback_;
  const Executor executor_;
  std::atomic<bool> claimed_{false};
};

}  // namespace plimsoll::internal
