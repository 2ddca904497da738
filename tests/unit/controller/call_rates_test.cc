#include "controller/src/call_rates.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

// Counts that grow evenly, noted four times a second as ticks do it.
class CallRatesTest : public ::testing::Test {
 protected:
  void Pass(absl::Duration length, std::int64_t admitted_per_tick, std::int64_t rejected_per_tick,
            absl::Duration latency) {
    for (const Instant end = now_ + length; now_ < end;) {
      rates_.Note(now_, totals_, latencies_);
      now_ = now_ + absl::Milliseconds(250);
      totals_.admitted += admitted_per_tick;
      totals_.rejected += rejected_per_tick;
      latencies_[LatencyHistogram::BucketOf(absl::ToInt64Nanoseconds(latency))] +=
          static_cast<std::uint32_t>(admitted_per_tick);
    }
  }

  CallRates::Recent Now() const { return rates_.Until(now_, totals_, latencies_); }

  CallRates rates_;
  Instant now_;
  CallTotals totals_;
  LatencyCounts latencies_{};
};

TEST_F(CallRatesTest, NothingIsSaidInTheFirstSecond) {
  EXPECT_EQ(Now().admitted_per_second, 0);
  Pass(absl::Milliseconds(750), 10, 1, absl::Milliseconds(5));
  EXPECT_EQ(Now().admitted_per_second, 0);
  EXPECT_EQ(Now().latency.TotalCount(), 0u);
}

TEST_F(CallRatesTest, RatesAreThoseOfTheLastSeconds) {
  Pass(absl::Seconds(60), 1000, 500, absl::Seconds(1));
  Pass(absl::Seconds(6), 10, 2, absl::Milliseconds(5));
  EXPECT_DOUBLE_EQ(Now().admitted_per_second, 40);
  EXPECT_DOUBLE_EQ(Now().rejected_per_second, 8);
  EXPECT_LT(Now().latency.Quantile(1), absl::Milliseconds(6));
}

TEST_F(CallRatesTest, WhatHasEndedIsForgottenInSeconds) {
  Pass(absl::Seconds(60), 10, 2, absl::Milliseconds(5));
  Pass(absl::Seconds(6), 0, 0, absl::Milliseconds(5));
  EXPECT_EQ(Now().admitted_per_second, 0);
  EXPECT_EQ(Now().rejected_per_second, 0);
}

TEST_F(CallRatesTest, CountsOfLatenciesThatWrapAroundAreNoHarm) {
  const std::size_t bucket = LatencyHistogram::BucketOf(5'000'000);
  latencies_[bucket] = 0xffff'fff0U;
  Pass(absl::Seconds(4), 10, 0, absl::Milliseconds(5));
  EXPECT_EQ(Now().latency.count(bucket), 160u);
}

}  // namespace
}  // namespace plimsoll::internal
