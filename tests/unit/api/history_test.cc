#include "api/http/src/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/snapshot_samples.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using enum HistoryMetric;

using Column = std::vector<std::optional<double>>;

// A snapshot per step of 5 s, of which 12 are kept.
class HistoryTest : public ::testing::Test {
 protected:
  DependencyRow& dependency() { return snapshot_.dependencies[1]; }
  LimitRow& limit() { return snapshot_.limits[0]; }

  void Record(int step) {
    snapshot_.at = Instant{(1000 + std::int64_t{step}) * 5'000'000'000 + 1'000'000};
    history_.Record(snapshot_);
  }
  Column Read(HistoryMetric metric, const std::string& instance = "", int steps = 1,
              std::optional<Instant> since = std::nullopt) const {
    const auto table = history_.Read({"payments-api", instance, {metric}, since, steps});
    return table.has_value() ? table->columns[0] : Column{};
  }

  Snapshot snapshot_ = SampleSnapshot();
  History history_{absl::Seconds(5), absl::Minutes(1)};
};

TEST_F(HistoryTest, EachStepHasAValueAndAMissedOneHasNone) {
  Record(0);
  dependency().in_flight = 50;
  Record(1);
  Record(3);
  EXPECT_THAT(Read(kInFlight),
              ElementsAre(Optional(47.0), Optional(50.0), std::nullopt, Optional(50.0)));
  EXPECT_THAT(Read(kEnforced),
              ElementsAre(Optional(49.0), Optional(49.0), std::nullopt, Optional(49.0)));
  EXPECT_THAT(Read(kQuotaShare, "checkout-0").back(), Optional(38.0));
}

TEST_F(HistoryTest, IsDueOncePerStep) {
  EXPECT_TRUE(history_.IsDue(snapshot_.at));
  Record(0);
  EXPECT_FALSE(history_.IsDue(snapshot_.at + absl::Seconds(4)));
  EXPECT_TRUE(history_.IsDue(snapshot_.at + absl::Seconds(5)));
}

TEST_F(HistoryTest, RatesAreWhatHappenedBetweenTwoSteps) {
  Record(0);
  dependency().calls = {500, 50, 5};
  limit().calls = {100, 10, 1};
  Record(1);
  EXPECT_THAT(Read(kAdmittedRate), ElementsAre(std::nullopt, Optional(100.0)));
  EXPECT_THAT(Read(kRejectedRate), ElementsAre(std::nullopt, Optional(10.0)));
  EXPECT_THAT(Read(kErrorRate), ElementsAre(std::nullopt, Optional(1.0)));
  EXPECT_THAT(Read(kAdmittedRate, "checkout-0"), ElementsAre(std::nullopt, Optional(20.0)));
}

TEST_F(HistoryTest, ASuccessorsTotalsBeginAnew) {
  limit().calls.admitted = 1000;
  Record(0);
  limit().calls.admitted = 50;
  Record(1);
  EXPECT_THAT(Read(kAdmittedRate, "checkout-0").back(), Optional(10.0));
}

TEST_F(HistoryTest, QuantilesAreOfTheCallsBetweenTwoStepsThoughCountsWrapAround) {
  const std::size_t slow = LatencyHistogram::BucketOf(1'000'000'000);
  const std::size_t fast = LatencyHistogram::BucketOf(10'000'000);
  dependency().latencies[slow] = 1'000'000;
  dependency().latencies[fast] = 0xffff'fff0;
  Record(0);
  dependency().latencies[fast] += 100;
  Record(1);
  Record(2);
  const Column p99 = Read(kLatencyP99);
  ASSERT_EQ(p99.size(), 3u);
  EXPECT_FALSE(p99[0].has_value());
  EXPECT_NEAR(p99[1].value_or(0), 0.010, 0.0004);
  EXPECT_FALSE(p99[2].has_value()) << "no call ended";
}

TEST_F(HistoryTest, WhatIsOlderThanItKeepsIsForgotten) {
  for (int step = 0; step < 30; ++step) {
    dependency().in_flight = step;
    Record(step);
  }
  const Column column = Read(kInFlight);
  ASSERT_EQ(column.size(), 12u);
  EXPECT_THAT(column.front(), Optional(18.0));
  EXPECT_THAT(column.back(), Optional(29.0));
}

TEST_F(HistoryTest, WhoHasGoneIsShownUntilItIsTooOldToBe) {
  Record(0);
  snapshot_.limits.erase(snapshot_.limits.begin());
  Record(1);
  EXPECT_THAT(Read(kGranted, "checkout-0"), ElementsAre(Optional(38.0), std::nullopt));
  Record(12);
  EXPECT_THAT(Read(kGranted, "checkout-0"), IsEmpty());
}

TEST_F(HistoryTest, SeveralStepsBecomeTheirMeanOrTheirPeak) {
  for (int step = 0; step < 4; ++step) {
    dependency().in_flight = 10 * step;
    limit().in_flight_max = 10 * step;
    Record(step);
  }
  EXPECT_THAT(Read(kInFlight, "", 2), ElementsAre(Optional(5.0), Optional(25.0)));
  EXPECT_THAT(Read(kInFlightMax, "checkout-0", 2), ElementsAre(Optional(10.0), Optional(30.0)));
}

TEST_F(HistoryTest, SinceLeavesOutWhatWasBefore) {
  for (int step = 0; step < 4; ++step) Record(step);
  EXPECT_EQ(Read(kInFlight, "", 1, snapshot_.at - absl::Seconds(5)).size(), 2u);
  EXPECT_EQ(Read(kInFlight, "", 1, snapshot_.at + absl::Minutes(1)).size(), 0u);
}

TEST_F(HistoryTest, WhatIsOnlyObservedWasNotInForce) {
  limit().mode = Mode::kObserve;
  Record(0);
  EXPECT_THAT(Read(kEnforced, "checkout-0"), ElementsAre(std::nullopt));
  EXPECT_THAT(Read(kEnforced), ElementsAre(Optional(11.0)));
}

TEST_F(HistoryTest, TheNumberOfSeriesIsBoundedAndWhoHasGoneMakesRoom) {
  const auto fill = [this](int first) {
    snapshot_.limits.clear();
    for (int i = 0; i < 300; ++i) {
      LimitRow row = SampleSnapshot().limits[0];
      row.instance = InstanceId("i-" + std::to_string(first + i));
      snapshot_.limits.push_back(row);
    }
  };
  fill(0);
  Record(0);
  EXPECT_THAT(Read(kGranted, "i-255"), ElementsAre(Optional(38.0)));
  EXPECT_THAT(Read(kGranted, "i-256"), IsEmpty());
  fill(1000);
  Record(1);
  EXPECT_THAT(Read(kGranted, "i-1000"), IsEmpty()) << "the others were there a step ago";
  Record(2);
  EXPECT_THAT(Read(kGranted, "i-1000"), ElementsAre(Optional(38.0)));
}

TEST_F(HistoryTest, NamesOfMetricsAreReadBack) {
  for (std::size_t i = 0; i < kHistoryMetrics; ++i) {
    const auto metric = static_cast<HistoryMetric>(i);
    EXPECT_EQ(HistoryMetricFromString(ToString(metric)), metric);
  }
  EXPECT_FALSE(HistoryMetricFromString("in_fligth").has_value());
}

}  // namespace
}  // namespace plimsoll::internal
