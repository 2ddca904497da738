#include "plimsoll/agent/retry_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "agent/src/retry_decision.h"
#include "plimsoll/agent/retry_scope.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(RetryPolicyTest, WhatIsTriedAgain) {
  struct Row {
    Outcome outcome;
    bool once;        // not idempotent
    bool idempotent;  //
    bool timeouts;    // idempotent, and time-outs are retried
  };
  const Row rows[] = {
      {Outcome::kSuccess, false, false, false},   {Outcome::kError, false, true, true},
      {Outcome::kOverload, true, true, true},     {Outcome::kTimeout, false, false, true},
      {Outcome::kCancelled, false, false, false}, {Outcome::kIgnored, false, false, false},
  };
  const RetryPolicy policy;
  const RetryPolicy timeouts = {.retry_timeouts = true};
  for (const Row& row : rows) {
    SCOPED_TRACE(ToString(row.outcome));
    EXPECT_EQ(internal::IsRetryable(policy, row.outcome, false), row.once);
    EXPECT_EQ(internal::IsRetryable(timeouts, row.outcome, false), row.once);
    EXPECT_EQ(internal::IsRetryable(policy, row.outcome, true), row.idempotent);
    EXPECT_EQ(internal::IsRetryable(timeouts, row.outcome, true), row.timeouts);
  }
}

struct Range {
  nanoseconds shortest = nanoseconds::max();
  nanoseconds longest = nanoseconds::min();
};

Range PausesAfter(const RetryPolicy& policy, int number, const AttemptEnd& end) {
  Range range;
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const nanoseconds pause = internal::PauseAfter(policy, number, end, random);
    range.shortest = std::min(range.shortest, pause);
    range.longest = std::max(range.longest, pause);
  }
  return range;
}

TEST(RetryPolicyTest, PausesAreUniformFromZeroToADoublingCap) {
  const RetryPolicy policy = {.backoff_first = milliseconds(100), .backoff_max = milliseconds(700)};
  const int caps_ms[] = {100, 200, 400, 700, 700};
  for (int number = 1; number <= 5; ++number) {
    const milliseconds cap(caps_ms[number - 1]);
    const Range range = PausesAfter(policy, number, Outcome::kError);
    EXPECT_LT(range.shortest, cap / 50) << number;
    EXPECT_GT(range.longest, cap - cap / 50) << number;
    EXPECT_LT(range.longest, cap) << number;
  }
}

TEST(RetryPolicyTest, ComesNeverEarlierThanTheDependencyAskedForNorAllAtOnce) {
  const AttemptEnd end(Outcome::kOverload, milliseconds(300));
  const Range range = PausesAfter({.backoff_first = milliseconds(100)}, 1, end);
  EXPECT_GE(range.shortest, milliseconds(300));
  EXPECT_GT(range.longest, milliseconds(390));
}

TEST(RetryPolicyTest, AbsurdAnswersDoNotOverflow) {
  EXPECT_EQ(PausesAfter({}, 99, AttemptEnd(Outcome::kOverload, nanoseconds::max())).shortest,
            nanoseconds::max());
  EXPECT_GE(PausesAfter({}, 1, AttemptEnd(Outcome::kOverload, nanoseconds::min())).shortest,
            nanoseconds::zero());
}

TEST(RetryPolicyTest, NamesEveryFault) {
  EXPECT_TRUE(Validate(RetryPolicy()).ok());
  EXPECT_TRUE(Validate(kNoRetries).ok());
  EXPECT_EQ(Validate(RetryPolicy{.attempts_max = 0,
                                 .backoff_first = nanoseconds(0),
                                 .backoff_max = nanoseconds(-1)})
                .message(),
            "retry policy: attempts_max is 0: must be 1 to 100; backoff_first is 0 ns: must be "
            "positive; backoff_max is -1 ns: must be backoff_first to an hour");
}

TEST(RetryScopeTest, OutsideOfAllThereIsNoLimit) {
  EXPECT_EQ(RetryScope::Left(), RetryScope::kUnlimited);
  EXPECT_TRUE(RetryScope::TryTake());
  EXPECT_EQ(RetryScope::Left(), RetryScope::kUnlimited);
}

TEST(RetryScopeTest, NestedScopesTakeFromTheOuterOne) {
  const RetryScope outer(3);
  {
    const RetryScope inner(2);
    EXPECT_TRUE(RetryScope::TryTake());
    EXPECT_TRUE(RetryScope::TryTake());
    EXPECT_FALSE(RetryScope::TryTake());
  }
  EXPECT_EQ(RetryScope::Left(), 1);
  const RetryScope greedy(100);
  EXPECT_EQ(RetryScope::Left(), 1);
}

TEST(RetryScopeTest, AnUnlimitedScopeTakesFromTheOuterOneToo) {
  const RetryScope outer(2);
  {
    const RetryScope inner(RetryScope::kUnlimited);
    EXPECT_TRUE(RetryScope::TryTake());
  }
  EXPECT_EQ(RetryScope::Left(), 1);
}

TEST(RetryScopeTest, WhatWasUsedElsewhereIsMissingHere) {
  const RetryScope scope(3);
  RetryScope::Take(2);
  EXPECT_EQ(RetryScope::Left(), 1);
  RetryScope::Take(2);
  EXPECT_EQ(RetryScope::Left(), 0);
}

TEST(RetryScopeTest, IsOfItsThread) {
  const RetryScope scope(1);
  std::thread([] { EXPECT_EQ(RetryScope::Left(), RetryScope::kUnlimited); }).join();
}

}  // namespace
}  // namespace plimsoll
