#include "agent/src/session.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

namespace plimsoll::internal {
namespace {

const DependencyId kDb("db");

// Remembers what was installed, and reports what it is told to.
class FakePort final : public GrantPort {
 public:
  void Install(const StepFunction& function, Instant /*now*/) override {
    installed.push_back(function);
  }
  void SetObserve(bool observe) override { modes.push_back(observe); }
  void StopAdmitting() override { stopped = true; }
  Measurement Measure(Instant /*now*/, absl::Duration /*interval*/) override {
    ++measured;
    return {in_flight, in_flight, 0, {}};
  }

  std::vector<StepFunction> installed;
  std::vector<bool> modes;
  Calls in_flight = 0;
  int measured = 0;
  bool stopped = false;
};

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() : session_(Options(), random_) { session_.Add(kDb, port_); }

  static SessionOptions Options() {
    SessionOptions options;
    options.service = ServiceId("shop");
    options.instance = InstanceId("shop-0");
    options.controllers = 2;
    return options;
  }

  // The next message, which must be of this kind; time moves on to it.
  template <typename Message>
  Message Expect() {
    SessionStep step = session_.Next(now_);
    if (const auto* wait = std::get_if<WaitUntil>(&step)) {
      now_ = wait->at;
      step = session_.Next(now_);
    }
    const auto* send = std::get_if<SendMessage>(&step);
    EXPECT_NE(send, nullptr) << "nothing to send";
    if (send == nullptr) return Message();
    last_ = *send;
    const auto* message = std::get_if<Message>(&send->message);
    EXPECT_NE(message, nullptr) << "another kind of message";
    return message == nullptr ? Message() : *message;
  }

  void Register() {
    Expect<RegisterRequest>();
    RegisterAnswer answer;
    answer.session = SessionId("5-1");
    answer.epoch = Epoch(5);
    answer.hold_max = absl::Seconds(1);
    answer.sync_min = absl::Milliseconds(50);
    session_.OnRegistered(answer, now_);
  }

  Grant MakeGrant(std::int64_t seq, Steps steps, std::int64_t anchor, std::int64_t epoch = 5) {
    Grant grant;
    grant.dependency = kDb;
    grant.stamp = {Epoch(epoch), Seq(seq)};
    grant.anchor = SyncNumber(anchor);
    grant.steps = steps;
    grant.lease = absl::Seconds(10);
    grant.base_lease = absl::Seconds(60);
    grant.call_deadline = absl::Seconds(3);
    return grant;
  }

  void Answer(const Grant& grant) {
    SyncAnswer answer;
    answer.epoch = grant.stamp.epoch;
    answer.grants.push_back(grant);
    session_.OnSynced(answer, now_);
  }

  void Refuse(RefusalCode code, std::int64_t epoch) {
    session_.OnRefused(Refusal{code, "no", Epoch(epoch)}, now_);
  }

  void Tell(bool observe, bool known = true) {
    SyncAnswer answer;
    answer.epoch = Epoch(5);
    answer.settings.push_back({kDb, known, absl::Seconds(3), absl::Seconds(1), observe});
    session_.OnSynced(answer, now_);
  }

  Calls InForce() {
    const auto installed = session_.Installed(kDb);
    return installed.has_value() ? installed->InForce(now_) : 0;
  }

  Random random_{1};
  FakePort port_;
  Session session_;
  Instant now_{1'000'000'000};
  SendMessage last_;
};

TEST_F(SessionTest, RegistersFirstAndSyncsAtOnce) {
  const RegisterRequest request = Expect<RegisterRequest>();
  EXPECT_EQ(request.service, ServiceId("shop"));
  EXPECT_TRUE(request.unique_instance);
  EXPECT_EQ(request.dependencies, std::vector{kDb});
  EXPECT_FALSE(request.nonce.empty());
  RegisterAnswer answer;
  answer.session = SessionId("5-1");
  session_.OnRegistered(answer, now_);
  const Instant registered = now_;
  const SyncRequest sync = Expect<SyncRequest>();
  EXPECT_EQ(now_, registered);
  EXPECT_EQ(sync.n, SyncNumber(1));
}

TEST_F(SessionTest, TheBulkheadIsToldTheModeWhenItChanges) {
  Register();
  for (const bool observe : {false, true, true, false}) {
    Expect<SyncRequest>();
    Tell(observe);
  }
  EXPECT_EQ(port_.modes, (std::vector{true, false}));
}

TEST_F(SessionTest, TheModeStaysWhenThePolicyIsGoneAndWhenTheSessionIs) {
  Register();
  Expect<SyncRequest>();
  Tell(true);
  Expect<SyncRequest>();
  Tell(false, false);
  Expect<SyncRequest>();
  Refuse(RefusalCode::kSessionUnknown, 6);
  EXPECT_EQ(port_.modes, std::vector{true});
}

TEST_F(SessionTest, WhoBeginsToEnforceSaysAtOnceWhatIsInFlight) {
  Register();
  Expect<SyncRequest>();
  Tell(true);
  Expect<SyncRequest>();
  Tell(false);
  const Instant told = now_;
  Expect<SyncRequest>();
  EXPECT_EQ(now_, told);
}

TEST_F(SessionTest, WhileObservingMoreCallsThanTheLimitAreNoReasonToHurry) {
  Register();
  Expect<SyncRequest>();
  Tell(true);
  port_.in_flight = 100;
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 1}, 1));
  EXPECT_EQ(Expect<SyncRequest>().hold, absl::Seconds(1));
}

