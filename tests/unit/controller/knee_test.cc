// The pool law in the core: its epochs must go on whatever its members do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "controller/src/state.h"
#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

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

Snapshot Look(CoreDriver& driver) { return driver.core().TakeSnapshot(driver.now()); }

TEST(KneeTest, MembersThatWereThereForAWhileDoNotLowerTheLevelForGood) {
  for (const Mode mode : {Mode::kEnforce, Mode::kObserve}) {
    Policy policy = KneePolicy(Scope::kInstance);
    policy.quota = 60;
    policy.mode = mode;
    CoreDriver driver(testing::Policies({policy}));
    std::vector<SessionId> all;
    for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
      all.push_back(driver.Join(name));
      driver.memory(all.back()).in_flight_max = 3;
    }
    driver.Converse(all, absl::Seconds(10));
    EXPECT_EQ(driver.limit(all[0]), 10);
    driver.Converse({all[0]}, absl::Minutes(3));
    EXPECT_EQ(driver.limit(all[0]), 20);
  }
}

// They hold what was granted to them, and are no reason to grant less to the others.
TEST(KneeTest, GhostsDoNotCountAsMembers) {
  Policy policy = KneePolicy(Scope::kInstance);
  policy.outage.base_lease = absl::Minutes(30);
  CoreDriver driver(testing::Policies({policy}));
  std::vector<SessionId> all;
  for (const char* name : {"a", "b", "c", "d"}) {
    all.push_back(driver.Join(name));
    driver.memory(all.back()).in_flight_max = 3;
  }
  driver.Converse(all, absl::Seconds(10));
  EXPECT_EQ(driver.limit(all[0]), 10);
  driver.Converse({all[0]}, absl::Minutes(1));
  EXPECT_EQ(driver.core().sessions(), 4);
  EXPECT_EQ(driver.limit(all[0]), 20);
}

StoreState Inherited(const std::vector<Calls>& limits) {
  StoreState state;
  state.epoch = Epoch(8);
  state.longest_hold = absl::Minutes(2);
  for (const Calls limit : limits) {
    Bound bound;
    bound.key = {DependencyId("db"), SessionId("7-" + std::to_string(state.bounds.size() + 1))};
    bound.steps = {limit, 1, 0};
    bound.lease = absl::Seconds(10);
    bound.base_lease = absl::Seconds(60);
    bound.call_deadline = absl::Seconds(3);
    bound.service = ServiceId("shop");
    bound.instance = InstanceId("of-" + bound.key.session.value);
    state.bounds.push_back(bound);
  }
  return state;
}

Calls LevelAfter(const Policy& policy, const std::vector<Calls>& limits) {
  CoreDriver driver(testing::Policies({policy}), {}, Inherited(limits));
  const Snapshot snapshot = Look(driver);
  if (policy.scope == Scope::kFleet) {
    return static_cast<Calls>(snapshot.dependencies.at(0).algorithm_limit);
  }
  return snapshot.limits.at(0).explanation.algorithm_limit;
}

TEST(KneeTest, ARestartGoesOnWithWhatWasGranted) {
  EXPECT_EQ(LevelAfter(KneePolicy(Scope::kFleet), {7, 9, 8}), 24);
}

TEST(KneeTest, ARestartBeginsWhereThePolicySays) {
  Policy policy = KneePolicy(Scope::kFleet);
  policy.initial = 30;
  EXPECT_EQ(LevelAfter(policy, {7, 9, 8}), 30);
}

TEST(KneeTest, ARestartLearnsNothingFromThoseWhoHadAllThatTheyMay) {
  EXPECT_EQ(LevelAfter(KneePolicy(Scope::kFleet), {20}), 40) << "the ceiling of an instance";
  EXPECT_EQ(LevelAfter(KneePolicy(Scope::kFleet), {20, 15, 5}), 40) << "the quota";
  EXPECT_EQ(LevelAfter(KneePolicy(Scope::kFleet), {0}), 40) << "they had nothing";
}

TEST(KneeTest, AnotherReignInTheSameProcessGoesOnWithTheLevel) {
  Policy policy = KneePolicy(Scope::kFleet);
  policy.initial = 10;
  CoreDriver driver(testing::Policies({policy}));
  const SessionId one = driver.Join("one");
  driver.Converse({one}, absl::Seconds(3));
  driver.Apply(PolicyEvent{testing::Policies({KneePolicy(Scope::kFleet)})});
  ASSERT_EQ(Look(driver).dependencies.at(0).algorithm_limit, 10);
  const SessionId later("9-1");
  driver.memory(later).epoch = Epoch(9);
  driver.memory(later).steps = {3, 1, 0};
  driver.memory(later).installed = {Epoch(9), Seq(3)};
  driver.Sync(later);
  ASSERT_TRUE(driver.core().learning());
  EXPECT_EQ(Look(driver).dependencies.at(0).algorithm_limit, 10);
}

