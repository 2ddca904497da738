#include "plimsoll/algorithms/fleet_knee.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "algorithms/src/knee_closing.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

// Half of the epoch's length, or one latency: by then the calls of the limit before have ended.
constexpr double kSettlePart = 0.5;

double Code(const KneeState& state, int base) {
  if (!state.dithering) return 0;
  return state.second_of_pair ? -base : base;
}

Calls Round(double calls) {
  return static_cast<Calls>(std::lround(std::min<double>(calls, kCallsMax)));
}

}  // namespace

std::string_view ToString(KneeOutcome outcome) {
  switch (outcome) {
    case KneeOutcome::kRaised:
      return "raised";
    case KneeOutcome::kLowered:
      return "lowered";
    case KneeOutcome::kHeld:
      return "held";
    case KneeOutcome::kUndecided:
      return "undecided";
    case KneeOutcome::kAtCap:
      return "at the cap";
    case KneeOutcome::kChanged:
      return "changed";
    case KneeOutcome::kNotBinding:
      return "not binding";
    case KneeOutcome::kTooFewSamples:
      return "too few samples";
    case KneeOutcome::kBraked:
      return "braked";
    case KneeOutcome::kAboveTarget:
      return "above the latency target";
    case KneeOutcome::kObserving:
      return "observing";
  }
  return "unknown";
}

absl::StatusOr<FleetKnee> MakeFleetKnee(const AlgorithmConfig& config, KneeMode mode) {
  if (absl::Status status = Validate(config); !status.ok()) return status;
  if (config.kind != AlgorithmKind::kFleetKnee) {
    return absl::InvalidArgumentError(
        absl::StrCat("algorithm = ", std::string(ToString(config.kind)), ": must be fleet_knee"));
  }
  return FleetKnee(config, mode);
}

FleetKnee::FleetKnee(const AlgorithmConfig& config, KneeMode mode) : config_(config), mode_(mode) {}

KneeState FleetKnee::InitialState(std::uint64_t seed) const {
  KneeState state(seed);
  state.level = config_.initial;
  state.epoch_seconds = absl::ToDoubleSeconds(config_.fleet_knee.epoch_min);
  state.dither = state.dither_base =
      std::clamp(0.1, config_.fleet_knee.dither_min, config_.fleet_knee.dither_max);
  return state;
}

std::size_t FleetKnee::Add(KneeState& state) const {
  std::size_t index = state.replicas.size();
  if (state.free.empty()) {
    state.replicas.emplace_back();
  } else {
    index = state.free.back();
    state.free.pop_back();
  }
  state.replicas[index].present = true;
  ++state.present;
  return index;
}

void FleetKnee::Remove(KneeState& state, std::size_t replica) const {
  PLIMSOLL_CHECK(replica < state.replicas.size() && state.replicas[replica].present,
                 "only a replica that is there can go");
  state.replicas[replica] = KneeReplica();
  state.free.push_back(replica);
  --state.present;
}

Calls FleetKnee::Limit(const KneeState& state, std::size_t replica) const {
  PLIMSOLL_CHECK(mode_ == KneeMode::kPerReplica, "shared pools have one total");
  const KneeReplica& one = state.replicas.at(replica);
  const double level = state.working() * one.weight;
  const double dither = internal::DitherAt(level, KneeMode::kPerReplica, state);
  const double limit = level * std::exp(dither * Code(state, one.base_code));
  return std::clamp(Round(limit), config_.floor, config_.ceiling);
}

Calls FleetKnee::Total(const KneeState& state) const {
  PLIMSOLL_CHECK(mode_ == KneeMode::kShared, "replicas with limits of their own have no total");
  const double dither = internal::DitherAt(state.working(), KneeMode::kShared, state);
  const double total = state.working() * std::exp(dither * Code(state, state.base_sign));
  return std::clamp(Round(total), config_.floor, config_.ceiling);
}

absl::Duration FleetKnee::EpochLength(const KneeState& state) const {
  return absl::Seconds(state.epoch_seconds);
}

absl::Duration FleetKnee::Settle(const KneeState& state) const {
  return absl::Seconds(std::min(kSettlePart * state.epoch_seconds, state.latency));
}

std::int64_t FleetKnee::SamplesMin(int live) const {
  const std::int64_t replicas = mode_ == KneeMode::kShared ? 1 : std::max(1, live);
  return config_.fleet_knee.samples_min * replicas;
}

KneeDecision FleetKnee::Close(KneeState& state, const KneeEpoch& epoch) const {
  const std::int64_t samples_min = SamplesMin(epoch.live.value_or(state.present));
  return internal::KneeClosing(config_, mode_, samples_min, state, epoch).Close();
}

}  // namespace plimsoll
