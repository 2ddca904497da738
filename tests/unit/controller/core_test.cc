#include "plimsoll/controller/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::CoreDriver;
using ::plimsoll::testing::Policies;
using ::plimsoll::testing::TestPolicy;

constexpr absl::Duration kSettle = absl::Seconds(3);

std::vector<SessionId> JoinMany(CoreDriver& driver, int count) {
  std::vector<SessionId> sessions;
  for (int i = 0; i < count; ++i) sessions.push_back(driver.Join("i" + std::to_string(i)));
  return sessions;
}

Calls SumOfLimits(CoreDriver& driver, const std::vector<SessionId>& sessions) {
  return std::accumulate(sessions.begin(), sessions.end(), Calls{0},
                         [&](Calls sum, const SessionId& id) { return sum + driver.limit(id); });
}

// In flight at the limit, and refusing: wants all it can get.
void Saturate(CoreDriver& driver, const std::vector<SessionId>& sessions) {
  for (const SessionId& session : sessions) {
    auto& agent = driver.memory(session);
    agent.in_flight = agent.in_flight_max = agent.steps.limit;
    agent.refused = 100;
  }
}

const Refusal& RefusalOf(const CoreDriver& driver, RequestId request) {
  return std::get<Refusal>(driver.Reply(request));
}

TEST(CoreTest, ANewcomerGetsAShare) {
  CoreDriver driver(Policies({TestPolicy("db", 50)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  EXPECT_EQ(driver.limit(session), 20);  // the ceiling
}

TEST(CoreTest, TheQuotaIsDividedWhole) {
  Policy policy = TestPolicy("db", 50);
  policy.join_reserve = 0;
  CoreDriver driver(Policies({policy}));
  const std::vector<SessionId> sessions = JoinMany(driver, 8);
  for (int round = 0; round < 10; ++round) {
    driver.Converse(sessions, absl::Seconds(1));
    Saturate(driver, sessions);
  }
  EXPECT_EQ(SumOfLimits(driver, sessions), 50);
  EXPECT_LE(driver.reserved(), 50);
}

TEST(CoreTest, AnInstanceWithThreeTimesTheTrafficGetsTheLargerShare) {
  CoreDriver driver(Policies({TestPolicy("db", 50)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 8);
  for (int round = 0; round < 20; ++round) {
    driver.Converse(sessions, absl::Seconds(1));
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      auto& agent = driver.memory(sessions[i]);
      const Calls offered = i == 0 ? 24 : 8;
      agent.in_flight = agent.in_flight_max = std::min(offered, agent.steps.limit);
      // By Little's law the refused are to the admitted as what does not fit is to what does.
      agent.refused = 10 * (offered - agent.in_flight_max);
    }
  }
  EXPECT_GE(driver.limit(sessions[0]), 2 * driver.limit(sessions[1]));
  EXPECT_GE(driver.limit(sessions[1]), 3);
}

TEST(CoreTest, ALoweringFreesNothingBeforeItIsAcknowledged) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId first = driver.Join("i0");
  driver.Converse({first}, kSettle);
  ASSERT_EQ(driver.limit(first), 20);
  Saturate(driver, {first});
  const SessionId second = driver.Join("i1");
  driver.Pass(absl::Seconds(2));  // answers the open sync of the first with a lower limit
  EXPECT_EQ(driver.reserved(first), 20);
  EXPECT_EQ(driver.reserved(second), 0);
}

TEST(CoreTest, CallsInFlightAreChargedUntilTheyEnd) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId first = driver.Join("i0");
  driver.Converse({first}, kSettle);
  driver.memory(first).in_flight = driver.memory(first).in_flight_max = 20;
  const SessionId second = driver.Join("i1");
  driver.memory(second).refused = 1000;
  driver.Converse({first, second}, absl::Seconds(5));
  EXPECT_LT(driver.limit(first), 20);
  EXPECT_EQ(driver.reserved(first), 20);  // all 20 still run
  EXPECT_EQ(driver.limit(second), 0);
  driver.memory(first).in_flight = driver.memory(first).in_flight_max = 3;
  driver.Converse({first, second}, absl::Seconds(5));
  EXPECT_GT(driver.limit(second), 0);
  EXPECT_LE(driver.reserved(), 20);
}

TEST(CoreTest, ASilentInstanceIsChargedUntilItsHoldRunsOut) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId dead = driver.Join("i0");
  driver.Converse({dead}, kSettle);
  const Instant silent_since = driver.now();
  // lease 10 s + call deadline 3 s, stretched by 1.01 / 0.99.
  const absl::Duration hold = absl::Seconds(13) * (1.01 / 0.99);
  driver.Pass(hold - absl::Milliseconds(300));
  EXPECT_EQ(driver.reserved(), 20);
  driver.Pass(absl::Milliseconds(600));
  EXPECT_EQ(driver.reserved(), 1) << "the base, after " << (driver.now() - silent_since);
  driver.Pass(absl::Seconds(65));
  EXPECT_EQ(driver.reserved(), 0);
}

TEST(CoreTest, WhatAHoldHasEndedStaysEndedWhenTheAgentComesBack) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId back = driver.Join("i0");
  driver.Converse({back}, kSettle);
  const SessionId other = driver.Join("i1");
  driver.memory(other).refused = 1000;
  driver.Converse({other}, absl::Seconds(20));
  const Calls given_away = driver.limit(other);
  ASSERT_EQ(given_away, 19);
  driver.memory(back).steps = {1, 1, 0};  // its own lease has run out too
  driver.Sync(back);
  EXPECT_LE(driver.reserved(), 20);
}

