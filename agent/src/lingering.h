#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "agent/src/thread_stripe.h"

namespace plimsoll::internal {

// Says that a thread still writes to an object after it has given up what kept that alive: begins
// before the thread gives up, by an atomic operation with release order, and whoever wants to
// delete the object asks At() after an operation with acquire order on the same word. A hazard
// pointer whose fence is the operation that is there anyway. One at a time for each thread, so
// nothing that may linger is called meanwhile. In a forked child the lingering of other threads
// never ends.
class Lingering {
 public:
  // `stripe` is the calling thread's own, not kNoStripe.
  Lingering(int stripe, const void* object) : place_(places_[static_cast<std::size_t>(stripe)].at) {
    place_.store(object, std::memory_order_relaxed);
  }
  Lingering(const Lingering&) = delete;
  Lingering& operator=(const Lingering&) = delete;

  // Once. The object must not be touched afterwards.
  void End() const { place_.store(nullptr, std::memory_order_release); }

  // False: no thread does, and none will, as nothing keeps the object alive any more.
  static bool At(const void* object) {
    for (const Place& place : places_) {
      if (place.at.load(std::memory_order_acquire) == object) return true;
    }
    return false;
  }

 private:
  struct alignas(64) Place {
    std::atomic<const void*> at;
  };
  static inline constinit std::array<Place, kThreadStripes> places_;

  std::atomic<const void*>& place_;
};

}  // namespace plimsoll::internal
