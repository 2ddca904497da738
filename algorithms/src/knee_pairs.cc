// Pairs of epochs, and what single replicas show.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "algorithms/src/knee_closing.h"

namespace plimsoll::internal {
namespace {

constexpr double kDeviant = 0.4;
constexpr int kDeviantEpochs = 3;
constexpr int kComparable = 3;
constexpr double kWeightMin = 0.25;
constexpr double kWeightMax = 4;
constexpr double kWeightGain = 0.15;
constexpr double kDeviantGain = 0.3;
// After so many cuts in a row the shares of throughput are those of saturated replicas.
constexpr int kLoweredOften = 3;
constexpr double kAlonePairs = 3;

// Calls in flight that moved by less than this part of the dither did not follow it: a limit that
// was not reached, not granted, or in nobody's hands yet. What throughput did then is noise.
constexpr double kFollowed = 0.25;

// Whoever was slow once is compared: where calls only wait, latency follows the limit, and those
// whose limits were raised are slow; without them there is nothing to compare. And to choose by the
// outcome bends the estimate.
bool IsDeviant(const KneeReplica& replica) { return replica.deviant_epochs >= kDeviantEpochs; }

double HalfGrowth(double first, double second) { return std::log(second / first) / 2; }

}  // namespace

void KneeClosing::KeepFirst() {
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    const ReplicaView& view = view_.replicas[i];
    KneeReplica& replica = state_.replicas[i];
    replica.first_seen = view.seen && view.steady && view.x > 0 && view.n > 0;
    replica.first_saturated = view.saturated && !IsDeviant(replica);
    replica.first_x = view.x;
    replica.first_n = view.n;
  }
}

void KneeClosing::AddPair() { shared() ? AddTotals() : AddDifferences(); }

// Of those who were there in both epochs: a report that is missing is no change of throughput.
void KneeClosing::AddTotals() {
  double first_x = 0;
  double first_n = 0;
  double x = 0;
  double n = 0;
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    const KneeReplica& replica = state_.replicas[i];
    if (!replica.first_seen || !view_.replicas[i].seen || !view_.replicas[i].steady) continue;
    first_x += replica.first_x;
    first_n += replica.first_n;
    x += view_.replicas[i].x;
    n += view_.replicas[i].n;
  }
  if (!(first_x > 0 && first_n > 0 && x > 0 && n > 0)) return;
  const double dn = -state_.base_sign * HalfGrowth(first_n, n);
  if (!Followed(dn, state_.working())) return;
  state_.sums.Add(-state_.base_sign * HalfGrowth(first_x, x), dn);
}

bool KneeClosing::Followed(double dn, double level) const {
  return std::abs(dn) >= kFollowed * DitherAt(level, mode_, state_);
}

// What all of them have in common is subtracted: it is load, mix or weather.
void KneeClosing::AddDifferences() {
  struct Growth {
    std::size_t replica;
    double x;
    double n;
  };
  std::vector<Growth> grown;
  double mean_x = 0;
  double mean_n = 0;
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    const ReplicaView& view = view_.replicas[i];
    const KneeReplica& replica = state_.replicas[i];
    const bool comparable = replica.first_seen && replica.first_saturated && view.saturated &&
                            view.steady && view.x > 0 && replica.base_code != 0 &&
                            !IsDeviant(replica);
    if (!comparable) continue;
    grown.push_back({i, HalfGrowth(replica.first_x, view.x), HalfGrowth(replica.first_n, view.n)});
    mean_x += grown.back().x;
    mean_n += grown.back().n;
  }
  const auto count = static_cast<double>(grown.size());
  // One alone has nothing to be compared with but itself.
  const bool compares = grown.size() >= 2;
  for (const Growth& growth : grown) {
    KneeReplica& replica = At(growth.replica);
    const double dx = -replica.base_code * (growth.x - (compares ? mean_x / count : 0));
    const double dn = -replica.base_code * (growth.n - (compares ? mean_n / count : 0));
    if (!Followed(dn, state_.working() * replica.weight)) continue;
    state_.sums.Add(dx, dn);
    replica.own.Add(dx, dn);
  }
}

