#pragma once

#include "absl/base/thread_annotations.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// Lets one thread wait until others are done. Thread-safe.
class Countdown {
 public:
  explicit Countdown(int count) : count_(count) {}

  void Done() {
    const MutexLock lock(mutex_);
    --count_;
    changed_.NotifyAll();
  }
  void Wait() {
    const MutexLock lock(mutex_);
    while (count_ > 0) changed_.Wait(mutex_);
  }
  void WaitUntil(Instant deadline, const Clock& clock) {
    const MutexLock lock(mutex_);
    for (Instant now = clock.Now(); count_ > 0 && now < deadline; now = clock.Now()) {
      changed_.WaitFor(mutex_, deadline - now);
    }
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace plimsoll::internal