TEST(CoreTest, AReleaseFreesTheShareAtOnce) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  const RequestId request = driver.Send(ReleaseEvent{{}, {session}});
  EXPECT_TRUE(std::holds_alternative<Released>(driver.Reply(request)));
  EXPECT_EQ(driver.reserved(), 0);
  EXPECT_EQ(RefusalOf(driver, driver.Sync(session)).code, RefusalCode::kSessionUnknown);
}

TEST(CoreTest, ReleasingAnUnknownSessionIsFine) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const RequestId request = driver.Send(ReleaseEvent{{}, {SessionId("3-4")}});
  EXPECT_TRUE(std::holds_alternative<Released>(driver.Reply(request)));
}

TEST(CoreTest, ARestartedProcessOfTheSameNameFreesItsPredecessorAfterTheCallDeadline) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId dead = driver.Join("i0");
  driver.Converse({dead}, kSettle);
  const SessionId successor = driver.Join("i0");
  driver.Converse({successor}, absl::Seconds(2));
  EXPECT_EQ(driver.reserved(dead), 20) << "calls of the dead process may still run";
  driver.Converse({successor}, absl::Seconds(4));
  EXPECT_EQ(driver.reserved(dead), 0);
  EXPECT_EQ(driver.limit(successor), 20);
}

TEST(CoreTest, ARegistrationAloneFencesNobody) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId alive = driver.Join("i0");
  driver.Converse({alive}, kSettle);
  driver.Join("i0");  // a late copy from a process long dead
  driver.Converse({alive}, absl::Seconds(10));
  EXPECT_EQ(driver.limit(alive), 20);
}

TEST(CoreTest, TwoLiveProcessesOfOneNameAreAlarmed) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId first = driver.Join("i0");
  driver.Converse({first}, kSettle);
  const SessionId second = driver.Join("i0");
  driver.Sync(second);
  EXPECT_EQ(RefusalOf(driver, driver.Sync(first)).code, RefusalCode::kSessionSuperseded);
  EXPECT_EQ(driver.core().log().total(EventType::kDuplicateInstance), 1);
  driver.Pass(absl::Seconds(5));
  EXPECT_EQ(driver.reserved(first), 20) << "it is alive, so its share is not free";
}

TEST(CoreTest, SyncsOutOfOrderChangeNothing) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  driver.memory(session).n = 0;
  driver.memory(session).in_flight = 0;
  EXPECT_EQ(RefusalOf(driver, driver.Sync(session)).code, RefusalCode::kStaleSync);
  EXPECT_EQ(driver.reserved(), 20);
}

