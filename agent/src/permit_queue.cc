#include "agent/src/permit_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/src/fork_registry.h"
#include "agent/src/longest_nap.h"
#include "agent/src/sync_point.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
// Queues that nobody uses. In a forked child they are forgotten: a thread that is not there any
// more may have been looking at one.
class PermitQueue::Pool final : private ForkObserver {
 public:
  Pool() { RegisterForkObserver(*this); }

  PermitQueue& Take() {
    const MutexLock lock(mutex_);
    if (unused_.empty()) return *new PermitQueue;
    PermitQueue* const queue = unused_.back();
    unused_.pop_back();
    return *queue;
  }
  void Put(PermitQueue& queue) {
    const MutexLock lock(mutex_);
    unused_.push_back(&queue);
  }

  // Never destroyed: permits with static storage may end after it would be.
  static Pool& Shared() {
    static auto* const pool = new Pool;
    return *pool;
  }

 private:
  void BeforeFork() override ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void AfterFork() override ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }
  void InForkedChild() override {
    const MutexLock lock(mutex_);
    unused_.clear();
  }

  Mutex mutex_;
  std::vector<PermitQueue*> unused_ ABSL_GUARDED_BY(mutex_);
};

PermitQueue& PermitQueue::Take(QueueOwner& owner, const QueueOptions& options, const Clock& clock,
                               Timers& timers) {
  PermitQueue& queue = Pool::Shared().Take();
  queue.Attach(owner, options, clock, timers);
  return queue;
}

void PermitQueue::Attach(QueueOwner& owner, const QueueOptions& options, const Clock& clock,
                         Timers& timers) {
  const MutexLock lock(mutex_);
  owner_ = &owner;
  clock_ = &clock;
  timers_ = &timers;
  queue_.emplace(options);
  closed_ = false;
  stats_ = QueueStats();
}

void PermitQueue::GiveBack() {
  {
    const MutexLock lock(mutex_);
    PLIMSOLL_CHECK(closed_ && queue_->empty(), "an owner that goes has refused all who waited");
    owner_ = nullptr;
    queue_.reset();
  }
  Pool::Shared().Put(*this);
}

Admission PermitQueue::Wait(const CallRequest& request, absl::Duration wait) {
  BlockedTicket ticket(request);
  Reach(SyncPoint::kRefused);
  DeliverHere(Join(ticket, wait));
  DeliverHere(Sleep(ticket));
  Reach(SyncPoint::kAwake);
  Admission answer = *std::move(ticket.answer);
  return answer ? ticket.owner->Recheck(request, std::move(answer)) : std::move(answer);
}

// Others whose answers came up meanwhile.
PermitQueue::Answered PermitQueue::Join(Ticket& ticket, absl::Duration wait) {
  const MutexLock lock(mutex_);
  Enqueue(ticket, wait);
  return std::exchange(answered_, {});
}

PermitQueue::Answered PermitQueue::Sleep(BlockedTicket& ticket) {
  const MutexLock lock(mutex_);
  while (!ticket.answer.has_value()) {
    const absl::Duration left = LastUse(ticket, owner_->CallTime()) - clock_->Now();
    if (left <= absl::ZeroDuration()) {
      SendAway(ticket);
      GiveTurns();
      break;
    }
    ticket.condition.WaitFor(mutex_, std::min(left, kLongestNap));
  }
  return std::exchange(answered_, {});
}

void PermitQueue::WaitAsync(const std::shared_ptr<AsyncTicket>& ticket, absl::Duration wait) {
  Reach(SyncPoint::kRefused);
  ticket->self = ticket;
  DeliverHere(Join(*ticket, wait));
  SetTimer(ticket);
}

