#include "algorithms/src/knee_closing.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::internal {
namespace {

constexpr double kLatenciesPerEpoch = 10;
constexpr int kEpochsLoud = 6;
constexpr int kEpochsResting = 6;
constexpr double kLoudest = 0.25;
constexpr double kDitherMost = 0.5;
// The standard error that one pair should come to.
constexpr double kErrorWanted = 0.12;
// Per replica, a fleet is asked to report at most so often, all together.
constexpr double kReplicasPerSecond = 1000;

// Light load: below this part of the level, and so many calls.
constexpr double kLightPart = 0.5;
constexpr std::int64_t kLightSamples = 20;

// A change of ln R that the limits do not explain: twice the first, or once the second.
constexpr double kAlarm = 0.30;
constexpr double kAlarmAtOnce = 0.60;
constexpr double kReferenceGain = 0.2;

// Elasticity above this, whatever its error, certifies that nothing queues.
constexpr double kCertain = 0.7;
constexpr double kBaselineGain = 0.3;
constexpr double kBaselineGainUp = 0.1;
constexpr double kBaselineGainDown = 0.5;
constexpr double kClearlyBelow = 0.85;

// Replicas that are compared give several points at once.
constexpr double kPairsCompared = 4;
constexpr double kPairsOne = 0.99;
constexpr double kPairsAlone = 1.9;
// Of latency and baseline.
constexpr double kNearBaseline = 1.2;
constexpr double kFarAbove = 2.5;
constexpr double kPairsFew = 3;
constexpr double kDoubtOfFew = 1.5;

// Who knows less does not raise.
constexpr double kErrorToRaise = 0.5;
constexpr double kRaiseGain = 0.9;
constexpr double kRaiseMin = 0.03;
constexpr double kRaiseMax = 0.5;
// After two raises in a row with nothing queueing: the level is far too low.
constexpr double kRaiseMaxFast = 1.0;
constexpr double kLowerMost = 0.5;
constexpr double kLowerLeast = 0.95;
// Without a baseline: carefully at first, then faster.
constexpr double kLowerBlind = 0.9;
constexpr double kLowerBlindAgain = 0.75;
constexpr int kLoweredAgain = 3;
constexpr double kCushion = 0.25;
constexpr double kTargetMost = 0.7;
// No raise while the latency is this near its target.
constexpr double kNearTarget = 0.9;

constexpr double kForgetIdle = 0.5;
constexpr double kMoved = 0.02;

// A brake that leaves so much of the errors was in vain; after so many, errors do not brake.
constexpr double kVain = 0.8;
constexpr int kVainBrakes = 3;
constexpr int kBrakesOff = 16;
constexpr double kBrakeMost = 0.5;
constexpr double kBrakeLeast = 0.9;

double Toward(double from, double to, double gain) {
  return from == 0 ? to : from * (1 - gain) + to * gain;
}

}  // namespace

double DitherAt(double level, KneeMode mode, const KneeState& state) {
  const double call = mode == KneeMode::kShared ? 0.5 : 1;
  return std::max(state.dither, std::min(kDitherMost, call / std::max(1.0, level)));
}

KneeClosing::KneeClosing(const AlgorithmConfig& config, KneeMode mode, std::int64_t samples_min,
                         KneeState& state, const KneeEpoch& epoch)
    : config_(config),
      mode_(mode),
      samples_min_(samples_min),
      state_(state),
      epoch_(epoch),
      view_(LookAt(epoch, state, mode)),
      latency_(view_.latency_known ? std::exp(view_.ln_r) : state.latency) {}

KneeDecision KneeClosing::Close() {
  decision_.before = state_.working();
  ObeyCap();
  const double obeyed = state_.working();
  decision_.throughput = view_.x;
  decision_.in_flight = view_.n;
  decision_.latency = absl::Seconds(view_.latency_known ? latency_ : 0);
  decision_.failed_share = view_.failed_share();
  decision_.saturated_share = view_.saturated_share;
  decision_.samples = view_.ended;
  if (view_.latency_known) state_.latency = latency_;
  if (!epoch_.enforced) {
    DropPair();
    End(KneeOutcome::kObserving, Reason::kUnderused);
  } else if (!Brake() && !KeepTarget()) {
    Learn();
  }
  SizeEpoch();
  Plan();
  decision_.baseline = absl::Seconds(state_.baseline);
  decision_.after = state_.working();
  const bool by_cap = decision_.after == obeyed && obeyed != decision_.before;
  if (by_cap) decision_.reason = Reason::kCeiling;
  return decision_;
}