TEST(CoreTest, AGrantThatWasNeverSentShowsThatTheseBooksAreNotAll) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  driver.memory(session).installed.seq = Seq(1'000'000);
  EXPECT_EQ(RefusalOf(driver, driver.Sync(session)).code, RefusalCode::kNotReady);
  EXPECT_TRUE(driver.core().learning());
}

TEST(CoreTest, WhoWasNotHeardForLongIsServedAgainWhenItIs) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  // Its syncs arrive, and no answer reaches it.
  for (int i = 0; i < 100; ++i) {
    driver.Sync(session);
    driver.Pass(absl::Milliseconds(250));
  }
  driver.Converse({session}, kSettle);
  EXPECT_EQ(driver.limit(session), 20);
  EXPECT_EQ(driver.reserved(), 20);
}

TEST(CoreTest, ANewerSyncAnswersTheHeldOne) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  const RequestId held = driver.Sync(session);
  driver.Sync(session);
  ASSERT_TRUE(driver.Replied(held));
  EXPECT_TRUE(std::get<SyncAnswer>(driver.Reply(held)).superseded);
}

TEST(CoreTest, AHeldSyncIsAnsweredWhenItsHoldEnds) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  const RequestId held = driver.Sync(session);
  if (!driver.Replied(held)) driver.Pass(absl::Seconds(1.25));
  ASSERT_TRUE(driver.Replied(held));
  const auto& answer = std::get<SyncAnswer>(driver.Reply(held));
  ASSERT_EQ(answer.grants.size(), 1u);
  EXPECT_EQ(answer.grants[0].steps.limit, 20) << "renewed";
}

TEST(CoreTest, HoldsThatAreOverNeedNoTick) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 2);
  driver.Converse(sessions, kSettle);
  std::vector<RequestId> held;
  for (const SessionId& session : sessions) held.push_back(driver.Sync(session));
  ASSERT_FALSE(driver.Replied(held[0]) || driver.Replied(held[1]));
  const std::optional<Instant> first = driver.core().next_due();
  ASSERT_TRUE(first.has_value());
  driver.Wait(*first - driver.now() - absl::Nanoseconds(1));
  driver.Apply(HoldsEvent{});
  EXPECT_FALSE(driver.Replied(held[0]) || driver.Replied(held[1]));
  driver.Wait(absl::Nanoseconds(1));
  driver.Apply(HoldsEvent{});
  EXPECT_NE(driver.Replied(held[0]), driver.Replied(held[1])) << "each in its time";
  EXPECT_GT(driver.core().next_due(), first);
  driver.Wait(*driver.core().next_due() - driver.now());
  driver.Apply(HoldsEvent{});
  EXPECT_TRUE(driver.Replied(held[0]) && driver.Replied(held[1]));
  EXPECT_EQ(driver.core().next_due(), std::nullopt);
}

TEST(CoreTest, OfManyRaisesTheFirstDoNotWaitForTheLast) {
  CoreOptions options;
  options.raises_per_write = 2;
  CoreDriver driver(Policies({TestPolicy("db", 20)}), options);
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  driver.HoldWrites();
  std::vector<RequestId> requests;
  for (const SessionId& session : sessions) requests.push_back(driver.Sync(session));
  const auto replied = [&] {
    return std::count_if(requests.begin(), requests.end(),
                         [&](RequestId request) { return driver.Replied(request); });
  };
  driver.Pass(absl::Milliseconds(250));
  ASSERT_TRUE(driver.writing());
  ASSERT_EQ(driver.batch().put.size(), 2u);
  EXPECT_EQ(replied(), 0);
  driver.FinishWrite();
  EXPECT_EQ(replied(), 2);
  ASSERT_TRUE(driver.writing()) << "the rest is on its way";
  driver.FinishWrite();
  EXPECT_EQ(replied(), 4);
}

TEST(CoreTest, ARaiseIsDurableBeforeItIsSent) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  driver.HoldWrites();
  const SessionId session = driver.Join("i0");
  const RequestId request = driver.Sync(session);
  driver.Pass(absl::Milliseconds(250));
  ASSERT_TRUE(driver.writing());
  EXPECT_FALSE(driver.Replied(request));
  driver.FinishWrite();
  EXPECT_TRUE(driver.Take(session, request));
  EXPECT_EQ(driver.limit(session), 20);
  EXPECT_EQ(driver.DurableSum(), 20);
}

