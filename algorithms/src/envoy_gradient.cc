#include "algorithms/src/envoy_gradient.h"

#include <algorithm>
#include <cmath>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

constexpr double kEnvoyGradientMin = 0.5;
constexpr double kGradientMax = 2;

bool IsUnderused(double limit, const Observation& observation) {
  return observation.in_flight < limit / 2;
}

}  // namespace

LawState EnvoyGradientLaw::InitialState() const {
  EnvoyGradientState state{.limit = static_cast<double>(config_.initial)};
  if (config_.reference_exact && !IsPinned()) {
    state.limit = config_.floor;
    state.probe.limit = config_.floor;
  }
  return state;
}

Calls EnvoyGradientLaw::Limit(const LawState& state) const {
  return LimitOf(StateOf<EnvoyGradientState>(state));
}

Decision EnvoyGradientLaw::Decide(LawState& state, const Observation& observation) const {
  auto& own = StateOf<EnvoyGradientState>(state);
  const bool tells = config_.reference_exact ? observation.samples > 0 : IsUsable(observation);
  if (!tells) return At(own, Reason::kUnderused);
  if (IsPinned()) {
    own.baseline_ns = absl::ToDoubleNanoseconds(config_.envoy_gradient.fixed_baseline);
  }
  Decision decision =
      config_.reference_exact ? DecideExactly(own, observation) : DecideSafely(own, observation);
  decision.baseline = absl::Nanoseconds(own.baseline_ns);
  return decision;
}

Decision EnvoyGradientLaw::DecideExactly(EnvoyGradientState& state,
                                         const Observation& observation) const {
  if (Probe::IsRunning(state.probe)) {
    ProbeExactly(state, observation);
    return At(state, Reason::kProbe);
  }
  probe_.Elapse(state.probe, observation);
  const Decision decision = Update(state, observation);
  const bool is_stuck = state.at_floor >= config_.envoy_gradient.floor_updates;
  if (IsPinned() || !(probe_.IsDue(state.probe) || is_stuck)) return decision;
  state.probe.limit = config_.floor;
  state.at_floor = 0;
  return At(state, Reason::kProbe);
}

void EnvoyGradientLaw::ProbeExactly(EnvoyGradientState& state,
                                    const Observation& observation) const {
  const auto samples = static_cast<double>(observation.samples);
  state.probe.latency_sum += samples * static_cast<double>(LatencyNs(observation));
  state.probe.samples += samples;
  if (state.probe.samples < config_.envoy_gradient.probe.samples) return;
  state.baseline_ns = state.probe.latency_sum / state.probe.samples;
  probe_.GiveUp(state.probe, observation.draw);
}

Decision EnvoyGradientLaw::DecideSafely(EnvoyGradientState& state,
                                        const Observation& observation) const {
  probe_.Elapse(state.probe, observation);
  if (Probe::IsRunning(state.probe)) {
    return StepProbe(config_, probe_, observation, state.probe, state.limit, state.baseline_ns);
  }
  const Calls limit = LimitOf(state);
  if (observation.dropped) {
    state.limit = Bounded(config_, std::min(limit * kDropFactor, limit - 1.0));
    return At(state, limit > config_.floor ? Reason::kErrors : Reason::kFloor);
  }
  const auto latency_ns = static_cast<double>(LatencyNs(observation));
  // Good enough until the first probe.
  if (state.baseline_ns <= 0) state.baseline_ns = latency_ns;
  if (IsUnderused(limit, observation)) return At(state, Reason::kUnderused);
  const bool is_stuck = state.at_floor >= config_.envoy_gradient.floor_updates;
  if (!IsPinned() && (probe_.IsDue(state.probe) || is_stuck)) {
    state.limit = limit;
    state.at_floor = 0;
    probe_.Begin(state.probe, limit, observation.in_flight, latency_ns);
    return At(state, Reason::kProbe);
  }
  return Update(state, observation);
}

Decision EnvoyGradientLaw::Update(EnvoyGradientState& state, const Observation& observation) const {
  const Calls before = LimitOf(state);
  const double tolerated_ns = state.baseline_ns * (1 + config_.envoy_gradient.buffer);
  const double ratio = tolerated_ns / static_cast<double>(LatencyNs(observation));
  const double gradient = std::clamp(ratio, kEnvoyGradientMin, kGradientMax);
  const double scaled = before * gradient;
  const double wanted = std::trunc(scaled + std::sqrt(scaled));
  state.limit = Bounded(config_, wanted);
  const Calls after = Truncate(state.limit);
  const bool stays_at_floor = before <= config_.floor && after <= config_.floor;
  state.at_floor = stays_at_floor ? std::min(state.at_floor + 1, 1000) : 0;
  const Reason moved = after < before ? Reason::kLatencyRose : Reason::kLatencyFell;
  return {.limit = after,
          .unclamped = wanted,
          .reason = ReasonWithin(config_, wanted, moved),
          .gradient = std::min(1.0, gradient)};
}

bool EnvoyGradientLaw::IsPinned() const {
  return config_.envoy_gradient.fixed_baseline > absl::ZeroDuration();
}

Calls EnvoyGradientLaw::LimitOf(const EnvoyGradientState& state) const {
  const double limit = Probe::IsRunning(state.probe) ? state.probe.limit : state.limit;
  return Truncate(Bounded(config_, limit));
}

Decision EnvoyGradientLaw::At(const EnvoyGradientState& state, Reason reason) const {
  const Calls limit = LimitOf(state);
  return {.limit = limit, .unclamped = static_cast<double>(limit), .reason = reason};
}

}  // namespace plimsoll::internal