// The level stays what was learnt: a cap may rise again, as members come and go.
void KneeClosing::ObeyCap() {
  const double before = state_.working();
  state_.cap = Cap();
  Moved(before);
}

double KneeClosing::Cap() const {
  return std::max(config_.floor, std::min(config_.ceiling, epoch_.cap));
}

// Overload errors lower the level at once, unless that has shown to be in vain: errors that do not
// depend on the load would otherwise take everything.
bool KneeClosing::Brake() {
  const bool off = state_.brakes_off > 0;
  if (off) --state_.brakes_off;
  const double share = view_.failed_share();
  if (view_.ended < kLightSamples || share <= epoch_.drop_tolerance) {
    state_.braked_share = 0;
    state_.vain_brakes = 0;
    return false;
  }
  if (off) return false;
  const bool in_vain = state_.braked_share > 0 && share >= kVain * state_.braked_share;
  state_.vain_brakes = in_vain ? state_.vain_brakes + 1 : 0;
  state_.braked_share = share;
  if (state_.vain_brakes >= kVainBrakes) {
    state_.vain_brakes = 0;
    state_.braked_share = 0;
    state_.brakes_off = kBrakesOff;
    return false;
  }
  DropPair();
  MoveTo(state_.working() * std::clamp(1 - share, kBrakeMost, kBrakeLeast));
  End(KneeOutcome::kBraked, Reason::kErrors);
  return true;
}

// A target below what the dependency needs without a queue cannot be kept, and costs nothing.
bool KneeClosing::KeepTarget() {
  const absl::Duration target = config_.fleet_knee.latency_target;
  if (epoch_.latency <= target || !view_.binding) return false;
  const double factor =
      std::clamp(absl::FDivDuration(target, epoch_.latency), kTargetMost, kLowerLeast);
  const double level = std::max(state_.working() * factor, Needed(view_.x, view_.seen));
  if (level >= state_.working()) return false;
  DropPair();
  MoveTo(level);
  End(KneeOutcome::kAboveTarget, Reason::kLatencyRose);
  return true;
}

// What is in flight at this throughput if nothing queues; 0 if that latency is unknown.
double KneeClosing::Needed(double throughput, int replicas) const {
  return throughput / (shared() ? 1 : std::max(1, replicas)) * state_.baseline;
}

void KneeClosing::Learn() {
  LearnAtLightLoad();
  if (view_.ended < samples_min_) {
    DropPair();
    return End(KneeOutcome::kTooFewSamples, Reason::kUnderused);
  }
  // Whatever queues, latency without a queue is not above what was seen; but means of few calls
  // scatter, and the lowest of them is no latency at all.
  if (latency_ < kClearlyBelow * state_.baseline) {
    state_.baseline = Toward(state_.baseline, latency_, kBaselineGainDown);
  }
  if (!view_.binding) {
    state_.reference.reset();
    state_.sums.Scale(kForgetIdle);
    state_.first_usable = false;
    WeighAlone();
    return End(KneeOutcome::kNotBinding, Reason::kUnderused);
  }
  NoteDeviants();
  const bool changed = NoticeChange();
  if (state_.resting > 0) return End(KneeOutcome::kAtCap, Reason::kCeiling);
  End(changed ? KneeOutcome::kChanged : KneeOutcome::kUndecided, Reason::kProbe);
  if (!state_.dithering) return;
  if (!state_.second_of_pair) {
    KeepFirst();
    state_.first_usable = true;
    return;
  }
  if (state_.first_usable) AddPair();
  Decide();
}

