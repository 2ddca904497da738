#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Keeps an estimated queue between two bounds. State: est, the limit before truncation, and base,
// the latency without a queue. For each observation of latency r:
//
//   base is learnt (below)
//   2 * in_flight < est:      est stays                                        UNDERUSED
//   q = ceil(est * (1 - base / r))
//   q <= threshold:           new = est + beta                                 LATENCY_FELL
//   q < alpha:                new = increase(est)                              LATENCY_FELL
//   q > beta:                 new = decrease(est)                              LATENCY_ROSE
//   otherwise:                est stays                                        LATENCY_FELL
//   dropped:                  new = min(decrease(est), est - 1), base stays    ERRORS
//   est = est * (1 - smoothing) + new * smoothing, between floor and ceiling   FLOOR or CEILING
//   L   = trunc(est)                                                           if it cut in
//
// alpha, beta and threshold grow with log10 of the limit, by default. How base is learnt:
//
//   none yet:  base = r                                                        PROBE
//   r < base:  base = max(r, 0.9 * base)
//   r > base:  base = min(r, 2 * base), but only after jitter * probe_multiplier * est observations
//              and then with less than half of the limit in use; or after five observations in a
//              row that asked for no rise at the floor or at 2 * beta, where q can hardly tell a
//              queue from a dependency that has become slower. jitter is uniform in [0.5, 1).
//
// Reference-exact mode: the smallest latency since the last probe is the baseline, dropped calls
// count, and a probe takes whatever latency comes next, load or none. The floor is 1, and the
// bounds are applied before smoothing. A latency that is not positive throws in the reference and
// changes nothing here.
//
// Source of the law: VegasLimit of Netflix/concurrency-limits. Thread-safe.
class VegasLaw final : public LimitAlgorithm {
 public:
  explicit VegasLaw(const AlgorithmConfig& config) : config_(config) {}

  std::string_view name() const override { return ToString(AlgorithmKind::kVegas); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  double Estimate(const VegasState& state) const;
  bool IsProbeDue(const VegasState& state, double estimate) const;
  void BeginCount(VegasState& state, double draw) const;
  Decision DecideExactly(VegasState& state, const Observation& observation) const;
  Decision DecideSafely(VegasState& state, const Observation& observation) const;
  void Learn(VegasState& state, double estimate, const Observation& observation) const;
  bool IsUnderused(double estimate, const Observation& observation) const;
  // What the queue asks for, before smoothing and bounds. Nothing if it is as long as wanted.
  std::optional<Decision> Compare(double estimate, std::int64_t baseline_ns,
                                  const Observation& observation) const;
  // True where a cut would leave fewer calls than the queue may have.
  bool IsLow(double estimate) const;
  Decision Apply(VegasState& state, double estimate, Decision decision) const;
  Decision Stay(double estimate, Reason reason) const;

  const AlgorithmConfig config_;
};

}  // namespace plimsoll::internal
