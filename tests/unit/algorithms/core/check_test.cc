#include "plimsoll/core/check.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(CheckTest, DoesNothingIfTheConditionHolds) {
  int evaluations = 0;
  PLIMSOLL_CHECK(++evaluations == 1, "the condition is evaluated once");
  EXPECT_EQ(evaluations, 1);
}

TEST(CheckDeathTest, NamesPlaceConditionAndExplanation) {
  EXPECT_DEATH(PLIMSOLL_CHECK(1 + 1 == 3, "arithmetic is broken"),
               "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3: arithmetic is broken");
}

}  // namespace
}  // namespace plimsoll
