#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"

namespace plimsoll {

// Counts durations in the buckets that all of Plimsoll's duration metrics share.
// Thread-compatible.
class DurationHistogram {
 public:
  // The ends of the buckets in seconds, included; one more bucket has no end.
  static constexpr std::array<double, 13> kEnds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                   0.25,  0.5,    1,     2.5,  5,     10};

  void Record(absl::Duration duration) {
    const double seconds = absl::ToDoubleSeconds(duration);
    std::size_t bucket = 0;
    while (bucket < kEnds.size() && seconds > kEnds[bucket]) ++bucket;
    ++counts_[bucket];
    sum_seconds_ += seconds;
  }

  void Add(const DurationHistogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    sum_seconds_ += other.sum_seconds_;
  }

  const std::array<std::uint64_t, kEnds.size() + 1>& counts() const { return counts_; }
  double sum_seconds() const { return sum_seconds_; }

 private:
  std::array<std::uint64_t, kEnds.size() + 1> counts_{};
  double sum_seconds_ = 0;
};

}  // namespace plimsoll