TEST_F(SessionTest, TheLeaseCountsFromWhenTheSyncWasSent) {
  Register();
  Expect<SyncRequest>();
  const Instant sent = now_;
  now_ = now_ + absl::Seconds(4);  // a slow network
  Answer(MakeGrant(1, {7, 2, 1}, 1));
  const StepFunction installed = *session_.Installed(kDb);
  EXPECT_EQ(installed.limit_end, sent + absl::Seconds(10));
  EXPECT_EQ(installed.base_end, sent + absl::Seconds(60));
}

TEST_F(SessionTest, ARepeatedRegistrationIsAnchoredAtItsFirstAttempt) {
  const std::string nonce = Expect<RegisterRequest>().nonce;
  const Instant first = now_;
  session_.OnUnreachable(now_);
  EXPECT_EQ(Expect<RegisterRequest>().nonce, nonce);
  RegisterAnswer answer;
  answer.session = SessionId("5-1");
  answer.grants.push_back(MakeGrant(1, {7, 2, 1}, 0));
  session_.OnRegistered(answer, now_);
  EXPECT_EQ(session_.Installed(kDb)->limit_end, first + absl::Seconds(10));
}

TEST_F(SessionTest, AnOlderGrantIsNotInstalled) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(5, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  Answer(MakeGrant(4, {20, 2, 0}, 2));
  EXPECT_EQ(InForce(), 7);
}

TEST_F(SessionTest, ANewerEpochWinsOverALargerSequenceNumber) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(500, {7, 2, 0}, 1, 5));
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {4, 2, 0}, 2, 6));
  EXPECT_EQ(InForce(), 4);
  Expect<SyncRequest>();
  Answer(MakeGrant(501, {7, 2, 0}, 3, 5));
  EXPECT_EQ(InForce(), 4);
}

TEST_F(SessionTest, AnUnknownAnchorRaisesNothingAndExtendsNothing) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  const Instant end = session_.Installed(kDb)->limit_end;
  Expect<SyncRequest>();
  Answer(MakeGrant(2, {20, 1, 0}, 99));
  EXPECT_EQ(session_.Installed(kDb)->steps, (Steps{7, 1, 0}));
  EXPECT_EQ(session_.Installed(kDb)->limit_end, end);
}

TEST_F(SessionTest, TheLimitStepsDownWhileNobodyAnswers) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 1}, 1));
  EXPECT_EQ(InForce(), 7);
  now_ = now_ + absl::Seconds(10);
  EXPECT_EQ(InForce(), 2);
  now_ = now_ + absl::Seconds(50);
  EXPECT_EQ(InForce(), 1);
}

TEST_F(SessionTest, ALoweredLimitIsInForceFirstAndAcknowledgedAtOnce) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  const Instant lowered = now_;
  Answer(MakeGrant(2, {3, 2, 0}, 2));
  EXPECT_EQ(port_.installed.back().steps.limit, 3);
  const SyncRequest sync = Expect<SyncRequest>();
  EXPECT_EQ(now_, lowered) << "no pause";
  EXPECT_EQ(sync.dependencies[0].installed.seq, Seq(2));
  EXPECT_EQ(sync.dependencies[0].in_force.limit, 3);
}

TEST_F(SessionTest, WithoutALoweringItPausesBetweenSyncs) {
  Register();
  Expect<SyncRequest>();
  const Instant answered = now_;
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  EXPECT_EQ(now_, answered + absl::Milliseconds(50));
}

TEST_F(SessionTest, TheCountersAreReadAfterTheGrantIsInForce) {
  Register();
  Expect<SyncRequest>();
  const int measured = port_.measured;
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  EXPECT_EQ(port_.measured, measured) << "not before the next sync is made";
  port_.in_flight = 6;
  EXPECT_EQ(Expect<SyncRequest>().dependencies[0].in_flight, 6);
}

