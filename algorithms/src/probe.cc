#include "algorithms/src/probe.h"

#include <algorithm>

#include "absl/time/time.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

// Halving makes calls half as long while the dependency is saturated; this leaves room for noise.
constexpr double kShortened = 0.6;
// A probe that has not seen enough calls at a limit by then is given up.
constexpr int kWindowsAtMost = 30;

}  // namespace

void Probe::Elapse(ProbeState& state, const Observation& observation) const {
  const double elapsed_ns = absl::ToDoubleNanoseconds(
      std::clamp(observation.elapsed, absl::ZeroDuration(), config_.interval));
  // The interval may have become shorter since the probe was scheduled.
  state.due_in_ns = std::max(0.0, std::min(state.due_in_ns, LongestNs()) - elapsed_ns);
}

void Probe::Begin(ProbeState& state, Calls limit, Calls in_flight, double latency_ns) const {
  state.limit = Below(limit, in_flight);
  state.before_ns = latency_ns;
  state.latency_sum = state.samples = 0;
  state.observations = 0;
}

void Probe::Step(ProbeState& state, const Observation& observation, double& baseline_ns) const {
  if (++state.observations > kWindowsAtMost) {
    GiveUp(state, observation.draw);
    return;
  }
  // Calls from before the probe are still among these.
  if (observation.in_flight > state.limit) return;
  const auto samples = static_cast<double>(observation.samples);
  state.latency_sum += samples * static_cast<double>(LatencyNs(observation));
  state.samples += samples;
  if (state.samples < config_.samples) return;
  const double latency_ns = state.latency_sum / state.samples;
  const Calls next = Below(state.limit, observation.in_flight);
  const bool shortened = latency_ns < kShortened * state.before_ns;
  if (shortened && next < state.limit) {
    Begin(state, state.limit, observation.in_flight, latency_ns);
    return;
  }
  baseline_ns = latency_ns;
  GiveUp(state, observation.draw);
}

void Probe::GiveUp(ProbeState& state, double draw) const {
  state.limit = 0;
  state.latency_sum = state.samples = state.before_ns = 0;
  state.observations = 0;
  Schedule(state, draw);
}

Calls Probe::Below(Calls limit, Calls in_flight) const {
  const Calls used = std::clamp(in_flight, 1, limit);
  return std::min(limit, std::max({used / 2, config_.limit, floor_}));
}

double Probe::LongestNs() const {
  return absl::ToDoubleNanoseconds(config_.interval) * (1 + config_.jitter);
}

void Probe::Schedule(ProbeState& state, double draw) const {
  state.due_in_ns = absl::ToDoubleNanoseconds(config_.interval) * (1 + config_.jitter * draw);
}

Decision StepProbe(const AlgorithmConfig& config, const Probe& probe,
                   const Observation& observation, ProbeState& state, double& limit,
                   double& baseline_ns) {
  const Calls before = state.limit;
  if (observation.dropped) {
    probe.GiveUp(state, observation.draw);
    limit = std::min(limit * kDropFactor, before - 1.0);
  } else {
    probe.Step(state, observation, baseline_ns);
  }
  const double wanted = Probe::IsRunning(state) ? state.limit : limit;
  limit = Bounded(config, limit);
  const Reason reason = observation.dropped ? Reason::kErrors : Reason::kProbe;
  return {.limit = static_cast<Calls>(Bounded(config, wanted)),
          .unclamped = wanted,
          .reason = ReasonWithin(config, wanted, reason)};
}

}  // namespace plimsoll::internal
