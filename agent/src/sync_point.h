#pragma once

#include <atomic>

namespace plimsoll::internal {

// Places where a test may hold a thread, to force what else happens only once in a million runs.
// All but kTenant are on ways that take a lock anyway; none is on the way of a call without a
// tenant that finds room while nobody waits.
enum class SyncPoint {
  kTenant,   // a call has read the limit and is within its tenant's cap, but has not entered yet
  kRefused,  // a call found no room and is about to queue; nothing is locked
  kLeft,     // a call has left, knows that somebody waits, and has woken nobody yet
  kTurn,     // somebody's turn has come and it is about to be let in; the queue is locked
  kTimer,    // the timer of a waiter has begun; nothing is locked
  kBeforeClaim,  // an answer is about to be delivered to a callback; nothing is locked
  kAwake,        // a thread that waited has its answer and has not looked at the clock again
};

// Null but in tests.
inline std::atomic<void (*)(SyncPoint)> sync_point_hook{nullptr};

inline void Reach(SyncPoint point) {
  if (auto* const hook = sync_point_hook.load(std::memory_order_acquire)) [[unlikely]] {
    hook(point);
  }
}

}  // namespace plimsoll::internal
