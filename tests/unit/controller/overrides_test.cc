// Operators pin limits and modes, reset laws and evict instances while agents hold grants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using testing::CoreDriver;
using ::testing::HasSubstr;
using testing::Policies;
using testing::TestPolicy;

const DependencyId kDb("db");

Override Limit(Calls limit) { return {limit, {}}; }
Override Observe() { return {{}, Mode::kObserve}; }

class OverridesTest : public ::testing::Test {
 protected:
  OverridesTest() : driver_(Policies({TestPolicy("db", 40)})) {
    for (const char* name : {"a", "b", "c", "d"}) {
      agents_.push_back(driver_.Join(name));
      driver_.memory(agents_.back()).in_flight_max = 20;
      driver_.memory(agents_.back()).refused = 20;
    }
    driver_.Converse(agents_, absl::Seconds(10));
    EXPECT_EQ(Sum(), 40);
  }

  void Pin(const Override& pin, const std::string& note = "") {
    driver_.Apply(PolicyEvent{Policies({TestPolicy("db", 40)}), {{kDb, pin}}, {{kDb, note}}});
  }
  void Unpin() { driver_.Apply(PolicyEvent{Policies({TestPolicy("db", 40)})}); }
  Calls Sum() {
    Calls sum = 0;
    for (const SessionId& agent : agents_) sum += driver_.limit(agent);
    return sum;
  }
  LimitRow Row(const SessionId& session) {
    for (const LimitRow& row : driver_.core().TakeSnapshot(driver_.now()).limits) {
      if (row.session == session) return row;
    }
    return {};
  }
  std::vector<LogEvent> Events(EventType type) {
    return driver_.core().log().Find({.type = type}, 100);
  }

  CoreDriver driver_;
  std::vector<SessionId> agents_;
};

TEST_F(OverridesTest, APinnedLimitHoldsForEveryInstanceAndSaysSo) {
  Pin(Limit(3));
  driver_.Converse(agents_, absl::Seconds(3));
  for (const SessionId& agent : agents_) {
    EXPECT_EQ(driver_.limit(agent), 3);
    const LimitRow row = Row(agent);
    EXPECT_EQ(row.explanation.binding, BindingConstraint::kOverride);
    EXPECT_EQ(row.explanation.reason, Reason::kOverrideSet);
  }
  EXPECT_EQ(driver_.reserved(), 12);
}

TEST_F(OverridesTest, APinAboveTheCeilingHoldsButNeverAboveTheQuota) {
  Policy policy = TestPolicy("db", 40);
  policy.algorithm.ceiling = policy.algorithm.initial = 5;
  driver_.Apply(PolicyEvent{Policies({policy})});
  driver_.Converse(agents_, absl::Seconds(10));
  EXPECT_EQ(Sum(), 20);
  driver_.Apply(PolicyEvent{Policies({policy}), {{kDb, Limit(8)}}});
  driver_.Converse(agents_, absl::Seconds(5));
  EXPECT_EQ(driver_.limit(agents_[0]), 8) << "above the ceiling";
  driver_.Apply(PolicyEvent{Policies({policy}), {{kDb, Limit(30)}}});
  driver_.Converse(agents_, absl::Seconds(20));
  EXPECT_LE(Sum(), 40);
  EXPECT_GE(Sum(), 36) << "as far as the quota allows";
  EXPECT_EQ(Row(agents_[0]).explanation.binding, BindingConstraint::kQuota);
}

TEST_F(OverridesTest, AnIdleInstanceGetsWhatIsPinned) {
  const SessionId idle = driver_.Join("e");
  agents_.push_back(idle);
  Pin(Limit(6));
  driver_.Converse(agents_, absl::Seconds(20));
  EXPECT_EQ(driver_.limit(idle), 6);
}

TEST_F(OverridesTest, ZeroStopsAllCalls) {
  Pin(Limit(0));
  driver_.Converse(agents_, absl::Seconds(3));
  EXPECT_EQ(Sum(), 0);
}

