#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace plimsoll {

// A latency histogram whose buckets grow with the logarithm of the latency: each power of two is
// divided into 16 equal parts. A value read back, the middle of its bucket, is off by at most
// 1/32 = 3.1 % between 512 ns and 137 s. Histograms of many agents merge by adding.
//
// It keeps the buckets from the lowest to the highest that was counted in: those of one dependency
// lie close together, and a controller has thousands of histograms. Thread-compatible.
class LatencyHistogram {
 public:
  static constexpr int kPartsLog2 = 4;
  static constexpr int kLowestPower = 9;    // bucket 0 holds what is below 2^9 ns = 512 ns
  static constexpr int kHighestPower = 36;  // the last bucket holds 2^37 ns = 137 s and above
  static constexpr std::size_t kBuckets =
      2 + (static_cast<std::size_t>(kHighestPower - kLowestPower + 1) << kPartsLog2);

  // The bucket of a latency in nanoseconds. On the request path: a few instructions, no branch but
  // the two ends. Negative latencies count as zero.
  static constexpr std::size_t BucketOf(std::int64_t ns) {
    if (ns < (std::int64_t{1} << kLowestPower)) return 0;
    if (ns >= (std::int64_t{1} << (kHighestPower + 1))) return kBuckets - 1;
    const auto bits = static_cast<std::uint64_t>(ns);
    const int power = static_cast<int>(std::bit_width(bits)) - 1;
    const std::uint64_t part = (bits >> (power - kPartsLog2)) & ((1U << kPartsLog2) - 1);
    return 1 + (static_cast<std::size_t>(power - kLowestPower) << kPartsLog2) + part;
  }

  // The middle of a bucket; of the first, half of its end; of the last, its start.
  // Requires bucket < kBuckets.
  static absl::Duration MiddleOf(std::size_t bucket);
  // The end of a bucket, not included in it; infinite for the last. Requires bucket < kBuckets.
  static absl::Duration EndOf(std::size_t bucket);

  void Record(absl::Duration latency);
  // Adds `count` to a bucket; stays at the largest count instead of wrapping. Requires
  // bucket < kBuckets.
  void Add(std::size_t bucket, std::uint32_t count);
  void Merge(const LatencyHistogram& other);

  // Back to no samples; what was allocated stays.
  void Clear() { counts_.clear(); }

  std::uint32_t count(std::size_t bucket) const {
    const std::size_t index = bucket - first_;  // wraps below the first
    return index < counts_.size() ? counts_[index] : 0;
  }
  // All buckets before begin() and from end() on are empty; equal if all are.
  std::size_t begin() const { return first_; }
  std::size_t end() const { return first_ + counts_.size(); }
  std::uint64_t TotalCount() const;
  // The sum of all latencies as far as the buckets tell it.
  absl::Duration TotalLatency() const;
  // Zero if there are no samples.
  absl::Duration Mean() const;
  // The latency that the share `quantile` of the samples does not exceed. 0 <= quantile <= 1; zero
  // if there are no samples.
  absl::Duration Quantile(double quantile) const;

  // True if all counts are equal.
  friend bool operator==(const LatencyHistogram& a, const LatencyHistogram& b);

 private:
  // Makes place for the buckets in [begin, end).
  void Cover(std::size_t begin, std::size_t end);

  std::size_t first_ = 0;
  std::vector<std::uint32_t> counts_;  // of the buckets from first_ on
};

}  // namespace plimsoll