TEST(CoreTest, WhoWaitsForAWriteIsAnsweredWithoutItsRaiseOnlyWhenItsWholeHoldIsOver) {
  CoreDriver driver(Policies({TestPolicy("db", 80)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 8);
  driver.HoldWrites();
  const Instant sent = driver.now();
  std::vector<RequestId> requests;
  for (const SessionId& session : sessions) requests.push_back(driver.Sync(session));
  const auto replied = [&] {
    return std::count_if(requests.begin(), requests.end(),
                         [&](RequestId request) { return driver.Replied(request); });
  };
  const Instant end = sent + absl::Seconds(1);
  for (Instant due = driver.now(); due < end;) {
    driver.Pass(absl::Milliseconds(50));
    driver.Apply(HoldsEvent{});
    due = driver.now() + absl::Milliseconds(50);
    ASSERT_EQ(replied(), 0) << absl::FormatDuration(driver.now() - sent);
  }
  ASSERT_TRUE(driver.writing());
  driver.Wait(end - driver.now());
  driver.Apply(HoldsEvent{});
  ASSERT_EQ(replied(), 8) << "a store that hangs keeps nobody from renewing its lease";
  EXPECT_TRUE(driver.Take(sessions[0], requests[0]));
  EXPECT_EQ(driver.limit(sessions[0]), 0);
}

TEST(CoreTest, AFailedWriteRaisesNothingAndRenewalsGoOn) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  const SessionId newcomer = driver.Join("i1");
  driver.HoldWrites();
  for (int round = 0; round < 20; ++round) {
    driver.Converse({session, newcomer}, absl::Milliseconds(500));
    if (driver.writing()) driver.FinishWrite(absl::UnavailableError("disk full"));
  }
  EXPECT_EQ(driver.limit(newcomer), 0);
  EXPECT_GT(driver.limit(session), 0);
  EXPECT_FALSE(driver.core().TakeSnapshot(driver.now()).store_ok);
  EXPECT_EQ(driver.core().log().total(EventType::kStoreFailed), 1) << "told once";
  for (int round = 0; round < 20; ++round) {
    if (driver.writing()) driver.FinishWrite();
    driver.Converse({session, newcomer}, absl::Milliseconds(500));
  }
  EXPECT_GT(driver.limit(newcomer), 0);
  EXPECT_TRUE(driver.core().TakeSnapshot(driver.now()).store_ok);
}

class RaisesPerWriteTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(FewAndMany, RaisesPerWriteTest, ::testing::Values(1, 3, 1000));

TEST_P(RaisesPerWriteTest, EveryDurableStateSumsToTheQuotaAtMost) {
  CoreOptions options;
  options.raises_per_write = GetParam();
  CoreDriver driver(Policies({TestPolicy("db", 50)}), options);
  std::vector<SessionId> sessions = JoinMany(driver, 8);
  for (int round = 0; round < 30; ++round) {
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      auto& agent = driver.memory(sessions[i]);
      agent.in_flight = agent.in_flight_max = agent.steps.limit;
      agent.refused = static_cast<Calls>((i + static_cast<std::size_t>(round)) % 3 * 200);
    }
    driver.Converse(sessions, absl::Milliseconds(700));
    ASSERT_LE(driver.DurableSum(), 50) << "round " << round;
    ASSERT_LE(driver.reserved(), 50) << "round " << round;
  }
}

TEST(CoreTest, ASuccessorInheritsTheBoundsAndRenewsAtOnce) {
  CoreDriver before(Policies({TestPolicy("db", 50)}));
  const std::vector<SessionId> sessions = JoinMany(before, 4);
  before.Converse(sessions, kSettle);
  CoreDriver after(Policies({TestPolicy("db", 50)}), {}, before.Successor(8));
  EXPECT_EQ(after.reserved(), before.DurableSum());
  for (const SessionId& session : sessions) {
    after.memory(session) = before.memory(session);
    const RequestId request = after.Sync(session);
    ASSERT_TRUE(after.Replied(request)) << "no blackout";
    ASSERT_TRUE(after.Take(session, request));
    EXPECT_EQ(after.limit(session), before.limit(session));
    EXPECT_EQ(after.memory(session).installed.epoch, Epoch(8));
  }
  EXPECT_LE(after.reserved(), 50);
}

