#pragma once

#include <string_view>

#include "algorithms/src/probe.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Multiplies the limit by what the latency should be over what it is, and adds headroom. For each
// observation of latency r, which stands for one update interval of the original:
//
//   g = max(0.5, min(2, base * (1 + buffer) / r))
//   L = trunc(L * g + sqrt(L * g)), between floor and ceiling       LATENCY_FELL, LATENCY_ROSE,
//                                                                   FLOOR or CEILING
//
// The original takes percentiles of its own samples; here r is what the policy's window says, so
// choose the median there. Its probe asks for a number of calls that began within it; here these
// are the calls of windows that never had more calls in flight than the probe's limit, and the
// baseline is the mean of what these windows say. Beyond the original:
//
//   less than half of the limit in use:  L stays                    UNDERUSED
//   dropped:                             L = min(0.9 * L, L - 1)    ERRORS
//   a probe is due every probe_interval * (1 + probe_jitter * draw), and after floor_updates
//   observations in a row at the floor; it begins when half of the limit is in use, and goes as
//   probe.h tells                                                   PROBE
//   with fixed_baseline there are no probes
//
// Reference-exact mode: the first limit is the floor; a probe lowers the limit to the floor and
// takes every window until probe_samples calls have ended; drops and use are not looked at.
//
// Source of the law: the gradient controller of Envoy's adaptive concurrency filter. Thread-safe.
class EnvoyGradientLaw final : public LimitAlgorithm {
 public:
  explicit EnvoyGradientLaw(const AlgorithmConfig& config)
      : config_(config), probe_(config_.envoy_gradient.probe, config_.floor) {}

  EnvoyGradientLaw(const EnvoyGradientLaw&) = delete;
  EnvoyGradientLaw& operator=(const EnvoyGradientLaw&) = delete;

  std::string_view name() const override { return ToString(AlgorithmKind::kEnvoyGradient); }
  LawState InitialState() const override;
  Calls Limit(const LawState& state) const override;
  Decision Decide(LawState& state, const Observation& observation) const override;

 private:
  bool IsPinned() const;
  Calls LimitOf(const EnvoyGradientState& state) const;
  Decision DecideExactly(EnvoyGradientState& state, const Observation& observation) const;
  Decision DecideSafely(EnvoyGradientState& state, const Observation& observation) const;
  void ProbeExactly(EnvoyGradientState& state, const Observation& observation) const;
  Decision Update(EnvoyGradientState& state, const Observation& observation) const;
  Decision At(const EnvoyGradientState& state, Reason reason) const;

  const AlgorithmConfig config_;
  const Probe probe_;
};

}  // namespace plimsoll::internal
