// Operators change policies while agents hold grants.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using testing::Policies;
using testing::TestPolicy;

class PoliciesTest : public ::testing::Test {
 protected:
  PoliciesTest() : driver_(Policies({TestPolicy("db", 40)})) {
    for (const char* name : {"a", "b", "c", "d"}) {
      agents_.push_back(driver_.Join(name));
      driver_.memory(agents_.back()).in_flight_max = 20;
      driver_.memory(agents_.back()).refused = 20;
    }
    driver_.Converse(agents_, absl::Seconds(10));
    EXPECT_EQ(Sum(), 40);
  }

  void Set(const std::vector<Policy>& policies) { driver_.Apply(PolicyEvent{Policies(policies)}); }
  Calls Sum() {
    Calls sum = 0;
    for (const SessionId& agent : agents_) sum += driver_.limit(agent);
    return sum;
  }

  CoreDriver driver_;
  std::vector<SessionId> agents_;
};

TEST_F(PoliciesTest, ALargerQuotaIsUsedAtOnce) {
  Set({TestPolicy("db", 49)});
  driver_.Converse(agents_, absl::Seconds(3));
  EXPECT_EQ(Sum(), 49);
}

TEST_F(PoliciesTest, ACutIsReachedWhenEverybodyHasAcknowledged) {
  Set({TestPolicy("db", 12)});
  driver_.Converse(agents_, absl::Seconds(3));
  EXPECT_EQ(Sum(), 12);
  EXPECT_EQ(driver_.reserved(), 12);
}

TEST_F(PoliciesTest, WhileReservationsExceedTheQuotaNobodyRises) {
  Set({TestPolicy("db", 12)});
  // a and b are told and acknowledge; c and d are silent, and hold more than 12.
  const std::vector<SessionId> talking = {agents_[0], agents_[1]};
  const Calls before = driver_.limit(agents_[0]) + driver_.limit(agents_[1]);
  driver_.Converse(talking, absl::Seconds(3));
  EXPECT_LT(driver_.limit(agents_[0]) + driver_.limit(agents_[1]), before);
  EXPECT_GT(driver_.reserved(), 12);
}

// For the alert on broken quotas: what is above a quota and was not there at the cut is a fault.
TEST_F(PoliciesTest, WhatACutLeavesAboveTheQuotaIsTold) {
  const auto row = [this] { return driver_.core().TakeSnapshot(driver_.now()).dependencies.at(0); };
  EXPECT_EQ(row().draining, 0);
  Set({TestPolicy("db", 12)});
  EXPECT_EQ(row().reserved, 40);
  EXPECT_EQ(row().draining, 28);
  driver_.Converse({agents_[0], agents_[1]}, absl::Seconds(1));
  EXPECT_EQ(row().draining, row().reserved - 12);
  driver_.Converse(agents_, absl::Seconds(3));
  EXPECT_EQ(row().draining, 0);
}

TEST_F(PoliciesTest, TheTimesOfReportsAndConfirmationsAreCounted) {
  const auto count = [](const DurationHistogram& times) {
    return std::accumulate(times.counts().begin(), times.counts().end(), std::uint64_t{0});
  };
  const Snapshot before = driver_.core().TakeSnapshot(driver_.now());
  EXPECT_GT(count(before.report_ages), 0U);
  EXPECT_GT(count(before.push_latencies), 0U);
  Set({TestPolicy("db", 12)});
  driver_.Converse(agents_, absl::Seconds(3));
  const Snapshot after = driver_.core().TakeSnapshot(driver_.now());
  // Each of them had its limit cut, and said so.
  EXPECT_GE(count(after.push_latencies), count(before.push_latencies) + agents_.size());
}

TEST_F(PoliciesTest, CallsThatOutliveTheCutStayReserved) {
  driver_.memory(agents_[0]).in_flight = 9;
  Set({TestPolicy("db", 4)});
  driver_.Converse(agents_, absl::Seconds(1));
  EXPECT_GE(driver_.reserved(agents_[0]), 9);
  driver_.memory(agents_[0]).in_flight = 0;
  driver_.Converse(agents_, absl::Seconds(1));
  EXPECT_LE(driver_.reserved(), 4);
}

TEST_F(PoliciesTest, APolicyThatIsGoneIsTakenBackAndForgottenWithItsLastHolder) {
  Set({});
  driver_.Converse(agents_, absl::Seconds(2));
  EXPECT_EQ(Sum(), 0);
  EXPECT_EQ(driver_.reserved(), 0);
  for (const SessionId& agent : agents_) driver_.Send(ReleaseEvent{{}, {agent}});
  driver_.Pass(absl::Seconds(1));
  EXPECT_TRUE(driver_.core().TakeSnapshot(driver_.now()).dependencies.empty());
}

