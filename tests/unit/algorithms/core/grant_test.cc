#include "plimsoll/core/grant.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(GrantStampTest, OrdersByEpochBeforeSequenceNumber) {
  const GrantStamp none;
  const GrantStamp old_reign{Epoch(1), Seq(900)};
  const GrantStamp new_reign{Epoch(2), Seq(1)};
  const GrantStamp newest{Epoch(2), Seq(2)};
  EXPECT_LT(none, old_reign);
  EXPECT_LT(old_reign, new_reign);
  EXPECT_LT(new_reign, newest);
}

TEST(StepsTest, FitUnderOthersOnlyIfEveryComponentDoes) {
  const Steps roomy{10, 5, 2};
  EXPECT_TRUE(FitsUnder({10, 5, 2}, roomy));
  EXPECT_FALSE(FitsUnder({11, 5, 2}, roomy));
  EXPECT_FALSE(FitsUnder({10, 6, 2}, roomy));
  EXPECT_FALSE(FitsUnder({10, 5, 3}, roomy));
}

TEST(StepsTest, HighestAndLowestWorkByComponent) {
  const Steps a{10, 1, 1};
  const Steps b{8, 4, 0};
  EXPECT_EQ(Highest(a, b), (Steps{10, 4, 1}));
  EXPECT_EQ(Lowest(a, b), (Steps{8, 1, 0}));
}

}  // namespace
}  // namespace plimsoll
