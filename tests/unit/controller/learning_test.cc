// A controller whose store was lost.
#include <gtest/gtest.h>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using testing::Policies;
using testing::TestPolicy;

StoreState Lost() {
  StoreState state;
  state.epoch = Epoch(100);
  state.condition = StoreCondition::kLost;
  state.why = "no store was found";
  return state;
}

// Base lease 60 s and call deadline 3 s, stretched by 1.01 / 0.99.
constexpr absl::Duration kLongestHold = absl::Milliseconds(64'273);

class LearningTest : public ::testing::Test {
 protected:
  explicit LearningTest(StoreState state = Lost())
      : driver_(Policies({TestPolicy("db", 50)}), {}, std::move(state)) {}

  // An agent of the reign of epoch 7, known to nobody here.
  SessionId Survivor(const std::string& session, Calls limit, Calls in_flight = 0) {
    const SessionId id(session);
    CoreDriver::AgentMemory& agent = driver_.memory(id);
    agent.n = 40;
    agent.epoch = Epoch(7);
    agent.installed = {Epoch(7), Seq(12)};
    agent.steps = {limit, 1, 0};
    agent.in_flight = in_flight;
    agent.identity = Identity{ServiceId("shop"), InstanceId("of-" + session), true};
    return id;
  }
  RefusalCode CodeOf(RequestId request) { return std::get<Refusal>(driver_.Reply(request)).code; }
  const SyncAnswer& AnswerTo(RequestId request) {
    return std::get<SyncAnswer>(driver_.Reply(request));
  }

  CoreDriver driver_;
};

TEST_F(LearningTest, AnUnknownSessionIsAskedWhoItIs) {
  const SessionId agent = Survivor("7-1", 9);
  driver_.memory(agent).identity.reset();
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kIdentityRequired);
  EXPECT_EQ(driver_.reserved(), 0);
}

TEST_F(LearningTest, WhatIsProvenIsBookedAndRenewed) {
  const SessionId agent = Survivor("7-1", 9, 11);
  const RequestId sync = driver_.Sync(agent);
  ASSERT_EQ(AnswerTo(sync).grants.size(), 1U);
  const Grant& grant = AnswerTo(sync).grants[0];
  EXPECT_EQ(grant.steps, (Steps{9, 1, 0}));
  EXPECT_EQ(grant.stamp.epoch, Epoch(100));
  EXPECT_EQ(grant.renews, (GrantStamp{Epoch(7), Seq(12)}));
  EXPECT_EQ(driver_.reserved(agent), 11);
}

TEST_F(LearningTest, ARenewalIsDurableBeforeItIsSent) {
  driver_.HoldWrites();
  const SessionId agent = Survivor("7-1", 9);
  const RequestId sync = driver_.Sync(agent);
  EXPECT_FALSE(driver_.Replied(sync));
  driver_.FinishWrite();
  EXPECT_TRUE(driver_.Replied(sync));
}

TEST_F(LearningTest, ASlowStoreLeavesTheAgentItsLease) {
  driver_.HoldWrites();
  const SessionId agent = Survivor("7-1", 9);
  const RequestId sync = driver_.Sync(agent);
  driver_.Pass(absl::Seconds(2));
  ASSERT_TRUE(driver_.Replied(sync));
  EXPECT_TRUE(AnswerTo(sync).grants.empty()) << "better than a limit of 0";
}

TEST_F(LearningTest, ACutIsObeyedAllTheSame) {
  const SessionId agent = Survivor("7-1", 9);
  driver_.Converse({agent}, absl::Seconds(1));
  driver_.Apply(PolicyEvent{Policies({TestPolicy("db", 4)})});
  driver_.Converse({agent}, absl::Seconds(3));
  EXPECT_LE(driver_.limit(agent), 4);
}

TEST_F(LearningTest, NothingRisesAndNewcomersGetNothingUntilEverythingHasRunOut) {
  const SessionId old = Survivor("7-1", 9);
  const SessionId newcomer = driver_.Join("new");
  for (const SessionId& id : {old, newcomer}) {
    driver_.memory(id).in_flight_max = 20;
    driver_.memory(id).refused = 50;
  }
  driver_.Converse({old, newcomer}, kLongestHold - absl::Seconds(1));
  EXPECT_EQ(driver_.limit(old), 9);
  EXPECT_EQ(driver_.limit(newcomer), 0);
  EXPECT_TRUE(driver_.core().learning());
  driver_.Converse({old, newcomer}, absl::Seconds(3));
  EXPECT_FALSE(driver_.core().learning());
  EXPECT_GT(driver_.limit(old), 9);
  EXPECT_GT(driver_.limit(newcomer), 0);
}

TEST_F(LearningTest, TheEndIsMadeDurable) {
  driver_.HoldWrites();
  driver_.Pass(kLongestHold + absl::Seconds(1));
  ASSERT_TRUE(driver_.writing());
  EXPECT_TRUE(driver_.batch().learned);
}

TEST_F(LearningTest, AnotherGrantOfTheLostReignThatArrivesLateIsBookedToo) {
  const SessionId agent = Survivor("7-1", 5);
  driver_.Sync(agent);
  driver_.memory(agent).installed = {Epoch(7), Seq(13)};
  driver_.memory(agent).steps = {8, 1, 0};
  const RequestId sync = driver_.Sync(agent);
  EXPECT_EQ(driver_.reserved(agent), 8);
  EXPECT_EQ(AnswerTo(sync).grants[0].renews, (GrantStamp{Epoch(7), Seq(13)}));
}

