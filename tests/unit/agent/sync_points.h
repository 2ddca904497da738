#pragma once

#include <atomic>
#include <thread>

#include "agent/src/sync_point.h"

namespace plimsoll {

// Holds the first thread that comes to one place until it is let go; later ones pass. One at a time
// in a process; not while threads are about that may be in the hook when it ends.
class HeldAt {
 public:
  explicit HeldAt(internal::SyncPoint point) {
    state_ = State::kOpen;
    point_ = point;
    internal::sync_point_hook = &OnReach;
  }
  ~HeldAt() {
    LetGo();
    internal::sync_point_hook = nullptr;
  }
  HeldAt(const HeldAt&) = delete;
  HeldAt& operator=(const HeldAt&) = delete;

  // Until a thread is there.
  void Await() {
    while (state_ != State::kHeld) std::this_thread::yield();
  }
  void LetGo() { state_ = State::kPassed; }

 private:
  enum class State { kOpen, kHeld, kPassed };

  static void OnReach(internal::SyncPoint point) {
    State open = State::kOpen;
    if (point != point_ || !state_.compare_exchange_strong(open, State::kHeld)) return;
    while (state_ == State::kHeld) std::this_thread::yield();
  }

  static inline std::atomic<State> state_{State::kPassed};
  static inline std::atomic<internal::SyncPoint> point_{};
};

}  // namespace plimsoll