TEST_F(PoliciesTest, APolicyThatComesBackFindsItsReservations) {
  driver_.memory(agents_[0]).in_flight = 7;
  Set({});
  driver_.Converse(agents_, absl::Seconds(1));
  EXPECT_EQ(driver_.reserved(), 7);
  Set({TestPolicy("db", 10)});
  EXPECT_GE(driver_.reserved(), 7);
  driver_.Converse(agents_, absl::Seconds(3));
  EXPECT_LE(driver_.reserved(), 10);
  EXPECT_GT(Sum(), 0);
}

TEST_F(PoliciesTest, AReservationWithoutAPolicySurvivesARestart) {
  CoreDriver next(Policies({}), {}, driver_.Successor(8));
  EXPECT_EQ(next.reserved(), 40);
  next.Apply(PolicyEvent{Policies({TestPolicy("db", 45)})});
  const SessionId newcomer = next.Join("e");
  next.memory(newcomer).in_flight_max = 20;
  next.Converse({newcomer}, absl::Seconds(2));
  EXPECT_LE(next.limit(newcomer), 5);
}

TEST_F(PoliciesTest, AShorterCallDeadlineDoesNotShortenTheHoldOfCallsUnderWay) {
  Policy policy = TestPolicy("db", 40);
  policy.call_deadline = absl::Milliseconds(10);
  Set({policy});
  driver_.Sync(agents_[0]);
  // Lease 10 s and the former deadline of 3 s, stretched: 13.26 s.
  driver_.Pass(absl::Milliseconds(13'200));
  EXPECT_GT(driver_.reserved(agents_[0]), 1);
  driver_.Pass(absl::Seconds(1));
  EXPECT_EQ(driver_.reserved(agents_[0]), 1);
}

TEST_F(PoliciesTest, ALongerCallDeadlineIsCoveredFromTheFirstGrantThatNamesIt) {
  Policy policy = TestPolicy("db", 40);
  policy.call_deadline = absl::Seconds(60);
  Set({policy});  // the held syncs are answered at once; then the agents fall silent
  driver_.Pass(absl::Seconds(70));
  EXPECT_EQ(driver_.reserved(), 40) << "calls may run for 60 s after a lease of 10 s";
  driver_.Pass(absl::Seconds(3));
  EXPECT_EQ(driver_.reserved(), 4) << "the bases";
}

TEST_F(PoliciesTest, AFenceWaitsForCallsThatBeganUnderALongerDeadline) {
  Policy policy = TestPolicy("db", 40);
  policy.call_deadline = absl::Milliseconds(100);
  Set({policy});
  const SessionId successor = driver_.Join("a");
  driver_.Sync(successor);
  driver_.Pass(absl::Seconds(2));
  EXPECT_GT(driver_.reserved(agents_[0]), 0) << "the former deadline was 3 s";
  driver_.Pass(absl::Seconds(2));
  EXPECT_EQ(driver_.reserved(agents_[0]), 0);
}

TEST_F(PoliciesTest, AgentsAreToldNewSettings) {
  Policy policy = TestPolicy("db", 40);
  policy.call_deadline = absl::Seconds(1);
  RequestId sync = driver_.Sync(agents_[0]);
  // Until there is nothing left to tell.
  while (driver_.Take(agents_[0], sync)) sync = driver_.Sync(agents_[0]);
  Set({policy});
  ASSERT_TRUE(driver_.Replied(sync));
  const auto& settings = std::get<SyncAnswer>(driver_.Reply(sync)).settings;
  ASSERT_EQ(settings.size(), 1U);
  EXPECT_EQ(settings[0].call_deadline, absl::Seconds(1));
}

TEST_F(PoliciesTest, ADependencyThatGetsAPolicyIsJoinedByThoseThatAskedForIt) {
  const SessionId agent = driver_.Join("x", "queue");
  driver_.memory(agent).dependency = "queue";
  driver_.memory(agent).in_flight_max = 5;
  driver_.Converse({agent}, absl::Seconds(1));
  EXPECT_EQ(driver_.limit(agent), 0);
  Set({TestPolicy("db", 40), TestPolicy("queue", 8)});
  driver_.Converse({agent}, absl::Seconds(2));
  EXPECT_GT(driver_.limit(agent), 0);
}

TEST_F(PoliciesTest, ChangesAreLogged) {
  Set({TestPolicy("db", 12)});
  const auto events = driver_.core().log().Find({.type = EventType::kQuotaChanged}, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].message, "The quota of db was 40 and is 12; 40 are reserved.");
}

}  // namespace
}  // namespace plimsoll
