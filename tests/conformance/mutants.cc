#include "tests/conformance/mutants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <variant>

#include "absl/time/time.h"

namespace plimsoll {
namespace {

class AimdMutant final : public LimitAlgorithm {
 public:
  AimdMutant(const AlgorithmConfig& config, AimdFault fault) : config_(config), fault_(fault) {}

  std::string_view name() const override { return ToString(fault_); }
  LawState InitialState() const override { return AimdState{config_.initial}; }
  Calls Limit(const LawState& state) const override { return std::get<AimdState>(state).limit; }

  Decision Decide(LawState& state, const Observation& observation) const override {
    Calls& limit = std::get<AimdState>(state).limit;
    if (IsOverload(limit, observation)) {
      const double cut = limit * config_.aimd.backoff;
      limit = static_cast<Calls>(fault_ == AimdFault::kRounded ? std::round(cut) : cut);
    } else if (IsInUse(limit, observation)) {
      ++limit;
    }
    if (fault_ != AimdFault::kNoFloor) limit = std::max(limit, config_.floor);
    if (fault_ != AimdFault::kNoCeiling) limit = std::min(limit, config_.ceiling);
    Decision decision;
    decision.limit = limit;
    return decision;
  }

 private:
  bool IsInUse(Calls limit, const Observation& observation) const {
    const Calls doubled = 2 * observation.in_flight;
    return fault_ == AimdFault::kHalfExcluded ? doubled > limit : doubled >= limit;
  }
  bool IsOverload(Calls limit, const Observation& observation) const {
    if (observation.dropped) {
      return fault_ != AimdFault::kDropsNeedUse || IsInUse(limit, observation);
    }
    if (fault_ == AimdFault::kLatencyIgnored) return false;
    const int factor = fault_ == AimdFault::kThresholdDoubled ? 2 : 1;
    return observation.latency > factor * config_.aimd.latency_threshold;
  }

  const AlgorithmConfig config_;
  const AimdFault fault_;
};

class Gradient2Mutant final : public LimitAlgorithm {
 public:
  Gradient2Mutant(const AlgorithmConfig& config, Gradient2Fault fault)
      : config_(config), fault_(fault) {}

  std::string_view name() const override { return ToString(fault_); }
  LawState InitialState() const override {
    return Gradient2State{.estimated_limit = static_cast<double>(config_.initial)};
  }
  Calls Limit(const LawState& state) const override {
    return static_cast<Calls>(std::get<Gradient2State>(state).estimated_limit);
  }

  Decision Decide(LawState& state, const Observation& observation) const override {
    auto& own = std::get<Gradient2State>(state);
    const double latency = absl::ToDoubleNanoseconds(observation.latency);
    const bool unused = IsUnused(own.estimated_limit, observation.in_flight);
    double average = own.long_latency_ns;
    if (!(Has(Gradient2Fault::kLearnsInUseOnly) && unused)) average = Learn(own, latency);
    if (Has(Gradient2Fault::kDropsCut) && observation.dropped) {
      own.estimated_limit = std::max<double>(config_.floor, own.estimated_limit * 0.9);
    } else if (!unused) {
      own.estimated_limit = Next(own.estimated_limit, Gradient(average, latency));
    }
    Decision decision;
    decision.limit = Limit(state);
    return decision;
  }

 private:
  bool Has(Gradient2Fault fault) const { return fault_ == fault; }

  bool IsUnused(double estimate, Calls in_flight) const {
    if (Has(Gradient2Fault::kHalfIncluded)) return in_flight <= estimate / 2;
    if (Has(Gradient2Fault::kHalfOfInteger)) return in_flight < static_cast<Calls>(estimate) / 2;
    return in_flight < estimate / 2;
  }

