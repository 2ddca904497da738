// What is known to go wrong with the laws as their authors wrote them, and what ours do instead.
// Each test shows both. Those of windows are in windowed_test.cc.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "plimsoll/core/random.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);

AlgorithmConfig Exact(AlgorithmConfig config) {
  config.reference_exact = true;
  return config;
}

// A law and what it has learnt.
class Life {
 public:
  explicit Life(const AlgorithmConfig& config)
      : law_(LawOf(config)), state_(law_->InitialState()) {}

  Calls limit() const { return law_->Limit(state_); }
  LawState& state() { return state_; }

  Decision See(Observation observation) {
    observation.draw = random_.Uniform();
    return law_->Decide(state_, observation);
  }
  Decision See(absl::Duration latency, Calls in_flight, bool dropped = false) {
    return See(Saw(latency, in_flight, dropped));
  }

  // A second of a dependency that carries `capacity` calls without a queue, each of `latency`, with
  // as many callers as the limit lets in.
  Decision Saturate(double capacity, absl::Duration latency = kFast) {
    const double in_flight = limit();
    const double rate = std::min(in_flight, capacity) / absl::ToDoubleSeconds(latency);
    Observation observation = Saw(latency * std::max(1.0, in_flight / capacity), limit());
    observation.samples = std::max<std::int64_t>(1, std::llround(rate));
    observation.length = observation.elapsed = absl::Seconds(1);
    return See(observation);
  }
  Calls Saturate(int seconds, double capacity, absl::Duration latency = kFast) {
    Calls highest = 0;
    for (int i = 0; i < seconds; ++i)
      highest = std::max(highest, Saturate(capacity, latency).limit);
    return highest;
  }

 private:
  std::unique_ptr<LimitAlgorithm> law_;
  LawState state_;
  Random random_{1};
};

class EveryLawTest : public testing::TestWithParam<AlgorithmKind> {};

TEST_P(EveryLawTest, IsNotLedAstrayByLatenciesThatAreNone) {
  for (const absl::Duration latency :
       {absl::ZeroDuration(), -kFast, absl::Milliseconds(1) * std::nan(""),
        absl::Milliseconds(1) * std::numeric_limits<double>::infinity()}) {
    Life life(ConfigOf(GetParam(), 5, 20, 200));
    for (int i = 0; i < 30; ++i) life.See(latency, 20);
    for (int i = 0; i < 4'000; ++i) life.Saturate(40);
    EXPECT_GE(life.limit(), 30) << latency;
  }
}

TEST_P(EveryLawTest, RefusesAFloorOfZero) {
  const AlgorithmConfig config = ConfigOf(GetParam(), 0, 20, 200);
  EXPECT_EQ(Validate(config).message(), "floor = 0: must be at least 1");
  EXPECT_TRUE(Validate(Exact(config)).ok());
}

// A refusal in a tenth of a millisecond is no sign that the dependency has become fast.
TEST_P(EveryLawTest, IsNotFooledByDropsThatLookFast) {
  Life life(ConfigOf(GetParam(), 5, 100, 200));
  life.Saturate(50, 40);
  const Calls before = life.limit();
  for (int i = 0; i < 5; ++i) life.See(kFast / 100, life.limit(), true);
  EXPECT_LT(life.limit(), before);
  life.Saturate(100, 40);
  EXPECT_GE(life.limit(), 20);
}

TEST_P(EveryLawTest, FallsToTheFloorWhenEveryCallTimesOut) {
  Life life(ConfigOf(GetParam(), 5, 100, 200));
  life.Saturate(50, 40);
  for (int i = 0; i < 400; ++i) life.See(absl::Seconds(1), life.limit(), true);
  EXPECT_EQ(life.limit(), 5);
}

INSTANTIATE_TEST_SUITE_P(ReferenceFaults, EveryLawTest,
                         testing::Values(AlgorithmKind::kAimd, AlgorithmKind::kVegas,
                                         AlgorithmKind::kGradient, AlgorithmKind::kGradient2,
                                         AlgorithmKind::kEnvoyGradient, AlgorithmKind::kBdp),
                         [](const auto& test) { return std::string(ToString(test.param)); });

// --- aimd ---

TEST(AimdFaultsTest, LatencyBelowTheThresholdIsInvisibleSoTheThresholdMustBeWhatCallersAccept) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kAimd, 5, 20, 200);
  Life reference(Exact(config));
  EXPECT_EQ(reference.Saturate(300, 40), 200);
  config.aimd.latency_threshold = 2 * kFast;
  EXPECT_EQ(Life(config).Saturate(300, 40), 81);
}

