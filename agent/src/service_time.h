#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// How long half of the calls take now, from the median of each window, for refusing calls whose
// deadline is nearer than that. Cheap: it costs the request path one load, endings nothing.
//
// It follows a window by the share samples/8, whole from 8 samples on, so that one slow call of a
// quiet dependency does not decide. A window without a sample halves it: if everybody is refused
// because of it, it falls until somebody is admitted and gives a sample. (The time-out limiter of
// Apache brpc, src/brpc/policy/timeout_concurrency_limiter.cpp, has no such way back.)
//
// Learns on one thread at a time; readings are thread-safe.
class ServiceTime {
 public:
  void Learn(const Window& window) {
    const std::int64_t samples = window.completed();
    const std::int64_t before = ns();
    if (samples == 0) return Store(before / 2);
    const std::int64_t median = absl::ToInt64Nanoseconds(window.latency.Quantile(0.5));
    const std::int64_t weight = before == 0 ? kEnough : std::min(samples, kEnough);
    Store(before + (median - before) * weight / kEnough);
  }

  // 0 while nothing is known.
  std::int64_t ns() const { return ns_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kEnough = 8;

  void Store(std::int64_t ns) { ns_.store(ns, std::memory_order_relaxed); }

  std::atomic<std::int64_t> ns_{0};
};

}  // namespace plimsoll::internal