TEST(KneeTest, NothingIsLearntWhileNothingIsRaised) {
  StoreState lost;
  lost.epoch = Epoch(100);
  lost.condition = StoreCondition::kLost;
  lost.why = "no store was found";
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}), {}, lost);
  const SessionId survivor("7-1");
  CoreDriver::AgentMemory& agent = driver.memory(survivor);
  agent.n = 40;
  agent.epoch = Epoch(7);
  agent.installed = {Epoch(7), Seq(12)};
  agent.steps = {9, 1, 0};
  agent.in_flight = agent.in_flight_max = 9;
  agent.refused = 50;
  agent.identity = Identity{ServiceId("shop"), InstanceId("one"), true};
  driver.Converse({survivor}, absl::Seconds(20));
  ASSERT_TRUE(Last(driver).has_value());
  EXPECT_THAT(Last(driver)->message, HasSubstr("nothing is raised"));
  EXPECT_EQ(Look(driver).dependencies.at(0).algorithm_limit, 40) << "nor is there a dither";
}

// Whether an epoch begins at once if an agent that was sent 8/1 says that it has installed this.
bool IsTakenForInstalled(const GrantStamp& installed) {
  const Policy policy = KneePolicy(Scope::kFleet);
  const internal::LedgerTerms terms{absl::Seconds(10), absl::Seconds(60), policy.call_deadline,
                                    0.01};
  internal::DependencyState dependency(policy, terms);
  internal::KneeRunner runner(policy, Epoch(8), 1, Instant{});
  internal::Member& member = dependency.members.Emplace(SessionId("7-1"), Instant{});
  runner.Join(member);
  member.reported_at = Instant{};
  member.sent.limit = member.offer = 5;
  member.sent_seq = Seq(1);
  member.installed = installed;
  runner.Advance(dependency, Instant{}, true);
  const Instant settled = Instant{} + absl::Milliseconds(100);
  return runner.Advance(dependency, settled, true) == internal::KneeRunner::Step::kAsk;
}

TEST(KneeTest, AStampOfAnotherReignIsOfAnotherGrantHoweverHighItCounts) {
  EXPECT_TRUE(IsTakenForInstalled({Epoch(8), Seq(1)}));
  EXPECT_FALSE(IsTakenForInstalled({Epoch(8), Seq(0)}));
  EXPECT_FALSE(IsTakenForInstalled({Epoch(7), Seq(500)}));
}

std::set<Reason> ReasonsOfChanges(CoreDriver& driver, std::size_t after = 0) {
  std::set<Reason> reasons;
  const auto events = driver.core().log().Find({.type = EventType::kLimitChanged}, 10'000);
  for (std::size_t i = 0; i + after < events.size(); ++i) reasons.insert(events[i].reason);
  return reasons;
}

TEST(KneeTest, SharesThatFollowTheDemandAreNotToldAsProbes) {
  CoreDriver driver(testing::Policies({KneePolicy(Scope::kFleet)}));
  const std::vector<SessionId> pair = {driver.Join("one"), driver.Join("other"),
                                       driver.Join("third")};
  for (std::size_t i = 0; i < 30; ++i) {
    for (const SessionId& session : pair) driver.memory(session).in_flight_max = 2;
    driver.memory(pair[i % 3]).in_flight_max = 18;
    driver.Converse(pair, absl::Milliseconds(2300));
  }
  EXPECT_THAT(ReasonsOfChanges(driver),
              UnorderedElementsAre(Reason::kInitial, Reason::kQuotaRebalanced));
}

TEST(KneeTest, AQuotaThatIsCutIsTheReasonWhateverTheScope) {
  for (const Scope scope : {Scope::kFleet, Scope::kInstance}) {
    CoreDriver driver(testing::Policies({KneePolicy(scope)}));
    const std::vector<SessionId> pair = {driver.Join("one"), driver.Join("other")};
    for (const SessionId& session : pair) driver.memory(session).in_flight_max = 18;
    driver.Converse(pair, absl::Seconds(5));
    const std::size_t before =
        driver.core().log().Find({.type = EventType::kLimitChanged}, 10'000).size();
    Policy cut = KneePolicy(scope);
    cut.quota = 10;
    driver.Apply(PolicyEvent{testing::Policies({cut})});
    EXPECT_THAT(ReasonsOfChanges(driver, before), ElementsAre(Reason::kQuotaChanged));
  }
}

// When the syncs of an agent of another dependency are answered is random, too.
std::vector<int> TicksUntilAnswered(const Policy& other) {
  CoreDriver driver(testing::Policies({testing::TestPolicy("db", 40), other}));
  const SessionId one = driver.Join("one");
  driver.Converse({one}, absl::Seconds(3));
  std::vector<int> ticks;
  for (int i = 0; i < 10; ++i) {
    const RequestId request = driver.Sync(one);
    ticks.push_back(0);
    for (; !driver.Replied(request); ++ticks.back()) driver.Pass(absl::Milliseconds(20));
    driver.Take(one, request);
  }
  return ticks;
}

TEST(KneeTest, TheLawDoesNotChangeWhatElseIsRandom) {
  Policy knee = KneePolicy(Scope::kFleet);
  Policy fixed = testing::TestPolicy("pool", 40);
  knee.name = fixed.name;
  fixed.algorithm.kind = AlgorithmKind::kFixed;
  EXPECT_EQ(TicksUntilAnswered(knee), TicksUntilAnswered(fixed));
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