// Three epochs in a row, so that a pause of one replica changes nothing.
void KneeClosing::NoteDeviants() {
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    const ReplicaView& view = view_.replicas[i];
    const bool deviates =
        !shared() && view_.seen >= kComparable && view.ended && view.ln_r - view_.ln_r > kDeviant;
    At(i).deviant_epochs = deviates ? At(i).deviant_epochs + 1 : 0;
  }
}

void KneeClosing::Weigh() {
  if (!Compares() || view_.x <= 0) return;
  const double mean_x = view_.x / view_.seen;
  bool weighed = false;
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    KneeReplica& replica = At(i);
    if (!replica.present || !view_.replicas[i].saturated) continue;
    const bool deviates = IsDeviant(replica);
    const bool settled = replica.deviant_epochs == 0 && state_.lowered >= kLoweredOften;
    if (!deviates && !settled) continue;
    const double share = std::clamp(view_.replicas[i].x / mean_x, kWeightMin, kWeightMax);
    replica.weight *= std::pow(share / replica.weight, deviates ? kDeviantGain : kWeightGain);
    weighed = true;
  }
  if (weighed) Normalise();
}

// A replica that meets its limit while the others do not has too much traffic or too little
// capacity. It is judged by itself, in order of time, against the baseline of all.
void KneeClosing::WeighAlone() {
  if (shared() || !state_.dithering) return;
  if (!state_.second_of_pair) return KeepFirst();
  bool weighed = false;
  for (std::size_t i = 0; i < view_.replicas.size(); ++i) {
    KneeReplica& replica = At(i);
    const ReplicaView& view = view_.replicas[i];
    const bool comparable = replica.first_seen && replica.first_saturated && view.saturated &&
                            view.steady && view.x > 0 && replica.base_code != 0;
    if (!comparable) continue;
    const double dn = -replica.base_code * HalfGrowth(replica.first_n, view.n);
    if (!Followed(dn, state_.working() * replica.weight)) continue;
    replica.own.Add(-replica.base_code * HalfGrowth(replica.first_x, view.x), dn);
    if (!replica.own.known() || replica.own.count < kAlonePairs) continue;
    const Verdict verdict =
        Judge(replica.own.elasticity(), replica.own.error(), std::exp(view.ln_r));
    if (verdict == Verdict::kHold) {
      replica.own.Scale(kForgetHold);
      continue;
    }
    const double before = replica.weight;
    const double factor = verdict == Verdict::kRaise
                              ? RaiseFactor(replica.own.elasticity())
                              : LowerFactor(state_.working() * before, view.x);
    replica.weight = std::clamp(before * factor, kWeightMin, kWeightMax);
    replica.own.Scale(KeptAfterMove(before, replica.weight));
    weighed = true;
  }
  if (weighed) Normalise();
}

// No limit moves by this, but that the cap holds.
void KneeClosing::Normalise() {
  double sum = 0;
  for (const KneeReplica& replica : state_.replicas) sum += replica.present ? replica.weight : 0;
  const double mean = sum / state_.present;
  for (KneeReplica& replica : state_.replicas) replica.weight /= mean;
  state_.level = std::clamp(state_.level * mean, static_cast<double>(config_.floor),
                            std::max(Cap(), state_.level));
}

// Balanced and in random order, so that what drifts cancels on average. Those who measured come
// first, so that they are balanced among themselves.
void KneeClosing::NewPair() {
  state_.second_of_pair = false;
  state_.first_usable = false;
  state_.base_sign = state_.random.Chance(0.5) ? 1 : -1;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < state_.replicas.size(); ++i) {
    At(i).base_code = 0;
    At(i).first_seen = At(i).first_saturated = false;
    if (At(i).present) order.push_back(i);
  }
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[state_.random.Below(i)]);
  }
  std::stable_partition(order.begin(), order.end(), [this](std::size_t i) {
    return i < epoch_.replicas.size() && epoch_.replicas[i].length > absl::ZeroDuration();
  });
  int code = order.size() == 1 ? state_.base_sign : -1;
  for (const std::size_t i : order) {
    At(i).base_code = code;
    code = -code;
  }
}

}  // namespace plimsoll::internal
