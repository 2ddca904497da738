#include "algorithms/src/bdp.h"

#include <algorithm>
#include <cmath>

#include "algorithms/src/arithmetic.h"
#include "algorithms/src/bounds.h"

namespace plimsoll::internal {
namespace {

// Of the original.
constexpr double kBaselineGain = 0.1;
constexpr double kRateGain = 0.01;
constexpr double kChange = 1.06;
constexpr double kExploreStep = 0.02;
constexpr double kProbeShare = 0.9;
constexpr double kProbeLatencies = 2;
constexpr double kNsPerUs = 1000;
constexpr double kNsPerSecond = 1e9;
// Ours; see the header.
constexpr double kRateGainInQueue = 0.1;
constexpr double kAverageGain = 0.2;
constexpr int kKeptAtMost = 10;

void Forget(BdpState& state) {
  state.kept_ended = state.kept_failed = state.kept_latency_sum = state.kept_seconds = 0;
  state.kept_observations = 0;
}

double OkOf(const BdpState& state) { return state.kept_ended - state.kept_failed; }

}  // namespace

LawState BdpLaw::InitialState() const {
  BdpState state{.limit = static_cast<double>(config_.initial), .explore = config_.bdp.explore_max};
  if (config_.reference_exact) probe_.GiveUp(state.probe, 0.5);
  return state;
}

Calls BdpLaw::Limit(const LawState& state) const { return LimitOf(StateOf<BdpState>(state)); }

Decision BdpLaw::Decide(LawState& state, const Observation& observation) const {
  auto& own = StateOf<BdpState>(state);
  const bool tells = config_.reference_exact ? observation.samples > 0 : IsUsable(observation);
  if (!tells) return At(own, Reason::kUnderused);
  if (IsPinned()) own.baseline_ns = absl::ToDoubleNanoseconds(config_.bdp.fixed_baseline);
  Decision decision =
      config_.reference_exact ? DecideExactly(own, observation) : DecideSafely(own, observation);
  decision.baseline = absl::Nanoseconds(own.baseline_ns);
  return decision;
}

Decision BdpLaw::DecideExactly(BdpState& state, const Observation& observation) const {
  if (state.ignore_ns > 0) {
    state.ignore_ns -= absl::ToDoubleNanoseconds(observation.elapsed);
    if (state.ignore_ns <= 0) {
      state.baseline_ns = 0;
      probe_.GiveUp(state.probe, observation.draw);
    }
    return At(state, Reason::kProbe);
  }
  probe_.Elapse(state.probe, observation);
  Forget(state);
  Keep(state, observation);
  if (state.kept_ended < config_.bdp.samples_min) return At(state, Reason::kUnderused);
  if (OkOf(state) <= 0) {
    return SetTo(state, LimitOf(state) / 2, Reason::kErrors, Reason::kErrors);
  }
  const double average_ns = Learn(state);
  if (IsPinned() || !probe_.IsDue(state.probe)) return Multiply(state, average_ns);
  state.ignore_ns = kProbeLatencies * average_ns;
  const double product = state.calls_per_second * state.baseline_ns / kNsPerSecond;
  return SetTo(state, std::ceil(product * kProbeShare), Reason::kProbe, Reason::kProbe);
}

Decision BdpLaw::DecideSafely(BdpState& state, const Observation& observation) const {
  probe_.Elapse(state.probe, observation);
  if (Probe::IsRunning(state.probe)) {
    return StepProbe(config_, probe_, observation, state.probe, state.limit, state.baseline_ns);
  }
  if (observation.dropped) return Cut(state, observation);
  if (observation.in_flight < LimitOf(state) / 2.0) {
    Forget(state);
    return At(state, Reason::kUnderused);
  }
  if (!Keep(state, observation)) return At(state, Reason::kUnderused);
  if (OkOf(state) <= 0) return Cut(state, observation);
  const double average_ns = Learn(state);
  if (IsPinned() || !probe_.IsDue(state.probe)) return Multiply(state, average_ns);
  const Calls limit = LimitOf(state);
  Forget(state);
  state.limit = limit;
  probe_.Begin(state.probe, limit, observation.in_flight, average_ns);
  return At(state, Reason::kProbe);
}

bool BdpLaw::Keep(BdpState& state, const Observation& observation) const {
  const auto samples = static_cast<double>(observation.samples);
  const auto failed = static_cast<double>(observation.failed);
  const absl::Duration length =
      observation.length > absl::ZeroDuration() ? observation.length : observation.elapsed;
  if (length <= absl::ZeroDuration()) return false;
  state.kept_ended += samples;
  state.kept_failed += std::clamp(failed, 0.0, samples);
  state.kept_latency_sum += samples * static_cast<double>(LatencyNs(observation));
  state.kept_seconds += absl::ToDoubleSeconds(std::min(length, absl::Hours(1)));
  ++state.kept_observations;
  return state.kept_ended >= config_.bdp.samples_min || state.kept_observations >= kKeptAtMost;
}

Decision BdpLaw::Cut(BdpState& state, const Observation& observation) const {
  Forget(state);
  const Calls before = LimitOf(state);
  const double factor = observation.failed >= observation.samples ? 0.5 : kDropFactor;
  return SetTo(state, std::trunc(std::min(before * factor, before - 1.0)), Reason::kErrors,
               Reason::kErrors);
}

double BdpLaw::Learn(BdpState& state) const {
  const double ok = OkOf(state);
  const double latency_ns = state.kept_latency_sum / state.kept_ended;
  const double weighed = config_.bdp.fail_punish * state.kept_failed + ok;
  const double average_ns = std::ceil(weighed * latency_ns / ok / kNsPerUs) * kNsPerUs;
  const double rate = ok / state.kept_seconds;
  state.average_ns = state.average_ns <= 0
                         ? average_ns
                         : state.average_ns + kAverageGain * (average_ns - state.average_ns);
  if (!IsPinned()) {
    if (state.baseline_ns <= 0) {
      state.baseline_ns = average_ns;
    } else if (average_ns < state.baseline_ns) {
      state.baseline_ns = kBaselineGain * average_ns + (1 - kBaselineGain) * state.baseline_ns;
    }
  }
  const bool in_queue =
      !config_.reference_exact && average_ns > state.baseline_ns * (1 + config_.bdp.buffer);
  const double gain = in_queue ? kRateGainInQueue : kRateGain;
  state.calls_per_second =
      rate >= state.calls_per_second ? rate : gain * rate + (1 - gain) * state.calls_per_second;
  return average_ns;
}

void BdpLaw::Explore(BdpState& state, double average_ns, double rate) const {
  const bool up =
      average_ns <= state.baseline_ns * kChange || rate <= state.calls_per_second / kChange;
  state.explore = up ? std::min(config_.bdp.explore_max, state.explore + kExploreStep)
                     : std::max(config_.bdp.explore_min, state.explore - kExploreStep);
}

Decision BdpLaw::Multiply(BdpState& state, double average_ns) const {
  Explore(state, average_ns, OkOf(state) / state.kept_seconds);
  Forget(state);
  const double buffer = config_.reference_exact ? 0 : config_.bdp.buffer;
  const double delay_ns =
      std::clamp(state.average_ns, state.baseline_ns, state.baseline_ns * (1 + buffer));
  const double product = delay_ns / kNsPerSecond * state.calls_per_second;
  // Rounded up, or no small limit could ever be left: trunc(3 * 1.3) is 3.
  const double explored = product * (1 + state.explore);
  const double wanted = config_.reference_exact ? std::trunc(explored) : std::ceil(explored);
  return SetTo(state, wanted, Reason::kLatencyFell, Reason::kLatencyRose);
}

Decision BdpLaw::SetTo(BdpState& state, double wanted, Reason fell, Reason rose) const {
  const Calls before = LimitOf(state);
  state.limit = Bounded(config_, wanted);
  const Calls after = LimitOf(state);
  return {.limit = after,
          .unclamped = wanted,
          .reason = ReasonWithin(config_, wanted, after < before ? rose : fell)};
}

bool BdpLaw::IsPinned() const { return config_.bdp.fixed_baseline > absl::ZeroDuration(); }

Calls BdpLaw::LimitOf(const BdpState& state) const {
  const double limit = Probe::IsRunning(state.probe) ? state.probe.limit : state.limit;
  return Truncate(Bounded(config_, limit));
}

Decision BdpLaw::At(const BdpState& state, Reason reason) const {
  const Calls limit = LimitOf(state);
  return {.limit = limit, .unclamped = static_cast<double>(limit), .reason = reason};
}

}  // namespace plimsoll::internal