TEST_F(SessionTest, WhileMoreRunsThanIsAllowedItReportsSooner) {
  Register();
  EXPECT_EQ(Expect<SyncRequest>().hold, absl::Seconds(1));
  port_.in_flight = 9;
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  EXPECT_EQ(Expect<SyncRequest>().hold, absl::Milliseconds(100));
}

TEST_F(SessionTest, AnUnknownSessionRegistersAnewWithAnotherNonceAndNoLimit) {
  const std::string nonce = Expect<RegisterRequest>().nonce;
  RegisterAnswer answer;
  answer.session = SessionId("5-1");
  answer.epoch = Epoch(5);
  session_.OnRegistered(answer, now_);
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  Refuse(RefusalCode::kSessionUnknown, 6);
  EXPECT_EQ(port_.installed.back().InForce(now_), 0);
  const RegisterRequest again = Expect<RegisterRequest>();
  EXPECT_NE(again.nonce, nonce);
  EXPECT_EQ(again.instance, InstanceId("shop-0"));
}

TEST_F(SessionTest, AResetFromAnOlderControllerIsNotObeyed) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  Refuse(RefusalCode::kSessionUnknown, 4);
  EXPECT_EQ(InForce(), 7);
  EXPECT_EQ(Expect<SyncRequest>().session, SessionId("5-1"));
  EXPECT_EQ(last_.controller, 1u) << "another controller";
}

TEST_F(SessionTest, AControllerThatLostItsStoreIsToldWhoSpeaksUntilItAnswers) {
  Register();
  EXPECT_FALSE(Expect<SyncRequest>().identity.has_value());
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  Refuse(RefusalCode::kIdentityRequired, 100);
  const SyncRequest introduced = Expect<SyncRequest>();
  EXPECT_EQ(introduced.session, SessionId("5-1"));
  EXPECT_EQ(introduced.identity, (Identity{ServiceId("shop"), InstanceId("shop-0"), true}));
  EXPECT_EQ(InForce(), 7);
  session_.OnUnreachable(now_);
  EXPECT_TRUE(Expect<SyncRequest>().identity.has_value()) << "it was not answered yet";
  Answer(MakeGrant(2, {7, 2, 0}, 4, 100));
  EXPECT_FALSE(Expect<SyncRequest>().identity.has_value());
}

TEST_F(SessionTest, ARenewalOfAnotherGrantThanTheInstalledOneIsIgnored) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  Grant stale = MakeGrant(1, {9, 2, 0}, 2, 100);
  stale.renews = GrantStamp{Epoch(5), Seq(0)};
  Answer(stale);
  EXPECT_EQ(InForce(), 7);
  Expect<SyncRequest>();
  Grant renewal = MakeGrant(2, {7, 2, 0}, 3, 100);
  renewal.renews = GrantStamp{Epoch(5), Seq(1)};
  Answer(renewal);
  EXPECT_EQ(session_.Installed(kDb)->stamp, renewal.stamp);
}

// As while a store has no quorum: a fleet must not ask all controllers several times a second.
TEST_F(SessionTest, WhereNobodyKnowsWhoLeadsThePausesGrowAndTheLimitStays) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  const Instant begin = now_;
  for (int i = 0; i < 40; ++i) {
    const std::size_t asked = last_.controller;
    const Instant before = now_;
    Refuse(RefusalCode::kNotLeader, 5);
    Expect<SyncRequest>();
    EXPECT_NE(last_.controller, asked);
    EXPECT_LT(now_ - before, i < 2 ? absl::Milliseconds(300) : absl::Seconds(1));
  }
  EXPECT_EQ(port_.installed.size(), 1U) << "nothing but its own lease ends the limit";
  EXPECT_GT(now_ - begin, absl::Seconds(12)) << "half a second each in the mean, in the end";
  session_.OnRefused({RefusalCode::kNotLeader, "", Epoch(5)}, now_, 0);
  const Instant before = now_;
  Expect<SyncRequest>();
  EXPECT_LT(now_ - before, absl::Milliseconds(300)) << "now one is named";
}

// The leader is cut off from agents, and the others name it until it has handed over.
TEST_F(SessionTest, BetweenASilentLeaderAndThoseThatNameItThePausesDoNotGrow) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  for (int i = 0; i < 20; ++i) {
    Instant before = now_;
    Expect<SyncRequest>();
    EXPECT_LT(now_ - before, absl::Milliseconds(300));
    EXPECT_EQ(last_.controller, 0u);
    now_ = now_ + last_.timeout;
    session_.OnUnreachable(now_);
    before = now_;
    Expect<SyncRequest>();
    EXPECT_LT(now_ - before, absl::Milliseconds(300));
    EXPECT_EQ(last_.controller, 1u);
    session_.OnRefused({RefusalCode::kNotLeader, "", Epoch(5)}, now_, 0);
  }
}

