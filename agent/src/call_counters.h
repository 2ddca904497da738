#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/src/sample_cells.h"
#include "agent/src/thread_stripe.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/agent/outcome.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// How calls ended, counted since the beginning and never reset: a window is the difference of two
// readings, so a count that comes late lands in the next window and none is lost. Successes and
// drops have a histogram each, so no number has to be derived from two that were read at different
// times; a success is mostly counted in a cell of its thread, without an atomic addition. The rarer
// kinds of each cost one addition more. Everything counts as many as the call has units.
// Thread-safe.
class CallCounters {
 public:
  using Buckets = std::array<std::atomic<std::uint64_t>, LatencyHistogram::kBuckets>;

  void Count(Outcome outcome, std::int64_t latency_ns, Calls units) {
    switch (outcome) {
      case Outcome::kError:
        Add(errors_, units);
        [[fallthrough]];
      case Outcome::kSuccess:
        return CountSuccess(ThreadStripe(), latency_ns, units);
      case Outcome::kTimeout:
        Add(timeouts_, units);
        [[fallthrough]];
      case Outcome::kOverload:
        return AddSample(dropped_, latency_ns, units);
      case Outcome::kCancelled:
        Add(cancelled_, units);
        [[fallthrough]];
      case Outcome::kIgnored:
        return Add(ignored_, units);
    }
  }
  // kSuccess, by the thread of this stripe.
  void CountSuccess(int stripe, std::int64_t latency_ns, Calls units) {
    const std::size_t bucket = LatencyHistogram::BucketOf(latency_ns);
    if (stripe != kNoStripe && cells_.Count(stripe, bucket, units)) [[likely]]
      return;
    succeeded_[bucket].fetch_add(static_cast<std::uint64_t>(units), std::memory_order_relaxed);
  }
  void CountLeaked(Calls units) { Add(leaked_, units); }
  void CountOverrun(Calls units) { Add(overran_, units); }

  std::uint64_t succeeded(std::size_t bucket) const {
    return Read(succeeded_[bucket]) + cells_.count(bucket);
  }
  std::uint64_t dropped(std::size_t bucket) const { return Read(dropped_[bucket]); }
  std::int64_t ignored() const { return Read(ignored_); }
  // Of the succeeded, of the dropped, of the ignored.
  std::int64_t errors() const { return Read(errors_); }
  std::int64_t timeouts() const { return Read(timeouts_); }
  std::int64_t cancelled() const { return Read(cancelled_); }
  std::int64_t leaked() const { return Read(leaked_); }
  std::int64_t overran() const { return Read(overran_); }

 private:
  template <typename T>
  static T Read(const std::atomic<T>& counter) {
    return counter.load(std::memory_order_relaxed);
  }
  static void Add(std::atomic<std::int64_t>& counter, Calls units) {
    counter.fetch_add(units, std::memory_order_relaxed);
  }
  static void AddSample(Buckets& buckets, std::int64_t latency_ns, Calls units) {
    buckets[LatencyHistogram::BucketOf(latency_ns)].fetch_add(static_cast<std::uint64_t>(units),
                                                              std::memory_order_relaxed);
  }

  std::atomic<std::int64_t> ignored_{0};
  std::atomic<std::int64_t> leaked_{0};
  std::atomic<std::int64_t> overran_{0};
  std::atomic<std::int64_t> errors_{0};
  std::atomic<std::int64_t> timeouts_{0};
  std::atomic<std::int64_t> cancelled_{0};
  Buckets succeeded_{};  // those without a cell
  Buckets dropped_{};
  SampleCells cells_;
};

// Units of refused calls by class and reason, counted since the beginning. Thread-safe.
class RejectCounters {
 public:
  void Count(RejectReason reason, std::size_t priority, Calls units) {
    counts_[priority][static_cast<std::size_t>(reason)].fetch_add(units, std::memory_order_relaxed);
  }
  // One unit of the first class, by the limit: what is refused most often, and has to cost nothing.
  void CountPlain() { plain_.Add(1); }

  std::int64_t of(std::size_t priority, std::size_t reason) const {
    const std::int64_t count = counts_[priority][reason].load(std::memory_order_relaxed);
    return priority == 0 && reason == kPlain ? count + static_cast<std::int64_t>(plain_.Read())
                                             : count;
  }
  // Of all classes.
  std::int64_t operator[](std::size_t reason) const {
    std::int64_t sum = 0;
    for (std::size_t priority = 0; priority < counts_.size(); ++priority) {
      sum += of(priority, reason);
    }
    return sum;
  }

 private:
  using ByReason = std::array<std::atomic<std::int64_t>, kRejectReasons>;
  static constexpr auto kPlain = static_cast<std::size_t>(RejectReason::kLimit);

  std::array<ByReason, kPriorityClassesMax> counts_{};
  StripedSum plain_;
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
