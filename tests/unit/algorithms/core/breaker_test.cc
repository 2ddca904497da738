#include "plimsoll/core/breaker.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace plimsoll {
namespace {

struct Case {
  std::string name;
  BreakerRules rules;
  BreakerEvidence evidence;
  std::optional<BreakerRule> judged;
};

TEST(JudgeTest, OpensByTheFirstRuleThatSaysSo) {
  const BreakerRules in_a_row = {.consecutive_failures = 5};
  const BreakerRules failures = {.failure_rate = 0.5, .calls_min = 20};
  const BreakerRules slow = {.slow_rate = 0.8, .calls_min = 10};
  const std::vector<Case> cases = {
      {"nothing", failures, {}, std::nullopt},
      {"no rules", {}, {.failed = 1000, .failures_in_a_row = 1000}, std::nullopt},
      {"4 in a row", in_a_row, {.failed = 4, .failures_in_a_row = 4}, std::nullopt},
      {"5 in a row", in_a_row, {.failures_in_a_row = 5}, BreakerRule::kFailuresInARow},
      {"3 in a row, 2 hang",
       in_a_row,
       {.hanging = 2, .failures_in_a_row = 3},
       BreakerRule::kFailuresInARow},
      {"9 hang, but one worked", in_a_row, {.succeeded = 1, .hanging = 9}, std::nullopt},
      {"too few calls", failures, {.succeeded = 1, .failed = 18}, std::nullopt},
      {"9 of 20", failures, {.succeeded = 11, .failed = 9}, std::nullopt},
      {"10 of 20", failures, {.succeeded = 10, .failed = 10}, BreakerRule::kFailureRate},
      {"hanging fails",
       failures,
       {.succeeded = 10, .failed = 5, .hanging = 5},
       BreakerRule::kFailureRate},
      {"7 slow of 10", slow, {.succeeded = 10, .slow = 7}, std::nullopt},
      {"8 slow of 10", slow, {.succeeded = 10, .slow = 8}, BreakerRule::kSlowRate},
      {"hanging is slow", slow, {.succeeded = 8, .slow = 6, .hanging = 2}, BreakerRule::kSlowRate},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(Judge(each.rules, each.evidence), each.judged) << each.name;
  }
}

}  // namespace
}  // namespace plimsoll
