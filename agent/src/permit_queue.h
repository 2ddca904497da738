#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "agent/src/call_request.h"
#include "agent/src/queue_owner.h"
#include "agent/src/ticket.h"
#include "agent/src/timers.h"
#include "agent/src/wait_queue.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/agent/permit.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// What a queue has counted since it was made, in units of cost.
struct QueueStats {
  std::int64_t waiting = 0;
  std::optional<Instant> oldest;  // when the one came that has waited longest
  std::int64_t waiting_max = 0;   // ever at once
  std::int64_t waited = 0;        // let in after a wait
  std::int64_t timed_out = 0;     // waited, and were refused with kDeadline
  std::array<std::int64_t, LatencyHistogram::kBuckets> waits{};  // of those let in
};

// The callers of one limiter that wait for room: a WaitQueue with a lock, threads, and callbacks.
// Thread-safe.
//
// - State changes under the lock only, so each waiter gets exactly one answer: room, a refusal, or
//   that it gave up; a permit that comes to one who has given up goes on at once.
// - No wake-up is lost: who queues tells those who leave before it looks for room itself, and who
//   makes room and was told calls Wake().
// - Callbacks run without any lock, one after the other: one that ends its call at once makes no
//   deeper stack.
// - The last permit deletes its limiter the moment it has left, so Wake() may come when the queue
//   has no owner any more, or the next one. Queues are therefore never freed, but used again, and a
//   late Wake() is a look that harms nobody.
class PermitQueue {
 public:
  // Whom the answers to callbacks are delivered by.
  enum class Deliver { kHere, kByTimer };

  // An unused queue, or a new one. `clock` and `timers` must outlive its use.
  static PermitQueue& Take(QueueOwner& owner, const QueueOptions& options, const Clock& clock,
                           Timers& timers);
  // The owner goes: the queue may be used by another. Requires Close() before.
  void GiveBack();

  // Blocks until it is the call's turn, for `wait` at most.
  Admission Wait(const CallRequest& request, absl::Duration wait);
  // The same without blocking. The callback runs once, in this call or in another's Wake(), or on
  // the thread of the timers; unless GiveUp() comes before.
  void WaitAsync(const std::shared_ptr<AsyncTicket>& ticket, absl::Duration wait);
  // If the callback has not begun, it never will, and what it would have got is given back: true.
  bool GiveUp(AsyncTicket& ticket);
  // Runs at once what this thread keeps for the end of the callback that it is in.
  static void DeliverDeferred();
  // Answers one that does not have to wait, as if it had.
  static void DeliverAtOnce(const std::shared_ptr<AsyncTicket>& ticket, Admission answer);

  // Somebody made room, or it became known that there is some.
  void Wake(Deliver how = Deliver::kHere);
  // Refuses all with kDraining, and whoever comes later.
  void Close(Deliver how);

  // Whether a newcomer of this class would overtake somebody.
  bool Blocks(std::uint32_t priority) const;
  QueueStats stats() const;

  // Waiting threads look at the clock again: clocks that jump do not tell.
  void LookAgain();

 private:
  using Answered = std::deque<std::shared_ptr<AsyncTicket>>;
  class Pool;

  PermitQueue() = default;

  void Attach(QueueOwner& owner, const QueueOptions& options, const Clock& clock, Timers& timers);
  Answered Join(Ticket& ticket, absl::Duration wait);
  Answered Sleep(BlockedTicket& ticket);
  void SetTimer(const std::shared_ptr<AsyncTicket>& ticket);
  void OnTimer(const std::shared_ptr<AsyncTicket>& ticket);

  void Enqueue(Ticket& ticket, absl::Duration wait) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveTurns() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool GiveTurn(Ticket& ticket, Instant now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool TimeIsUp(const Ticket& ticket, Instant now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SendAway(Ticket& ticket) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Refuse(Ticket& ticket, Rejection why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Answer(Ticket& ticket, Admission answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static void Hand(Answered answered, Deliver how, Timers& timers);
  static void DeliverHere(Answered answered);
  static void DeliverAll(Answered& answered);
  // What a thread is delivering; null if it is not.
  static Answered*& Delivering();

  mutable Mutex mutex_;
  QueueOwner* owner_ ABSL_GUARDED_BY(mutex_) = nullptr;  // null while unused
  const Clock* clock_ ABSL_GUARDED_BY(mutex_) = nullptr;
  Timers* timers_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::optional<WaitQueue> queue_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool told_ ABSL_GUARDED_BY(mutex_) = false;  // those who leave know that somebody waits
  Answered answered_ ABSL_GUARDED_BY(mutex_);  // callbacks to be run once the lock is released
  QueueStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::internal