TEST_F(OverridesTest, WithoutItTheLimitsComeBackAndSayWhy) {
  Pin(Limit(3));
  driver_.Converse(agents_, absl::Seconds(3));
  Unpin();
  driver_.Converse(agents_, absl::Seconds(10));
  EXPECT_EQ(Sum(), 40);
  EXPECT_EQ(Row(agents_[0]).explanation.reason, Reason::kOverrideCleared);
  EXPECT_NE(Row(agents_[0]).explanation.binding, BindingConstraint::kOverride);
}

TEST_F(OverridesTest, BothAreLoggedWithTheNote) {
  Pin(Limit(3), "Set by alice: INC-12.");
  ASSERT_EQ(Events(EventType::kOverrideSet).size(), 1U);
  EXPECT_EQ(Events(EventType::kOverrideSet)[0].message,
            "The override of db pins the limit of each instance to 3. Set by alice: INC-12.");
  Unpin();
  ASSERT_EQ(Events(EventType::kOverrideCleared).size(), 1U);
  EXPECT_EQ(Events(EventType::kDependencyUpdated).size(), 0U);
}

TEST_F(OverridesTest, APinnedModeIsToldToAgentsAndGoesBack) {
  Pin(Observe());
  driver_.Converse(agents_, absl::Seconds(2));
  EXPECT_TRUE(driver_.memory(agents_[0]).observes);
  const DependencyRow row = driver_.core().TakeSnapshot(driver_.now()).dependencies[0];
  EXPECT_EQ(row.mode, Mode::kObserve);
  EXPECT_EQ(row.policy.mode, Mode::kEnforce) << "as configured";
  Unpin();
  driver_.Converse(agents_, absl::Seconds(2));
  EXPECT_FALSE(driver_.memory(agents_[0]).observes);
}

TEST_F(OverridesTest, WhatDidNotChangeIsLeftAlone) {
  Unpin();
  Unpin();
  EXPECT_TRUE(Events(EventType::kDependencyUpdated).empty());
  EXPECT_TRUE(Events(EventType::kQuotaChanged).empty());
  driver_.Converse(agents_, absl::Seconds(1));
  EXPECT_NE(Row(agents_[0]).explanation.reason, Reason::kConfigReloaded);
}

TEST_F(OverridesTest, AResetStartsFromTheInitialLimit) {
  Policy policy = TestPolicy("db", 40);
  policy.scope = Scope::kInstance;
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(1);
  policy.initial = 8;
  driver_.Apply(PolicyEvent{Policies({policy})});
  driver_.Converse(agents_, absl::Seconds(60));
  EXPECT_LT(driver_.limit(agents_[0]), 8) << "the latency is above the threshold";
  const Calls before = driver_.limit(agents_[0]);
  driver_.Apply(ResetEvent{kDb, "Asked for by alice."});
  driver_.Converse({agents_[0]}, absl::Milliseconds(500));
  EXPECT_GT(driver_.limit(agents_[0]), before);
  EXPECT_THAT(Events(EventType::kDependencyUpdated)[0].message, HasSubstr("Asked for by alice."));
  bool told = false;
  for (const LogEvent& event : Events(EventType::kLimitChanged)) {
    told = told || event.reason == Reason::kReset;
  }
  EXPECT_TRUE(told);
}

