#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);

AlgorithmConfig Config(Calls floor, Calls initial, Calls ceiling) {
  return ConfigOf(AlgorithmKind::kBdp, floor, initial, ceiling);
}

AlgorithmConfig Brpc() {
  AlgorithmConfig config = Config(9, 40, 1'000);
  config.bdp.samples_min = 100;
  config.reference_exact = true;
  return config;
}

// A second with so many calls.
Observation Window(absl::Duration latency, Calls in_flight, std::int64_t samples,
                   std::int64_t failed = 0) {
  return {.latency = latency,
          .in_flight = in_flight,
          .samples = samples,
          .failed = failed,
          .length = absl::Seconds(1),
          .elapsed = absl::Seconds(1)};
}

BdpState& Own(LawState& state) { return std::get<BdpState>(state); }

BdpState Learnt(double limit, double calls_per_second, double explore) {
  return {.limit = limit,
          .baseline_ns = 10e6,
          .calls_per_second = calls_per_second,
          .explore = explore,
          .probe = ProbeState{.due_in_ns = 30e9}};
}

// By hand, from 10 ms, 4000 calls a second and explore 0.2.
TEST(BdpTest, MultipliesRateAndLatencyInReferenceExactMode) {
  struct Case {
    double latency_ms;
    std::int64_t samples;
    std::int64_t failed;
    double baseline_ms;
    double calls_per_second;
    double explore;
    Calls limit;
  };
  const std::vector<Case> cases = {
      {10, 4'000, 0, 10, 4'000, 0.22, 48},     // 40 * 1.22
      {10, 5'000, 0, 10, 5'000, 0.22, 61},     // the better rate at once
      {12, 4'000, 0, 10, 4'000, 0.18, 47},     // longer at the same rate
      {12, 3'000, 0, 10, 3'990, 0.22, 48},     // 30 + 3960, and 39.9 * 1.22
      {8, 4'000, 0, 9.8, 4'000, 0.22, 47},     // 0.1 * 8 + 0.9 * 10
      {10, 4'000, 1'000, 10, 3'990, 0.22, 48}  // 3000 succeeded, each 13.334 ms
  };
  const auto law = LawOf(Brpc());
  for (const Case& test : cases) {
    LawState state = Learnt(40, 4'000, 0.2);
    const Decision decision = law->Decide(
        state, Window(absl::Milliseconds(test.latency_ms), 40, test.samples, test.failed));
    EXPECT_EQ(decision.limit, test.limit) << test.latency_ms << " " << test.samples;
    EXPECT_NEAR(Own(state).baseline_ns, test.baseline_ms * 1e6, 1) << test.latency_ms;
    EXPECT_NEAR(Own(state).calls_per_second, test.calls_per_second, 1e-6) << test.samples;
    EXPECT_NEAR(Own(state).explore, test.explore, 1e-9) << test.latency_ms;
  }
}

TEST(BdpTest, ExploresBetweenItsBounds) {
  const auto law = LawOf(Brpc());
  LawState state = Learnt(40, 4'000, 0.29);
  law->Decide(state, Window(kFast, 40, 4'000));
  EXPECT_NEAR(Own(state).explore, 0.30, 1e-9);
  state = Learnt(40, 4'000, 0.07);
  law->Decide(state, Window(2 * kFast, 40, 4'000));
  EXPECT_NEAR(Own(state).explore, 0.06, 1e-9);
}

TEST(BdpTest, HalvesWhenEveryCallFailedInReferenceExactMode) {
  const auto law = LawOf(Brpc());
  LawState state = Learnt(40, 4'000, 0.2);
  EXPECT_EQ(law->Decide(state, Window(kFast, 40, 200, 200)).limit, 20);
}

TEST(BdpTest, MeasuresAgainBelowTheProductInReferenceExactMode) {
  const auto law = LawOf(Brpc());
  BdpState due = Learnt(48, 4'000, 0.2);
  due.probe.due_in_ns = 1;
  LawState state = due;
  const Decision decision = law->Decide(state, Window(kFast, 48, 4'000));
  EXPECT_EQ(decision.limit, 36);  // 0.9 * 40
  EXPECT_EQ(decision.reason, Reason::kProbe);
  law->Decide(state, Window(kFast, 36, 3'600));  // not looked at
  EXPECT_EQ(Own(state).baseline_ns, 0);
  EXPECT_EQ(Own(state).probe.due_in_ns, 37.5e9);  // 25 s and half of 25 s
  law->Decide(state, Window(1.1 * kFast, 36, 3'600));
  EXPECT_EQ(Own(state).baseline_ns, 11e6);
}

TEST(BdpTest, IgnoresWindowsOfFewCallsInReferenceExactMode) {
  const auto law = LawOf(Brpc());
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Window(kFast, 40, 99)).reason, Reason::kUnderused);
  EXPECT_EQ(Own(state).baseline_ns, 0);
}

TEST(BdpTest, KeepsFewCallsUntilThereAreEnough) {
  AlgorithmConfig config = Config(5, 40, 1'000);
  config.bdp.fixed_baseline = absl::Seconds(1);
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  EXPECT_EQ(law->Decide(state, Window(absl::Seconds(1), 40, 16)).limit, 40);
  EXPECT_EQ(law->Decide(state, Window(absl::Seconds(1), 40, 16)).limit,
            21);  // 16 * 1.3, rounded up
}

TEST(BdpTest, LeavesEveryLimitHoweverSmall) {
  for (const Calls initial : {1, 2, 3}) {
    AlgorithmConfig config = Config(1, initial, 1'000);
    config.bdp.fixed_baseline = kFast;
    const auto law = LawOf(config);
    LawState state = law->InitialState();
    for (int i = 0; i < 30; ++i) {
      const Calls limit = law->Limit(state);  // all of it is in use, and nothing waits
      law->Decide(state, Window(kFast, limit, 100 * limit));
    }
    EXPECT_GT(law->Limit(state), 10) << "from " << initial;
  }
}

TEST(BdpTest, DecidesOnFewerCallsAfterTenObservations) {
  AlgorithmConfig config = Config(5, 40, 1'000);
  config.bdp.fixed_baseline = absl::Seconds(6);
  const auto law = LawOf(config);
  LawState state = law->InitialState();
  for (int i = 0; i < 9; ++i) law->Decide(state, Window(absl::Seconds(6), 40, 1));
  EXPECT_EQ(law->Limit(state), 40);
  EXPECT_EQ(law->Decide(state, Window(absl::Seconds(6), 40, 1)).limit, 8);  // 6 * 1.3, rounded up
}

TEST(BdpTest, TakesLatencyWithinTheBufferForNoise) {
  const auto law = LawOf(Config(5, 40, 1'000));
  LawState state = Learnt(40, 4'000, 0.2);
  // 12 ms are within 25 %: 48 * 1.18, rounded up; of 20 ms only 12.5 ms are.
  EXPECT_EQ(law->Decide(state, Window(1.2 * kFast, 40, 4'000)).limit, 57);
  state = Learnt(40, 4'000, 0.2);
  EXPECT_EQ(law->Decide(state, Window(2 * kFast, 40, 4'000)).limit, 59);
}

TEST(BdpTest, ForgetsTheBestRateSoonerWhileAQueueStands) {
  const auto law = LawOf(Config(5, 40, 1'000));
  LawState state = Learnt(40, 4'000, 0.2);
  law->Decide(state, Window(2 * kFast, 40, 2'000));
  EXPECT_DOUBLE_EQ(Own(state).calls_per_second, 3'800);
  state = Learnt(40, 4'000, 0.2);
  law->Decide(state, Window(kFast, 40, 2'000));
  EXPECT_DOUBLE_EQ(Own(state).calls_per_second, 3'980);
}

TEST(BdpTest, NeitherGrowsNorShrinksWhileLessThanHalfIsInUse) {
  const auto law = LawOf(Config(5, 40, 1'000));
  LawState state = Learnt(40, 4'000, 0.2);
  for (int i = 0; i < 500; ++i) law->Decide(state, Window(kFast, 19, 100));
  EXPECT_EQ(law->Limit(state), 40);
  EXPECT_EQ(Own(state).calls_per_second, 4'000);
}

TEST(BdpTest, CutsOnDropsAndHalvesIfEveryCallFailed) {
  const auto law = LawOf(Config(5, 40, 1'000));
  LawState state = Learnt(40, 4'000, 0.2);
  Observation dropped = Window(kFast, 40, 100, 10);
  dropped.dropped = true;
  EXPECT_EQ(law->Decide(state, dropped).limit, 36);
  dropped.failed = 100;
  EXPECT_EQ(law->Decide(state, dropped).limit, 18);
}

TEST(BdpTest, TellsNoRateWithoutALength) {
  const auto law = LawOf(Config(5, 40, 1'000));
  LawState state = Learnt(40, 4'000, 0.2);
  EXPECT_EQ(law->Decide(state, Saw(kFast, 40)).reason, Reason::kUnderused);
}

TEST(BdpTest, ProbesWhenDue) {
  const auto law = LawOf(Config(5, 200, 1'000));
  LawState state = law->InitialState();
  // A knee of 40: 200 calls take 50 ms, 100 take 25.
  EXPECT_EQ(law->Decide(state, Window(5 * kFast, 200, 4'000)).limit, 100);
  EXPECT_EQ(law->Decide(state, Window(2.5 * kFast, 100, 4'000)).limit, 50);
  EXPECT_EQ(law->Decide(state, Window(1.25 * kFast, 50, 4'000)).limit, 25);
  EXPECT_EQ(law->Decide(state, Window(kFast, 25, 2'500)).limit, 200);
  EXPECT_EQ(Own(state).baseline_ns, 10e6);
  EXPECT_EQ(law->Decide(state, Window(5 * kFast, 200, 4'000)).limit, 64);  // 12.5 ms * 1.28
}

}  // namespace
}  // namespace plimsoll
