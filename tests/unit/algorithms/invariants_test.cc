// What holds for every law under every configuration and every observation, sensible or absurd.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

Calls AnyCalls(Random& random, Calls low, Calls high) {
  return low + static_cast<Calls>(random.Below(static_cast<std::uint64_t>(high - low) + 1));
}

LogRule AnyRule(Random& random) {
  return {random.Chance(0.5), AnyCalls(random, 1, random.Chance(0.1) ? kCallsMax : 8)};
}

ProbeConfig AnyProbe(Random& random) {
  return {.limit = AnyCalls(random, 1, 200),
          .samples = AnyCalls(random, 1, 100),
          .interval = absl::Seconds(random.Uniform(1, 100)),
          .jitter = random.Uniform()};
}

// The settings of the laws that learn a baseline.
void AddAnyLearner(Random& random, AlgorithmConfig& config) {
  config.vegas.smoothing = random.Chance(0.5) ? 1 : random.Uniform(0.01, 1);
  config.vegas.alpha = AnyRule(random);
  config.vegas.beta = AnyRule(random);
  config.vegas.threshold = AnyRule(random);
  config.vegas.decrease = random.Chance(0.5) ? VegasStep::kHalve : VegasStep::kSubtractLog10;
  config.vegas.probe_multiplier = AnyCalls(random, 1, 5);
  config.gradient.smoothing = config.vegas.smoothing;
  config.gradient.rtt_tolerance = config.gradient2.rtt_tolerance;
  config.gradient.queue_size = config.gradient2.queue_size;
  config.gradient.queue_by_square_root = config.gradient2.queue_by_square_root;
  config.gradient.backoff = config.aimd.backoff;
  config.gradient.probe_interval = random.Chance(0.2) ? -1 : AnyCalls(random, 1, 50);
  config.envoy_gradient.buffer = random.Uniform(0, 2);
  config.envoy_gradient.probe = AnyProbe(random);
  config.envoy_gradient.floor_updates = AnyCalls(random, 1, 10);
  config.bdp.explore_min = random.Uniform(0, 0.3);
  config.bdp.explore_max = random.Uniform(0.3, 1);
  config.bdp.fail_punish = random.Uniform(0, 10);
  config.bdp.samples_min = AnyCalls(random, 1, 50);
  config.bdp.probe = AnyProbe(random);
  if (random.Chance(0.2)) {
    config.vegas.fixed_baseline = config.gradient.fixed_baseline = absl::Milliseconds(10);
    config.envoy_gradient.fixed_baseline = config.bdp.fixed_baseline = absl::Milliseconds(10);
  }
}