TEST_F(OverridesTest, WhatIsDisabledLetsEverybodyPassAndTeachesTheLawNothing) {
  Policy policy = TestPolicy("db", 40);
  policy.algorithm.kind = AlgorithmKind::kAimd;
  policy.algorithm.aimd.latency_threshold = absl::Milliseconds(1);  // windows say 100 ms
  driver_.Apply(PolicyEvent{Policies({policy}), {{kDb, {{}, Mode::kDisabled}}}});
  const auto limit = [this] {
    return driver_.core().TakeSnapshot(driver_.now()).dependencies.at(0).algorithm_limit;
  };
  const std::int64_t before = limit();
  driver_.Converse(agents_, absl::Seconds(20));
  EXPECT_EQ(limit(), before);
  EXPECT_TRUE(Events(EventType::kDecision).empty());
  EXPECT_TRUE(driver_.memory(agents_[0]).observes) << "to agents it is the same as observing";
  EXPECT_EQ(Row(agents_[0]).mode, Mode::kDisabled);
  const DependencyRow row = driver_.core().TakeSnapshot(driver_.now()).dependencies.at(0);
  EXPECT_EQ(row.mode, Mode::kDisabled);
  EXPECT_EQ(row.policy.mode, Mode::kEnforce);
  EXPECT_GT(row.admitted_per_second, 0) << "it is measured all the same";
  EXPECT_THAT(Events(EventType::kDependencyUpdated)[1].message, HasSubstr("is disabled"));
  driver_.Apply(PolicyEvent{Policies({policy})});
  driver_.Converse(agents_, absl::Seconds(20));
  EXPECT_LT(limit(), before) << "learning goes on";
  EXPECT_EQ(Row(agents_[0]).mode, Mode::kEnforce);
}

TEST_F(OverridesTest, TheEmergencySwitchObservesWhatIsEnforcedUntilItIsOff) {
  Policy disabled = TestPolicy("other", 10);
  disabled.mode = Mode::kDisabled;
  PolicyEvent event{Policies({TestPolicy("db", 40), disabled})};
  event.observe_all = true;
  event.overrides[kDb].mode = Mode::kEnforce;
  driver_.Apply(event);
  driver_.Converse(agents_, absl::Seconds(2));
  Snapshot snapshot = driver_.core().TakeSnapshot(driver_.now());
  EXPECT_TRUE(snapshot.observe_all);
  EXPECT_EQ(snapshot.dependencies.at(0).mode, Mode::kObserve);
  EXPECT_EQ(snapshot.dependencies.at(0).policy.mode, Mode::kEnforce) << "as configured";
  EXPECT_EQ(snapshot.dependencies.at(1).mode, Mode::kDisabled) << "was not enforced anyway";
  EXPECT_TRUE(driver_.memory(agents_[0]).observes);
  event.observe_all = false;
  driver_.Apply(event);
  driver_.Converse(agents_, absl::Seconds(2));
  snapshot = driver_.core().TakeSnapshot(driver_.now());
  EXPECT_FALSE(snapshot.observe_all);
  EXPECT_EQ(snapshot.dependencies.at(0).mode, Mode::kEnforce);
  EXPECT_FALSE(driver_.memory(agents_[0]).observes);
}

TEST_F(OverridesTest, ADependencyThatComesUnderTheEmergencySwitchIsEnforcedAfterwards) {
  PolicyEvent event{Policies({TestPolicy("db", 40), TestPolicy("new", 10)})};
  event.observe_all = true;
  driver_.Apply(event);
  EXPECT_EQ(driver_.core().TakeSnapshot(driver_.now()).dependencies.at(1).mode, Mode::kObserve);
  event.observe_all = false;
  driver_.Apply(event);
  EXPECT_EQ(driver_.core().TakeSnapshot(driver_.now()).dependencies.at(1).mode, Mode::kEnforce);
}

class TrialTest : public OverridesTest {
 protected:
  TrialTest() {
    policy_.scope = Scope::kInstance;
    policy_.algorithm.kind = AlgorithmKind::kAimd;
    policy_.algorithm.aimd.latency_threshold = absl::Milliseconds(50);
    policy_.initial = 8;
    driver_.Apply(PolicyEvent{Policies({policy_})});
  }

  std::vector<TrialDecision> Try(const std::vector<TrialWindow>& windows) {
    const auto decisions = driver_.core().Try(kDb, agents_[0], windows);
    EXPECT_TRUE(decisions.ok()) << decisions.status();
    return decisions.value_or(std::vector<TrialDecision>());
  }
  static TrialWindow Seen(absl::Duration latency, std::int64_t succeeded) {
    return {absl::Seconds(1), latency, 8, succeeded, 0, 0};
  }

  Policy policy_ = TestPolicy("db", 40);
};

