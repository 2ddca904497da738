#include "controller/src/pool.h"

#include <gtest/gtest.h>

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

TEST(DemandTest, ANewcomerCountsAsOneCall) { EXPECT_EQ(Demand(kStart).At(kStart), 1); }

TEST(DemandTest, RisesAtOnceAndFallsByATenthASecond) {
  Demand demand(kStart);
  demand.Report(30, 2, Window(), 40, absl::ZeroDuration(), kStart);
  EXPECT_EQ(demand.At(kStart), 32);
  EXPECT_NEAR(demand.At(kStart + absl::Seconds(1)), 28.8, 1e-9);
  demand.Report(3, 0, Window(), 40, absl::ZeroDuration(), kStart + absl::Seconds(2));
  EXPECT_NEAR(demand.At(kStart + absl::Seconds(2)), 25.92, 1e-9);
}

TEST(DemandTest, RefusedCallsCountByLittlesLaw) {
  Window window = WindowOf(100, absl::Milliseconds(100));  // 10 in flight on average
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 200;
  Demand demand(kStart);
  demand.Report(10, 0, window, 10, absl::ZeroDuration(), kStart);
  EXPECT_NEAR(demand.At(kStart), 30, 1e-6);
}

TEST(DemandTest, RefusalsWithoutCompletionsCountWithThePoolsLatency) {
  Window window;
  window.length = absl::Seconds(1);
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 50;
  Demand demand(kStart);
  demand.Report(0, 0, window, 0, absl::Milliseconds(100), kStart);
  EXPECT_NEAR(demand.At(kStart), 5, 1e-9);
}

TEST(DemandTest, OneRefusalWantsOneMore) {
  Window window;
  window.length = absl::Seconds(1);
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 1;
  Demand demand(kStart);
  demand.Report(4, 0, window, 4, absl::ZeroDuration(), kStart);
  EXPECT_EQ(demand.At(kStart), 5);
}

}  // namespace
}  // namespace plimsoll::internal
