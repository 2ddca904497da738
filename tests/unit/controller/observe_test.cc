// Observe mode: everything is worked out and nothing is enforced, and the way back.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using testing::Policies;
using testing::TestPolicy;

Policy Observed(Calls quota) {
  Policy policy = TestPolicy("db", quota);
  policy.mode = Mode::kObserve;
  return policy;
}

class ObserveTest : public ::testing::Test {
 protected:
  // Each agent runs far more calls than all of them may.
  ObserveTest() : driver_(Policies({Observed(40)})) {
    for (const char* name : {"a", "b", "c", "d"}) {
      agents_.push_back(driver_.Join(name));
      Run(agents_.back(), 100);
    }
    driver_.Converse(agents_, absl::Seconds(10));
  }

  void Run(const SessionId& agent, Calls calls) {
    driver_.memory(agent).in_flight = driver_.memory(agent).in_flight_max = calls;
    driver_.memory(agent).refused = calls;
  }
  void Enforce() { driver_.Apply(PolicyEvent{Policies({TestPolicy("db", 40)})}); }
  Calls Sum() {
    Calls sum = 0;
    for (const SessionId& agent : agents_) sum += driver_.limit(agent);
    return sum;
  }
  Snapshot Rows() { return driver_.core().TakeSnapshot(driver_.now()); }

  CoreDriver driver_;
  std::vector<SessionId> agents_;
};

TEST_F(ObserveTest, TheAgentIsToldWithItsRegistration) {
  RegisterRequest request;
  request.service = ServiceId("shop");
  request.instance = InstanceId("e");
  request.nonce = "n";
  request.dependencies = {DependencyId("db")};
  const RequestId sent = driver_.Send(RegisterEvent{{}, request});
  EXPECT_TRUE(std::get<RegisterAnswer>(driver_.Reply(sent)).settings.at(0).observe);
}

TEST_F(ObserveTest, SharesAreThoseThatWouldBe) {
  EXPECT_EQ(Sum(), 40);
  for (const SessionId& agent : agents_) EXPECT_EQ(driver_.limit(agent), 10);
}

TEST_F(ObserveTest, TheBooksSayWhatWouldBeReserved) { EXPECT_EQ(driver_.reserved(), 40); }

TEST_F(ObserveTest, TheRowsSayThatNothingIsEnforced) {
  for (const LimitRow& row : Rows().limits) EXPECT_EQ(row.mode, Mode::kObserve);
}

TEST_F(ObserveTest, WhenItIsEnforcedWhatRunsIsBookedAtOnceAndNobodyRises) {
  const SessionId newcomer = driver_.Join("e");
  Enforce();
  EXPECT_EQ(driver_.reserved(), 400);
  agents_.push_back(newcomer);
  driver_.Converse(agents_, absl::Seconds(5));
  EXPECT_EQ(driver_.limit(newcomer), 0);
  EXPECT_EQ(driver_.reserved(), 400) << "all of it still runs";
}

TEST_F(ObserveTest, WhenItIsEnforcedTheQuotaHoldsAsSoonAsTheCallsHaveEnded) {
  Enforce();
  driver_.Converse(agents_, absl::Seconds(2));
  for (const SessionId& agent : agents_) {
    EXPECT_FALSE(driver_.memory(agent).observes);
    Run(agent, driver_.limit(agent));
  }
  driver_.Converse(agents_, absl::Seconds(5));
  EXPECT_LE(driver_.reserved(), 40);
  EXPECT_EQ(Sum(), 40);
  for (const LimitRow& row : Rows().limits) EXPECT_EQ(row.mode, Mode::kEnforce);
}

TEST_F(ObserveTest, CallsLetInBeforeTheAgentWasToldAreBookedToo) {
  Enforce();
  Run(agents_[0], 170);  // it observed for a moment longer
  driver_.Sync(agents_[0]);
  EXPECT_EQ(driver_.reserved(agents_[0]), 170);
}

TEST_F(ObserveTest, WhoHasNotAcknowledgedIsSaidToObserve) {
  Enforce();
  driver_.Converse({agents_[0], agents_[1], agents_[2]}, absl::Seconds(2));
  int observing = 0;
  for (const LimitRow& row : Rows().limits) observing += row.mode == Mode::kObserve;
  EXPECT_EQ(observing, 1);
}

TEST_F(ObserveTest, TheModeIsToldAgainIfTheAnswerWasLost) {
  Enforce();
  const RequestId lost = driver_.Sync(agents_[0]);
  driver_.Pass(absl::Seconds(2));
  ASSERT_TRUE(driver_.Replied(lost));  // and never taken
  EXPECT_TRUE(driver_.memory(agents_[0]).observes);
  driver_.Converse({agents_[0]}, absl::Seconds(2));
  EXPECT_FALSE(driver_.memory(agents_[0]).observes);
}

TEST_F(ObserveTest, WhatSilentOnesRanIsFreedWhenTheirHoldsRunOut) {
  Enforce();
  driver_.Pass(absl::Seconds(14));
  EXPECT_LE(driver_.reserved(), 40);
}

TEST_F(ObserveTest, ACrashedControllerFindsNoMoreThanWouldBeInTheBooks) {
  EXPECT_LE(driver_.DurableSum(), 40);
}

