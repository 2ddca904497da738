#include "tests/integration/chaos/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "plimsoll/core/random.h"
#include "tests/integration/chaos/control_schedule.h"

namespace plimsoll::chaos {
namespace {

constexpr double kMeanGapSeconds = 1.2;

// When something can go wrong with it again. The last place is the controller's.
using BusyUntil = std::array<double, kPlaces + 1>;
constexpr std::size_t kController = kPlaces;

class Dealer {
 public:
  explicit Dealer(const ScheduleOptions& options) : options_(options), random_(options.seed) {}

  std::vector<Fault> Deal() {
    std::vector<Fault> faults;
    for (double at = 1; at < options_.seconds - 1; at += random_.Exponential(kMeanGapSeconds)) {
      if (std::optional<Fault> fault = Next(at)) faults.push_back(*std::move(fault));
    }
    return faults;
  }

 private:
  // The first card whose target is free.
  std::optional<Fault> Next(double at) {
    if (deck_.empty()) Shuffle();
    for (std::size_t i = deck_.size(); i-- > 0;) {
      std::optional<Fault> fault = Try(deck_[i], at);
      if (!fault) continue;
      deck_.erase(deck_.begin() + static_cast<std::ptrdiff_t>(i));
      return fault;
    }
    return std::nullopt;
  }

  void Shuffle() {
    for (int k = 0; k < kFaultKinds; ++k) {
      const auto kind = static_cast<FaultKind>(k);
      if (!IsDealt(kind)) continue;
      deck_.insert(deck_.end(), static_cast<std::size_t>(FactsOf(kind).cards), kind);
    }
    for (std::size_t i = deck_.size(); i > 1; --i) std::swap(deck_[i - 1], deck_[random_.Below(i)]);
  }

  // Several controllers, and what they need, have faults of their own.
  bool IsDealt(FaultKind kind) const {
    const KindFacts& facts = FactsOf(kind);
    if (facts.elected || (facts.network && !options_.network)) return false;
    return options_.members == 0 || facts.victim != Victim::kController;
  }

  std::optional<Fault> Try(FaultKind kind, double at) {
    const KindFacts& facts = FactsOf(kind);
    Fault fault;
    fault.kind = kind;
    fault.at = at;
    fault.seconds =
        std::min(facts.seconds_max > 0 ? LogUniform(facts.seconds_min, facts.seconds_max) : 0,
                 options_.seconds - at);
    if (kind == FaultKind::kQuota) {
      fault.quota = kQuotas[quota_++ % std::size(kQuotas)];
      return fault;
    }
    BusyUntil& busy = facts.process ? processes_ : networks_;
    if (!PickTargets(fault, busy)) return std::nullopt;
    if (IsDisturbance(kind)) {
      fault.delay_max = LogUniform(0.02, 1);
      fault.loss = random_.Uniform(0, 0.2);
      fault.duplicates = random_.Uniform(0, 0.2);
    }
    return fault;
  }

  bool PickTargets(Fault& fault, BusyUntil& busy) {
    // What was mended gets a moment to feel it.
    const double end = fault.end() + 0.2;
    if (FactsOf(fault.kind).victim == Victim::kController) {
      if (busy[kController] > fault.at) return false;
      busy[kController] = end + 1;
      return true;
    }
    std::vector<int> free;
    for (int i = 0; i < kMembers; ++i) {
      if (busy[static_cast<std::size_t>(i)] <= fault.at) free.push_back(i);
    }
    const bool surge = fault.kind == FaultKind::kSurge;
    const std::size_t wanted = surge ? kSurgeSize : 1;
    if (free.size() < wanted || (surge && surge_until_ > fault.at)) return false;
    for (std::size_t i = 0; i < wanted; ++i) {
      const std::size_t pick = random_.Below(free.size());
      fault.targets.push_back(free[pick]);
      free.erase(free.begin() + static_cast<std::ptrdiff_t>(pick));
      // Leaving takes a moment.
      busy[static_cast<std::size_t>(fault.targets.back())] = end + (surge ? 3 : 0);
    }
    if (surge) surge_until_ = end + 3;
    return true;
  }

  double LogUniform(double low, double high) {
    const double draw = random_.Uniform();
    return low * std::pow(high / low, draw);
  }

  const ScheduleOptions options_;
  Random random_;
  std::vector<FaultKind> deck_;  // the next card last
  BusyUntil processes_{};
  BusyUntil networks_{};
  double surge_until_ = 0;
  std::size_t quota_ = 0;
};

}  // namespace

std::vector<Fault> MakeSchedule(const ScheduleOptions& options) {
  std::vector<Fault> faults = Dealer(options).Deal();
  if (options.members == 0) return faults;
  const std::vector<Fault> control = MakeControlSchedule(options);
  faults.insert(faults.end(), control.begin(), control.end());
  std::stable_sort(faults.begin(), faults.end(),
                   [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return faults;
}

std::string Describe(const Fault& fault) {
  std::string text = Name(fault.kind);
  if (fault.targets == std::vector<int>{kLeader}) {
    absl::StrAppend(&text, " that leads");
  } else if (!fault.targets.empty()) {
    absl::StrAppend(&text, " ", absl::StrJoin(fault.targets, " and "));
  }
  if (fault.way == Way::kFrom) absl::StrAppend(&text, ", what it sends,");
  if (fault.way == Way::kTo) absl::StrAppend(&text, ", what it is sent,");
  if (fault.quota != 0) return absl::StrCat(text, " ", fault.quota);
  absl::StrAppendFormat(&text, " for %.2f s", fault.seconds);
  if (fault.delay_max > 0) {
    absl::StrAppendFormat(&text, ": delay up to %.0f ms, %.0f %% lost, %.0f %% twice",
                          fault.delay_max * 1000, fault.loss * 100, fault.duplicates * 100);
  }
  return text;
}

}  // namespace plimsoll::chaos
