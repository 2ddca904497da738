#include "plimsoll/agent/deadline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "plimsoll/agent/call_options.h"

namespace plimsoll {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr Deadline kEarly = Deadline::FromLeaseClock(5);
constexpr Deadline kLate = Deadline::FromLeaseClock(9);

TEST(DeadlineTest, WithoutAScopeThereIsNone) { EXPECT_TRUE(Deadline::Current().never()); }

TEST(DeadlineTest, ANestedScopeCanOnlyShortenTheBudget) {
  const DeadlineScope outer(kEarly);
  {
    const DeadlineScope inner(kLate);
    EXPECT_EQ(inner.deadline(), kEarly);
    EXPECT_EQ(Deadline::Current(), kEarly);
  }
  {
    const DeadlineScope inner(Deadline::FromLeaseClock(3));
    EXPECT_EQ(Deadline::Current(), Deadline::FromLeaseClock(3));
  }
  EXPECT_EQ(Deadline::Current(), kEarly);
}

TEST(DeadlineTest, EndsWithItsScope) {
  { const DeadlineScope scope(kEarly); }
  EXPECT_TRUE(Deadline::Current().never());
}

TEST(DeadlineTest, NeverIsLaterThanEverything) {
  EXPECT_EQ(std::min(Deadline::Never(), kLate), kLate);
  EXPECT_EQ(Deadline::Never().left(), nanoseconds::max());
  EXPECT_FALSE(Deadline::Never().passed());
}

TEST(DeadlineTest, NoTimeLeftHasPassed) {
  EXPECT_TRUE(Deadline::In(nanoseconds(0)).passed());
  EXPECT_TRUE(Deadline::In(nanoseconds::min()).passed());
  EXPECT_FALSE(Deadline::In(hours(1)).passed());
}

TEST(DeadlineTest, TimesThatDoNotFitAreNever) {
  EXPECT_TRUE(Deadline::In(nanoseconds::max()).never());
  EXPECT_TRUE(Deadline::In(nanoseconds::max() - nanoseconds(1)).never());
  EXPECT_TRUE(Deadline::At(steady_clock::time_point::max()).never());
}

TEST(DeadlineTest, OfTheSteadyClockIsTheSameMoment) {
  const auto when = steady_clock::now() + hours(1);
  const nanoseconds left = Deadline::At(when).left();
  EXPECT_LE(left, hours(1));
  EXPECT_GT(left, hours(1) - std::chrono::minutes(1));
}

TEST(CostOfBytesTest, RoundsUpAndStaysInRange) {
  EXPECT_EQ(CostOfBytes(0, 1024), 1);
  EXPECT_EQ(CostOfBytes(1024, 1024), 1);
  EXPECT_EQ(CostOfBytes(1025, 1024), 2);
  EXPECT_EQ(CostOfBytes(1LL << 62, 1), 1'000'000);
}

}  // namespace
}  // namespace plimsoll
