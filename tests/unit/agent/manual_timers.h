#pragma once

#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "agent/src/timer_heap.h"
#include "agent/src/timers.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll {

// Timers that run when the test says so, on its thread. Thread-safe.
class ManualTimers final : public internal::Timers {
 public:
  internal::TimerId Schedule(Instant at, internal::TimerCallback callback) override {
    const MutexLock lock(mutex_);
    return heap_.Schedule(at, std::move(callback));
  }
  bool Cancel(internal::TimerId timer) override {
    std::optional<internal::TimerCallback> cancelled;
    const MutexLock lock(mutex_);
    cancelled = heap_.Cancel(timer);
    return cancelled.has_value();
  }

  // Runs what is due, and what becomes due by that. Returns how many ran.
  int RunDue(Instant now) {
    int ran = 0;
    for (; std::optional<internal::TimerCallback> due = Pop(now); ++ran) (*due)();
    return ran;
  }
  std::size_t size() const {
    const MutexLock lock(mutex_);
    return heap_.size();
  }

 private:
  std::optional<internal::TimerCallback> Pop(Instant now) {
    const MutexLock lock(mutex_);
    return heap_.PopDue(now);
  }

  mutable Mutex mutex_;
  internal::TimerHeap heap_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll
