#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);
constexpr double kFastNs = 10e6;

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  return ConfigOf(AlgorithmKind::kGradient2, floor, initial, ceiling);
}

// The state after a long time at one latency.
Gradient2State Settled(double estimate, double long_latency_ns) {
  return {.estimated_limit = estimate,
          .long_latency_ns = long_latency_ns,
          .warmup_sum_ns = 10 * long_latency_ns,
          .warmup_count = 10};
}

Gradient2State& Own(LawState& state) { return std::get<Gradient2State>(state); }

TEST(Gradient2Test, RisesByTheSmoothedQueueWhileLatencyIsTolerable) {
  const auto law = LawOf(Config(1, 20, 200));
  LawState state = law->InitialState();
  const Decision decision = law->Decide(state, Saw(kFast, 20));
  EXPECT_DOUBLE_EQ(decision.unclamped, 20.8);  // 20 * 0.8 + (20 * 1 + 4) * 0.2
  EXPECT_EQ(decision.limit, 20);
  EXPECT_EQ(decision.reason, Reason::kLatencyFell);
  EXPECT_EQ(decision.gradient, 1);
  EXPECT_EQ(decision.baseline, kFast);
  EXPECT_DOUBLE_EQ(Own(state).estimated_limit, 20.8);
  law->Decide(state, Saw(kFast, 20));
  EXPECT_EQ(law->Limit(state), 21);
}

TEST(Gradient2Test, ToleratesLatencyUpToTheTolerance) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Settled(100, kFastNs);
  EXPECT_EQ(law->Decide(state, Saw(1.5 * kFast, 100)).gradient, 1);
}

TEST(Gradient2Test, FallsWithTheGradientWhenLatencyRises) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Settled(100, kFastNs);
  const Decision decision = law->Decide(state, Saw(2 * kFast, 100));
  EXPECT_DOUBLE_EQ(decision.gradient, 0.75);
  EXPECT_DOUBLE_EQ(decision.unclamped, 80 + 75 * 0.2);
  EXPECT_EQ(decision.limit, 95);
  EXPECT_EQ(decision.reason, Reason::kLatencyRose);
}

TEST(Gradient2Test, NeverShrinksByMoreThanHalfBeforeSmoothing) {
  AlgorithmConfig config = Config(1, 100, 200);
  config.gradient2.smoothing = 1;
  const auto law = LawOf(config);
  LawState state = Settled(100, kFastNs);
  const Decision decision = law->Decide(state, Saw(absl::Minutes(1), 100));
  EXPECT_EQ(decision.gradient, 0.5);
  EXPECT_EQ(decision.limit, 50);
}

TEST(Gradient2Test, StaysButLearnsWhileLessThanHalfIsInUse) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Settled(101, kFastNs);
  const Decision decision = law->Decide(state, Saw(2 * kFast, 50));
  EXPECT_EQ(decision.limit, 101);
  EXPECT_EQ(decision.reason, Reason::kUnderused);
  EXPECT_EQ(Own(state).estimated_limit, 101);
  EXPECT_GT(Own(state).long_latency_ns, kFastNs);
  EXPECT_NE(law->Decide(state, Saw(kFast, 51)).reason, Reason::kUnderused);
}

TEST(Gradient2Test, KeepsTheAverageWhileLatencyIsIntolerableAndThereIsRoomToFall) {
  const auto law = LawOf(Config(10, 100, 200));
  LawState state = Settled(100, kFastNs);
  law->Decide(state, Saw(1.6 * kFast, 100));
  EXPECT_EQ(Own(state).long_latency_ns, kFastNs);
  state = Settled(10, kFastNs);
  law->Decide(state, Saw(1.6 * kFast, 10));
  EXPECT_GT(Own(state).long_latency_ns, kFastNs);
}

TEST(Gradient2Test, AddsNoQueueWhileLatencyIsIntolerable) {
  const auto law = LawOf(Config(1, 10, 200));
  LawState state = Settled(10, kFastNs);
  EXPECT_LT(law->Decide(state, Saw(1.6 * kFast, 10)).unclamped, 10);
}

TEST(Gradient2Test, AveragesArithmeticallyFirstAndExponentiallyLater) {
  AlgorithmConfig config = Config(1, 20, 200);
  config.gradient2.long_window = 100;
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  // What ExpAvgMeasurement(100, 10) of the reference answers to these inputs.
  const std::vector<std::pair<int, double>> known = {{10, 10.0},
                                                     {11, 10.5},
                                                     {12, 11.0},
                                                     {13, 11.5},
                                                     {14, 12.0},
                                                     {15, 12.5},
                                                     {16, 13.0},
                                                     {17, 13.5},
                                                     {18, 14.0},
                                                     {19, 14.5},
                                                     {100, 16.193069306930695}};
  for (const auto& [latency_ns, average_ns] : known) {
    law->Decide(state, Saw(absl::Nanoseconds(latency_ns), 20));
    EXPECT_EQ(Own(state).long_latency_ns, average_ns);
  }
}

TEST(Gradient2Test, LowersAnAverageOfMoreThanTwiceTheLatencyAfterComparing) {
  const auto law = LawOf(Config(1, 20, 200));
  LawState state = Settled(20, 4 * kFastNs);
  const Decision decision = law->Decide(state, Saw(kFast, 20));
  const double average = 4 * kFastNs * (1 - 2.0 / 601) + kFastNs * 2 / 601;
  EXPECT_NEAR(absl::ToDoubleNanoseconds(decision.baseline), average, 1);
  EXPECT_NEAR(Own(state).long_latency_ns, average * 0.95, 1);
}

TEST(Gradient2Test, TakesTheSquareRootOfTheLimitAsQueueIfToldSo) {
  // What the reference's SquareRootFunction(4) answers.
  const std::vector<std::pair<Calls, double>> known = {
      {1, 4}, {15, 4}, {16, 4}, {24, 4}, {25, 5}, {99, 9}, {100, 10}, {999, 31}, {2500, 50}};
  AlgorithmConfig config = Config(1, 1, kCallsMax);
  config.gradient2.smoothing = 1;
  config.gradient2.queue_by_square_root = true;
  const auto law = LawOf(config);
  for (const auto& [limit, queue] : known) {
    LawState state = Settled(limit + 0.5, kFastNs);
    const Decision decision = law->Decide(state, Saw(kFast, limit));
    EXPECT_DOUBLE_EQ(decision.unclamped, limit + 0.5 + queue) << limit;
  }
}

TEST(Gradient2Test, IsCutShortByFloorAndCeiling) {
  const auto law = LawOf(Config(20, 20, 200));
  LawState state = Settled(200, kFastNs);
  const Decision up = law->Decide(state, Saw(kFast, 200));
  EXPECT_EQ(up.limit, 200);
  EXPECT_EQ(up.reason, Reason::kCeiling);
  EXPECT_DOUBLE_EQ(up.unclamped, 200.8);
  state = Settled(20.5, kFastNs);
  const Decision down = law->Decide(state, Saw(absl::Seconds(1), 200));
  EXPECT_EQ(down.limit, 20);
  EXPECT_EQ(down.reason, Reason::kFloor);
  EXPECT_LT(down.unclamped, 20);
}

TEST(Gradient2Test, CutsOnDropsWithoutLearningTheirLatency) {
  const auto law = LawOf(Config(1, 100, 200));
  LawState state = Settled(100.5, kFastNs);
  const Decision decision = law->Decide(state, Saw(kFast / 100, 0, true));
  EXPECT_DOUBLE_EQ(decision.unclamped, 100.5 * 0.9);
  EXPECT_EQ(decision.limit, 90);
  EXPECT_EQ(decision.reason, Reason::kErrors);
  EXPECT_EQ(decision.gradient, 0.9);
  EXPECT_EQ(state, LawState(Settled(100.5 * 0.9, kFastNs)));
}

TEST(Gradient2Test, FallsByAWholeCallOnDropsDownToTheFloor) {
  const auto law = LawOf(Config(1, 9, 200));
  LawState state = Settled(9.9, kFastNs);
  for (Calls limit = 8; limit >= 1; --limit) {
    const Decision decision = law->Decide(state, Saw(kFast, 1, true));
    EXPECT_EQ(decision.limit, limit);
    EXPECT_EQ(decision.reason, Reason::kErrors);
  }
  const Decision decision = law->Decide(state, Saw(kFast, 1, true));
  EXPECT_EQ(decision.limit, 1);
  EXPECT_EQ(decision.reason, Reason::kFloor);
}

TEST(Gradient2Test, ComesBackFromTheLowestFloor) {
  const auto law = LawOf(Config(1, 1, 200));
  LawState state = Settled(1, kFastNs);
  for (int i = 0; i < 2; ++i) law->Decide(state, Saw(kFast, law->Limit(state)));
  EXPECT_EQ(law->Limit(state), 2);
}

TEST(Gradient2Test, LearnsNothingFromAnObservationThatTellsNothing) {
  const auto law = LawOf(Config(1, 20, 200));
  const Observation empty{.latency = kFast, .in_flight = 20, .dropped = true, .samples = 0};
  for (const Observation& observation :
       {empty, Saw(absl::ZeroDuration(), 20), Saw(-kFast, 20, true),
        Saw(absl::Nanoseconds(1) / 4, 20), Saw(-absl::InfiniteDuration(), 20)}) {
    LawState state = law->InitialState();
    const Decision decision = law->Decide(state, observation);
    EXPECT_EQ(decision.limit, 20);
    EXPECT_EQ(decision.reason, Reason::kUnderused);
    EXPECT_EQ(state, law->InitialState());
  }
}

TEST(Gradient2Test, RecoversFromAnInfiniteLatency) {
  const auto law = LawOf(Config(1, 20, 200));
  LawState state = law->InitialState();
  law->Decide(state, Saw(absl::InfiniteDuration(), 20));
  law->Decide(state, Saw(absl::InfiniteDuration(), 20));
  EXPECT_TRUE(std::isfinite(Own(state).long_latency_ns));
  for (int i = 0; i < 2'000; ++i) law->Decide(state, Saw(kFast, 200));
  EXPECT_LT(Own(state).long_latency_ns, 2 * kFastNs);
}

TEST(Gradient2Test, BringsAnEstimateFromOtherBoundsBetweenItsOwn) {
  const auto law = LawOf(Config(5, 20, 50));
  EXPECT_EQ(law->Limit(Settled(500, kFastNs)), 50);
  EXPECT_EQ(law->Limit(Settled(-1, kFastNs)), 5);
  EXPECT_EQ(law->Limit(Settled(std::numeric_limits<double>::quiet_NaN(), kFastNs)), 5);
}

TEST(Gradient2Test, LetsTheFloorWinOverTheCeilingInReferenceExactMode) {
  AlgorithmConfig config = Config(40, 30, 20);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(kFast, 30)).limit, 40);
}

TEST(Gradient2Test, IgnoresDropsInReferenceExactModeLikeTheReference) {
  AlgorithmConfig config = Config(1, 20, 200);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState dropped = law->InitialState();
  LawState succeeded = law->InitialState();
  EXPECT_EQ(law->Decide(dropped, Saw(kFast, 20, true)).limit,
            law->Decide(succeeded, Saw(kFast, 20)).limit);
  EXPECT_EQ(dropped, succeeded);
}

TEST(Gradient2Test, GetsStuckAtZeroAfterALatencyOfZeroInReferenceExactModeLikeTheReference) {
  AlgorithmConfig config = Config(1, 20, 200);
  config.reference_exact = true;
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Saw(absl::ZeroDuration(), 20)).limit, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(law->Decide(state, Saw(kFast, 20)).limit, 0);
}

TEST(Gradient2DeathTest, RefusesTheStateOfAnotherLaw) {
  const auto law = LawOf(Config(5, 20, 50));
  LawState state = AimdState{};
  EXPECT_DEATH(law->Decide(state, Saw(kFast, 1)), "belongs to another law");
}

}  // namespace
}  // namespace plimsoll
