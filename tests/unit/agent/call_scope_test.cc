#include "plimsoll/agent/call_scope.h"

#include <gtest/gtest.h>

#include <chrono>

namespace plimsoll {
namespace {

using std::chrono::seconds;

TEST(CallBudgetTest, GoesThereAndBackAsText) {
  const DeadlineScope time(Deadline::In(seconds(5)));
  const RetryScope retries(3);
  const CallBudget mine = CallBudget::Current();
  const CallBudget theirs =
      ParseCallBudget(TimeLeftText(mine.deadline), RetriesLeftText(mine.retries));
  EXPECT_LE(theirs.deadline.left(), seconds(5));
  EXPECT_GT(theirs.deadline.left(), seconds(3));
  EXPECT_EQ(theirs.retries, 3);
}

TEST(CallBudgetTest, WhatHasNoBoundIsNotSaid) {
  EXPECT_EQ(TimeLeftText(Deadline::Never()), "");
  EXPECT_EQ(RetriesLeftText(RetryScope::kUnlimited), "");
  EXPECT_TRUE(ParseCallBudget("", "").deadline.never());
  EXPECT_EQ(ParseCallBudget("", "").retries, RetryScope::kUnlimited);
}

TEST(CallBudgetTest, ATimeThatIsOverIsZero) {
  EXPECT_EQ(TimeLeftText(Deadline::In(seconds(-5))), "0");
  EXPECT_TRUE(ParseCallBudget("0", "").deadline.passed());
}

TEST(CallBudgetTest, WhatIsMalformedIsNotSaid) {
  for (const char* bad : {"-1", "+1", " 1", "1 ", "1.5", "0x1", "1e9", "1234567890", "\xd9\xa1"}) {
    const CallBudget said = ParseCallBudget(bad, bad);
    EXPECT_TRUE(said.deadline.never()) << bad;
    EXPECT_EQ(said.retries, RetryScope::kUnlimited) << bad;
    EXPECT_EQ(ParseRetriesUsed(bad), 0) << bad;
  }
}

TEST(CallBudgetTest, WhatACallerSaysOnlyLowersWhatThisSideAllows) {
  const CallBudget limits = {Deadline::In(seconds(1)), 2};
  const CallBudget more = ParseCallBudget("999999999", "999999999").CutTo(limits);
  EXPECT_EQ(more.deadline, limits.deadline);
  EXPECT_EQ(more.retries, 2);
  const CallBudget less = ParseCallBudget("10", "1").CutTo(limits);
  EXPECT_LT(less.deadline, limits.deadline);
  EXPECT_EQ(less.retries, 1);
}

TEST(CallScopeTest, BoundsTheWorkInItAndCountsItsRetries) {
  const Deadline deadline = Deadline::In(seconds(1));
  {
    const CallScope scope({deadline, 3});
    EXPECT_EQ(Deadline::Current(), deadline);
    EXPECT_TRUE(RetryScope::TryTake());
    RetryScope::Take(ParseRetriesUsed("1"));
    EXPECT_EQ(scope.retries_used(), 2);
    RetryScope::Take(ParseRetriesUsed("999999999"));  // a dependency that lies
    EXPECT_EQ(scope.retries_used(), 3);
  }
  EXPECT_TRUE(Deadline::Current().never());
}

TEST(CallScopeTest, WithoutABoundNothingIsCounted) {
  const CallScope scope({});
  EXPECT_TRUE(RetryScope::TryTake());
  EXPECT_EQ(scope.retries_used(), 0);
}

}  // namespace
}  // namespace plimsoll
