#include "algorithms/src/gradient2.h"

#include <algorithm>
#include <cmath>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

// Of the reference.
constexpr double kGradient2Min = 0.5;
constexpr double kStaleRatio = 2;
constexpr double kStaleDecay = 0.95;
// Ours; see the header.
constexpr double kGradient2Drop = 0.9;

}  // namespace

LawState Gradient2Law::InitialState() const {
  return Gradient2State{.estimated_limit = static_cast<double>(config_.initial)};
}

Calls Gradient2Law::Limit(const LawState& state) const {
  return Truncate(Estimate(StateOf<Gradient2State>(state)));
}

Decision Gradient2Law::Decide(LawState& state, const Observation& observation) const {
  auto& own = StateOf<Gradient2State>(state);
  const double estimate = Estimate(own);
  if (!config_.reference_exact) {
    if (!IsUsable(observation)) return Stay(estimate);
    if (observation.dropped) return Apply(own, CutForDrops(estimate));
  }
  const double baseline_ns = IsOverload(own, estimate, observation)
                                 ? own.long_latency_ns
                                 : Learn(own, static_cast<double>(LatencyNs(observation)));
  Decision decision = observation.in_flight < estimate / 2
                          ? Stay(estimate)
                          : Apply(own, Compare(estimate, baseline_ns, observation));
  decision.baseline = absl::Nanoseconds(baseline_ns);
  return decision;
}

double Gradient2Law::Estimate(const Gradient2State& state) const {
  return config_.reference_exact ? state.estimated_limit : Bounded(config_, state.estimated_limit);
}

double Gradient2Law::QueueOf(double estimate) const {
  return Queue(config_.gradient2.queue_size, config_.gradient2.queue_by_square_root, estimate);
}

bool Gradient2Law::IsOverload(const Gradient2State& state, double estimate,
                              const Observation& observation) const {
  if (config_.reference_exact) return false;
  const bool can_fall = Truncate(estimate) > config_.floor && observation.in_flight >= estimate / 2;
  const double learnt_up_to_ns = std::sqrt(config_.gradient2.rtt_tolerance) * state.long_latency_ns;
  return can_fall && state.warmup_count >= config_.gradient2.warmup_window &&
         static_cast<double>(LatencyNs(observation)) > learnt_up_to_ns;
}

double Gradient2Law::Learn(Gradient2State& state, double latency_ns) const {
  if (state.warmup_count < config_.gradient2.warmup_window) {
    ++state.warmup_count;
    state.warmup_sum_ns += latency_ns;
    state.long_latency_ns = state.warmup_sum_ns / state.warmup_count;
  } else {
    const double factor = 2.0 / (config_.gradient2.long_window + 1.0);
    state.long_latency_ns = state.long_latency_ns * (1 - factor) + latency_ns * factor;
  }
  const double baseline_ns = state.long_latency_ns;
  if (baseline_ns / latency_ns > kStaleRatio) state.long_latency_ns *= kStaleDecay;
  return baseline_ns;
}

Decision Gradient2Law::Compare(double estimate, double baseline_ns,
                               const Observation& observation) const {
  const double smoothing = config_.gradient2.smoothing;
  const auto latency_ns = static_cast<double>(LatencyNs(observation));
  const double ratio = config_.gradient2.rtt_tolerance * baseline_ns / latency_ns;
  // The order of the arguments matters: it keeps NaN, as the reference does.
  const double gradient = std::max(std::min(ratio, 1.0), kGradient2Min);
  const bool adds_queue = config_.reference_exact || !(gradient < 1);
  const double wanted = estimate * gradient + (adds_queue ? QueueOf(estimate) : 0);
  const double smoothed = estimate * (1 - smoothing) + wanted * smoothing;
  const bool falls = smoothed < estimate;
  return {.unclamped = smoothed,
          .reason = falls ? Reason::kLatencyRose : Reason::kLatencyFell,
          .gradient = gradient};
}

Decision Gradient2Law::CutForDrops(double estimate) const {
  return {.unclamped = std::min(estimate * kGradient2Drop, estimate - 1),
          .reason = Reason::kErrors,
          .gradient = kGradient2Drop};
}

Decision Gradient2Law::Apply(Gradient2State& state, Decision decision) const {
  const double capped = std::min<double>(decision.unclamped, config_.ceiling);
  state.estimated_limit = std::max<double>(capped, config_.floor);
  decision.limit = Truncate(state.estimated_limit);
  decision.reason = ReasonWithin(config_, decision.unclamped, decision.reason);
  return decision;
}

Decision Gradient2Law::Stay(double estimate) const {
  return {.limit = Truncate(estimate), .unclamped = estimate, .reason = Reason::kUnderused};
}

}  // namespace plimsoll::internal