TEST_F(LearningTest, WhoProvesNothingIsToldToRegister) {
  const SessionId agent = Survivor("7-1", 0);
  driver_.memory(agent).steps = {};
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kSessionUnknown);
  EXPECT_EQ(CodeOf(driver_.Sync(Survivor("nonsense", 3))), RefusalCode::kSessionUnknown);
}

TEST_F(LearningTest, ItIsSaidLoudly) {
  const auto events = driver_.core().log().Find({.type = EventType::kStoreLost}, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].message.find("no store was found"), std::string::npos);
  const Snapshot snapshot = driver_.core().TakeSnapshot(driver_.now());
  EXPECT_TRUE(snapshot.learning);
  EXPECT_EQ(snapshot.learning_until - driver_.now(), absl::Nanoseconds(64'272'727'272));
}

TEST(LearningWithReservesTest, OnlyAnOperatorEndsIt) {
  Policy policy = TestPolicy("db", 50);
  policy.outage.reserve = 1;
  CoreDriver driver(Policies({policy}), {}, Lost());
  driver.Pass(absl::Minutes(5));
  EXPECT_TRUE(driver.core().learning());
  EXPECT_EQ(driver.core().TakeSnapshot(driver.now()).learning_until, kInfiniteFuture);
}

TEST(LearningWithReservesTest, HoldsThatTheStoreRemembersCountToo) {
  StoreState state = Lost();
  state.longest_hold = absl::Minutes(20);
  CoreDriver driver(Policies({TestPolicy("db", 50)}), {}, state);
  driver.Pass(absl::Minutes(19));
  EXPECT_TRUE(driver.core().learning());
}

class NewStoreTest : public LearningTest {
 protected:
  NewStoreTest() : LearningTest(CoreDriver::Fresh()) {}
};

TEST_F(NewStoreTest, ServesAtOnce) {
  const SessionId agent = driver_.Join("new");
  driver_.memory(agent).in_flight_max = 5;
  driver_.Converse({agent}, absl::Seconds(2));
  EXPECT_FALSE(driver_.core().learning());
  EXPECT_GT(driver_.limit(agent), 0);
}

TEST_F(NewStoreTest, AnAgentThatHoldsAGrantShowsThatItIsNotNew) {
  const SessionId agent = Survivor("3-1", 9);
  driver_.memory(agent).installed.epoch = Epoch(3);
  driver_.memory(agent).epoch = Epoch(3);
  driver_.HoldWrites();
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kNotReady);
  ASSERT_TRUE(driver_.writing()) << "a restart must not forget it";
  EXPECT_EQ(driver_.batch().new_epoch, Epoch(8));
  driver_.FinishWrite();
  EXPECT_TRUE(driver_.core().learning());
  driver_.Sync(agent);
  EXPECT_EQ(driver_.reserved(agent), 9);
}

TEST_F(NewStoreTest, ASessionOfThisReignThatWasForgottenShowsNothing) {
  const SessionId agent = Survivor("7-99", 9);
  driver_.memory(agent).installed = {Epoch(7), Seq(0)};
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kSessionUnknown);
  EXPECT_FALSE(driver_.core().learning());
}

class OldStoreTest : public LearningTest {
 protected:
  OldStoreTest() : LearningTest(Restored()) {}

  static StoreState Restored() {
    StoreState state;
    state.epoch = Epoch(5);
    return state;
  }
};

TEST_F(OldStoreTest, AnAgentOfALaterEpochBeginsANewReignThatLearns) {
  const SessionId known = driver_.Join("known");
  const RequestId held = driver_.Sync(known);
  const SessionId agent = Survivor("7-1", 9);
  driver_.HoldWrites();
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kNotReady);
  EXPECT_EQ(CodeOf(held), RefusalCode::kNotReady) << "nothing may be granted any more";
  ASSERT_TRUE(driver_.writing());
  EXPECT_EQ(driver_.batch().new_epoch, Epoch(8));
  driver_.FinishWrite();
  EXPECT_EQ(driver_.core().epoch(), Epoch(8));
  EXPECT_TRUE(driver_.core().learning());
  driver_.HoldWrites();
  driver_.Sync(agent);
  driver_.FinishWrite();
  EXPECT_EQ(driver_.reserved(agent), 9);
}

TEST_F(OldStoreTest, AGrantOfThisEpochThatWasNeverSentShowsAnotherReignOfTheSameEpoch) {
  const SessionId agent = Survivor("5-1", 9);
  driver_.memory(agent).epoch = Epoch(5);
  driver_.memory(agent).installed = {Epoch(5), Seq(77)};
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kNotReady);
  EXPECT_EQ(driver_.core().epoch(), Epoch(6));
  EXPECT_TRUE(driver_.core().learning());
}

TEST_F(OldStoreTest, ANewReignWaitsForTheStore) {
  driver_.HoldWrites();
  const SessionId agent = Survivor("7-1", 9);
  driver_.Sync(agent);
  driver_.FinishWrite(absl::UnavailableError("disk"));
  EXPECT_EQ(driver_.core().epoch(), Epoch(5));
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kNotReady);
  driver_.Pass(absl::Seconds(1));
  ASSERT_TRUE(driver_.writing()) << "it is tried again";
  driver_.FinishWrite();
  EXPECT_EQ(driver_.core().epoch(), Epoch(8));
}

TEST_F(OldStoreTest, AnEpochThatNobodyCanHaveHadIsRefused) {
  const SessionId agent = Survivor("7-1", 9);
  driver_.memory(agent).epoch = Epoch((std::int64_t{1} << 53) - 1);
  EXPECT_EQ(CodeOf(driver_.Sync(agent)), RefusalCode::kInvalidArgument);
  EXPECT_EQ(driver_.core().epoch(), Epoch(5));
}

}  // namespace
}  // namespace plimsoll