TEST(CoreTest, AStampOfAnotherReignAcknowledgesNothing) {
  CoreDriver before(Policies({TestPolicy("db", 50)}));
  const SessionId session = before.Join("i0");
  before.Converse({session}, kSettle);
  CoreDriver after(Policies({TestPolicy("db", 50)}), {}, before.Successor(8));
  after.HoldWrites();
  after.memory(session).installed = before.memory(session).installed;
  after.memory(session).steps = {2, 1, 0};
  after.Sync(session);
  EXPECT_EQ(after.reserved(session), 20);
}

TEST(CoreTest, AfterAQuotaCutNobodyRisesAndTheSumFallsWithTheAcknowledgements) {
  CoreDriver before(Policies({TestPolicy("db", 50)}));
  const std::vector<SessionId> sessions = JoinMany(before, 3);
  before.Converse(sessions, kSettle);
  CoreDriver after(Policies({TestPolicy("db", 10)}), {}, before.Successor(8));
  for (const SessionId& session : sessions) after.memory(session) = before.memory(session);
  after.memory(sessions[0]).steps.limit = 3;
  after.Converse(sessions, kSettle);
  EXPECT_LE(SumOfLimits(after, sessions), 10);
  EXPECT_LE(after.reserved(), 10);
}

TEST(CoreTest, AnAgentOfANewerEpochIsNotServed) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  SyncRequest request;
  request.session = session;
  request.n = SyncNumber(1);
  request.epoch = Epoch(99);
  const RequestId id = driver.Send(SyncEvent{{}, request});
  EXPECT_EQ(RefusalOf(driver, id).code, RefusalCode::kNotReady);
}

TEST(CoreTest, AnUnknownDependencyIsToldAndLoggedOnce) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0", "nowhere");
  driver.memory(session).dependency = "nowhere";
  driver.Sync(session);
  driver.Sync(session);
  EXPECT_EQ(driver.core().log().total(EventType::kUnknownDependency), 1);
}

TEST(CoreTest, ARepeatedRegistrationIsTheSameSession) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  RegisterRequest request;
  request.service = ServiceId("shop");
  request.instance = InstanceId("i0");
  request.nonce = "n";
  const auto first =
      std::get<RegisterAnswer>(driver.Reply(driver.Send(RegisterEvent{{}, request})));
  const auto again =
      std::get<RegisterAnswer>(driver.Reply(driver.Send(RegisterEvent{{}, request})));
  EXPECT_EQ(first.session, again.session);
  driver.Sync(first.session);
  EXPECT_EQ(RefusalOf(driver, driver.Send(RegisterEvent{{}, request})).code,
            RefusalCode::kStaleSync);
}

TEST(CoreTest, SessionsAreCapped) {
  CoreOptions options;
  options.sessions_max = 2;
  CoreDriver driver(Policies({TestPolicy("db", 20)}), options);
  driver.Join("i0");
  driver.Join("i1");
  RegisterRequest request;
  request.service = ServiceId("shop");
  request.instance = InstanceId("i2");
  request.nonce = "third";
  EXPECT_EQ(RefusalOf(driver, driver.Send(RegisterEvent{{}, request})).code,
            RefusalCode::kRateLimited);
}

TEST(CoreTest, ShuttingDownAnswersWhatIsHeld) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  RequestId held = driver.Sync(session);
  driver.Apply(ShutdownEvent{});
  EXPECT_EQ(RefusalOf(driver, held).code, RefusalCode::kNotReady);
  EXPECT_EQ(RefusalOf(driver, driver.Sync(session)).code, RefusalCode::kNotReady);
}

