#include "controller/src/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  LawRunner runner_{*law_, WindowConfig{}, kStart};
};

TEST_F(LawRunnerTest, NothingIsDecidedWhileTheEpochRuns) {
  runner_.Add(WindowOf(100, absl::Milliseconds(100)));
  EXPECT_FALSE(runner_.Advance(20, kStart + absl::Milliseconds(999)).has_value());
}

TEST_F(LawRunnerTest, AFullEpochMovesTheLimit) {
  runner_.Add(WindowOf(100, absl::Milliseconds(100)));
  const auto outcome = runner_.Advance(20, kStart + absl::Seconds(1));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kUsed);
  EXPECT_EQ(outcome->before, 20);
  EXPECT_EQ(runner_.limit(), 21);
}

TEST_F(LawRunnerTest, WindowsOfManyInstancesCountTogether) {
  for (int i = 0; i < 4; ++i) runner_.Add(WindowOf(5, absl::Milliseconds(300)));
  const auto outcome = runner_.Advance(20, kStart + absl::Seconds(1));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kUsed) << "20 samples together";
  EXPECT_EQ(runner_.limit(), 18);
}

TEST_F(LawRunnerTest, WithTooFewSamplesTheEpochGoesOnThenIsThrownAway) {
  runner_.Add(WindowOf(19, absl::Milliseconds(300)));
  EXPECT_FALSE(runner_.Advance(20, kStart + absl::Seconds(1)).has_value());
  const auto outcome = runner_.Advance(20, kStart + absl::Seconds(8));
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->window, WindowOutcome::kTooFewSamples);
  EXPECT_EQ(runner_.limit(), 20);
  runner_.Add(WindowOf(1, absl::Milliseconds(300)));
  EXPECT_FALSE(runner_.Advance(20, kStart + absl::Seconds(9)).has_value()) << "nothing is kept";
}

TEST_F(LawRunnerTest, AFewDroppedCallsAreTolerated) {
  Window window = WindowOf(95, absl::Milliseconds(100));
  window.dropped = 5;  // exactly 5 % of what completed
  runner_.Add(window);
  runner_.Advance(20, kStart + absl::Seconds(1));
  EXPECT_EQ(runner_.limit(), 21);
  window.dropped = 6;
  runner_.Add(window);
  runner_.Advance(20, kStart + absl::Seconds(2));
  EXPECT_EQ(runner_.limit(), 18);
}

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
