// Vegas and Gradient written down a second time.

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "absl/time/time.h"
#include "tests/conformance/mutants.h"

namespace plimsoll {
namespace {

Decision At(Calls limit) {
  Decision decision;
  decision.limit = limit;
  return decision;
}

class VegasMutant final : public LimitAlgorithm {
 public:
  VegasMutant(const AlgorithmConfig& config, VegasFault fault)
      : vegas_(config.vegas), initial_(config.initial), ceiling_(config.ceiling), fault_(fault) {}

  std::string_view name() const override { return ToString(fault_); }
  LawState InitialState() const override {
    return VegasState{.estimated_limit = static_cast<double>(initial_)};
  }
  Calls Limit(const LawState& state) const override {
    return static_cast<Calls>(std::get<VegasState>(state).estimated_limit);
  }

  Decision Decide(LawState& state, const Observation& observation) const override {
    auto& own = std::get<VegasState>(state);
    const bool learnt = Learn(own, observation);
    if (!learnt) Adjust(own, observation);
    return At(Limit(state));
  }

 private:
  bool Has(VegasFault fault) const { return fault_ == fault; }
  double Log(double estimate) const {
    const auto whole = static_cast<int>(estimate);
    const int log = static_cast<int>(std::log10(whole));
    return whole < 1000 && !Has(VegasFault::kLogOfOneIsZero) ? std::max(1, log) : log;
  }
  double Rule(const LogRule& rule, double estimate) const {
    return rule.by_log10 ? rule.factor * Log(estimate) : rule.factor;
  }

  // True if the sample is used up.
  bool Learn(VegasState& own, const Observation& observation) const {
    const std::int64_t latency = absl::ToInt64Nanoseconds(observation.latency);
    const double jitter =
        Has(VegasFault::kJitterLeftOut) ? 1 : vegas_.pin_probe_jitter.value_or(0.75);
    const double due = jitter * vegas_.probe_multiplier * own.estimated_limit;
    own.probe_count += 1;
    if (Has(VegasFault::kProbeLater) ? due < own.probe_count : due <= own.probe_count) {
      own.baseline_ns = latency;
      if (!Has(VegasFault::kProbeKeepsCount)) own.probe_count = 0;
      return !Has(VegasFault::kProbeGoesOn);
    }
    if (Has(VegasFault::kDropsNotLearnt) && observation.dropped) return false;
    if (own.baseline_ns != 0 && latency >= own.baseline_ns) return false;
    own.baseline_ns = latency;
    return !Has(VegasFault::kLearningGoesOn);
  }

  void Adjust(VegasState& own, const Observation& observation) const {
    const double estimate = own.estimated_limit;
    const double ratio = static_cast<double>(own.baseline_ns) /
                         static_cast<double>(absl::ToInt64Nanoseconds(observation.latency));
    const double waiting = estimate * (1 - ratio);
    const double queue =
        Has(VegasFault::kQueueRoundedDown) ? std::floor(waiting) : std::ceil(waiting);
    const bool unused = Has(VegasFault::kHalfIncluded) ? observation.in_flight * 2 <= estimate
                                                       : observation.in_flight * 2 < estimate;
    if (observation.dropped && !(Has(VegasFault::kDropsNeedUse) && unused)) {
      return Move(own, Step(vegas_.decrease, estimate));
    }
    if (unused) return;
    const double threshold = Rule(vegas_.threshold, estimate);
    const double alpha = Rule(vegas_.alpha, estimate);
    const double beta = Rule(vegas_.beta, estimate);
    if (Has(VegasFault::kThresholdExcluded) ? queue < threshold : queue <= threshold) {
      const bool by_step = Has(VegasFault::kThresholdAddsStep);
      return Move(own, by_step ? Step(vegas_.increase, estimate) : estimate + beta);
    }
    if (Has(VegasFault::kAlphaIncluded) ? queue <= alpha : queue < alpha) {
      return Move(own, Step(vegas_.increase, estimate));
    }
    if (Has(VegasFault::kBetaIncluded) ? queue >= beta : queue > beta) {
      Move(own, Step(vegas_.decrease, estimate));
    }
  }

  double Step(VegasStep step, double estimate) const {
    if (step == VegasStep::kAddLog10) return estimate + Log(estimate);
    if (step == VegasStep::kSubtractLog10) return estimate - Log(estimate);
    return Has(VegasFault::kHalvesInteger) ? std::floor(std::floor(estimate) / 2) : estimate / 2;
  }

  void Move(VegasState& own, double wanted) const {
    const double weight = vegas_.smoothing;
    const bool last = Has(VegasFault::kClampsLast);
    if (!last) wanted = std::clamp<double>(wanted, 1, ceiling_);
    wanted = (1 - weight) * own.estimated_limit + weight * wanted;
    own.estimated_limit = last ? std::clamp<double>(wanted, 1, ceiling_) : wanted;
  }

  const VegasConfig vegas_;
  const Calls initial_;
  const Calls ceiling_;
  const VegasFault fault_;
};

class GradientMutant final : public LimitAlgorithm {
 public:
  GradientMutant(const AlgorithmConfig& config, GradientFault fault)
      : config_(config), gradient_(config.gradient), fault_(fault) {}

  std::string_view name() const override { return ToString(fault_); }
  LawState InitialState() const override {
    return GradientState{.estimated_limit = static_cast<double>(config_.initial),
                         .probe_countdown = Countdown()};
  }
  Calls Limit(const LawState& state) const override {
    return static_cast<Calls>(std::get<GradientState>(state).estimated_limit);
  }

