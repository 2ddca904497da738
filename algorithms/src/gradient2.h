#pragma once

#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Compares latency with its own long average. State: est, the limit before truncation, and v, the
// long average. For each observation of latency r:
//
//   warmed up, r > sqrt(rtt_tolerance) * v, half of the limit in use, the limit above the floor:
//                        base = v, and v stays
//   otherwise:           first warmup_window observations: v = arithmetic mean of them
//                        afterwards: v = v * (1 - f) + r * f with f = 2/(long_window + 1)
//                        base = v;  if base / r > 2: v = v * 0.95, as latency fell for good
//   in_flight < est / 2: est stays                                             UNDERUSED
//   g = max(0.5, min(1, rtt_tolerance * base / r))
//   new = est * (1 - smoothing) + (est * g + (g < 1 ? 0 : queue)) * smoothing  LATENCY_FELL or
//                                                                              LATENCY_ROSE
//   dropped:             new = min(est * 0.9, est - 1), v stays                ERRORS
//   est = max(floor, min(ceiling, new));  L = trunc(est)                       FLOOR or CEILING
//                                                                              if it cut in
//   queue = queue_size, or max(queue_size, max(1, trunc(sqrt(trunc(est)))))
//   no samples, or r not positive: nothing changes                             UNDERUSED
//
// 0.9 is the back-off of AIMD. v stays on drops because a dropped call tells how long failing
// takes, which is no baseline; "- 1" lets small limits fall by a whole call as well. v stays in
// overload so that a lasting one does not become normal while there is something to cut; at the
// floor there is not, and what is seen there is learnt. The square root, because under load latency
// hovers at the tolerance: what is learnt there would let both creep up.
//
// Reference-exact mode learns from every observation, adds the queue while g < 1 as well, never
// reads `dropped`, and lets a latency of 0 turn est into NaN. Source of the law: Gradient2Limit of
// Netflix/concurrency-limits. Thread-safe.
class Gradient2Law final : public LimitAlgorithm {
 public:
  explicit Gradient2Law(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kGradient2); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  double Estimate(const Gradient2State& state) const;
  double QueueOf(double estimate) const;
  // Too slow, with room to fall: nothing to learn a baseline from.
  bool IsOverload(const Gradient2State& state, double estimate,
                  const Observation& observation) const;
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
