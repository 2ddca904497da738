// A controller whose store can change hands.
#include <gtest/gtest.h>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using testing::Policies;
using testing::TestPolicy;

class LeadershipTest : public ::testing::Test {
 protected:
  LeadershipTest() : driver_(Policies({TestPolicy("db", 50)}), {}, Shared()) {}

  static StoreState Shared() {
    StoreState state = CoreDriver::Fresh();
    state.exclusive = false;
    return state;
  }
  SessionId JoinWithLimit() {
    const SessionId agent = driver_.Join("a");
    driver_.memory(agent).in_flight_max = 20;
    driver_.memory(agent).refused = 20;
    driver_.Converse({agent}, absl::Seconds(3));
    EXPECT_GT(driver_.limit(agent), 10);
    // Converse() leaves a sync held; let its answer be the last one that is confirmed.
    driver_.Pass(absl::Seconds(2));
    return agent;
  }
  void Cut(Calls quota) { driver_.Apply(PolicyEvent{Policies({TestPolicy("db", quota)})}); }

  CoreDriver driver_;
};

TEST_F(LeadershipTest, NothingIsSentBeforeTheReignIsConfirmed) {
  const SessionId agent = JoinWithLimit();
  driver_.HoldConfirmations();
  const RequestId sync = driver_.Sync(agent);
  EXPECT_TRUE(driver_.confirming());
  driver_.Pass(absl::Seconds(5));
  EXPECT_FALSE(driver_.Replied(sync)) << "a lease must not be extended";
  driver_.FinishConfirm();
  driver_.Pass(absl::Seconds(1));
  EXPECT_TRUE(driver_.Replied(sync));
}

TEST_F(LeadershipTest, ARoundThatBeganBeforeTheSyncArrivedDoesNotConfirmIt) {
  const SessionId first = driver_.Join("a");
  const SessionId second = driver_.Join("b");
  driver_.HoldWrites();  // which would confirm it, too
  driver_.HoldConfirmations();
  driver_.Sync(first);
  const RequestId later = driver_.Sync(second);
  driver_.FinishConfirm();
  EXPECT_TRUE(driver_.confirming()) << "a second round for the second sync";
  driver_.Pass(absl::Seconds(3));
  EXPECT_FALSE(driver_.Replied(later));
}

// Guarded by the reign, it says as much as a round does.
TEST_F(LeadershipTest, AWriteConfirmsWhatHadArrivedWhenItBegan) {
  const SessionId first = JoinWithLimit();
  const SessionId second = driver_.Join("b");
  const SessionId third = driver_.Join("c");
  driver_.memory(second).in_flight_max = 5;
  driver_.memory(second).refused = 5;
  driver_.Sync(second);  // confirmed, and to be raised with the next tick
  driver_.HoldConfirmations();
  driver_.HoldWrites();
  const RequestId before = driver_.Sync(first);
  driver_.Pass(absl::Milliseconds(250));
  ASSERT_TRUE(driver_.writing());
  const RequestId after = driver_.Sync(third);
  driver_.FinishWrite();
  driver_.Pass(absl::Seconds(3));
  EXPECT_TRUE(driver_.Replied(before));
  EXPECT_FALSE(driver_.Replied(after));
}

TEST_F(LeadershipTest, AFailedWriteConfirmsNothing) {
  const SessionId first = JoinWithLimit();
  const SessionId second = driver_.Join("b");
  driver_.memory(second).in_flight_max = 5;
  driver_.memory(second).refused = 5;
  driver_.Sync(second);
  driver_.HoldConfirmations();
  driver_.HoldWrites();
  const RequestId before = driver_.Sync(first);
  driver_.Pass(absl::Milliseconds(250));
  ASSERT_TRUE(driver_.writing());
  driver_.FinishWrite(absl::UnavailableError("no quorum"));
  driver_.Pass(absl::Seconds(3));
  EXPECT_FALSE(driver_.Replied(before));
}

TEST_F(LeadershipTest, TheEventsTellWhoLedBefore) {
  StoreState state = Shared();
  state.led_before = "http://b:7480";
  CoreDriver driver(Policies({TestPolicy("db", 50)}), {}, state);
  const std::vector<LogEvent> events =
      driver.core().log().Find({.type = EventType::kLeaderChanged}, 2);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].message,
            "This controller leads, from epoch 7 on; http://b:7480 led before it.");
  CoreDriver alone(Policies({TestPolicy("db", 50)}));
  EXPECT_EQ(alone.core().log().total(EventType::kLeaderChanged), 0);
}

TEST_F(LeadershipTest, AFailedRoundIsRepeatedWithTheNextTick) {
  const SessionId agent = driver_.Join("a");
  driver_.HoldConfirmations();
  driver_.Sync(agent);
  driver_.FinishConfirm(absl::UnavailableError("no quorum"));
  EXPECT_FALSE(driver_.confirming());
  driver_.Pass(absl::Milliseconds(250));
  EXPECT_TRUE(driver_.confirming());
}

TEST_F(LeadershipTest, WithoutConfirmationAnAnswerOnlyLowersAndExtendsNothing) {
  const SessionId agent = JoinWithLimit();
  const std::int64_t confirmed = driver_.memory(agent).n;
  driver_.HoldConfirmations();
  const RequestId sync = driver_.Sync(agent);
  Cut(5);
  driver_.Pass(absl::Seconds(2));
  ASSERT_TRUE(driver_.Replied(sync));
  const Grant& grant = std::get<SyncAnswer>(driver_.Reply(sync)).grants.at(0);
  EXPECT_LE(grant.steps.limit, 5);
  EXPECT_EQ(grant.anchor, SyncNumber(confirmed));
}

TEST_F(LeadershipTest, WithoutConfirmationARaiseIsNotAnswered) {
  const SessionId agent = JoinWithLimit();
  driver_.HoldConfirmations();
  const RequestId sync = driver_.Sync(agent);
  Cut(100);
  driver_.Pass(absl::Seconds(5));
  EXPECT_FALSE(driver_.Replied(sync));
}

TEST_F(LeadershipTest, WhoIsDeposedRefusesEverything) {
  const SessionId agent = JoinWithLimit();
  driver_.HoldConfirmations();
  const RequestId sync = driver_.Sync(agent);
  driver_.FinishConfirm(absl::FailedPreconditionError("another controller has taken over"));
  EXPECT_TRUE(driver_.deposed());
  EXPECT_EQ(std::get<Refusal>(driver_.Reply(sync)).code, RefusalCode::kNotLeader);
  const RequestId next = driver_.Sync(agent);
  EXPECT_EQ(std::get<Refusal>(driver_.Reply(next)).code, RefusalCode::kNotLeader);
}

TEST_F(LeadershipTest, AFencedWriteDeposes) {
  driver_.HoldWrites();
  const SessionId agent = driver_.Join("a");
  driver_.memory(agent).in_flight_max = 5;
  driver_.Sync(agent);
  driver_.Pass(absl::Milliseconds(250));
  ASSERT_TRUE(driver_.writing());
  driver_.FinishWrite(absl::FailedPreconditionError("another controller has taken over"));
  EXPECT_TRUE(driver_.deposed());
}

TEST_F(LeadershipTest, AnAgentOfALaterEpochDeposes) {
  const SessionId agent = driver_.Join("a");
  driver_.memory(agent).epoch = Epoch(8);
  const RequestId sync = driver_.Sync(agent);
  EXPECT_EQ(std::get<Refusal>(driver_.Reply(sync)).code, RefusalCode::kNotLeader);
  EXPECT_TRUE(driver_.deposed());
}

}  // namespace
}  // namespace plimsoll