TEST_F(TrialTest, TheLawIsAskedAndNothingChanges) {
  const auto decisions =
      Try({Seen(absl::Milliseconds(10), 100), Seen(absl::Milliseconds(200), 100)});
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_EQ(decisions[0].outcome, WindowOutcome::kUsed);
  EXPECT_EQ(decisions[0].from, 8);
  EXPECT_EQ(decisions[0].to, 9);
  EXPECT_EQ(decisions[0].reason, Reason::kLatencyFell);
  EXPECT_THAT(decisions[0].message, HasSubstr("8 → 9"));
  EXPECT_EQ(decisions[1].from, 9);
  EXPECT_LT(decisions[1].to, 9);
  EXPECT_EQ(decisions[1].reason, Reason::kTimeouts);
  EXPECT_EQ(Try({Seen(absl::Milliseconds(10), 100)})[0].from, 8) << "it is where it was";
  EXPECT_TRUE(Events(EventType::kDecision).empty());
}

TEST_F(TrialTest, TooFewSamplesAreGatheredAsInEarnest) {
  const auto decisions = Try({Seen(absl::Milliseconds(10), 15), Seen(absl::Milliseconds(10), 15)});
  EXPECT_EQ(decisions[0].outcome, WindowOutcome::kTooFewSamples);
  EXPECT_EQ(decisions[0].to, 8);
  EXPECT_FALSE(decisions[0].reason.has_value());
  EXPECT_EQ(decisions[1].outcome, WindowOutcome::kUsed);
}

TEST_F(TrialTest, WhoIsNotThereAndWhatJudgesNoSingleWindowsIsRefused) {
  const std::vector<TrialWindow> one = {Seen(absl::Milliseconds(10), 100)};
  EXPECT_EQ(driver_.core().Try(DependencyId("x"), agents_[0], one).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(driver_.core().Try(kDb, SessionId("x"), one).status().code(),
            absl::StatusCode::kNotFound);
  policy_.scope = Scope::kFleet;
  policy_.algorithm.kind = AlgorithmKind::kFleetKnee;
  driver_.Apply(PolicyEvent{Policies({policy_})});
  EXPECT_EQ(driver_.core().Try(kDb, agents_[0], one).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(OverridesTest, AnEvictedInstanceIsToldAtOnceAndKeepsItsShareUntilItsHoldEnds) {
  RequestId sync = driver_.Sync(agents_[0]);
  while (driver_.Take(agents_[0], sync)) sync = driver_.Sync(agents_[0]);
  const Calls held = driver_.reserved(agents_[0]);
  ASSERT_GT(held, 0);
  driver_.Apply(EvictEvent{agents_[0], "Evicted by alice."});
  ASSERT_TRUE(driver_.Replied(sync)) << "at once";
  EXPECT_EQ(std::get<Refusal>(driver_.Reply(sync)).code, RefusalCode::kSessionUnknown);
  EXPECT_EQ(driver_.reserved(agents_[0]), held);
  EXPECT_THAT(Events(EventType::kInstanceLeft)[0].message, HasSubstr("Evicted by alice."));
  // It goes on talking, which renews nothing: lease 10 s and deadline 3 s, stretched, are 13.3 s.
  for (int i = 0; i < 28; ++i) {
    EXPECT_EQ(std::get<Refusal>(driver_.Reply(driver_.Sync(agents_[0]))).code,
              RefusalCode::kSessionUnknown);
    driver_.Pass(absl::Milliseconds(500));
  }
  EXPECT_EQ(driver_.reserved(agents_[0]), 1) << "the base";
}

TEST_F(OverridesTest, AnEvictedInstanceComesBackAsANewSession) {
  driver_.Apply(EvictEvent{agents_[0]});
  const SessionId again = driver_.Join("a");
  EXPECT_NE(again, agents_[0]);
  driver_.memory(again).in_flight_max = 20;
  driver_.Converse({again, agents_[1], agents_[2], agents_[3]}, absl::Seconds(20));
  EXPECT_GT(driver_.limit(again), 0);
  EXPECT_LE(driver_.reserved(), 40);
}

}  // namespace
}  // namespace plimsoll
