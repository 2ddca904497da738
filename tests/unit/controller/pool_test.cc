#include "controller/src/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

constexpr Instant kStart{1'000'000'000};

Window WindowOf(std::int64_t calls, absl::Duration latency) {
  Window window;
  window.length = absl::Seconds(1);
  window.admitted = window.succeeded = calls;
  window.in_flight = latency * calls;
  for (std::int64_t i = 0; i < calls; ++i) window.latency.Record(latency);
  return window;
}

class LawRunnerTest : public ::testing::Test {
 protected:
  static AlgorithmConfig Config() {
    AlgorithmConfig config;
    config.kind = AlgorithmKind::kAimd;
    config.floor = 1;
    config.initial = 20;
    config.aimd.latency_threshold = absl::Milliseconds(200);
    return config;
  }

  std::unique_ptr<LimitAlgorithm> law_ = *MakeAlgorithm(Config());
  LawRunner runner_{*law_, WindowConfig{}, 1, kStart};
};

TEST_F(LawRunnerTest, NothingIsDecidedWhileTheEpochRuns) {
  runner_.Add(WindowOf(100, absl::Milliseconds(100)));
  EXPECT_FALSE(runner_.Advance(20, absl::Seconds(1), kStart + absl::Milliseconds(999)).has_value());
}

TEST_F(LawRunnerTest, AFullEpochMovesTheLimit) {
  runner_.Add(WindowOf(100, absl::Milliseconds(100)));
  const auto outcome = runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(1));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kUsed);
  EXPECT_EQ(outcome->before, 20);
  EXPECT_EQ(runner_.limit(), 21);
}

TEST_F(LawRunnerTest, WindowsOfManyInstancesCountTogether) {
  for (int i = 0; i < 4; ++i) runner_.Add(WindowOf(5, absl::Milliseconds(300)));
  const auto outcome = runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(1));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kUsed) << "20 samples together";
  EXPECT_EQ(runner_.limit(), 18);
}

TEST_F(LawRunnerTest, WithTooFewSamplesTheEpochGoesOnThenIsThrownAway) {
  runner_.Add(WindowOf(19, absl::Milliseconds(300)));
  EXPECT_FALSE(runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(1)).has_value());
  const auto outcome = runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(8));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kTooFewSamples);
  EXPECT_EQ(runner_.limit(), 20);
  runner_.Add(WindowOf(1, absl::Milliseconds(300)));
  EXPECT_FALSE(runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(9)).has_value())
      << "nothing is kept";
}

TEST_F(LawRunnerTest, AFewDroppedCallsAreTolerated) {
  Window window = WindowOf(95, absl::Milliseconds(100));
  window.dropped = 5;  // exactly 5 % of what completed
  runner_.Add(window);
  runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(1));
  EXPECT_EQ(runner_.limit(), 21);
  window.dropped = 6;
  runner_.Add(window);
  runner_.Advance(20, absl::Seconds(1), kStart + absl::Seconds(2));
  EXPECT_EQ(runner_.limit(), 18);
}

// Remembers what it was told, and holds the limit.
class ListeningLaw final : public LimitAlgorithm {
 public:
  std::string_view name() const override { return "listening"; }
  LawState InitialState() const override { return FixedState{}; }
  Calls Limit(const LawState& /*state*/) const override { return 10; }
  Decision Decide(LawState& /*state*/, const Observation& seen) const override {
    told.push_back(seen);
    return {.limit = 10};
  }

  mutable std::vector<Observation> told;
};

class SignalsTest : public ::testing::Test {
 protected:
  // One epoch of one second after another.
  WindowOutcome Judge(const Window& window, const WindowConfig& config = {}) {
    LawRunner runner(law_, config, 1, kStart);
    runner.Add(window);
    return runner.Advance(10, absl::Seconds(1), kStart + absl::Seconds(8))->window;
  }

  ListeningLaw law_;
};

TEST_F(SignalsTest, ThePercentileIsOfTheCallsThatCompleted) {
  Window window = WindowOf(80, absl::Milliseconds(100));
  for (int i = 0; i < 20; ++i) window.latency.Record(absl::Milliseconds(800));
  window.succeeded += 20;
  Judge(window, {.percentile = 0.5});
  Judge(window, {.percentile = 0.9});
  ASSERT_EQ(law_.told.size(), 2u);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(law_.told[0].latency), 100, 10);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(law_.told[1].latency), 800, 80);
}

TEST_F(SignalsTest, InTheMeanCallsThatHangCountWhileTheyHang) {
  Window window = WindowOf(100, absl::Milliseconds(100));
  window.in_flight += absl::Seconds(30);  // of thirty calls that have not ended
  Judge(window, {.latency = LatencySignal::kMean});
  EXPECT_EQ(law_.told.at(0).latency, absl::Milliseconds(400));
}

