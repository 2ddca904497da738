#pragma once

#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "agent/src/fork_registry.h"
#include "agent/src/timer_heap.h"
#include "agent/src/timers.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// Runs timers on one thread of its own, which the first timer starts and which blocks all signals.
// A callback that throws ends the process. In a forked child the parent's timers never run, and the
// child's first one starts a thread again. Thread-safe.
class TimerThread final : public Timers, private ForkObserver {
 public:
  // `clock` must outlive it.
  explicit TimerThread(const Clock& clock);
  // Timers that are not due yet never run. Waits for a callback that does; so never from one.
  ~TimerThread() override;

  TimerId Schedule(Instant at, TimerCallback callback) override;
  bool Cancel(TimerId timer) override;

  // Makes the thread look at its clock again: clocks that jump do not tell.
  void Wake();
  // Whether there has been a timer in this process.
  bool started() const;

 private:
  // What belongs to one process.
  struct State {
    TimerHeap heap;
    CondVar changed;
    std::thread thread;
    bool posted = false;
    bool stop = false;
  };

  // ForkObserver:
  void BeforeFork() override;
  void AfterFork() override;
  void InForkedChild() override;

  bool StartOnce() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Post() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  TimerCallback WaitForDue();

  const Clock& clock_;

  mutable Mutex mutex_;
  std::unique_ptr<State> state_ ABSL_GUARDED_BY(mutex_);  // null before the first timer
};

// The timers of this process, on the real clock. Never destroyed.
Timers& SharedTimers();

}  // namespace plimsoll::internal
