#include "algorithms/src/gradient.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/baseline.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

constexpr double kGradientMin = 0.5;
constexpr double kDrawFirst = 0.5;

}  // namespace

LawState GradientLaw::InitialState() const {
  return GradientState{.estimated_limit = static_cast<double>(config_.initial),
                       .probe_countdown = NextCountdown(kDrawFirst)};
}

Calls GradientLaw::Limit(const LawState& state) const {
  return Truncate(Estimate(StateOf<GradientState>(state)));
}

Decision GradientLaw::Decide(LawState& state, const Observation& observation) const {
  auto& own = StateOf<GradientState>(state);
  Decision decision =
      config_.reference_exact ? DecideExactly(own, observation) : DecideSafely(own, observation);
  decision.baseline = absl::Nanoseconds(own.baseline_ns);
  return decision;
}

Decision GradientLaw::DecideExactly(GradientState& state, const Observation& observation) const {
  const GradientConfig& gradient = config_.gradient;
  const double estimate = state.estimated_limit;
  const double queue = QueueOf(estimate);
  if (Probes() && state.probe_countdown-- <= 0) {
    state.probe_countdown = NextCountdown(observation.draw);
    state.baseline_ns = 0;
    state.estimated_limit = std::max<double>(config_.floor, queue);
    return Stay(state.estimated_limit, Reason::kProbe);
  }
  const auto latency_ns = static_cast<double>(LatencyNs(observation));
  if (state.baseline_ns == 0 || latency_ns < state.baseline_ns) state.baseline_ns = latency_ns;
  const double ratio = gradient.rtt_tolerance * state.baseline_ns / latency_ns;
  const double shrink = MaxOrNan(kGradientMin, MinOrNan(1.0, ratio));
  double wanted = estimate * shrink + queue;
  if (observation.dropped) {
    wanted = estimate * gradient.backoff;
  } else if (observation.in_flight < estimate / 2) {
    return Stay(estimate, Reason::kUnderused);
  }
  if (wanted < estimate) {
    const double smoothed = estimate * (1 - gradient.smoothing) + gradient.smoothing * wanted;
    wanted = MaxOrNan(config_.floor, smoothed);
  }
  state.estimated_limit = MaxOrNan(queue, MinOrNan(config_.ceiling, wanted));
  const Reason rose = observation.dropped ? Reason::kErrors : Reason::kLatencyRose;
  return {.limit = Truncate(state.estimated_limit),
          .unclamped = wanted,
          .reason = wanted < estimate ? rose : Reason::kLatencyFell,
          .gradient = shrink};
}

Decision GradientLaw::DecideSafely(GradientState& state, const Observation& observation) const {
  const GradientConfig& gradient = config_.gradient;
  const double estimate = Estimate(state);
  if (!IsUsable(observation)) return Stay(estimate, Reason::kUnderused);
  if (observation.dropped) {
    const double smoothed = estimate * (1 - gradient.smoothing * (1 - gradient.backoff));
    return Apply(state, {.unclamped = std::min(smoothed, estimate - 1),
                         .reason = Reason::kErrors,
                         .gradient = gradient.backoff});
  }
  Learn(state, estimate, observation);
  if (observation.in_flight < estimate / 2) return Stay(estimate, Reason::kUnderused);
  const Decision decision = Apply(state, Compare(estimate, state.baseline_ns, observation));
  state.at_floor = CountAtFloor(state.at_floor, config_, decision);
  return decision;
}

double GradientLaw::Estimate(const GradientState& state) const {
  return config_.reference_exact ? state.estimated_limit : Bounded(config_, state.estimated_limit);
}

double GradientLaw::QueueOf(double estimate) const {
  return Queue(config_.gradient.queue_size, config_.gradient.queue_by_square_root, estimate);
}

int GradientLaw::NextCountdown(double draw) const {
  if (!Probes()) return -1;
  const int interval = config_.gradient.probe_interval;
  return config_.gradient.pin_probe_countdown.value_or(
      Truncate(interval + std::floor(draw * interval)));
}

void GradientLaw::Learn(GradientState& state, double estimate,
                        const Observation& observation) const {
  if (config_.gradient.fixed_baseline > absl::ZeroDuration()) {
    state.baseline_ns = absl::ToDoubleNanoseconds(config_.gradient.fixed_baseline);
    return;
  }
  // The interval may have become shorter since the probe was scheduled.
  if (Probes()) state.probe_countdown = std::min(state.probe_countdown, NextCountdown(1));
  const bool is_due = Probes() && state.probe_countdown <= 0;
  if (Probes() && !is_due) --state.probe_countdown;
  const bool may_rise =
      (is_due && observation.in_flight < estimate / 2) || state.at_floor >= kStuckAtFloor;
  if (may_rise) {
    state.probe_countdown = NextCountdown(observation.draw);
    state.at_floor = 0;
  }
  state.baseline_ns =
      LearnBaseline(state.baseline_ns, static_cast<double>(LatencyNs(observation)), may_rise);
}

Decision GradientLaw::Compare(double estimate, double baseline_ns,
                              const Observation& observation) const {
  const GradientConfig& gradient = config_.gradient;
  const auto latency_ns = static_cast<double>(LatencyNs(observation));
  const double ratio = gradient.rtt_tolerance * baseline_ns / latency_ns;
  const double shrink = std::clamp(ratio, kGradientMin, 1.0);
  if (shrink >= 1) {
    return {.unclamped = estimate + QueueOf(estimate), .reason = Reason::kLatencyFell};
  }
  return {.unclamped = estimate * (1 - gradient.smoothing * (1 - shrink)),
          .reason = Reason::kLatencyRose,
          .gradient = shrink};
}

Decision GradientLaw::Apply(GradientState& state, Decision decision) const {
  state.estimated_limit = Bounded(config_, decision.unclamped);
  decision.limit = Truncate(state.estimated_limit);
  decision.reason = ReasonWithin(config_, decision.unclamped, decision.reason);
  return decision;
}

Decision GradientLaw::Stay(double estimate, Reason reason) const {
  return {.limit = Truncate(estimate), .unclamped = estimate, .reason = reason};
}

}  // namespace plimsoll::internal
