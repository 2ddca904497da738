#pragma once

#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Compares latency with the lowest seen. State: est, the limit before truncation, and base, the
// latency without a queue. For each observation of latency r:
//
//   base is learnt as vegas does it, with a countdown of probe_interval to twice that
//   in_flight < est / 2:   est stays                                            UNDERUSED
//   g = max(0.5, min(1, rtt_tolerance * base / r))
//   g = 1:                 est = est + queue                                    LATENCY_FELL
//   g < 1:                 est = est * (1 - smoothing) + est * g * smoothing    LATENCY_ROSE
//   dropped:               est = min(est * (1 - smoothing) + est * backoff * smoothing, est - 1),
//                          base stays                                           ERRORS
//   est between floor and ceiling;  L = trunc(est)           FLOOR or CEILING if it cut in
//
//   queue = queue_size, or max(queue_size, max(1, trunc(sqrt(trunc(est)))))
//
// Reference-exact mode: new = est * g + queue, also while g < 1, so that the limit creeps up to
// queue / (1 - g); the queue is a second floor, which may exceed the ceiling; at the end of the
// countdown the limit falls to that floor and the baseline is forgotten; dropped calls teach the
// baseline; a first latency of 0 turns est into NaN.
//
// Source of the law: GradientLimit of Netflix/concurrency-limits. Thread-safe.
class GradientLaw final : public LimitAlgorithm {
 public:
  explicit GradientLaw(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kGradient); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  double Estimate(const GradientState& state) const;
  double QueueOf(double estimate) const;
  bool Probes() const { return config_.gradient.probe_interval != -1; }
  int NextCountdown(double draw) const;
  Decision DecideExactly(GradientState& state, const Observation& observation) const;
  Decision DecideSafely(GradientState& state, const Observation& observation) const;
  void Learn(GradientState& state, double estimate, const Observation& observation) const;
  Decision Compare(double estimate, double baseline_ns, const Observation& observation) const;
  Decision Apply(GradientState& state, Decision decision) const;
  Decision Stay(double estimate, Reason reason) const;

  const AlgorithmConfig config_;
};

}  // namespace plimsoll::internal
