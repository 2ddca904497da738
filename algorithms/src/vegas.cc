#include "algorithms/src/vegas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/baseline.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

constexpr double kJitterFirst = 0.75;
// Of what fits into a baseline; 30 years.
constexpr double kBaselineMaxNs = 1e18;

double Step(VegasStep step, double estimate) {
  switch (step) {
    case VegasStep::kAddLog10:
      return estimate + Log10(Truncate(estimate));
    case VegasStep::kSubtractLog10:
      return estimate - Log10(Truncate(estimate));
    case VegasStep::kHalve:
      return estimate / 2;
  }
  return estimate;
}

}  // namespace

LawState VegasLaw::InitialState() const {
  return VegasState{.estimated_limit = static_cast<double>(config_.initial),
                    .probe_jitter = config_.vegas.pin_probe_jitter.value_or(kJitterFirst)};
}

Calls VegasLaw::Limit(const LawState& state) const {
  return Truncate(Estimate(StateOf<VegasState>(state)));
}

Decision VegasLaw::Decide(LawState& state, const Observation& observation) const {
  auto& own = StateOf<VegasState>(state);
  Decision decision =
      config_.reference_exact ? DecideExactly(own, observation) : DecideSafely(own, observation);
  decision.baseline = absl::Nanoseconds(own.baseline_ns);
  return decision;
}

Decision VegasLaw::DecideExactly(VegasState& state, const Observation& observation) const {
  const std::int64_t latency_ns = LatencyNs(observation);
  const double estimate = state.estimated_limit;
  if (latency_ns <= 0) return Stay(estimate, Reason::kUnderused);
  ++state.probe_count;
  if (IsProbeDue(state, estimate)) {
    BeginCount(state, observation.draw);
    state.baseline_ns = latency_ns;
    return Stay(estimate, Reason::kProbe);
  }
  if (state.baseline_ns == 0 || latency_ns < state.baseline_ns) {
    state.baseline_ns = latency_ns;
    return Stay(estimate, Reason::kProbe);
  }
  if (observation.dropped) {
    return Apply(state, estimate,
                 {.unclamped = Step(config_.vegas.decrease, estimate), .reason = Reason::kErrors});
  }
  if (IsUnderused(estimate, observation)) return Stay(estimate, Reason::kUnderused);
  const auto wanted = Compare(estimate, state.baseline_ns, observation);
  return wanted ? Apply(state, estimate, *wanted) : Stay(estimate, Reason::kLatencyFell);
}

Decision VegasLaw::DecideSafely(VegasState& state, const Observation& observation) const {
  const double estimate = Estimate(state);
  if (!IsUsable(observation)) return Stay(estimate, Reason::kUnderused);
  if (observation.dropped) {
    const double cut = Step(config_.vegas.decrease, estimate);
    const double smoothed =
        estimate * (1 - config_.vegas.smoothing) + cut * config_.vegas.smoothing;
    return Apply(state, estimate,
                 {.unclamped = std::min(smoothed, estimate - 1), .reason = Reason::kErrors});
  }
  const bool is_first = state.baseline_ns <= 0;
  Learn(state, estimate, observation);
  if (is_first) return Stay(estimate, Reason::kProbe);
  if (IsUnderused(estimate, observation)) return Stay(estimate, Reason::kUnderused);
  auto wanted = Compare(estimate, state.baseline_ns, observation);
  const bool rises = wanted && wanted->reason == Reason::kLatencyFell;
  state.at_floor = !rises && IsLow(estimate) ? std::min(state.at_floor + 1, kStuckAtFloor) : 0;
  if (!wanted) return Stay(estimate, Reason::kLatencyFell);
  wanted->unclamped =
      estimate * (1 - config_.vegas.smoothing) + wanted->unclamped * config_.vegas.smoothing;
  return Apply(state, estimate, *wanted);
}

double VegasLaw::Estimate(const VegasState& state) const {
  return config_.reference_exact ? state.estimated_limit : Bounded(config_, state.estimated_limit);
}

bool VegasLaw::IsProbeDue(const VegasState& state, double estimate) const {
  return state.probe_jitter * config_.vegas.probe_multiplier * estimate <= state.probe_count;
}

bool VegasLaw::IsUnderused(double estimate, const Observation& observation) const {
  if (config_.reference_exact) return TwiceWrapping(observation.in_flight) < estimate;
  return observation.in_flight < estimate / 2;
}

bool VegasLaw::IsLow(double estimate) const {
  const double beta = internal::Apply(config_.vegas.beta, Truncate(estimate));
  return Truncate(estimate) <= std::max<double>(config_.floor, 2 * beta);
}

void VegasLaw::BeginCount(VegasState& state, double draw) const {
  state.probe_count = 0;
  state.probe_jitter = config_.vegas.pin_probe_jitter.value_or(0.5 + 0.5 * draw);
}

void VegasLaw::Learn(VegasState& state, double estimate, const Observation& observation) const {
  if (config_.vegas.fixed_baseline > absl::ZeroDuration()) {
    state.baseline_ns = absl::ToInt64Nanoseconds(config_.vegas.fixed_baseline);
    return;
  }
  const bool is_due = IsProbeDue(state, estimate);
  if (!is_due) ++state.probe_count;
  const bool may_rise =
      (is_due && IsUnderused(estimate, observation)) || state.at_floor >= kStuckAtFloor;
  if (may_rise) {
    BeginCount(state, observation.draw);
    state.at_floor = 0;
  }
  const double baseline_ns = LearnBaseline(static_cast<double>(state.baseline_ns),
                                           static_cast<double>(LatencyNs(observation)), may_rise);
  state.baseline_ns = static_cast<std::int64_t>(std::min(baseline_ns, kBaselineMaxNs));
}

std::optional<Decision> VegasLaw::Compare(double estimate, std::int64_t baseline_ns,
                                          const Observation& observation) const {
  const VegasConfig& vegas = config_.vegas;
  const double ratio =
      static_cast<double>(baseline_ns) / static_cast<double>(LatencyNs(observation));
  const Calls queue = Truncate(std::ceil(estimate * (1 - ratio)));
  const Calls whole = Truncate(estimate);
  const double beta = internal::Apply(vegas.beta, whole);
  if (queue <= internal::Apply(vegas.threshold, whole)) {
    return Decision{.unclamped = estimate + beta, .reason = Reason::kLatencyFell};
  }
  if (queue < internal::Apply(vegas.alpha, whole)) {
    return Decision{.unclamped = Step(vegas.increase, estimate), .reason = Reason::kLatencyFell};
  }
  if (queue > beta) {
    return Decision{.unclamped = Step(vegas.decrease, estimate), .reason = Reason::kLatencyRose};
  }
  return std::nullopt;
}

Decision VegasLaw::Apply(VegasState& state, double estimate, Decision decision) const {
  const double smoothing = config_.vegas.smoothing;
  const double floor = config_.reference_exact ? 1 : config_.floor;
  const double bounded = std::max(floor, std::min<double>(config_.ceiling, decision.unclamped));
  state.estimated_limit =
      config_.reference_exact ? (1 - smoothing) * estimate + smoothing * bounded : bounded;
  decision.limit = Truncate(state.estimated_limit);
  decision.reason = ReasonWithin(config_, decision.unclamped, decision.reason);
  return decision;
}

Decision VegasLaw::Stay(double estimate, Reason reason) const {
  return {.limit = Truncate(estimate), .unclamped = estimate, .reason = reason};
}

}  // namespace plimsoll::internal
