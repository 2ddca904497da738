// The pool law in the core: its epochs must go on whatever its members do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using ::testing::HasSubstr;

Policy KneePolicy(Scope scope) {
  Policy policy = testing::TestPolicy("db", 40);
  policy.algorithm.kind = AlgorithmKind::kFleetKnee;
  policy.scope = scope;
  return policy;
}

std::optional<LastDecision> Last(CoreDriver& driver) {
  return driver.core().TakeSnapshot(driver.now()).dependencies.at(0).last_decision;
}

TEST(KneeTest, FleetsStartAtTheQuotaUnlessToldOtherwise) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  EXPECT_EQ(driver.core().TakeSnapshot(driver.now()).dependencies.at(0).algorithm_limit, 40);
}

TEST(KneeTest, EpochsEndAgainAndAgainWhileAMemberIsSilent) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  const SessionId silent = driver.Join("silent");
  const SessionId one = driver.Join("one");
  const SessionId other = driver.Join("other");
  for (const SessionId& session : {silent, one, other}) driver.memory(session).in_flight_max = 3;
  driver.Converse({silent, one, other}, absl::Seconds(5));
  driver.Converse({one, other}, absl::Seconds(20));
  const std::optional<LastDecision> first = Last(driver);
  ASSERT_TRUE(first.has_value());
  driver.Converse({one, other}, absl::Seconds(20));
  EXPECT_GT(Last(driver)->at, first->at);
  EXPECT_THAT(Last(driver)->message, HasSubstr("it does not bind"));
}

TEST(KneeTest, EpochsGoOnWithoutMembersAndWithNewOnes) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kInstance)}));
  const SessionId first = driver.Join("first");
  driver.Converse({first}, absl::Seconds(5));
  driver.Pass(absl::Minutes(5));  // it is gone, with everything that it held
  EXPECT_EQ(driver.core().sessions(), 0);
  const SessionId second = driver.Join("second");
  driver.memory(second).in_flight_max = 4;
  driver.Converse({second}, absl::Seconds(30));
  EXPECT_LT(driver.now() - Last(driver)->at, absl::Seconds(15));
}

TEST(KneeTest, MembersStayThroughEveryChangeOfLawAndScope) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  const SessionId one = driver.Join("one");
  const SessionId other = driver.Join("other");
  for (const SessionId& session : {one, other}) driver.memory(session).in_flight_max = 3;
  driver.Converse({one, other}, absl::Seconds(3));
  Policy aimd = KneePolicy(Scope::kInstance);
  aimd.algorithm.kind = AlgorithmKind::kAimd;
  Policy observing = KneePolicy(Scope::kInstance);
  observing.mode = Mode::kObserve;
  for (const Policy& policy : {KneePolicy(Scope::kInstance), aimd, observing,
                               KneePolicy(Scope::kFleet), aimd, KneePolicy(Scope::kFleet)}) {
    driver.Apply(PolicyEvent{testing::Policies({policy})});
    const SessionId late = driver.Join("late");
    driver.Converse({one, other, late}, absl::Seconds(8));
    EXPECT_LE(driver.reserved(), 40);
    EXPECT_GT(driver.limit(one), 0);
  }
}

TEST(KneeTest, ALevelOutlivesTheTimeInWhichFewAreThere) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  const SessionId one = driver.Join("one");  // its ceiling is 20
  driver.memory(one).in_flight_max = 3;
  driver.Converse({one}, absl::Seconds(20));
  EXPECT_EQ(driver.core().TakeSnapshot(driver.now()).dependencies.at(0).algorithm_limit, 40);
}

TEST(KneeTest, AQuotaThatIsCutCutsTheLevel) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  const SessionId one = driver.Join("one");
  driver.memory(one).in_flight_max = 3;
  driver.Converse({one}, absl::Seconds(3));
  Policy cut = KneePolicy(Scope::kFleet);
  cut.quota = 10;
  driver.Apply(PolicyEvent{testing::Policies({cut})});
  driver.Converse({one}, absl::Seconds(10));
  EXPECT_LE(driver.core().TakeSnapshot(driver.now()).dependencies.at(0).algorithm_limit, 10);
  EXPECT_LE(driver.limit(one), 10);
}

TEST(KneeTest, InheritedMembersThatNeverSpeakStopNothing) {
  CoreDriver before(testing::Policies({KneePolicy(Scope::kFleet)}));
  const SessionId lost = before.Join("lost");
  before.memory(lost).in_flight_max = 3;
  before.Converse({lost}, absl::Seconds(3));
  CoreDriver after(testing::Policies({KneePolicy(Scope::kFleet)}), {}, before.Successor(8));
  const SessionId one = after.Join("one");
  after.memory(one).in_flight_max = 3;
  after.memory(one).epoch = Epoch(8);
  after.Converse({one}, absl::Seconds(20));
  ASSERT_TRUE(Last(after).has_value());
  EXPECT_LT(after.now() - Last(after)->at, absl::Seconds(10));
}

}  // namespace
}  // namespace plimsoll
