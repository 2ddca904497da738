#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll::internal {

// Counts latencies in buckets 0.8 % wide, from 1 ns to 73 minutes. Thread-compatible.
class FineHistogram {
 public:
  FineHistogram() : counts_(kBuckets) {}

  void Add(std::int64_t ns) {
    ++counts_[BucketOf(ns)];
    ++total_;
    sum_ += ns;
  }
  void Clear();

  std::int64_t total() const { return total_; }
  // Zero if nothing was counted.
  absl::Duration Mean() const;
  absl::Duration Quantile(double share) const;

 private:
  // A bucket is the exponent and the first seven bits of the mantissa of the number as a double.
  static constexpr int kMantissaBits = 7;
  static constexpr std::size_t kBuckets = std::size_t{42} << kMantissaBits;
  static constexpr int kShift = 52 - kMantissaBits;
  static constexpr std::uint64_t kFirst = std::bit_cast<std::uint64_t>(1.0) >> kShift;

  static std::size_t BucketOf(std::int64_t ns) {
    if (ns < 1) return 0;
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(ns));
    const std::size_t bucket = (bits >> kShift) - kFirst;
    return bucket < kBuckets ? bucket : kBuckets - 1;
  }

  std::vector<std::uint32_t> counts_;
  std::int64_t total_ = 0;
  std::int64_t sum_ = 0;
};

// What a sample says of the fleet at this moment, as far as the meter cannot know it.
struct FleetNow {
  int replicas = 0;
  Calls limits = 0;
  Calls in_flight = 0;
};

// Counts what becomes of calls, per half second and per phase. Thread-compatible.
class LoadMeter {
 public:
  // `run` must outlive the meter; `replicas` is how many there will ever be.
  LoadMeter(const LoadScenario& scenario, int replicas, LoadRun& run);

  void Offered() { ++sample_.offered, ++phase_.offered, ++run_.calls; }
  void Rejected() { ++sample_.rejected, ++phase_.rejected, ++run_.rejected; }
  // A call has ended `latency` after its admission, and its caller has seen it.
  void Completed(int replica, std::int64_t latency_ns, bool good);

  // `there`: the replicas that are there as the phase before ends.
  void BeginPhase(std::size_t phase, absl::Duration at, const std::vector<int>& there);
  void TakeSample(absl::Duration at, const FleetNow& fleet);
  // The run is over at `at`.
  void Finish(absl::Duration at, const std::vector<int>& there) { EndPhase(at, there); }

 private:
  struct Counts {
    std::int64_t offered = 0;
    std::int64_t completed = 0;
    std::int64_t good = 0;
    std::int64_t rejected = 0;
    FineHistogram latency;
    void Clear();
  };

  void EndPhase(absl::Duration at, const std::vector<int>& there);
  void AddLimits(PhaseResult& result) const;
  double Fairness(const std::vector<int>& there) const;

  const LoadScenario& scenario_;
  LoadRun& run_;
  Counts sample_;
  Counts phase_;
  absl::Duration sampled_at_;
  std::size_t phase_index_ = 0;
  std::vector<std::int64_t> completed_by_replica_;  // in this phase
};

}  // namespace plimsoll::internal