void KneeClosing::LearnAtLightLoad() {
  const double used = shared() ? view_.n : view_.n / std::max(1, view_.seen);
  const bool light = view_.saturated == 0 && used < kLightPart * state_.working();
  if (!light || !view_.latency_known || view_.ended < kLightSamples) return;
  state_.baseline = Toward(state_.baseline, latency_,
                           latency_ < state_.baseline ? kBaselineGain : kBaselineGainUp);
}

// Latency moved while the limits did not: what was learnt is of another dependency.
bool KneeClosing::NoticeChange() {
  if (!view_.latency_known) return false;
  if (!state_.reference.has_value()) {
    state_.reference = view_.ln_r;
    return false;
  }
  const double moved = view_.ln_r - *state_.reference;
  if (std::abs(moved) <= kAlarm) {
    state_.alarms = 0;
    *state_.reference += kReferenceGain * moved;
    return false;
  }
  if (++state_.alarms < 2 && std::abs(moved) <= kAlarmAtOnce) return false;
  Forget();
  return true;
}

void KneeClosing::Forget() {
  state_.sums = ElasticitySums();
  for (KneeReplica& replica : state_.replicas) replica.own = ElasticitySums();
  state_.first_usable = false;
  state_.reference = view_.ln_r;
  state_.alarms = 0;
  state_.resting = 0;
  state_.dither = std::max(state_.dither_base, std::min(kLoudest, 2 * state_.dither_base));
  state_.loud = kEpochsLoud;
}

void KneeClosing::Decide() {
  const ElasticitySums& sums = state_.sums;
  if (!sums.known() || sums.count < PairsNeeded()) return;
  const double elasticity = sums.elasticity();
  decision_.elasticity = elasticity;
  const double error = decision_.elasticity_error = ErrorOf(sums, view_.ended);
  if (elasticity - error > kCertain) {
    state_.baseline = Toward(state_.baseline, latency_, kBaselineGain);
  }
  const Verdict verdict = Judge(elasticity, error, latency_);
  if (verdict != Verdict::kLower && sums.count < kPairsAlone && IsFarAboveBaseline()) return;
  switch (verdict) {
    case Verdict::kRaise: {
      if (state_.working() >= Cap() * (1 - 1e-6)) {
        state_.resting = kEpochsResting;
        End(KneeOutcome::kAtCap, Reason::kCeiling);
        break;
      }
      state_.lowered = 0;
      ++state_.raised;
      MoveTo(state_.working() * RaiseFactor(elasticity));
      End(KneeOutcome::kRaised, Reason::kThroughputGrew);
      break;
    }
    case Verdict::kLower:
      ++state_.lowered;
      state_.raised = 0;
      MoveTo(state_.working() *
             LowerFactor(state_.working(), view_.x / (shared() ? 1 : std::max(1, view_.seen))));
      End(KneeOutcome::kLowered, Reason::kThroughputFlat);
      break;
    case Verdict::kHold:
      state_.raised = 0;
      // Found at the cap: it is no higher than this.
      if (elasticity + error < kCertain) state_.level = state_.working();
      state_.sums.Scale(kForgetHold);
      End(KneeOutcome::kHeld, Reason::kThroughputFlat);
      break;
  }
  Weigh();
}

// Few pairs do not show how much they scatter. Counts scatter at least as those of Poisson do: half
// the difference of ln X of two epochs of N calls by sqrt(1 / 2N).
double KneeClosing::ErrorOf(const ElasticitySums& sums, std::int64_t calls) {
  const double doubt = sums.count < kPairsFew ? kDoubtOfFew : 1;
  const double counts =
      std::sqrt(sums.count / (2 * std::max<double>(1, static_cast<double>(calls))));
  return std::max(sums.error(), doubt * counts / sums.n);
}

bool KneeClosing::IsFarAboveBaseline() const {
  return state_.baseline > 0 && latency_ > kFarAbove * state_.baseline;
}

