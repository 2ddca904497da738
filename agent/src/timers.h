#pragma once

#include <cstdint>
#include <functional>

#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Names a timer of one Timers, and after its end no other for the next 2^32 timers of its place.
using TimerId = std::uint64_t;
inline constexpr TimerId kNoTimer = 0;

using TimerCallback = std::function<void()>;

// Runs something later. What needs it takes this, so that tests can run timers by hand.
// Implementations are thread-safe.
class Timers {
 public:
  virtual ~Timers() = default;

  // Runs `callback` once, at `at` or soon afterwards, never before Schedule() has returned on the
  // same thread. Of two, the one with the earlier `at` runs first; of equals, the one that was
  // scheduled first. kNoTimer if it never will, since the system has no thread left.
  //
  // The callback must neither throw nor fork, and not take long: all others wait for it. It may
  // schedule and cancel. Nothing of the implementation is locked while it runs or is destroyed.
  [[nodiscard]] virtual TimerId Schedule(Instant at, TimerCallback callback) = 0;

  // True: the callback has not run and never will. False: it has begun, has ended, or never was. It
  // may then still be running, so what it uses must be its own: capture a shared_ptr.
  virtual bool Cancel(TimerId timer) = 0;
};

}  // namespace plimsoll::internal
