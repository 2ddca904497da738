#include "plimsoll/core/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

// So many buckets are made place for at once: two powers of two.
constexpr std::size_t kCoveredMin = 32;
constexpr std::size_t kParts = std::size_t{1} << LatencyHistogram::kPartsLog2;

// The first nanosecond of a bucket. `bucket` may be kBuckets - 1, the open one.
std::int64_t StartNs(std::size_t bucket) {
  if (bucket == 0) return 0;
  const std::size_t power = LatencyHistogram::kLowestPower + (bucket - 1) / kParts;
  const std::size_t part = (bucket - 1) % kParts;
  return static_cast<std::int64_t>((kParts + part) << (power - LatencyHistogram::kPartsLog2));
}

// Stays at the largest count instead of wrapping.
void AddTo(std::uint32_t& count, std::uint32_t more) {
  const std::uint32_t room = std::numeric_limits<std::uint32_t>::max() - count;
  count += std::min(more, room);
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
  if (count == 0) return;
  Cover(bucket, bucket + 1);
  AddTo(counts_[bucket - first_], count);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  if (other.counts_.empty()) return;
  Cover(other.begin(), other.end());
  const std::size_t offset = other.first_ - first_;
  for (std::size_t i = 0; i < other.counts_.size(); ++i)
    AddTo(counts_[offset + i], other.counts_[i]);
}

void LatencyHistogram::Cover(std::size_t begin, std::size_t end) {
  if (counts_.empty()) {
    // So that it need not grow bucket by bucket.
    counts_.reserve(std::max(kCoveredMin, end - begin));
    counts_.resize(end - begin);
    first_ = begin;
    return;
  }
  if (begin < first_) {
    counts_.insert(counts_.begin(), first_ - begin, 0);
    first_ = begin;
  }
  if (end > this->end()) counts_.resize(end - first_);
}

bool operator==(const LatencyHistogram& a, const LatencyHistogram& b) {
  const std::size_t end = std::max(a.end(), b.end());
  for (std::size_t bucket = std::min(a.begin(), b.begin()); bucket < end; ++bucket) {
    if (a.count(bucket) != b.count(bucket)) return false;
  }
  return true;
}

std::uint64_t LatencyHistogram::TotalCount() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

absl::Duration LatencyHistogram::TotalLatency() const {
  absl::Duration total;
  for (std::size_t bucket = begin(); bucket < end(); ++bucket) {
    if (count(bucket) > 0) total += MiddleOf(bucket) * count(bucket);
  }
  return total;
}

absl::Duration LatencyHistogram::Mean() const {
  const std::uint64_t total = TotalCount();
  return total == 0 ? absl::ZeroDuration() : TotalLatency() / static_cast<double>(total);
}

absl::Duration LatencyHistogram::Quantile(double quantile) const {
  PLIMSOLL_CHECK(quantile >= 0 && quantile <= 1, "a quantile lies between 0 and 1");
  const std::uint64_t total = TotalCount();
  if (total == 0) return absl::ZeroDuration();
  const double exact_rank = std::ceil(quantile * static_cast<double>(total));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact_rank));
  std::uint64_t seen = 0;
  for (std::size_t bucket = begin(); bucket < end(); ++bucket) {
    seen += count(bucket);
    if (seen >= rank) return MiddleOf(bucket);
  }
  return MiddleOf(kBuckets - 1);
}

}  // namespace plimsoll