  double Learn(Gradient2State& own, double latency) const {
    const double before = own.long_latency_ns;
    const int window = config_.gradient2.long_window;
    const double factor = 2.0 / (Has(Gradient2Fault::kWindowOffByOne) ? window : window + 1);
    const int warmup = Has(Gradient2Fault::kNoWarmup) ? 1 : config_.gradient2.warmup_window;
    if (own.warmup_count < warmup) {
      own.warmup_sum_ns += latency;
      own.long_latency_ns = own.warmup_sum_ns / ++own.warmup_count;
    } else if (Has(Gradient2Fault::kFusedMultiplyAdd)) {
      own.long_latency_ns = std::fma(before, 1 - factor, latency * factor);
    } else {
      own.long_latency_ns = before * (1 - factor) + latency * factor;
    }
    if (Has(Gradient2Fault::kSinglePrecision)) {
      own.long_latency_ns = static_cast<float>(own.long_latency_ns);
    }
    const double average = own.long_latency_ns;
    const bool stale = average / latency > 2 && !Has(Gradient2Fault::kNoDecay);
    if (stale) own.long_latency_ns *= 0.95;
    return Has(Gradient2Fault::kLearnsLater) && before > 0 ? before : average;
  }

  double Gradient(double average, double latency) const {
    const double tolerance = config_.gradient2.rtt_tolerance;
    if (Has(Gradient2Fault::kToleranceLast)) {
      return std::clamp(tolerance * std::min(1.0, average / latency) - (tolerance - 1), 0.5, 1.0);
    }
    return std::clamp(tolerance * average / latency, 0.5, 1.0);
  }

  double Next(double estimate, double gradient) const {
    const Calls root = std::max(1, static_cast<Calls>(std::sqrt(std::trunc(estimate))));
    const Calls fixed = config_.gradient2.queue_size;
    const Calls queue = config_.gradient2.queue_by_square_root ? std::max(fixed, root) : fixed;
    const bool late = Has(Gradient2Fault::kQueueUnsmoothed);
    double wanted = estimate * gradient + (late ? 0 : queue);
    if (Has(Gradient2Fault::kClampsFirst)) wanted = Clamp(wanted);
    double weight = config_.gradient2.smoothing;
    if (Has(Gradient2Fault::kSmoothingSwapped)) weight = 1 - weight;
    const double next = estimate * (1 - weight) + wanted * weight + (late ? queue : 0);
    return Has(Gradient2Fault::kClampsFirst) ? next : Clamp(next);
  }

  double Clamp(double value) const {
    return std::clamp<double>(value, config_.floor, config_.ceiling);
  }

  const AlgorithmConfig config_;
  const Gradient2Fault fault_;
};

constexpr std::array<std::string_view, static_cast<std::size_t>(AimdFault::kEnd)> kAimdNames = {
    "None",           "HalfExcluded",     "Rounded", "DropsNeedUse",
    "LatencyIgnored", "ThresholdDoubled", "NoFloor", "NoCeiling"};
constexpr std::array<std::string_view, static_cast<std::size_t>(Gradient2Fault::kEnd)>
    kGradient2Names = {"None",
                       "NoDecay",

                       "LearnsLater",
                       "LearnsInUseOnly",
                       "NoWarmup",
                       "WindowOffByOne",
                       "HalfIncluded",
                       "HalfOfInteger",
                       "ToleranceLast",
                       "ClampsFirst",
                       "SmoothingSwapped",
                       "QueueUnsmoothed",
                       "DropsCut",
                       "FusedMultiplyAdd",
                       "SinglePrecision"};

}  // namespace

std::string_view ToString(AimdFault fault) {
  return kAimdNames.at(static_cast<std::size_t>(fault));
}
std::string_view ToString(Gradient2Fault fault) {
  return kGradient2Names.at(static_cast<std::size_t>(fault));
}

std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, AimdFault fault) {
  return std::make_unique<AimdMutant>(config, fault);
}
std::unique_ptr<LimitAlgorithm> MakeMutant(const AlgorithmConfig& config, Gradient2Fault fault) {
  return std::make_unique<Gradient2Mutant>(config, fault);
}

}  // namespace plimsoll