// A leader that is cut off from its store answers as long as it has something to lower.
TEST_F(SessionTest, AnAnswerThatMakesNoLeaseLongerIsObeyedAndAnotherControllerAsked) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 0u);
  const Instant before = now_;
  Answer(MakeGrant(2, {5, 2, 0}, 1));
  EXPECT_EQ(InForce(), 5);
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 1u);
  EXPECT_LT(now_ - before, absl::Milliseconds(300));
  session_.OnRefused({RefusalCode::kNotLeader, "", Epoch(5)}, now_, 0);
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 0u) << "back, as it is told";
  Answer(MakeGrant(3, {5, 2, 0}, 4));
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 0u) << "it reigns, and is kept to";
}

TEST_F(SessionTest, WhoIsToldWhoLeadsGoesThereWithOnlyTheJitterOfAFleet) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  ASSERT_EQ(last_.controller, 0u);
  const Instant before = now_;
  session_.OnRefused({RefusalCode::kNotLeader, "", Epoch(5)}, now_, 0);
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 1u) << "not to the one that says it of itself";
  EXPECT_LT(now_ - before, absl::Milliseconds(300));
  session_.OnRefused({RefusalCode::kNotLeader, "", Epoch(5)}, now_, 0);
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 0u);
  EXPECT_EQ(InForce(), 7);
}

TEST_F(SessionTest, ASilentControllerIsLeftForTheNext) {
  Register();
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 0u);
  EXPECT_LE(last_.timeout, absl::Seconds(1) + absl::Seconds(2)) << "hold and answer time-out";
  session_.OnUnreachable(now_ + last_.timeout);
  now_ = now_ + last_.timeout;
  Expect<SyncRequest>();
  EXPECT_EQ(last_.controller, 1u);
}

TEST_F(SessionTest, ASupersededSessionTakesAnotherName) {
  Register();
  Expect<SyncRequest>();
  Refuse(RefusalCode::kSessionSuperseded, 5);
  const RegisterRequest again = Expect<RegisterRequest>();
  EXPECT_EQ(again.instance.value.substr(0, 7), "shop-0~");
  EXPECT_TRUE(IsValidName(again.instance.value));
  EXPECT_FALSE(again.unique_instance);
}

TEST_F(SessionTest, FailuresGoRoundTheControllersWithGrowingPauses) {
  absl::Duration longest;
  std::vector<std::size_t> tried;
  for (int i = 0; i < 12; ++i) {
    const Instant before = now_;
    Expect<RegisterRequest>();
    longest = std::max(longest, now_ - before);
    tried.push_back(last_.controller);
    session_.OnUnreachable(now_);
    EXPECT_FALSE(session_.connected());
  }
  EXPECT_EQ(tried[0], 0u);
  EXPECT_EQ(tried[1], 1u);
  EXPECT_EQ(tried[2], 0u);
  EXPECT_GT(longest, absl::Milliseconds(300));
  EXPECT_LE(longest, absl::Seconds(2));
}

TEST_F(SessionTest, SuccessEndsTheBackOff) {
  for (int i = 0; i < 10; ++i) {
    Expect<RegisterRequest>();
    session_.OnUnreachable(now_);
  }
  Register();
  Expect<SyncRequest>();
  session_.OnUnreachable(now_);
  const Instant failed = now_;
  Expect<SyncRequest>();
  EXPECT_LE(now_ - failed, absl::Milliseconds(300));
}

TEST_F(SessionTest, EveryTransmissionHasANewNumber) {
  Register();
  EXPECT_EQ(Expect<SyncRequest>().n, SyncNumber(1));
  session_.OnUnreachable(now_);
  EXPECT_EQ(Expect<SyncRequest>().n, SyncNumber(2));
  Refuse(RefusalCode::kStaleSync, 5);
  EXPECT_EQ(Expect<SyncRequest>().n, SyncNumber(3));
}

TEST_F(SessionTest, LeavingDrainsBeforeItReleases) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  port_.in_flight = 2;
  session_.Leave(now_);
  EXPECT_TRUE(port_.stopped);
  const SyncRequest sync = Expect<SyncRequest>();
  EXPECT_TRUE(sync.leaving);
  EXPECT_EQ(sync.hold, absl::ZeroDuration());
  session_.OnSynced(SyncAnswer{}, now_);
  port_.in_flight = 0;
  EXPECT_EQ(Expect<ReleaseRequest>().session, SessionId("5-1"));
  session_.OnReleased(now_);
  EXPECT_TRUE(std::holds_alternative<Finished>(session_.Next(now_)));
}

