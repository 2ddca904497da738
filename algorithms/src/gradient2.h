#pragma once

#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Compares latency with its own long average. State: est, the limit before truncation, and v, the
// long average. For each observation of latency r:
//
//   queue = queue_size, or max(queue_size, max(1, trunc(sqrt(trunc(est)))))
//   first warmup_window observations:  v = arithmetic mean of them
//   afterwards, f = 2/(long_window+1): v = v * (1 - f) + r * f
//   base = v;  if base / r > 2:        v = v * 0.95                    latency fell for good:
//   follow in_flight < est / 2:               est stays                       UNDERUSED g   =
//   max(0.5, min(1, rtt_tolerance * base / r)) new = est * (1 - smoothing) + (est * g + queue) *
//   smoothing        LATENCY_FELL or LATENCY_ROSE est = max(floor, min(ceiling, new)) FLOOR or
//   CEILING if it cut in L   = trunc(est)
//
// Beyond the reference, which never reads `dropped` and takes a steady time-out for health:
//
//   dropped:  est = min(est * 0.9, est - 1), v stays                   ERRORS
//   no samples, or r not positive: nothing changes                     UNDERUSED
//
// 0.9 is the back-off of AIMD. v stays because a dropped call tells how long failing takes, which
// is no baseline; "- 1" lets small limits fall by a whole call as well.
//
// Reference-exact mode has neither line, and lets a latency of 0 turn est into NaN as the reference
// does. Source of the law: Gradient2Limit of Netflix/concurrency-limits. Thread-safe.
class Gradient2Law final : public LimitAlgorithm {
 public:
  explicit Gradient2Law(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kGradient2); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  double Estimate(const Gradient2State& state) const;
  double Queue(double estimate) const;
  // Adds a latency to the long average and returns the average to compare with.
  double Learn(Gradient2State& state, double latency_ns) const;
  Decision Compare(double estimate, double baseline_ns, const Observation& observation) const;
  Decision CutForDrops(double estimate) const;
  // Brings what the decision wants between the bounds, and into the state.
  Decision Apply(Gradient2State& state, Decision decision) const;
  Decision Stay(double estimate) const;

  const AlgorithmConfig config_;
};

}  // namespace plimsoll::internal
