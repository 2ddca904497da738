#pragma once

#include <cmath>
#include <cstdint>

#include "algorithms/src/knee_view.h"
#include "plimsoll/algorithms/fleet_knee.h"

namespace plimsoll::internal {

// How much of what was learnt is kept after a decision to hold, and after a move: what was learnt
// elsewhere says little.
inline constexpr double kForgetHold = 0.85;
inline double KeptAfterMove(double before, double after) {
  constexpr double kMove = 0.12;
  return std::exp(-std::abs(std::log(after / before)) / kMove);
}

// How far limits of this level are moved, in ln: however small they are, the codes differ by a
// call.
double DitherAt(double level, KneeMode mode, const KneeState& state);

// The end of one epoch. Formulas: fleet_knee.h and algorithms/README.md. Used once.
class KneeClosing {
 public:
  KneeClosing(const AlgorithmConfig& config, KneeMode mode, std::int64_t samples_min,
              KneeState& state, const KneeEpoch& epoch);
  KneeDecision Close();

 private:
  enum class Verdict { kRaise, kLower, kHold };

  // Before anything is learnt of throughput.
  void ObeyCap();
  bool Brake();
  bool KeepTarget();
  void Learn();
  void LearnAtLightLoad();
  bool NoticeChange();

  // Pairs.
  void KeepFirst();
  void AddPair();
  void AddTotals();
  void AddDifferences();
  bool Followed(double dn, double level) const;
  void NoteDeviants();

  // Decisions.
  void Decide();
  double PairsNeeded() const;
  bool IsFarAboveBaseline() const;
  Verdict Judge(double elasticity, double error, double latency) const;
  static double ErrorOf(const ElasticitySums& sums, std::int64_t calls);
  double RaiseFactor(double elasticity) const;
  double LowerFactor(double level, double throughput) const;
  double Needed(double throughput, int replicas) const;
  void MoveTo(double level);
  void Moved(double before);
  void Weigh();
  void WeighAlone();
  void Normalise();

  // What comes next.
  void SizeEpoch();
  void Plan();
  void NewPair();
  void Forget();
  void DropPair();
  void End(KneeOutcome outcome, Reason reason);

  bool shared() const { return mode_ == KneeMode::kShared; }
  int live() const { return epoch_.live.value_or(state_.present); }
  bool Compares() const { return !shared() && live() >= 2; }
  double Cap() const;
  KneeReplica& At(std::size_t i) { return state_.replicas[i]; }

  const AlgorithmConfig& config_;
  const KneeMode mode_;
  const std::int64_t samples_min_;
  KneeState& state_;
  const KneeEpoch& epoch_;
  const EpochView view_;
  const double latency_;  // seconds
  bool dropped_ = false;
  KneeDecision decision_;
};

}  // namespace plimsoll::internal