TEST_F(ObserveTest, TheLawRunsAndExplains) {
  Policy policy = Observed(40);
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(50);
  driver_.Apply(PolicyEvent{Policies({policy})});
  driver_.Converse(agents_, absl::Seconds(5));
  const auto decisions = driver_.core().log().Find({.type = EventType::kDecision}, 100);
  ASSERT_FALSE(decisions.empty());
  EXPECT_NE(decisions[0].message.find("Only observed"), std::string::npos);
}

TEST(ObserveModeTest, BackToObservingNobodyIsChargedForWhatRuns) {
  CoreDriver driver(Policies({TestPolicy("db", 40)}));
  const SessionId agent = driver.Join("a");
  driver.Converse({agent}, absl::Seconds(5));
  driver.Apply(PolicyEvent{Policies({Observed(40)})});
  driver.Converse({agent}, absl::Seconds(2));
  EXPECT_TRUE(driver.memory(agent).observes);
  driver.memory(agent).in_flight = driver.memory(agent).in_flight_max = 500;
  driver.Converse({agent}, absl::Seconds(2));
  EXPECT_LE(driver.reserved(), 40);
}

// The file says enforce when the controller is started again.
class RestartTest : public ObserveTest {
 protected:
  void Restart() {
    next_.emplace(Policies({TestPolicy("db", 60)}), CoreOptions(), driver_.Successor(8));
    for (const SessionId& agent : agents_) next_->memory(agent) = driver_.memory(agent);
  }
  void NextRuns(const SessionId& agent, Calls calls) {
    next_->memory(agent).in_flight = next_->memory(agent).in_flight_max = calls;
  }

  std::optional<CoreDriver> next_;
};

TEST_F(RestartTest, NobodyRisesBesideWhatRuns) {
  Restart();
  agents_.push_back(next_->Join("e"));
  next_->Converse(agents_, absl::Milliseconds(2'500));
  EXPECT_EQ(next_->limit(agents_.back()), 0) << "20 calls of the quota are not reserved";
  for (const SessionId& agent : agents_) {
    EXPECT_FALSE(next_->memory(agent).observes);
    EXPECT_LE(next_->limit(agent), 10);
  }
}

TEST_F(RestartTest, OnceTheCallsHaveEndedWhatIsFreeIsGranted) {
  Restart();
  agents_.push_back(next_->Join("e"));
  next_->Converse(agents_, absl::Seconds(1));
  for (const SessionId& agent : agents_) NextRuns(agent, next_->limit(agent));
  next_->Converse(agents_, absl::Seconds(3));
  EXPECT_GT(next_->limit(agents_.back()), 0);
}

TEST_F(RestartTest, CallsThatHangWithTheirCallersHinderNobodyAfterTheCallDeadline) {
  Restart();
  agents_.push_back(next_->Join("e"));
  next_->Converse(agents_, absl::Seconds(6));
  EXPECT_GT(next_->limit(agents_.back()), 0);
}

TEST_F(RestartTest, CallsLetInBeforeTheAgentWasToldCountToo) {
  for (const SessionId& agent : agents_) Run(agent, 5);
  Restart();
  next_->Sync(agents_[0]);
  NextRuns(agents_[0], 170);  // it was not told yet
  next_->Sync(agents_[0]);
  const SessionId newcomer = next_->Join("e");
  next_->Converse({newcomer}, absl::Seconds(1));
  EXPECT_EQ(next_->limit(newcomer), 0);
}

TEST_F(RestartTest, WhoIsSilentHindersNobodyWhenItsHoldHasRunOut) {
  Restart();
  next_->Sync(agents_[0]);
  const SessionId newcomer = next_->Join("e");
  next_->Converse({newcomer}, absl::Seconds(12));
  EXPECT_EQ(next_->limit(newcomer), 0);
  next_->Converse({newcomer}, absl::Seconds(4));
  EXPECT_GT(next_->limit(newcomer), 0);
}

TEST(ObserveModeTest, ARestartOfWhatWasEnforcedDelaysNoRaise) {
  CoreDriver driver(Policies({TestPolicy("db", 40)}));
  const SessionId agent = driver.Join("a");
  driver.memory(agent).in_flight = driver.memory(agent).in_flight_max = 5;
  driver.Converse({agent}, absl::Seconds(5));
  const SessionId silent = driver.Join("b");
  driver.memory(silent).in_flight = driver.memory(silent).in_flight_max = 5;
  driver.Converse({agent, silent}, absl::Seconds(5));
  Policy larger = TestPolicy("db", 60);
  larger.algorithm.ceiling = larger.algorithm.initial = 60;
  CoreDriver next(Policies({larger}), CoreOptions(), driver.Successor(8));
  next.memory(agent) = driver.memory(agent);
  next.memory(agent).in_flight_max = 20;
  next.memory(agent).refused = 50;
  const Calls before = next.limit(agent);
  next.Converse({agent}, absl::Milliseconds(200));
  EXPECT_GT(next.limit(agent), before) << "with its first report, whoever else is silent";
}

}  // namespace
}  // namespace plimsoll
