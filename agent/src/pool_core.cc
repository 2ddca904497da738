#include "agent/src/pool_core.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/src/longest_nap.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll::internal {
namespace {

bool IsSettled(PoolPhase phase) {
  return phase == PoolPhase::kDone || phase == PoolPhase::kRefused ||
         phase == PoolPhase::kCancelled;
}

}  // namespace

PoolCore::PoolCore(const ThreadPoolOptions& options, const Clock& clock, Timers& timers)
    : clock_(clock),
      timers_(timers),
      timeout_(absl::FromChrono(options.timeout)),
      threads_(static_cast<std::size_t>(options.threads)),
      room_(threads_ + static_cast<std::size_t>(options.queue_capacity)),
      generation_((RegisterForkObserver(*this), ForkGeneration())) {}

PoolCore::~PoolCore() { UnregisterForkObserver(*this); }

CallOptions PoolCore::WithDeadline(const CallOptions& options) const {
  CallOptions cut = options;
  const Deadline own = Deadline::FromLeaseClock((clock_.Now() + timeout_).ns);
  cut.deadline = std::min({cut.deadline, Deadline::Current(), own});
  return cut;
}

std::shared_ptr<PoolEntry> PoolCore::Enqueue(const CallOptions& options,
                                             std::shared_ptr<PoolTask> task, CallSite site) {
  auto entry = std::make_shared<PoolEntry>(shared_from_this(), std::move(task),
                                           WithDeadline(options), site, RetryScope::Left());
  if (InChild()) {
    entry->phase = PoolPhase::kRefused;
    entry->rejection = Rejection::kDraining;
    return entry;
  }
  const MutexLock lock(mutex_);
  if (const std::optional<Rejection> why = WhyNot(*entry)) {
    Reject(*entry, *why);
    return entry;
  }
  queue_.push_back(entry);
  entry->timer = timers_.Schedule(entry->deadline(), [entry] { entry->core->OnTimer(*entry); });
  work_.NotifyOne();
  return entry;
}

std::optional<Rejection> PoolCore::WhyNot(const PoolEntry& entry) const {
  if (draining_) return Rejection::kDraining;
  if (clock_.Now() >= entry.deadline()) return Rejection::kDeadline;
  if (queue_.size() + busy_.size() >= room_) return Rejection::kQueueFull;
  return std::nullopt;
}

void PoolCore::Reject(PoolEntry& entry, Rejection rejection) {
  entry.rejection = rejection;
  Settle(entry, PoolPhase::kRefused);
  switch (rejection) {
    case Rejection::kQueueFull:
      ++stats_.rejected_queue_full;
      break;
    case Rejection::kDeadline:
      ++stats_.rejected_deadline;
      break;
    case Rejection::kDraining:
      ++stats_.rejected_draining;
      break;
    default:
      ++stats_.rejected_bulkhead;
      break;
  }
}

void PoolCore::Settle(PoolEntry& entry, PoolPhase phase) {
  entry.phase = phase;
  timers_.Cancel(std::exchange(entry.timer, kNoTimer));
  entry.changed.NotifyAll();
}

void PoolCore::Dequeue(const PoolEntry& entry) {
  std::erase_if(queue_, [&](const EntryPtr& queued) { return queued.get() == &entry; });
  if (queue_.empty() && busy_.empty()) idle_.NotifyAll();
}

std::shared_ptr<PoolEntry> PoolCore::Next() {
  const MutexLock lock(mutex_);
  while (queue_.empty()) {
    if (stopping_) return nullptr;
    work_.Wait(mutex_);
  }
  EntryPtr entry = std::move(queue_.front());
  queue_.pop_front();
  entry->phase = PoolPhase::kStarting;
  busy_.insert(entry);
  return entry;
}

bool PoolCore::Begin(const EntryPtr& entry) {
  const MutexLock lock(mutex_);
  if (!IsSettled(entry->phase) && clock_.Now() >= entry->deadline()) RunOut(*entry);
  if (IsSettled(entry->phase)) {
    GiveThreadBack(entry);
    return false;
  }
  entry->phase = PoolPhase::kRunning;
  ++stats_.started;
  return true;
}

void PoolCore::Refuse(const EntryPtr& entry, Rejection rejection) {
  const MutexLock lock(mutex_);
  if (!IsSettled(entry->phase)) Reject(*entry, rejection);
  GiveThreadBack(entry);
}

Outcome PoolCore::Judge(PoolEntry& entry, std::optional<Outcome> outcome) {
  const MutexLock lock(mutex_);
  if (!outcome.has_value()) ++stats_.failed;
  if (clock_.Now() >= entry.deadline()) RunOut(entry);
  return entry.late ? Outcome::kTimeout : outcome.value_or(Outcome::kError);
}

