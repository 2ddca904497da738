#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plimsoll/core/histogram.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// How calls ended, counted since the beginning and never reset: a window is the difference of two
// readings, so a count that comes late lands in the next window and none is lost. Successes and
// drops have a histogram each; that makes an ending one atomic addition, and no number has to be
// derived from two that were read at different times. Thread-safe.
class CallCounters {
 public:
  using Buckets = std::array<std::atomic<std::uint64_t>, LatencyHistogram::kBuckets>;

  void CountSuccess(std::int64_t latency_ns) { Count(succeeded_, latency_ns); }
  void CountDrop(std::int64_t latency_ns) { Count(dropped_, latency_ns); }
  void CountIgnored() { ignored_.fetch_add(1, std::memory_order_relaxed); }
  void CountLeaked() { leaked_.fetch_add(1, std::memory_order_relaxed); }
  void CountOverrun() { overran_.fetch_add(1, std::memory_order_relaxed); }

  std::uint64_t succeeded(std::size_t bucket) const { return Read(succeeded_[bucket]); }
  std::uint64_t dropped(std::size_t bucket) const { return Read(dropped_[bucket]); }
  std::int64_t ignored() const { return Read(ignored_); }
  std::int64_t leaked() const { return Read(leaked_); }
  std::int64_t overran() const { return Read(overran_); }

 private:
  template <typename T>
  static T Read(const std::atomic<T>& counter) {
    return counter.load(std::memory_order_relaxed);
  }
  static void Count(Buckets& buckets, std::int64_t latency_ns) {
    buckets[LatencyHistogram::BucketOf(latency_ns)].fetch_add(1, std::memory_order_relaxed);
  }

  std::atomic<std::int64_t> ignored_{0};
  std::atomic<std::int64_t> leaked_{0};
  std::atomic<std::int64_t> overran_{0};
  Buckets succeeded_{};
  Buckets dropped_{};
};

// Refused calls by reason, counted since the beginning. Thread-safe.
class RejectCounters {
 public:
  void Count(RejectReason reason) {
    counts_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }
  std::int64_t operator[](std::size_t reason) const {
    return counts_[reason].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::int64_t>, kRejectReasons> counts_{};
};

// How long the calls in flight were at the limit. An approximation: two threads that pass the
// limit in opposite directions at the same instant may leave it running, or stopped, until the next
// call ends. Touched only while the limit is reached. Thread-safe.
class TimeAtLimit {
 public:
  bool running() const { return since_ns_.load(std::memory_order_relaxed) != kStopped; }

  void Start(Instant at) {
    if (!running()) since_ns_.store(at.ns, std::memory_order_relaxed);
  }
  void Stop(Instant at) {
    const std::int64_t since = since_ns_.exchange(kStopped, std::memory_order_relaxed);
    if (since != kStopped && at.ns > since) {
      total_ns_.fetch_add(at.ns - since, std::memory_order_relaxed);
    }
  }
  std::int64_t TotalNs(Instant at) const {
    const std::int64_t since = since_ns_.load(std::memory_order_relaxed);
    const std::int64_t running_ns = since == kStopped || at.ns < since ? 0 : at.ns - since;
    return total_ns_.load(std::memory_order_relaxed) + running_ns;
  }

 private:
  static constexpr std::int64_t kStopped = INT64_MIN;

  std::atomic<std::int64_t> since_ns_{kStopped};
  std::atomic<std::int64_t> total_ns_{0};
};

}  // namespace plimsoll::internal