TEST_F(SignalsTest, IgnoredCallsAreNeitherSamplesNorFailuresNorLatency) {
  Window window = WindowOf(100, absl::Milliseconds(100));
  window.ignored = 900;  // cancelled after 1 ms each
  window.admitted += 900;
  window.in_flight += absl::Milliseconds(900);
  for (const LatencySignal signal : {LatencySignal::kPercentile, LatencySignal::kMean}) {
    Judge(window, {.latency = signal});
    EXPECT_EQ(law_.told.back().samples, 100);
    EXPECT_EQ(law_.told.back().failed, 0);
    EXPECT_NEAR(absl::ToDoubleMilliseconds(law_.told.back().latency), 100, 10);
  }
}

TEST_F(SignalsTest, IgnoredCallsAloneMoveNothing) {
  Window window;
  window.length = absl::Seconds(1);
  window.ignored = window.admitted = 1000;
  window.in_flight = absl::Seconds(10);
  EXPECT_EQ(Judge(window), WindowOutcome::kTooFewSamples);
  EXPECT_TRUE(law_.told.empty());
}

TEST_F(SignalsTest, MoreDropsThanToleratedAreOverload) {
  Window window = WindowOf(90, absl::Milliseconds(100));
  window.dropped = 10;
  Judge(window, {.drop_tolerance = 0.1});
  Judge(window, {.drop_tolerance = 0.09});
  EXPECT_FALSE(law_.told[0].dropped);
  EXPECT_TRUE(law_.told[1].dropped);
  EXPECT_EQ(law_.told[1].failed, 10);
  EXPECT_EQ(law_.told[1].samples, 100) << "a dropped call is a sample";
}

TEST_F(SignalsTest, ALatencyAboveTheCeilingIsOverloadAsDropsAre) {
  const Window window = WindowOf(100, absl::Milliseconds(100));
  Judge(window, {.latency = LatencySignal::kMean, .latency_ceiling = absl::Milliseconds(100)});
  Judge(window, {.latency = LatencySignal::kMean, .latency_ceiling = absl::Milliseconds(99)});
  EXPECT_FALSE(law_.told[0].dropped);
  EXPECT_TRUE(law_.told[1].dropped);
}

TEST_F(SignalsTest, ALatencyThatIsNotAboveZeroNeverReachesALaw) {
  for (const absl::Duration in_flight : {absl::ZeroDuration(), -absl::Seconds(1)}) {
    Window window = WindowOf(100, absl::Milliseconds(100));
    window.in_flight = in_flight;
    EXPECT_EQ(Judge(window, {.latency = LatencySignal::kMean}), WindowOutcome::kTooFewSamples);
  }
  EXPECT_TRUE(law_.told.empty());
}

TEST_F(SignalsTest, TheLawIsToldHowLongItMeasuredAndHowLongItWasToldNothing) {
  LawRunner runner(law_, {}, 1, kStart);
  const auto advance = [&](int seconds) {
    return runner.Advance(10, absl::Milliseconds(980), kStart + absl::Seconds(seconds));
  };
  runner.Add(WindowOf(100, absl::Milliseconds(100)));
  advance(1);
  advance(9);  // eight idle seconds are thrown away
  runner.Add(WindowOf(100, absl::Milliseconds(100)));
  advance(10);
  ASSERT_EQ(law_.told.size(), 2u);
  EXPECT_EQ(law_.told[0].elapsed, absl::Seconds(1));
  EXPECT_EQ(law_.told[1].length, absl::Milliseconds(980));
  EXPECT_EQ(law_.told[1].elapsed, absl::Seconds(9));
}

TEST_F(SignalsTest, TheElapsedTimeIsNeverShorterThanTheWindow) {
  LawRunner runner(law_, {}, 1, kStart);
  runner.Add(WindowOf(100, absl::Milliseconds(100)));
  runner.Advance(10, absl::Milliseconds(1300), kStart + absl::Seconds(1));
  EXPECT_EQ(law_.told.at(0).elapsed, absl::Milliseconds(1300));
}

TEST_F(SignalsTest, EachObservationHasADrawOfItsOwnThatTheSeedDecides) {
  const auto draws = [this](std::uint64_t seed) {
    law_.told.clear();
    LawRunner runner(law_, {}, seed, kStart);
    std::vector<double> drawn;
    for (int second = 1; second <= 3; ++second) {
      runner.Add(WindowOf(100, absl::Milliseconds(100)));
      runner.Advance(10, absl::Seconds(1), kStart + absl::Seconds(second));
      drawn.push_back(law_.told.back().draw);
    }
    return drawn;
  };
  const std::vector<double> drawn = draws(1);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(draws(1), drawn);
  EXPECT_NE(draws(2), drawn);
}