TEST(AimdFaultsTest, OneAWindowIsSlowSoTheIncreaseIsASetting) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kAimd, 20, 20, 200);
  const auto seconds = [](Life life) {
    int count = 0;
    for (; life.limit() < 200; ++count) life.See(kFast, life.limit());
    return count;
  };
  EXPECT_EQ(seconds(Life(Exact(config))), 180);
  config.aimd.increase = 10;
  EXPECT_EQ(seconds(Life(config)), 18);
}

TEST(AimdFaultsTest, AFloorOfZeroIsATrap) {
  Life reference(Exact(ConfigOf(AlgorithmKind::kAimd, 0, 1, 200)));
  reference.See(kFast, 1, true);
  EXPECT_EQ(reference.limit(), 0);
  Life ours(ConfigOf(AlgorithmKind::kAimd, 1, 1, 200));
  ours.See(kFast, 1, true);
  EXPECT_EQ(ours.limit(), 1);
}

// --- vegas ---

TEST(VegasFaultsTest, AProbeUnderLoadDoesNotInflateTheBaseline) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kVegas, 1, 20, 1'000);
  Life reference(Exact(config));
  reference.Saturate(30'000, 40);
  Life ours(config);
  const Calls highest = ours.Saturate(30'000, 40);
  std::printf("vegas, 30000 saturated samples, knee 40: reference %d, ours %d\n", reference.limit(),
              highest);
  EXPECT_GT(reference.limit(), 100);
  EXPECT_LE(highest, 50);
}

TEST(VegasFaultsTest, OneLuckyWindowDoesNotCollapseTheLimit) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kVegas, 1, 50, 1'000);
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->See(kFast, 50);
    life->See(kFast / 10, 50);
    for (int i = 0; i < 100; ++i) life->See(kFast, life->limit());
  }
  EXPECT_LT(reference.limit(), 10);
  EXPECT_GE(ours.limit(), 50);
}

TEST(VegasFaultsTest, OneFastFailureDoesNotCollapseTheLimit) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kVegas, 1, 50, 1'000);
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->See(kFast, 50);
    life->See(kFast / 10, 50, true);
    for (int i = 0; i < 100; ++i) life->See(kFast, life->limit());
  }
  EXPECT_LT(reference.limit(), 10);
  EXPECT_GE(ours.limit(), 49);
}

// The reference throws at zero; in reference-exact mode that changes nothing.
TEST(VegasFaultsTest, ALatencyOfZeroChangesNothing) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kVegas, 1, 50, 1'000);
  for (const AlgorithmConfig& each : {config, Exact(config)}) {
    Life life(each);
    const LawState before = life.state();
    life.See(absl::ZeroDuration(), 50);
    EXPECT_EQ(life.state(), before);
  }
}

// Clients that batch include a constant wait; back-pressure may leave a dependency slower.
TEST(VegasFaultsTest, HealsWhenCallsStayLongAtTheLowestLimit) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kVegas, 5, 50, 200);
  config.vegas.probe_multiplier = kCallsMax;
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->See(kFast, 50);
    for (int i = 0; i < 400; ++i) life->See(4 * kFast, life->limit());
  }
  EXPECT_LT(reference.limit(), 10);
  EXPECT_EQ(ours.limit(), 200);
}

// --- gradient ---

TEST(GradientFaultsTest, TheQueueIsNoFloorAboveTheCeiling) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient, 1, 3, 3);
  Life reference(Exact(config));
  Life ours(config);
  EXPECT_EQ(reference.See(kFast, 3).limit, 4);
  EXPECT_EQ(ours.See(kFast, 3).limit, 3);
}

TEST(GradientFaultsTest, NoProbeDipsToTheQueue) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient, 1, 100, 200);
  config.gradient.probe_interval = 20;
  Life reference(Exact(config));
  Life ours(config);
  Calls lowest_reference = 100;
  Calls lowest = 100;
  for (int i = 0; i < 200; ++i) {
    lowest_reference = std::min(lowest_reference, reference.See(kFast, 100).limit);
    lowest = std::min(lowest, ours.See(kFast, 100).limit);
  }
  EXPECT_LE(lowest_reference, 14);
  EXPECT_EQ(lowest, 100);
}

TEST(GradientFaultsTest, AProbeUnderLoadDoesNotInflateTheBaseline) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient, 1, 20, 1'000);
  config.gradient.probe_interval = 20;
  Life ours(config);
  const Calls highest = ours.Saturate(5'000, 40);
  // The tolerance of 2 allows one queue's worth of calls, and one step is overshot.
  EXPECT_LE(highest, 2 * 40 + 9);
}