void PoolCore::Finish(const EntryPtr& entry, int retries_used) {
  const MutexLock lock(mutex_);
  if (entry->late) --stats_.hung;
  entry->retries_used = retries_used;
  Settle(*entry, PoolPhase::kDone);
  GiveThreadBack(entry);
}

void PoolCore::GiveThreadBack(const EntryPtr& entry) {
  busy_.erase(entry);
  if (queue_.empty() && busy_.empty()) idle_.NotifyAll();
}

bool PoolCore::RunOut(PoolEntry& entry) {
  switch (entry.phase) {
    case PoolPhase::kQueued:
      Dequeue(entry);
      Reject(entry, Rejection::kDeadline);
      return false;
    case PoolPhase::kStarting:
      Reject(entry, Rejection::kDeadline);
      return false;
    case PoolPhase::kRunning:
      if (std::exchange(entry.late, true)) return false;
      ++stats_.overran;
      ++stats_.hung;
      entry.changed.NotifyAll();
      return true;
    case PoolPhase::kDone:
    case PoolPhase::kRefused:
    case PoolPhase::kCancelled:
      return false;
  }
  return false;
}

void PoolCore::OnTimer(PoolEntry& entry) {
  bool stop = false;
  {
    const MutexLock lock(mutex_);
    stop = RunOut(entry);
  }
  if (stop) entry.stop.request_stop();
}

// Looks at the clock itself, so that it does not depend on a timer thread that is held up.
TaskEnd PoolCore::Wait(PoolEntry& entry) {
  if (InChild()) return TaskEnd::kRefused;
  {
    const MutexLock lock(mutex_);
    while (!IsSettled(entry.phase) && !entry.late) {
      const absl::Duration left = entry.deadline() - clock_.Now();
      if (left <= absl::ZeroDuration()) break;
      entry.changed.WaitFor(mutex_, std::min(left, kLongestNap));
    }
  }
  OnTimer(entry);
  const MutexLock lock(mutex_);
  // What a task that still runs will use is not known, so all it has is counted.
  const bool returned = entry.phase == PoolPhase::kDone;
  if ((returned || entry.late) && entry.retries != RetryScope::kUnlimited) {
    RetryScope::Take(returned ? entry.retries_used : entry.retries);
  }
  if (entry.late) return TaskEnd::kTimeout;
  if (returned) return TaskEnd::kDone;
  return entry.phase == PoolPhase::kCancelled ? TaskEnd::kCancelled : TaskEnd::kRefused;
}

std::optional<Rejection> PoolCore::RejectionOf(const PoolEntry& entry) const {
  if (InChild()) return Rejection::kDraining;
  const MutexLock lock(mutex_);
  return entry.rejection;
}

void PoolCore::Cancel(PoolEntry& entry) {
  if (InChild()) return;
  {
    const MutexLock lock(mutex_);
    if (entry.phase == PoolPhase::kQueued) Dequeue(entry);
    if (entry.phase == PoolPhase::kQueued || entry.phase == PoolPhase::kStarting) {
      Settle(entry, PoolPhase::kCancelled);
      ++stats_.cancelled;
    }
  }
  entry.stop.request_stop();
}

absl::Status PoolCore::Drain(absl::Duration timeout) {
  if (InChild()) return absl::FailedPreconditionError("a thread pool ends with fork()");
  std::deque<EntryPtr> queued;
  std::set<EntryPtr> busy;
  {
    const MutexLock lock(mutex_);
    draining_ = true;
    if (WaitUntilIdle(timeout)) return absl::OkStatus();
    queued.swap(queue_);
    for (const EntryPtr& entry : queued) Reject(*entry, Rejection::kDraining);
    busy = busy_;
  }
  for (const EntryPtr& entry : busy) entry->stop.request_stop();
  return absl::DeadlineExceededError(
      absl::StrCat(busy.size(), " tasks still run, ", queued.size(), " in the queue were refused"));
}

bool PoolCore::WaitUntilIdle(absl::Duration timeout) {
  const Instant end = clock_.Now() + timeout;
  while (!queue_.empty() || !busy_.empty()) {
    const absl::Duration left = end - clock_.Now();
    if (left <= absl::ZeroDuration()) return false;
    idle_.WaitFor(mutex_, std::min(left, kLongestNap));
  }
  return true;
}

void PoolCore::Stop() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  work_.NotifyAll();
}

ThreadPoolStats PoolCore::Stats() const {
  if (InChild()) return {};
  const MutexLock lock(mutex_);
  ThreadPoolStats stats = stats_;
  stats.queued = static_cast<int>(queue_.size());
  stats.running = static_cast<int>(busy_.size());
  return stats;
}

}  // namespace plimsoll::internal