TEST_F(SessionTest, ALostReleaseIsRepeated) {
  Register();
  session_.Leave(now_);
  Expect<ReleaseRequest>();
  session_.OnUnreachable(now_);
  Expect<ReleaseRequest>();
}

TEST_F(SessionTest, LeavingBeforeRegistrationIsFinishedAtOnce) {
  session_.Leave(now_);
  EXPECT_TRUE(std::holds_alternative<Finished>(session_.Next(now_)));
}

TEST_F(SessionTest, ADependencyAddedWhileLeavingAdmitsNothing) {
  session_.Leave(now_);
  FakePort late;
  session_.Add(DependencyId("late"), late);
  EXPECT_TRUE(late.stopped);
}

TEST_F(SessionTest, ASuspectClockLeavesTheReserveOnlyUntilANewSyncIsAnswered) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 1}, 1));
  Expect<SyncRequest>();
  session_.OnClockSuspect(now_);
  EXPECT_EQ(InForce(), 1);
  EXPECT_EQ(port_.installed.back().InForce(now_), 1);
  Answer(MakeGrant(2, {7, 2, 1}, 2));  // anchored before the doubt
  EXPECT_EQ(InForce(), 1);
  Expect<SyncRequest>();
  Answer(MakeGrant(3, {7, 2, 1}, 3));
  EXPECT_EQ(InForce(), 7);
}

TEST_F(SessionTest, ASuspectClockWhileRegisteringStartsTheRegistrationAnew) {
  const std::string nonce = Expect<RegisterRequest>().nonce;
  session_.OnUnreachable(now_);
  session_.OnClockSuspect(now_);
  EXPECT_NE(Expect<RegisterRequest>().nonce, nonce);
}

TEST_F(SessionTest, SettingsTellWhichDependenciesHaveNoPolicy) {
  Expect<RegisterRequest>();
  RegisterAnswer answer;
  answer.session = SessionId("5-1");
  answer.settings = {{kDb, false, absl::ZeroDuration(), absl::ZeroDuration()}};
  session_.OnRegistered(answer, now_);
  EXPECT_EQ(session_.UnknownDependencies(), std::vector{kDb});
}

TEST_F(SessionTest, AnInterruptedMessageIsFollowedByTheNextAtOnce) {
  Register();
  Expect<SyncRequest>();
  const Instant interrupted = now_;
  session_.OnInterrupted(now_);
  Expect<SyncRequest>();
  EXPECT_EQ(now_, interrupted);
}

TEST_F(SessionTest, ASupersededAnswerChangesNothing) {
  Register();
  Expect<SyncRequest>();
  Answer(MakeGrant(1, {7, 2, 0}, 1));
  Expect<SyncRequest>();
  SyncAnswer answer;
  answer.epoch = Epoch(5);
  answer.superseded = true;
  session_.OnSynced(answer, now_);
  EXPECT_EQ(InForce(), 7);
}

class FakeBreaker final : public BreakerPort {
 public:
  void Configure(const std::optional<BreakerSettings>& settings) override { configured = settings; }
  void Obey(const BreakerOrder& order, Instant) override { obeyed = order; }
  std::optional<BreakerReport> Report(Instant) override { return report; }

  std::optional<BreakerSettings> configured;
  std::optional<BreakerOrder> obeyed;
  std::optional<BreakerReport> report;
};

TEST_F(SessionTest, BreakersAreToldWhatThePolicyAndTheControllerSayAndReport) {
  FakeBreaker breaker;
  FakePort port;
  const DependencyId other("other");
  session_.Add(other, port, &breaker);
  Register();
  breaker.report.emplace();
  breaker.report->refused = 3;
  const auto sync = Expect<SyncRequest>();
  ASSERT_EQ(sync.dependencies.size(), 2u);
  EXPECT_EQ(sync.dependencies[1].breaker, breaker.report);
  SyncAnswer answer;
  answer.settings.push_back(
      {other, true, absl::Seconds(3), absl::Seconds(1), false, BreakerSettings()});
  answer.breakers.push_back({other, {Epoch(5), Seq(2)}, BreakerCommand::kOpen, absl::Seconds(9)});
  session_.OnSynced(answer, now_);
  EXPECT_EQ(breaker.configured, BreakerSettings());
  EXPECT_EQ(breaker.obeyed, answer.breakers[0]);
}

}  // namespace
}  // namespace plimsoll::internal