// --- gradient2 ---

TEST(Gradient2FaultsTest, ALastingOverloadDoesNotBecomeNormalWhileThereIsRoomToFall) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 5, 20, 1'000);
  Life reference(Exact(config));
  reference.Saturate(20'000, 40);
  Life ours(config);
  const Calls highest = ours.Saturate(20'000, 40);
  std::printf("gradient2, 20000 saturated samples, knee 40: reference %d, ours at most %d\n",
              reference.limit(), highest);
  EXPECT_GT(reference.limit(), 500);
  EXPECT_LE(highest, 65);
}

int StepsToComeBack(Life life, Calls floor) {
  for (int i = 0; i < 20; ++i) life.See(kFast, 200);
  Calls lowest = 200;
  for (int i = 1; i < 10'000; ++i) {
    const Calls limit = life.See(4 * kFast, life.limit()).limit;
    lowest = std::min(lowest, limit);
    if (lowest == floor && limit >= 199) return i;
  }
  return -1;
}

// What is left: latency that stays long at the floor as well is the new normal, of necessity.
TEST(Gradient2FaultsTest, LatencyThatStaysLongAtTheFloorBecomesNormal) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 20, 200, 200);
  const int reference = StepsToComeBack(Life(Exact(config)), 20);
  const int ours = StepsToComeBack(Life(config), 20);
  std::printf("gradient2, latency x 4 for ever, 200 -> 20 -> 199: reference %d, ours %d\n",
              reference, ours);
  EXPECT_GT(reference, 0);
  EXPECT_GT(ours, 0);
}

TEST(Gradient2FaultsTest, DropsCut) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 5, 100, 200);
  Life reference(Exact(config));
  Life ours(config);
  EXPECT_EQ(reference.See(kFast, 100, true).limit, 100);
  EXPECT_EQ(ours.See(kFast, 100, true).limit, 90);
}

TEST(Gradient2FaultsTest, AConstantTimeoutDoesNotLookLikeHealth) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 5, 100, 200);
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    for (int i = 0; i < 2'000; ++i) life->See(absl::Seconds(1), life->limit(), true);
  }
  EXPECT_EQ(reference.limit(), 200);
  EXPECT_EQ(ours.limit(), 5);
}

TEST(Gradient2FaultsTest, TheQueueDoesNotLetTheLimitCreepUpWhileLatencyIsIntolerable) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 5, 10, 200);
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->state() = Gradient2State{10, 10e6, 100e6, 10};
    for (int i = 0; i < 10; ++i) life->See(1.5 / 0.8 * kFast, life->limit());
  }
  EXPECT_GT(reference.limit(), 10);
  EXPECT_LT(ours.limit(), 10);
}

TEST(Gradient2FaultsTest, AFirstLatencyOfZeroDoesNotShutForEver) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kGradient2, 5, 20, 200);
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->See(absl::ZeroDuration(), 20);
    for (int i = 0; i < 100; ++i) life->See(kFast, 20);
  }
  EXPECT_EQ(reference.limit(), 0);
  EXPECT_GT(ours.limit(), 20);
}

// --- envoy_gradient ---

Observation Window(absl::Duration latency, Calls in_flight, std::int64_t samples,
                   absl::Duration length = absl::Seconds(1)) {
  return {.latency = latency,
          .in_flight = in_flight,
          .samples = samples,
          .length = length,
          .elapsed = length};
}

// The lowest limit of two minutes below the knee.
Calls LowestOfTwoMinutes(const AlgorithmConfig& config) {
  Life life(config);
  life.Saturate(30, 150);
  Calls lowest = life.limit();
  for (int i = 0; i < 120; ++i) lowest = std::min(lowest, life.Saturate(150).limit);
  return lowest;
}

TEST(EnvoyGradientFaultsTest, AProbeCostsHalfOfTheLimitAtMostWhereNoQueueStands) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kEnvoyGradient, 3, 20, 200);
  EXPECT_EQ(LowestOfTwoMinutes(Exact(config)), 3);
  EXPECT_EQ(LowestOfTwoMinutes(config), 100);
}

TEST(EnvoyGradientFaultsTest, CallsFromBeforeAProbeDoNotBecomeTheBaseline) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kEnvoyGradient, 3, 100, 200);
  Life reference(Exact(config));
  reference.See(Window(20 * kFast, 100, 50));
  EXPECT_EQ(std::get<EnvoyGradientState>(reference.state()).baseline_ns, 200e6);

  Life ours(config);
  ours.See(Window(20 * kFast, 100, 50));
  const Calls probed = ours.limit();
  EXPECT_EQ(probed, 50);
  ours.See(Window(20 * kFast, 100, 50));  // still some of them
  EXPECT_EQ(ours.limit(), probed);
  for (int i = 0; i < 10; ++i) ours.See(Window(kFast, ours.limit(), 50));
  EXPECT_EQ(std::get<EnvoyGradientState>(ours.state()).baseline_ns, 10e6);
}

