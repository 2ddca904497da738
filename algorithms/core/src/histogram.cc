#include "plimsoll/core/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

constexpr std::size_t kParts = std::size_t{1} << LatencyHistogram::kPartsLog2;

// The first nanosecond of a bucket. `bucket` may be kBuckets - 1, the open one.
std::int64_t StartNs(std::size_t bucket) {
  if (bucket == 0) return 0;
  const std::size_t power = LatencyHistogram::kLowestPower + (bucket - 1) / kParts;
  const std::size_t part = (bucket - 1) % kParts;
  return static_cast<std::int64_t>((kParts + part) << (power - LatencyHistogram::kPartsLog2));
}

}  // namespace

absl::Duration LatencyHistogram::MiddleOf(std::size_t bucket) {
  PLIMSOLL_CHECK(bucket < kBuckets, "there is no such histogram bucket");
  if (bucket == kBuckets - 1) return absl::Nanoseconds(StartNs(bucket));
  return absl::Nanoseconds(StartNs(bucket) + (StartNs(bucket + 1) - StartNs(bucket)) / 2);
}

absl::Duration LatencyHistogram::EndOf(std::size_t bucket) {
  PLIMSOLL_CHECK(bucket < kBuckets, "there is no such histogram bucket");
  if (bucket == kBuckets - 1) return absl::InfiniteDuration();
  return absl::Nanoseconds(StartNs(bucket + 1));
}

void LatencyHistogram::Record(absl::Duration latency) {
  Add(BucketOf(absl::ToInt64Nanoseconds(latency)), 1);
}

void LatencyHistogram::Add(std::size_t bucket, std::uint32_t count) {
  PLIMSOLL_CHECK(bucket < kBuckets, "there is no such histogram bucket");
  const std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - counts_[bucket];
  counts_[bucket] += std::min(count, room);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) Add(bucket, other.counts_[bucket]);
}

std::uint64_t LatencyHistogram::TotalCount() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

absl::Duration LatencyHistogram::TotalLatency() const {
  absl::Duration total;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] > 0) total += MiddleOf(bucket) * counts_[bucket];
  }
  return total;
}

absl::Duration LatencyHistogram::Mean() const {
  const std::uint64_t count = TotalCount();
  return count == 0 ? absl::ZeroDuration() : TotalLatency() / static_cast<double>(count);
}

absl::Duration LatencyHistogram::Quantile(double quantile) const {
  PLIMSOLL_CHECK(quantile >= 0 && quantile <= 1, "a quantile lies between 0 and 1");
  const std::uint64_t count = TotalCount();
  if (count == 0) return absl::ZeroDuration();
  const double exact_rank = std::ceil(quantile * static_cast<double>(count));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact_rank));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= rank) return MiddleOf(bucket);
  }
  return MiddleOf(kBuckets - 1);
}

}  // namespace plimsoll