TEST(CoreTest, ALeavingInstanceHandsItsShareOverAsItsCallsEnd) {
  CoreDriver driver(Policies({TestPolicy("db", 20)}));
  const SessionId leaver = driver.Join("i0");
  driver.Converse({leaver}, kSettle);
  driver.memory(leaver).in_flight = driver.memory(leaver).in_flight_max = 4;
  SyncRequest request;
  request.session = leaver;
  request.n = SyncNumber(++driver.memory(leaver).n);
  request.leaving = true;
  DependencyReport report;
  report.dependency = DependencyId("db");
  report.installed = driver.memory(leaver).installed;
  report.in_force = driver.memory(leaver).steps;
  report.in_flight = 4;
  request.dependencies.push_back(report);
  driver.Take(leaver, driver.Send(SyncEvent{{}, request}));
  const SessionId heir = driver.Join("i1");
  driver.memory(heir).refused = 1000;
  driver.Converse({leaver, heir}, absl::Seconds(3));
  EXPECT_EQ(driver.reserved(leaver), 4);
  EXPECT_EQ(driver.limit(heir), 16);
}

TEST(CoreTest, TheSameEventsGiveTheSameActions) {
  const auto run = [] {
    CoreDriver driver(Policies({TestPolicy("db", 50)}));
    const std::vector<SessionId> sessions = JoinMany(driver, 5);
    driver.Converse(sessions, absl::Seconds(5));
    std::vector<Calls> limits;
    for (const SessionId& session : sessions) limits.push_back(driver.limit(session));
    return std::pair(limits, driver.core().log().Find({}, 1000).size());
  };
  EXPECT_EQ(run(), run());
}