AlgorithmConfig AnyConfig(Random& random, AlgorithmKind kind) {
  const Calls ceiling = AnyCalls(random, 1, random.Chance(0.2) ? kCallsMax : 100);
  const Calls floor = AnyCalls(random, 1, ceiling);
  AlgorithmConfig config = ConfigOf(kind, floor, AnyCalls(random, floor, ceiling), ceiling);
  config.aimd.latency_threshold = absl::Milliseconds(random.Uniform(1, 100));
  config.aimd.backoff = random.Chance(0.1) ? std::nextafter(1.0, 0.0) : random.Uniform(0.5, 1);
  config.aimd.increase = AnyCalls(random, 1, random.Chance(0.1) ? kCallsMax : 5);
  config.gradient2.smoothing = random.Chance(0.2) ? 1 : random.Uniform(0.01, 1);
  config.gradient2.rtt_tolerance = random.Chance(0.1) ? 1e300 : random.Uniform(1, 3);
  config.gradient2.queue_size = AnyCalls(random, 1, random.Chance(0.1) ? kCallsMax : 10);
  config.gradient2.queue_by_square_root = random.Chance(0.5);
  config.gradient2.long_window = AnyCalls(random, 1, 1'000);
  config.gradient2.warmup_window = AnyCalls(random, 1, 20);
  AddAnyLearner(random, config);
  return config;
}

absl::Duration AnyLatency(Random& random) {
  const std::vector<absl::Duration> absurd = {absl::ZeroDuration(),     -absl::Milliseconds(5),
                                              absl::InfiniteDuration(), -absl::InfiniteDuration(),
                                              absl::Hours(1e9),         absl::Nanoseconds(1),
                                              absl::Nanoseconds(1) / 4};
  if (random.Chance(0.1)) return absurd.at(random.Below(absurd.size()));
  return absl::Nanoseconds(std::pow(10, random.Uniform(3, 11)));
}

Observation AnyObservation(Random& random, Calls limit) {
  Observation observation = Saw(AnyLatency(random), AnyCalls(random, 0, limit));
  observation.dropped = random.Chance(0.2);
  if (random.Chance(0.5)) observation.samples = AnyCalls(random, 1, 1'000);
  if (random.Chance(0.05)) observation.samples = random.Chance(0.5) ? 0 : -1;
  observation.failed = random.Chance(0.1) ? observation.samples : AnyCalls(random, -1, 10);
  observation.length = absl::Seconds(random.Uniform(-0.1, 2));
  if (random.Chance(0.05)) observation.length = absl::InfiniteDuration();
  observation.elapsed = observation.length + absl::Seconds(random.Uniform(0, 1));
  observation.draw = random.Uniform();
  if (random.Chance(0.05)) observation.in_flight = std::numeric_limits<Calls>::max();
  if (random.Chance(0.05)) observation.in_flight = std::numeric_limits<Calls>::min();
  return observation;
}

bool TellsSomething(const Observation& observation) {
  return observation.samples > 0 && observation.latency >= absl::Nanoseconds(1);
}

void CheckDecision(const AlgorithmConfig& config, const Observation& observation, Calls before,
                   const Decision& decision) {
  ASSERT_GE(decision.limit, config.floor);
  ASSERT_LE(decision.limit, config.ceiling);
  ASSERT_TRUE(std::isfinite(decision.unclamped));
  ASSERT_GT(decision.gradient, 0);
  ASSERT_LE(decision.gradient, 1);
  ASSERT_GE(decision.baseline, absl::ZeroDuration());
  if (decision.reason == Reason::kUnderused) {
    ASSERT_EQ(decision.limit, before);
  }
  if (decision.reason == Reason::kLatencyFell) {
    ASSERT_GE(decision.limit, before);
  }
  if (decision.reason == Reason::kLatencyRose) {
    ASSERT_LE(decision.limit, before);
  }
  if (decision.reason == Reason::kFloor) {
    ASSERT_EQ(decision.limit, config.floor);
  }
  if (decision.reason == Reason::kCeiling) {
    ASSERT_EQ(decision.limit, config.ceiling);
  }
  const bool adapts = config.kind != AlgorithmKind::kFixed;
  if (adapts && TellsSomething(observation) && observation.dropped && before > config.floor) {
    ASSERT_LT(decision.limit, before);
  }
}

void RunOneLife(std::uint64_t seed, AlgorithmKind kind) {
  Random random(seed);
  const AlgorithmConfig config = AnyConfig(random, kind);
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  for (int step = 0; step < 200; ++step) {
    const Calls before = law->Limit(state);
    const LawState state_before = state;
    const Observation observation = AnyObservation(random, before);
    const Decision decision = law->Decide(state, observation);
    SCOPED_TRACE(step);
    ASSERT_EQ(law->Limit(state), decision.limit);
    if (!TellsSomething(observation)) {
      ASSERT_EQ(state, state_before);
    }
    ASSERT_NO_FATAL_FAILURE(CheckDecision(config, observation, before, decision));
  }
}

class InvariantsTest : public testing::TestWithParam<AlgorithmKind> {};

TEST_P(InvariantsTest, HoldForRandomConfigurationsAndObservations) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ASSERT_NO_FATAL_FAILURE(RunOneLife(seed, GetParam()));
  }
}

TEST_P(InvariantsTest, GiveTheSameDecisionForTheSameStateAndObservation) {
  Random random(5);
  const auto law = LawOf(AnyConfig(random, GetParam()));
  LawState state = law->InitialState();
  for (int step = 0; step < 1'000; ++step) {
    const Observation observation = AnyObservation(random, law->Limit(state));
    LawState copy = state;
    const Decision asked = law->Decide(copy, observation);
    ASSERT_EQ(law->Decide(state, observation).limit, asked.limit);
    ASSERT_EQ(state, copy);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLaw, InvariantsTest,
                         testing::Values(AlgorithmKind::kFixed, AlgorithmKind::kAimd,
                                         AlgorithmKind::kVegas, AlgorithmKind::kGradient,
                                         AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
                                         AlgorithmKind::kBdp),
                         [](const auto& test) { return std::string(ToString(test.param)); });

}  // namespace
}  // namespace plimsoll