// The lock is not held while a timer is set: during a fork the timers are locked, too.
void PermitQueue::SetTimer(const std::shared_ptr<AsyncTicket>& ticket) {
  Instant at;
  {
    const MutexLock lock(mutex_);
    if (!ticket->standing) return;
    at = LastUse(*ticket, owner_->CallTime());
    ticket->timers = timers_;
  }
  if (at == kInfiniteFuture) return;
  const TimerId timer = ticket->timers->Schedule(at, [this, ticket] { OnTimer(ticket); });
  ticket->timer.store(timer, std::memory_order_release);
  Answered answered;
  {
    const MutexLock lock(mutex_);
    if (ticket->standing && timer != kNoTimer) return;
    if (ticket->standing) {  // nothing could end its wait
      SendAway(*ticket);
      GiveTurns();
    }
    answered = std::exchange(answered_, {});
  }
  ticket->timers->Cancel(timer);
  DeliverHere(std::move(answered));
}

void PermitQueue::OnTimer(const std::shared_ptr<AsyncTicket>& ticket) {
  Reach(SyncPoint::kTimer);
  Answered answered;
  {
    const MutexLock lock(mutex_);
    if (!ticket->standing) return;
    if (TimeIsUp(*ticket, clock_->Now())) {
      SendAway(*ticket);
      GiveTurns();
    }
    answered = std::exchange(answered_, {});
  }
  DeliverHere(std::move(answered));
  SetTimer(ticket);  // if it stands on, since calls have become quicker
}

bool PermitQueue::GiveUp(AsyncTicket& ticket) {
  Answered answered;
  std::shared_ptr<AsyncTicket> self;
  {
    const MutexLock lock(mutex_);
    if (ticket.standing) {
      queue_->Remove(ticket);
      self = std::move(ticket.self);
      GiveTurns();
    }
    answered = std::exchange(answered_, {});
  }
  DeliverHere(std::move(answered));
  const bool ours = ticket.Claim();
  if (const TimerId timer = ticket.timer.load(std::memory_order_acquire); timer != kNoTimer) {
    ticket.timers->Cancel(timer);
  }
  if (ours && ticket.answer.has_value() && *ticket.answer) (*ticket.answer)->Ignore();
  return ours;
}

void PermitQueue::DeliverAtOnce(const std::shared_ptr<AsyncTicket>& ticket, Admission answer) {
  ticket->answer.emplace(std::move(answer));
  DeliverHere({ticket});
}

void PermitQueue::Wake(Deliver how) {
  Answered answered;
  Timers* timers = nullptr;
  {
    const MutexLock lock(mutex_);
    if (owner_ == nullptr) return;
    GiveTurns();
    answered = std::exchange(answered_, {});
    timers = timers_;
  }
  Hand(std::move(answered), how, *timers);
}

void PermitQueue::Close(Deliver how) {
  Answered answered;
  Timers* timers = nullptr;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    const Instant now = clock_->Now();
    while (Waiter* next = queue_->Next(now)) {
      queue_->Remove(*next);
      Refuse(static_cast<Ticket&>(*next), Rejection::kDraining);
    }
    GiveTurns();  // to nobody: those who leave need not tell any more
    answered = std::exchange(answered_, {});
    timers = timers_;
  }
  Hand(std::move(answered), how, *timers);
}

void PermitQueue::LookAgain() {
  const MutexLock lock(mutex_);
  if (!queue_.has_value()) return;
  queue_->ForEach([](Waiter& waiter) { static_cast<Ticket&>(waiter).LookAgain(); });
}

bool PermitQueue::Blocks(std::uint32_t priority) const {
  const MutexLock lock(mutex_);
  return queue_.has_value() && queue_->Blocks(priority);
}

QueueStats PermitQueue::stats() const {
  const MutexLock lock(mutex_);
  QueueStats stats = stats_;
  if (queue_.has_value()) {
    stats.waiting = queue_->units();
    stats.oldest = queue_->oldest();
  }
  return stats;
}

void PermitQueue::Enqueue(Ticket& ticket, absl::Duration wait) {
  ticket.owner = owner_;
  if (closed_) return Refuse(ticket, Rejection::kDraining);
  const Instant now = clock_->Now();
  ticket.leaves = now + wait;
  if (TimeIsUp(ticket, now)) return Refuse(ticket, Rejection::kDeadline);
  if (Waiter* gone = queue_->Push(ticket, now)) {
    Refuse(static_cast<Ticket&>(*gone), Rejection::kQueueFull);
    if (gone == &ticket) return;
  }
  if (!std::exchange(told_, true)) owner_->TellWhoLeaves(true);
  stats_.waiting_max = std::max(stats_.waiting_max, queue_->units());
  GiveTurns();
}