// All laws of single windows that there are.
std::vector<AlgorithmConfig> AllLaws() {
  std::vector<AlgorithmConfig> all;
  for (int kind = 0; kind <= static_cast<int>(AlgorithmKind::kFleetKnee); ++kind) {
    AlgorithmConfig config;
    config.kind = static_cast<AlgorithmKind>(kind);
    config.floor = 1;
    config.initial = 20;
    if (MakeAlgorithm(config).ok()) all.push_back(config);
  }
  return all;
}

class TrickleTest : public ::testing::TestWithParam<AlgorithmConfig> {
 protected:
  // Three hours of seconds in which `calls` end, each a few milliseconds long, now and then a
  // second. Returns the lowest and the highest limit.
  std::pair<Calls, Calls> Trickle(double calls_per_second) {
    Calls low = runner_.limit();
    Calls high = runner_.limit();
    double due = 0;
    for (int second = 1; second <= 3 * 3600; ++second) {
      due += calls_per_second;
      Window window;
      window.length = absl::Seconds(1);
      for (; due >= 1; --due) {
        const absl::Duration latency =
            random_.Chance(0.02) ? absl::Seconds(1) : absl::Milliseconds(random_.Uniform(2, 8));
        window.latency.Record(latency);
        window.in_flight += latency;
        ++window.succeeded;
      }
      if (window.succeeded > 0) runner_.Add(window);
      runner_.Advance(1, absl::Seconds(1), kStart + absl::Seconds(second));
      low = std::min(low, runner_.limit());
      high = std::max(high, runner_.limit());
    }
    return {low, high};
  }

  Random random_{7};
  std::unique_ptr<LimitAlgorithm> law_ = *MakeAlgorithm(GetParam());
  LawRunner runner_{*law_, WindowConfig{}, 1, kStart};
};

TEST_P(TrickleTest, TooFewCallsHoldTheLimitForHours) { EXPECT_EQ(Trickle(0.4), std::pair(20, 20)); }

TEST_P(TrickleTest, CallsThatBarelySufficeNeitherInflateNorCollapseTheLimit) {
  // Twenty calls in eight seconds, one at a time: every epoch is judged, and none says anything.
  const auto [low, high] = Trickle(2.6);
  EXPECT_LE(high, 20);
  EXPECT_GT(low, GetParam().floor);
}

INSTANTIATE_TEST_SUITE_P(Laws, TrickleTest, ::testing::ValuesIn(AllLaws()),
                         [](const auto& law) { return std::string(ToString(law.param.kind)); });

Window Refusing(Window window, std::int64_t refused) {
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = refused;
  return window;
}

// Of calls that were in flight `mean` at a time, at random: what a short window shows of them.
Window ShortWindow(Random& random, double mean, absl::Duration length, absl::Duration latency) {
  Window window;
  window.length = length;
  const double expected = mean * absl::FDivDuration(length, latency);
  for (double due = random.Exponential(1); due < expected; due += random.Exponential(1)) {
    ++window.succeeded;
  }
  window.in_flight = latency * window.succeeded;
  return window;
}

TEST(DemandTest, ANewcomerCountsAsOneCall) {
  EXPECT_EQ(Demand(kStart).Need(kStart), 1);
  EXPECT_EQ(Demand(kStart).Load(), 1);
}

TEST(DemandTest, NeedRisesAtOnceAndFallsByATenthASecond) {
  Demand demand(kStart);
  demand.Report(30, 2, Window(), 40, absl::ZeroDuration(), kStart);
  EXPECT_EQ(demand.Need(kStart), 32);
  EXPECT_NEAR(demand.Need(kStart + absl::Seconds(1)), 28.8, 1e-9);
  demand.Report(3, 0, Window(), 40, absl::ZeroDuration(), kStart + absl::Seconds(2));
  EXPECT_NEAR(demand.Need(kStart + absl::Seconds(2)), 25.92, 1e-9);
}

TEST(DemandTest, RefusedCallsCountByLittlesLaw) {
  // 10 in flight on average, and twice as many refused as let in.
  const Window window = Refusing(WindowOf(100, absl::Milliseconds(100)), 200);
  Demand demand(kStart);
  for (int i = 0; i < 10; ++i) demand.Report(10, 0, window, 10, absl::ZeroDuration(), kStart);
  EXPECT_NEAR(demand.Load(), 30, 0.5);
  EXPECT_NEAR(demand.Need(kStart), 30, 0.5);
}