// One pair alone may straddle a change, two of random signs say different things then. It is enough
// where latency says the same: to lower far above the baseline, to move at it.
double KneeClosing::PairsNeeded() const {
  if (Compares()) return kPairsCompared;
  const bool at_baseline = state_.baseline > 0 && latency_ < kNearBaseline * state_.baseline;
  return at_baseline || IsFarAboveBaseline() ? kPairsOne : kPairsAlone;
}

// The baseline is only a prior: far above it lowering is easier, near it raising is.
KneeClosing::Verdict KneeClosing::Judge(double elasticity, double error, double latency) const {
  const double z = (elasticity - config_.fleet_knee.theta) / error;
  const double ratio = state_.baseline > 0 ? latency / state_.baseline : 1.6;
  const double lower = ratio > kFarAbove ? 0 : ratio > 1.5 ? 0.7 : 1.5;
  const double raise = ratio < kNearBaseline ? 0.7 : ratio < kFarAbove ? 1.5 : 2.5;
  if (z < -lower) return Verdict::kLower;
  const bool near_target = epoch_.latency > kNearTarget * config_.fleet_knee.latency_target;
  if (z > raise && error < kErrorToRaise && !near_target) return Verdict::kRaise;
  return Verdict::kHold;
}

double KneeClosing::RaiseFactor(double elasticity) const {
  const bool far = state_.raised > 2 && elasticity > kCertain;
  return 1 + std::clamp(kRaiseGain * (elasticity - config_.fleet_knee.theta), kRaiseMin,
                        far ? kRaiseMaxFast : kRaiseMax);
}

double KneeClosing::LowerFactor(double level, double throughput) const {
  if (state_.baseline == 0) {
    return state_.lowered < kLoweredAgain ? kLowerBlind : kLowerBlindAgain;
  }
  const double needed = throughput * state_.baseline;
  const double goal = needed + std::max(kCushion * needed, std::sqrt(needed));
  return std::clamp(goal / level, kLowerMost, kLowerLeast);
}

void KneeClosing::MoveTo(double level) {
  const double before = state_.working();
  state_.level = std::clamp<double>(level, config_.floor, Cap());
  Moved(before);
}

// What was learnt at another level says little here.
void KneeClosing::Moved(double before) {
  const double moved = std::abs(std::log(state_.working() / before));
  const double kept = KeptAfterMove(before, state_.working());
  state_.sums.Scale(kept);
  for (KneeReplica& replica : state_.replicas) replica.own.Scale(kept);
  if (moved > kMoved) state_.reference.reset();
}

void KneeClosing::SizeEpoch() {
  const FleetKneeConfig& knee = config_.fleet_knee;
  const double longest = absl::ToDoubleSeconds(knee.epoch_max);
  const double shortest = std::min(
      longest, std::max(absl::ToDoubleSeconds(knee.epoch_min), live() / kReplicasPerSecond));
  state_.epoch_seconds = std::clamp(kLatenciesPerEpoch * latency_, shortest, longest);
  if (view_.x > 0) {
    const double wanted = std::sqrt(1 / (2 * view_.x * state_.epoch_seconds)) / kErrorWanted;
    state_.dither_base = std::clamp(wanted, knee.dither_min, knee.dither_max);
  }
  if (state_.loud > 0) --state_.loud;
  if (state_.loud == 0) state_.dither = state_.dither_base;
}

// Limits that nobody meets are not moved: it would teach nothing.
void KneeClosing::Plan() {
  const bool met = epoch_.enforced && (shared() ? view_.binding : view_.saturated > 0);
  if (state_.resting > 0) --state_.resting;
  const bool was_dithering = std::exchange(state_.dithering, met && state_.resting == 0);
  if (!state_.dithering) return DropPair();
  const bool second_next = was_dithering && !state_.second_of_pair && !dropped_;
  if (second_next) {
    state_.second_of_pair = true;
  } else {
    NewPair();
  }
}

void KneeClosing::DropPair() {
  dropped_ = true;
  state_.first_usable = false;
  state_.second_of_pair = false;
}

void KneeClosing::End(KneeOutcome outcome, Reason reason) {
  decision_.outcome = outcome;
  decision_.reason = reason;
}

}  // namespace plimsoll::internal