void PermitQueue::GiveTurns() {
  const Instant now = clock_->Now();
  while (Waiter* next = queue_->Next(now)) {
    if (!GiveTurn(static_cast<Ticket&>(*next), now)) break;
  }
  if (queue_->empty() && std::exchange(told_, false)) owner_->TellWhoLeaves(false);
}

// Returns false if there is no room for it.
bool PermitQueue::GiveTurn(Ticket& ticket, Instant now) {
  if (TimeIsUp(ticket, now)) {
    SendAway(ticket);
    return true;
  }
  if (!owner_->HasRoom(ticket.request, now)) return false;
  Reach(SyncPoint::kTurn);
  if (!queue_->Allows(ticket, now)) {
    queue_->Take(ticket, now);
    stats_.timed_out += ticket.cost;
    Refuse(ticket, Rejection::kDeadline);
    return true;
  }
  std::optional<Admission> admission = owner_->TryTurn(ticket.request);
  if (!admission.has_value()) return false;
  queue_->Take(ticket, now);
  if (!*admission) {
    Refuse(ticket, admission->rejection());
    return true;
  }
  stats_.waited += ticket.cost;
  stats_.waits[LatencyHistogram::BucketOf(absl::ToInt64Nanoseconds(now - ticket.since))] +=
      ticket.cost;
  Answer(ticket, *std::move(admission));
  return true;
}

bool PermitQueue::TimeIsUp(const Ticket& ticket, Instant now) const {
  return now >= LastUse(ticket, owner_->CallTime());
}

void PermitQueue::SendAway(Ticket& ticket) {
  queue_->Remove(ticket);
  stats_.timed_out += ticket.cost;
  Refuse(ticket, Rejection::kDeadline);
}

void PermitQueue::Refuse(Ticket& ticket, Rejection why) {
  owner_->CountRefusal(ticket.request, why);
  Answer(ticket, why);
}

// The last touch of a ticket: the caller may be gone with it as soon as the lock is released.
void PermitQueue::Answer(Ticket& ticket, Admission answer) {
  ticket.answer.emplace(std::move(answer));
  if (auto ready = ticket.OnAnswer()) answered_.push_back(std::move(ready));
}

void PermitQueue::Hand(Answered answered, Deliver how, Timers& timers) {
  if (answered.empty()) return;
  if (how == Deliver::kHere) return DeliverHere(std::move(answered));
  const auto shared = std::make_shared<Answered>(std::move(answered));
  const TimerId timer =
      timers.Schedule(Instant{}, [shared] { DeliverHere(std::exchange(*shared, {})); });
  if (timer == kNoTimer) DeliverHere(std::exchange(*shared, {}));
}

// One after the other: what comes up while a callback runs in this thread has to wait for its end.
void PermitQueue::DeliverHere(Answered answered) {
  Answered*& delivering = Delivering();
  if (delivering != nullptr) {
    std::ranges::move(answered, std::back_inserter(*delivering));
    return;
  }
  if (answered.empty()) return;
  delivering = &answered;
  DeliverAll(answered);
  delivering = nullptr;
}

void PermitQueue::DeliverDeferred() {
  if (Delivering() != nullptr) DeliverAll(*Delivering());
}

void PermitQueue::DeliverAll(Answered& answered) {
  while (!answered.empty()) {
    const std::shared_ptr<AsyncTicket> ticket = std::move(answered.front());
    answered.pop_front();
    AsyncTicket::Deliver(ticket);
  }
}

PermitQueue::Answered*& PermitQueue::Delivering() {
  static thread_local Answered* delivering = nullptr;
  return delivering;
}

}  // namespace plimsoll::internal
