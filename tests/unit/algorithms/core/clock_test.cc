#include "plimsoll/core/clock.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr int kReads = 100'000;

TEST(RealClockTest, NeverGoesBack) {
  Instant last = RealClock().Now();
  for (int i = 0; i < kReads; ++i) {
    const Instant now = RealClock().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, DoesNotGoBackWhenRefreshed) {
  Instant last = RealClock().Now();
  for (int i = 0; i < kReads / 10; ++i) {
    RealClock().Refresh();
    const Instant now = RealClock().Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RealClockTest, Moves) {
  const Instant start = RealClock().Now();
  int reads = 0;
  while (RealClock().Now() == start) ASSERT_LT(++reads, kReads);
}

TEST(RealClockTest, TellsACalendarTimeOfOurEra) {
  const absl::Time now = RealClock().WallTime();
  EXPECT_GT(now, absl::FromUnixSeconds(1'700'000'000));  // November 2023
  EXPECT_LT(now, absl::FromUnixSeconds(7'258'118'400));  // January 2200
}

TEST(RealClockTest, IsOneObject) { EXPECT_EQ(&RealClock(), &RealClock()); }

}  // namespace
}  // namespace plimsoll