TEST(DemandTest, RefusalsWithoutCompletionsCountWithThePoolsLatency) {
  Window window = Refusing(Window(), 50);
  window.length = absl::Seconds(1);
  Demand demand(kStart);
  for (int i = 0; i < 20; ++i) {
    demand.Report(0, 0, window, 0, absl::Milliseconds(100), kStart);
  }
  EXPECT_NEAR(demand.Load(), 5, 0.2);
}

TEST(DemandTest, OneRefusalWantsOneMore) {
  Window window = Refusing(Window(), 1);
  window.length = absl::Seconds(1);
  Demand demand(kStart);
  demand.Report(4, 0, window, 4, absl::ZeroDuration(), kStart);
  EXPECT_EQ(demand.Need(kStart), 5);
}

TEST(DemandTest, AnInstanceAtLimitZeroSaysThatItWantsSomething) {
  Demand demand(kStart);
  const Instant later = kStart + absl::Minutes(10);
  EXPECT_LT(demand.Need(later), 0.01);
  demand.Report(0, 1, Window(), 0, absl::ZeroDuration(), later);
  EXPECT_EQ(demand.Need(later), 1);
  demand.Report(0, 0, Refusing(Window(), 1), 0, absl::ZeroDuration(), later);
  EXPECT_EQ(demand.Need(later), 1);
}

TEST(DemandTest, ALuckyShortWindowHardlyMovesTheLoad) {
  Demand demand(kStart);
  for (int i = 0; i < 5; ++i) {
    demand.Report(8, 0, WindowOf(50, absl::Milliseconds(100)), 20, absl::ZeroDuration(), kStart);
  }
  const double before = demand.Load();
  Window lucky = WindowOf(4, absl::Milliseconds(100));
  lucky.length = absl::Milliseconds(20);  // 20 in flight for a moment
  demand.Report(20, 0, lucky, 20, absl::ZeroDuration(), kStart);
  EXPECT_NEAR(demand.Load(), before, 0.2 * before);
}

TEST(DemandTest, InstancesWithEqualTrafficHaveEqualLoads) {
  Random random(1);
  std::vector<double> loads;
  for (int instance = 0; instance < 50; ++instance) {
    Demand demand(kStart);
    for (int i = 0; i < 100; ++i) {
      const Window window =
          ShortWindow(random, 8, absl::Milliseconds(200), absl::Milliseconds(100));
      demand.Report(8, 0, window, 20, absl::ZeroDuration(), kStart);
    }
    loads.push_back(demand.Load());
  }
  EXPECT_GT(*std::min_element(loads.begin(), loads.end()), 0.75 * 8);
  EXPECT_LT(*std::max_element(loads.begin(), loads.end()), 1.25 * 8);
}

TEST(DemandTest, WithManyCallsTheLoadFollowsWithinTwoSeconds) {
  Demand demand(kStart);
  for (int i = 0; i < 20; ++i) {
    demand.Report(9, 0, WindowOf(500, absl::Milliseconds(10)), 99, absl::ZeroDuration(), kStart);
  }
  EXPECT_NEAR(demand.Load(), 5, 0.1);
  for (int i = 0; i < 2; ++i) {
    demand.Report(50, 0, WindowOf(4'000, absl::Milliseconds(10)), 99, absl::ZeroDuration(), kStart);
  }
  EXPECT_GT(demand.Load(), 30);
}

TEST(DemandTest, WithFewCallsAChangeOfTrafficIsNoticedWithinThreeSeconds) {
  Demand demand(kStart);
  for (int i = 0; i < 20; ++i) {
    demand.Report(2, 0, WindowOf(2, absl::Seconds(1)), 9, absl::ZeroDuration(), kStart);
  }
  EXPECT_NEAR(demand.Load(), 2, 0.3);
  for (int i = 0; i < 3; ++i) {
    demand.Report(9, 0, Refusing(WindowOf(9, absl::Seconds(1)), 11), 9, absl::ZeroDuration(),
                  kStart);
  }
  EXPECT_GT(demand.Load(), 12);
}

TEST(DemandTest, WhatIsAssumedIsBelievedUntilReportsSayMore) {
  Demand demand(kStart);
  demand.AssumeAtLeast(20);
  EXPECT_EQ(demand.Need(kStart), 20);
  EXPECT_EQ(demand.Load(), 20);
  for (int i = 0; i < 30; ++i) {
    demand.Report(2, 0, WindowOf(10, absl::Milliseconds(100)), 20, absl::ZeroDuration(),
                  kStart + absl::Seconds(i));
  }
  EXPECT_LT(demand.Load(), 3);
}

}  // namespace
}  // namespace plimsoll::internal
