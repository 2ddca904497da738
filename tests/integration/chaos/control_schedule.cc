#include "tests/integration/chaos/control_schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "plimsoll/core/random.h"

namespace plimsoll::chaos {
namespace {

constexpr double kMeanExtraGap = 1.5;
// Leaders are what matters, and the rest is there to be hit as well.
constexpr double kLeaderShare = 0.6;
constexpr double kOneWayShare = 0.5;

class ControlDealer {
 public:
  // Draws that nothing else makes: the faults of replicas do not depend on them.
  explicit ControlDealer(const ScheduleOptions& options)
      : options_(options), random_(options.seed ^ 0x5eed0fe7cd) {}

  std::vector<Fault> Deal() {
    std::vector<Fault> faults;
    for (double at = 2; at < options_.seconds - 1;) {
      const std::optional<FaultKind> kind = Draw(at);
      if (kind) faults.push_back(MakeFault(*kind, at));
      at += kind ? kControlGap + random_.Exponential(kMeanExtraGap) : 0.5;
    }
    return faults;
  }

 private:
  // The first card whose victims are well and have been for a moment.
  std::optional<FaultKind> Draw(double at) {
    if (deck_.empty()) Shuffle();
    for (std::size_t i = deck_.size(); i-- > 0;) {
      const FaultKind kind = deck_[i];
      if (Busy(kind) > at || resting_until_ > at) continue;
      if (IsResting(controllers_until_, at) || IsResting(etcd_until_, at)) continue;
      deck_.erase(deck_.begin() + static_cast<std::ptrdiff_t>(i));
      return kind;
    }
    return std::nullopt;
  }

  static bool IsResting(double until, double at) {
    return until <= at && at < until + kControlRest;
  }

  void Shuffle() {
    for (int k = 0; k < kFaultKinds; ++k) {
      const auto kind = static_cast<FaultKind>(k);
      const KindFacts& facts = FactsOf(kind);
      const bool ours = facts.victim == Victim::kController || facts.victim == Victim::kEtcd;
      if (!ours || (facts.network && !options_.network)) continue;
      deck_.insert(deck_.end(), static_cast<std::size_t>(facts.cards), kind);
    }
    for (std::size_t i = deck_.size(); i > 1; --i) std::swap(deck_[i - 1], deck_[random_.Below(i)]);
  }

  double& Busy(FaultKind kind) {
    return FactsOf(kind).victim == Victim::kEtcd ? etcd_until_ : controllers_until_;
  }

  Fault MakeFault(FaultKind kind, double at) {
    const KindFacts& facts = FactsOf(kind);
    Fault fault;
    fault.kind = kind;
    fault.at = at;
    fault.seconds =
        std::min(LogUniform(facts.seconds_min, facts.seconds_max), options_.seconds - at);
    const int count = facts.victim == Victim::kEtcd ? options_.members : options_.controllers;
    const auto pick = static_cast<int>(random_.Below(static_cast<std::size_t>(count)));
    fault.targets = {random_.Chance(kLeaderShare) ? kLeader : pick};
    if (HasWay(kind) && random_.Chance(kOneWayShare)) {
      fault.way = random_.Chance(0.5) ? Way::kFrom : Way::kTo;
    }
    if (IsDisturbance(kind)) {
      fault.delay_max = LogUniform(0.02, 1);
      fault.loss = random_.Uniform(0, 0.2);
      fault.duplicates = random_.Uniform(0, 0.2);
    }
    Busy(kind) = fault.end();
    // What follows a quorum that was lost must not be laid to it.
    if (kind == FaultKind::kLoseQuorum) resting_until_ = fault.end() + kControlGap;
    return fault;
  }

  double LogUniform(double low, double high) {
    return low * std::pow(high / low, random_.Uniform());
  }

  const ScheduleOptions options_;
  Random random_;
  std::vector<FaultKind> deck_;  // the next card last
  double controllers_until_ = -kControlRest;
  double etcd_until_ = -kControlRest;
  double resting_until_ = 0;
};

}  // namespace

std::vector<Fault> MakeControlSchedule(const ScheduleOptions& options) {
  return ControlDealer(options).Deal();
}

}  // namespace plimsoll::chaos