TEST(CoreTest, EveryChangeOfALimitIsExplained) {
  CoreDriver driver(Policies({TestPolicy("db", 50)}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, kSettle);
  EventLog::Filter filter;
  filter.type = EventType::kLimitChanged;
  const std::vector<LogEvent> changes = driver.core().log().Find(filter, 10);
  ASSERT_FALSE(changes.empty());
  const LogEvent& first = changes.back();
  EXPECT_EQ(first.from, 0);
  EXPECT_EQ(first.reason, Reason::kInitial);
  const Snapshot snapshot = driver.core().TakeSnapshot(driver.now());
  ASSERT_EQ(snapshot.limits.size(), 1u);
  EXPECT_EQ(snapshot.limits[0].granted, 20);
  EXPECT_EQ(snapshot.limits[0].explanation.binding, BindingConstraint::kCeiling);
  EXPECT_EQ(snapshot.limits[0].explanation.event_id, changes.front().id);
}

TEST(CoreTest, WithScopeInstanceEachLimitFollowsItsOwnLaw) {
  Policy policy = TestPolicy("db", 100);
  policy.scope = Scope::kInstance;
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.initial = 10;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(50);  // windows say 100 ms
  CoreDriver driver(Policies({policy}));
  const std::vector<SessionId> sessions = JoinMany(driver, 2);
  driver.Converse(sessions, absl::Seconds(1));
  for (int round = 0; round < 10; ++round) {
    auto& slow = driver.memory(sessions[0]);
    slow.in_flight_max = slow.steps.limit;
    driver.Converse(sessions, absl::Seconds(2));
  }
  EXPECT_LT(driver.limit(sessions[0]), 10);
  EXPECT_EQ(driver.limit(sessions[1]), 10) << "no calls, no samples, no change";
}

TEST(CoreTest, CallsAreCountedPerInstanceAndForAllTogether) {
  CoreDriver driver(Policies({TestPolicy("db", 100)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 2);
  for (const SessionId& session : sessions) {
    driver.memory(session).in_flight_max = 2;
    driver.memory(session).refused = 3;
    driver.Sync(session, absl::ZeroDuration());
  }
  driver.Sync(sessions[1], absl::ZeroDuration());
  const Snapshot snapshot = driver.core().TakeSnapshot(driver.now());
  EXPECT_EQ(snapshot.limits[0].calls.admitted, 20);
  EXPECT_EQ(snapshot.limits[1].calls.rejected, 6);
  const DependencyRow& row = snapshot.dependencies[0];
  EXPECT_EQ(row.calls.admitted, 60);
  EXPECT_EQ(row.calls.rejected, 9);
  EXPECT_EQ(row.latencies[LatencyHistogram::BucketOf(100'000'000)], 60u);
}

// A fleet whose windows say 100 ms, with a law that tolerates 50 ms.
Policy Overloaded(Scope scope) {
  Policy policy = TestPolicy("db", 40);
  policy.scope = scope;
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(50);
  return policy;
}

// Where each instance has a law of its own, too.
TEST(CoreTest, RatesAreThoseOfAllInstancesTogether) {
  Policy policy = TestPolicy("db", 100);
  policy.scope = Scope::kInstance;
  CoreDriver driver(Policies({policy}));
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  for (int round = 0; round < 10; ++round) {
    for (const SessionId& session : sessions) {
      driver.memory(session).in_flight_max = 2;
      driver.memory(session).refused = 3;
      driver.Sync(session, absl::ZeroDuration());
    }
    driver.Pass(absl::Seconds(1));
  }
  const DependencyRow row = driver.core().TakeSnapshot(driver.now()).dependencies[0];
  EXPECT_DOUBLE_EQ(row.admitted_per_second, 4 * 20);
  EXPECT_DOUBLE_EQ(row.rejected_per_second, 4 * 3);
  EXPECT_NEAR(absl::ToDoubleMilliseconds(row.latency_mean), 100, 5);
}

TEST(CoreTest, WhereTheFloorsDoNotFitTheQuotaDecides) {
  Policy policy = Overloaded(Scope::kFleet);
  policy.quota = 6;
  policy.algorithm.floor = 2;
  CoreDriver driver(Policies({policy}));
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  for (int round = 0; round < 20; ++round) {
    driver.Converse(sessions, absl::Seconds(1));
    Saturate(driver, sessions);
  }
  for (const LimitRow& row : driver.core().TakeSnapshot(driver.now()).limits) {
    if (row.granted >= 2) continue;
    EXPECT_EQ(row.explanation.binding, BindingConstraint::kQuota) << row.instance.value;
    return;
  }
  FAIL() << "all have the floor";
}

TEST(CoreTest, OverloadLowersThePoolOfAFleet) {
  Policy policy = TestPolicy("db", 40);
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(50);
  CoreDriver driver(Policies({policy}));
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  for (int round = 0; round < 10; ++round) {
    driver.Converse(sessions, absl::Seconds(1));
    Saturate(driver, sessions);
  }
  EXPECT_LT(SumOfLimits(driver, sessions), 30);
  const Snapshot snapshot = driver.core().TakeSnapshot(driver.now());
  EXPECT_LT(snapshot.dependencies[0].algorithm_limit, 30);
  EventLog::Filter filter;
  filter.reason = Reason::kTimeouts;
  EXPECT_FALSE(driver.core().log().Find(filter, 10).empty());
}

std::vector<LogEvent> Decisions(CoreDriver& driver) {
  return driver.core().log().Find({.type = EventType::kDecision}, 1000);
}

TEST(CoreTest, ADecisionOfTheLawIsOneEventForTheWholeFleet) {
  CoreDriver driver(Policies({Overloaded(Scope::kFleet)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  driver.Converse(sessions, absl::Seconds(1));
  Saturate(driver, sessions);
  driver.Converse(sessions, absl::Seconds(5));
  const std::vector<LogEvent> decisions = Decisions(driver);
  ASSERT_GE(decisions.size(), 2u);
  const LogEvent& first = decisions.back();
  EXPECT_EQ(first.dependency.value, "db");
  EXPECT_TRUE(first.instance.empty());
  EXPECT_EQ(first.from, 40);
  EXPECT_EQ(first.to, 36);
  EXPECT_EQ(first.reason, Reason::kTimeouts);
  ASSERT_TRUE(first.inputs.has_value());
  EXPECT_EQ(first.inputs->algorithm_limit, 36);
  EXPECT_GT(first.inputs->throughput, 0);
  EXPECT_THAT(first.message, ::testing::StartsWith("db: 40 → 36. 90th percentile latency"));
  EXPECT_EQ(decisions[decisions.size() - 2].from, 36) << "one for each step of the law";
}

TEST(CoreTest, AChangeOfAnInstanceNamesTheDecisionThatItFollowsFrom) {
  CoreDriver driver(Policies({Overloaded(Scope::kFleet)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 4);
  driver.Converse(sessions, absl::Seconds(1));
  Saturate(driver, sessions);
  driver.Converse(sessions, absl::Seconds(5));
  const std::vector<LogEvent> changes = driver.core().log().Find(
      {.type = EventType::kLimitChanged, .reason = Reason::kTimeouts}, 1000);
  ASSERT_FALSE(changes.empty());
  EXPECT_THAT(changes.back().message,
              ::testing::HasSubstr("Decision " + Decisions(driver).back().id + " says why."));
}

TEST(CoreTest, WithScopeInstanceADecisionNamesTheInstance) {
  CoreDriver driver(Policies({Overloaded(Scope::kInstance)}));
  const std::vector<SessionId> sessions = JoinMany(driver, 2);
  driver.Converse(sessions, absl::Seconds(1));
  Saturate(driver, {sessions[1]});
  driver.Converse(sessions, absl::Seconds(3));
  const std::vector<LogEvent> decisions = Decisions(driver);
  ASSERT_FALSE(decisions.empty());
  for (const LogEvent& decision : decisions) EXPECT_EQ(decision.instance.value, "i1");
}

TEST(CoreTest, TheLastDecisionIsShownWhateverCameOfIt) {
  Policy policy = Overloaded(Scope::kFleet);
  policy.algorithm.aimd.latency_threshold = absl::Seconds(5);
  CoreDriver driver(Policies({policy}));
  const SessionId session = driver.Join("i0");
  driver.Converse({session}, absl::Seconds(1));
  driver.memory(session).in_flight_max = 3;
  driver.Converse({session}, absl::Seconds(3));
  const Snapshot snapshot = driver.core().TakeSnapshot(driver.now());
  ASSERT_TRUE(snapshot.dependencies[0].last_decision.has_value());
  const LastDecision& last = *snapshot.dependencies[0].last_decision;
  EXPECT_EQ(last.from, last.to);
  EXPECT_EQ(last.reason, Reason::kUnderused);
  EXPECT_THAT(last.message, ::testing::StartsWith("db: 40. Only 3 of 40 were in use at once"));
  EXPECT_TRUE(last.event_id.empty());
  EXPECT_TRUE(Decisions(driver).empty()) << "what is held is no event";
  EXPECT_LE(driver.now() - last.at, absl::Seconds(2));
}

// Two instances with ten calls each, of which one claims what it likes.
class ImpossibleWindowTest : public ::testing::Test {
 protected:
  static Policy Shared() {
    Policy policy = TestPolicy("db", 100);
    policy.scope = Scope::kFleet;
    policy.algorithm.kind = AlgorithmKind::kAimd;
    policy.algorithm.aimd.latency_threshold = absl::Seconds(1);
    policy.algorithm.ceiling = 100;
    policy.window.latency = LatencySignal::kMean;
    return policy;
  }
  ImpossibleWindowTest() : driver_(Policies({Shared()})) {
    for (const char* name : {"a", "b"}) {
      agents_.push_back(driver_.Join(name));
      driver_.memory(agents_.back()).in_flight = 10;
      driver_.memory(agents_.back()).in_flight_max = 10;
    }
  }
  DependencyRow Row() { return driver_.core().TakeSnapshot(driver_.now()).dependencies.at(0); }

  CoreDriver driver_;
  std::vector<SessionId> agents_;
};

TEST_F(ImpossibleWindowTest, AnIntegralThatTheWindowCannotHoldIsCutToWhatItCan) {
  driver_.memory(agents_[0]).in_flight_integral = absl::Hours(1'000);
  driver_.Converse(agents_, absl::Seconds(5));
  ASSERT_GT(Row().window_latency, absl::ZeroDuration());
  // 10 calls for a second, 100 ended in it.
  EXPECT_LE(Row().window_latency, absl::Milliseconds(101));
}

TEST_F(ImpossibleWindowTest, RoundingIsForgiven) {
  driver_.memory(agents_[0]).in_flight_integral = absl::Seconds(10) + absl::Microseconds(900);
  driver_.memory(agents_[1]).in_flight_integral = absl::Seconds(10) + absl::Microseconds(900);
  driver_.Converse(agents_, absl::Seconds(5));
  EXPECT_GT(Row().window_latency, absl::Milliseconds(100));
}

}  // namespace
}  // namespace plimsoll
