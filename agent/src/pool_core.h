#pragma once

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/src/fork_registry.h"
#include "agent/src/pool_entry.h"
#include "agent/src/timers.h"
#include "plimsoll/agent/thread_pool.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// The queue of a thread pool and the books of its tasks; the threads are elsewhere. A deadline is
// enforced by whoever comes first: the timer, the caller that waits, the thread that begins.
// Thread-safe.
class PoolCore final : public std::enable_shared_from_this<PoolCore>, private ForkObserver {
 public:
  // `clock` and `timers` must outlive the last call of a caller, not only the pool.
  PoolCore(const ThreadPoolOptions& options, const Clock& clock, Timers& timers);
  ~PoolCore() override;

  // Puts it into the queue, or refuses it: see its phase.
  std::shared_ptr<PoolEntry> Enqueue(const CallOptions& options, std::shared_ptr<PoolTask> task,
                                     CallSite site);

  // For the pool's threads: waits for a task; null if there will be none. Then Begin() or Refuse(),
  // and if Begin() said so, Judge() and Finish(). The permit ends in between, so that who has the
  // result finds the place free.
  std::shared_ptr<PoolEntry> Next();
  // False: it must not run any more, and is done with.
  bool Begin(const std::shared_ptr<PoolEntry>& entry);
  void Refuse(const std::shared_ptr<PoolEntry>& entry, Rejection rejection);
  // What its bulkhead is told, if it returned this, or threw.
  Outcome Judge(PoolEntry& entry, std::optional<Outcome> outcome);
  void Finish(const std::shared_ptr<PoolEntry>& entry, int retries_used);

  // For callers.
  TaskEnd Wait(PoolEntry& entry);
  std::optional<Rejection> RejectionOf(const PoolEntry& entry) const;
  void Cancel(PoolEntry& entry);

  absl::Status Drain(absl::Duration timeout);
  // Lets the threads end when the queue is empty.
  void Stop();
  ThreadPoolStats Stats() const;
  // In a child after fork() there are no threads, and the lock may be held for ever.
  bool InChild() const { return ForkGeneration() != generation_; }

 private:
  using EntryPtr = std::shared_ptr<PoolEntry>;

  CallOptions WithDeadline(const CallOptions& options) const;
  std::optional<Rejection> WhyNot(const PoolEntry& entry) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Reject(PoolEntry& entry, Rejection rejection) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Settle(PoolEntry& entry, PoolPhase phase) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Dequeue(const PoolEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveThreadBack(const EntryPtr& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True: the task runs, and must be asked to stop, without the lock.
  bool RunOut(PoolEntry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnTimer(PoolEntry& entry);
  bool WaitUntilIdle(absl::Duration timeout) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  Timers& timers_;
  const absl::Duration timeout_;
  const std::size_t threads_;
  const std::size_t room_;  // threads and places in the queue
  const int generation_;

  mutable Mutex mutex_;
  CondVar work_;
  CondVar idle_;
  std::deque<EntryPtr> queue_ ABSL_GUARDED_BY(mutex_);
  std::set<EntryPtr> busy_ ABSL_GUARDED_BY(mutex_);  // starting or running
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  ThreadPoolStats stats_ ABSL_GUARDED_BY(mutex_);  // but for running and queued
};

}  // namespace plimsoll::internal