  Decision Decide(LawState& state, const Observation& observation) const override {
    auto& own = std::get<GradientState>(state);
    if (!Probe(own) || Has(GradientFault::kProbeGoesOn)) Adjust(own, observation);
    return At(Limit(state));
  }

 private:
  bool Has(GradientFault fault) const { return fault_ == fault; }
  int Countdown() const {
    if (gradient_.probe_interval == -1) return -1;
    return gradient_.pin_probe_countdown.value_or(gradient_.probe_interval * 3 / 2);
  }
  double QueueAt(double estimate) const {
    if (!gradient_.queue_by_square_root) return gradient_.queue_size;
    const double root = Has(GradientFault::kQueueOfDouble)
                            ? std::sqrt(estimate)
                            : std::floor(std::sqrt(std::floor(estimate)));
    return std::max({1.0, root, static_cast<double>(gradient_.queue_size)});
  }

  bool Probe(GradientState& own) const {
    if (gradient_.probe_interval == -1) return false;
    const int left = own.probe_countdown--;
    if (left > 0 || (left == 0 && Has(GradientFault::kProbeLater))) return false;
    const double queue = Has(GradientFault::kProbeToFloor) ? 0 : QueueAt(own.estimated_limit);
    own.estimated_limit = std::max<double>(queue, config_.floor);
    own.probe_countdown = Countdown();
    if (!Has(GradientFault::kProbeKeepsBaseline)) own.baseline_ns = 0;
    return true;
  }

  void Adjust(GradientState& own, const Observation& observation) const {
    const double latency = absl::ToDoubleNanoseconds(observation.latency);
    const double estimate = own.estimated_limit;
    const bool learns = !(Has(GradientFault::kDropsNotLearnt) && observation.dropped);
    if (learns && (own.baseline_ns == 0 || latency < own.baseline_ns)) own.baseline_ns = latency;
    const bool unused = Has(GradientFault::kHalfIncluded) ? observation.in_flight <= estimate / 2
                                                          : observation.in_flight < estimate / 2;
    const bool cuts = observation.dropped && !(Has(GradientFault::kDropsNeedUse) && unused);
    if (unused && !cuts) return;
    const double queue = QueueAt(estimate);
    double wanted = estimate * Shrink(own.baseline_ns, latency) + queue;
    if (cuts) wanted = estimate * gradient_.backoff;
    if (IsSmoothed(wanted < estimate, cuts)) {
      const double weight = gradient_.smoothing;
      wanted = std::max<double>(config_.floor, estimate * (1 - weight) + weight * wanted);
    }
    wanted = std::min<double>(wanted, config_.ceiling);
    own.estimated_limit =
        std::max(wanted, Has(GradientFault::kQueueNoFloor) ? config_.floor : queue);
  }

  bool IsSmoothed(bool falls, bool cuts) const {
    if (Has(GradientFault::kSmoothsRises)) return true;
    if (Has(GradientFault::kUnsmoothed)) return false;
    return falls && !(cuts && Has(GradientFault::kDropsUnsmoothed));
  }

  double Shrink(double baseline, double latency) const {
    const double tolerance = gradient_.rtt_tolerance;
    const double lowest = Has(GradientFault::kGradientUnbounded) ? 0 : 0.5;
    if (Has(GradientFault::kToleranceLast)) {
      return std::clamp(tolerance * std::min(1.0, baseline / latency) - (tolerance - 1), 0.5, 1.0);
    }
    return std::clamp(tolerance * baseline / latency, lowest, 1.0);
  }

  const AlgorithmConfig config_;
  const GradientConfig gradient_;
  const GradientFault fault_;
};

constexpr std::array<std::string_view, static_cast<std::size_t>(VegasFault::kEnd)> kVegasNames = {
    "None",
    "ProbeKeepsCount",
    "ProbeLater",
    "ProbeGoesOn",
    "LearningGoesOn",
    "DropsNotLearnt",
    "DropsNeedUse",
    "HalfIncluded",
    "QueueRoundedDown",
    "ThresholdExcluded",
    "AlphaIncluded",
    "BetaIncluded",
    "ThresholdAddsStep",
    "LogOfOneIsZero",
    "HalvesInteger",
    "ClampsLast",
    "JitterLeftOut"};
constexpr std::array<std::string_view, static_cast<std::size_t>(GradientFault::kEnd)>
    kGradientNames = {"None",          "ProbeLater",     "ProbeKeepsBaseline", "ProbeToFloor",
                      "ProbeGoesOn",   "DropsNotLearnt", "DropsNeedUse",       "DropsUnsmoothed",
                      "HalfIncluded",  "SmoothsRises",   "Unsmoothed",         "QueueNoFloor",
                      "QueueOfDouble", "ToleranceLast",  "GradientUnbounded"};

}  // namespace

std::string_view ToString(VegasFault fault) {
  return kVegasNames.at(static_cast<std::size_t>(fault));
}

std::string_view ToString(GradientFault fault) {
  return kGradientNames.at(static_cast<std::size_t>(fault));
}

std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, VegasFault fault) {
  return std::make_unique<VegasMutant>(config, fault);
}
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, GradientFault fault) {
  return std::make_unique<GradientMutant>(config, fault);
}

}  // namespace plimsoll
