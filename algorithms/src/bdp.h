#pragma once

#include <string_view>

#include "algorithms/src/probe.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// The bandwidth-delay product: the best rate seen times the latency without a queue. For each
// observation, or several until samples_min calls have ended (ten at most):
//
//   avg  = ceil((fail_punish * failed + ok) * r / ok), in microseconds   ok = samples - failed
//   base = base unknown ? avg : avg < base ? 0.1 * avg + 0.9 * base : base
//   rate = ok / length;  best = rate >= best ? rate : gain * rate + (1 - gain) * best
//   explore = avg <= 1.06 * base or rate <= best / 1.06 ? min(explore_max, explore + 0.02)
//                                                       : max(explore_min, explore - 0.02)
//   d = base, or the mean of the last avg, each weighing 0.2, up to base * (1 + buffer)
//   L = trunc(d * best * (1 + explore)), between floor and ceiling       LATENCY_FELL,
//                                                                        LATENCY_ROSE, FLOOR or
//                                                                        CEILING
//
// The original samples one call per 0.1 ms and closes windows of its own; here the controller's
// windows are what there is. It sums the times of failed calls apart; here they are taken to have
// lasted r as well. gain is 0.01, and 0.1 while avg is above base * (1 + buffer): then capacity has
// fallen. Beyond the original:
//
//   less than half of the limit in use:  nothing changes                 UNDERUSED
//   dropped:     L = min(0.9 * L, L - 1), or half of L if every call failed      ERRORS
//   a probe is due every probe_interval * (1 + probe_jitter * draw); it begins when half of the
//   limit is in use, sets base, and goes as probe.h tells                PROBE
//   with fixed_baseline there are no probes
//   an observation without a length tells no rate                        UNDERUSED
//
// Reference-exact mode: observations of less than samples_min calls are not looked at; buffer is 0
// and gain 0.01; when a probe is due, L = ceil(best * base * 0.9), nothing is looked at for 2 *
// avg, and base becomes unknown; all calls failed: L is halved; use is not looked at.
//
// Source of the law: AutoConcurrencyLimiter of apache/brpc. Thread-safe.
class BdpLaw final : public LimitAlgorithm {
 public:
  explicit BdpLaw(const AlgorithmConfig& config)
      : config_(config), probe_(config_.bdp.probe, config_.floor) {}

  BdpLaw(const BdpLaw&) = delete;
  BdpLaw& operator=(const BdpLaw&) = delete;

  std::string_view name() const override { return ToString(AlgorithmKind::kBdp); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  bool IsPinned() const;
  Calls LimitOf(const BdpState& state) const;
  Decision DecideExactly(BdpState& state, const Observation& observation) const;
  Decision DecideSafely(BdpState& state, const Observation& observation) const;
  // Adds an observation to what is kept, and says whether that is enough to decide.
  bool Keep(BdpState& state, const Observation& observation) const;
  Decision Cut(BdpState& state, const Observation& observation) const;
  // Takes what is kept into baseline and rate, and returns avg in ns.
  double Learn(BdpState& state) const;
  void Explore(BdpState& state, double average_ns, double rate) const;
  Decision Multiply(BdpState& state, double average_ns) const;
  Decision SetTo(BdpState& state, double wanted, Reason fell, Reason rose) const;
  Decision At(const BdpState& state, Reason reason) const;

  const AlgorithmConfig config_;
  const Probe probe_;
};

}  // namespace plimsoll::internal