TEST(EnvoyGradientFaultsTest, AColdStartInOverloadIsLeft) {
  Life ours(ConfigOf(AlgorithmKind::kEnvoyGradient, 3, 200, 200));
  ours.Saturate(60, 10);
  EXPECT_LT(ours.limit(), 30);
  EXPECT_NEAR(std::get<EnvoyGradientState>(ours.state()).baseline_ns, 10e6, 1e6);
}

TEST(EnvoyGradientFaultsTest, ALimitThatIsNotUsedDoesNotGrow) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kEnvoyGradient, 3, 20, 1'000);
  config.envoy_gradient.fixed_baseline = kFast;
  Life reference(Exact(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    for (int i = 0; i < 30; ++i) life->See(Window(kFast, 4, 50));
  }
  EXPECT_EQ(reference.limit(), 1'000);
  EXPECT_EQ(ours.limit(), 20);
}

// --- bdp ---

AlgorithmConfig Brpc(AlgorithmConfig config) {
  config.bdp.samples_min = 100;
  return Exact(config);
}

TEST(BdpFaultsTest, AColdStartInOverloadIsLeft) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kBdp, 5, 200, 1'000);
  Life reference(Brpc(config));
  reference.Saturate(300, 10);
  Life ours(config);
  ours.Saturate(300, 10);
  std::printf("bdp, cold start in overload, knee 10: reference %d, ours %d\n", reference.limit(),
              ours.limit());
  EXPECT_GT(reference.limit(), 50);
  EXPECT_LE(ours.limit(), 20);
}

TEST(BdpFaultsTest, ACapacityThatFellIsNoticedSoon) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kBdp, 5, 40, 1'000);
  Life reference(Brpc(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    life->Saturate(60, 40);
    life->Saturate(20, 10);
  }
  std::printf("bdp, 20 s after the knee fell from 40 to 10: reference %d, ours %d\n",
              reference.limit(), ours.limit());
  EXPECT_GT(reference.limit(), 28);
  EXPECT_LE(ours.limit(), 25);
}

TEST(BdpFaultsTest, TheLimitIsNeverZero) {
  AlgorithmConfig config = ConfigOf(AlgorithmKind::kBdp, 1, 40, 1'000);
  Life ours(config);
  config.floor = 0;
  Life reference(Brpc(config));
  for (Life* life : {&reference, &ours}) {
    for (int i = 0; i < 60; ++i) life->See(Window(absl::Microseconds(25), 40, 200));
  }
  EXPECT_EQ(reference.limit(), 0);
  EXPECT_GE(ours.limit(), 1);
}

// One window of 8 ms and two of 12 ms by turns, and 40 calls at once.
TEST(BdpFaultsTest, JitterDoesNotRefuseCallsThatFit) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kBdp, 5, 40, 1'000);
  Life reference(Brpc(config));
  Life ours(config);
  for (Life* life : {&reference, &ours}) {
    for (int i = 0; i < 200; ++i) {
      const absl::Duration latency = absl::Milliseconds(i % 3 == 0 ? 8 : 12);
      life->See(Window(latency, std::min(40, life->limit()), 4'000));
    }
  }
  std::printf("bdp, windows of 8 and 12 ms, 40 calls fit: reference %d, ours %d\n",
              reference.limit(), ours.limit());
  EXPECT_LT(reference.limit(), 40);
  EXPECT_GE(ours.limit(), 40);
}

TEST(BdpFaultsTest, FewCallsASecondStillAdapt) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kBdp, 5, 40, 1'000);
  Life reference(Brpc(config));
  Life ours(config);
  // Of 500 ms each, with a knee of 8: 16 calls a second.
  for (Life* life : {&reference, &ours}) life->Saturate(300, 8, absl::Milliseconds(500));
  EXPECT_EQ(reference.limit(), 40);
  EXPECT_LE(ours.limit(), 16);
}

TEST(BdpFaultsTest, TheCeilingIsNeverPassed) {
  EXPECT_EQ(Life(ConfigOf(AlgorithmKind::kBdp, 5, 40, 300)).Saturate(500, 1e9), 300);
}

}  // namespace
}  // namespace plimsoll
