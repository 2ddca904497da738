#include "controller/src/breaker_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>

namespace plimsoll::internal {
namespace {

using Kind = BreakerDecision::Kind;

const SessionId kA("7-1");
const SessionId kB("7-2");
const SessionId kC("7-3");
const DependencyId kDb("db");

BreakerSettings Settings() {
  BreakerSettings settings;
  settings.rules = {.consecutive_failures = 0, .failure_rate = 0.5, .calls_min = 20};
  settings.cool_off = absl::Seconds(2);
  settings.cool_off_max = absl::Seconds(8);
  settings.cool_off_jitter = 0;
  settings.probe_deadline = absl::Seconds(1);
  return settings;
}

class BreakerPoolTest : public ::testing::Test {
 protected:
  // What an instance says that has obeyed what it was told last, or nothing yet.
  std::optional<BreakerDecision> Say(const SessionId& session, BreakerView view,
                                     BreakerEvidence evidence = {}, std::int64_t refused = 0) {
    BreakerReport report = obeyed_[session];
    report.view = view;
    report.evidence = evidence;
    report.refused = refused;
    return pool_.Report(session, report, now_);
  }
  // Obeys what it is told, if it is told something.
  std::optional<BreakerCommand> Obey(const SessionId& session) {
    const auto order = pool_.OrderFor(session, kDb, now_);
    if (!order.has_value()) return std::nullopt;
    obeyed_[session].order = order->id;
    obeyed_[session].command = order->command;
    return order->command;
  }
  // All three come, and see enough.
  void OpenAll() {
    Say(kA, BreakerView::kClosed, {.failed = 8});
    Say(kB, BreakerView::kClosed, {.succeeded = 4, .failed = 6});
    EXPECT_EQ(pool_.view(), BreakerView::kClosed);
    const auto decision = Say(kC, BreakerView::kClosed, {.succeeded = 2});
    ASSERT_TRUE(decision.has_value());
    EXPECT_EQ(decision->kind, Kind::kOpened);
    ObeyAndSay();
  }
  void ObeyAndSay() {
    for (const SessionId& session : {kA, kB, kC}) {
      Obey(session);
      const bool closed = obeyed_[session].command == BreakerCommand::kClose;
      const bool probe = obeyed_[session].command == BreakerCommand::kProbe;
      Say(session, closed  ? BreakerView::kClosed
                   : probe ? BreakerView::kHalfOpen
                           : BreakerView::kOpen);
    }
  }
  void Pass(absl::Duration by, bool talk = true) {
    for (absl::Duration passed; passed < by; passed += absl::Milliseconds(250)) {
      now_ = now_ + absl::Milliseconds(250);
      pool_.Advance(now_);
      if (talk) ObeyAndSay();
    }
  }

  Instant now_{1'000'000'000};
  std::int64_t last_id_ = 0;
  BreakerPool::Terms terms_{Epoch(7), absl::Seconds(10), absl::Seconds(3), absl::Seconds(2)};
  BreakerPool pool_{Settings(), terms_, &last_id_, 1};
  std::map<SessionId, BreakerReport> obeyed_;
};

TEST_F(BreakerPoolTest, OpensByWhatAllHaveSeenTogether) {
  Say(kA, BreakerView::kClosed, {.failed = 8});
  Say(kB, BreakerView::kClosed, {.succeeded = 4, .failed = 6});
  EXPECT_FALSE(pool_.HasNews(kA));
  const auto decision = Say(kC, BreakerView::kClosed, {.succeeded = 2});
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->instances, 3);
  EXPECT_EQ(decision->evidence.failed, 14);
  for (const SessionId& session : {kA, kB, kC}) {
    EXPECT_TRUE(pool_.HasNews(session));
    EXPECT_EQ(Obey(session), BreakerCommand::kOpen);
    Say(session, BreakerView::kOpen);
    EXPECT_FALSE(pool_.HasNews(session));
  }
}

// One that is open by itself, for a network of its own, does not speak for those that work.
TEST_F(BreakerPoolTest, OneInstanceThatIsOpenDoesNotOpenTheOthers) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(Say(kB, BreakerView::kClosed, {.succeeded = 100}).has_value());
    EXPECT_FALSE(Say(kA, BreakerView::kOpen, {.failed = 20, .failures_in_a_row = 20}).has_value());
  }
  EXPECT_EQ(pool_.view(), BreakerView::kClosed);
}

TEST_F(BreakerPoolTest, FailuresInARowAreThoseOfAllWithNoSuccessOfAnybody) {
  BreakerSettings settings = Settings();
  settings.rules = {.consecutive_failures = 5};
  pool_.SetSettings(settings);
  Say(kA, BreakerView::kClosed, {.failed = 3, .failures_in_a_row = 3});
  Say(kB, BreakerView::kClosed, {.succeeded = 1});
  EXPECT_FALSE(Say(kC, BreakerView::kClosed, {.failed = 4, .failures_in_a_row = 4}).has_value());
  EXPECT_TRUE(Say(kB, BreakerView::kClosed).has_value()) << "its success is long ago";
}

TEST_F(BreakerPoolTest, OldReportsDoNotCount) {
  Say(kA, BreakerView::kClosed, {.failed = 15});
  now_ = now_ + absl::Seconds(10);
  EXPECT_FALSE(Say(kB, BreakerView::kClosed, {.failed = 10}).has_value());
}

TEST_F(BreakerPoolTest, AReportThatIsSaidTwiceCountsOnce) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(Say(kA, BreakerView::kClosed, {.failed = 10}).has_value());
  }
}

// [36] One probe for the fleet, after the cool-off.
TEST_F(BreakerPoolTest, ChoosesOneToProbeAfterTheCoolOff) {
  OpenAll();
  Pass(absl::Milliseconds(1750));
  EXPECT_EQ(pool_.view(), BreakerView::kOpen);
  Say(kB, BreakerView::kOpen, {}, 5);  // calls wait there
  now_ = now_ + absl::Milliseconds(250);
  EXPECT_TRUE(pool_.Advance(now_));
  EXPECT_EQ(pool_.view(), BreakerView::kProbing);
  EXPECT_EQ(pool_.prober(), kB);
  EXPECT_EQ(Obey(kB), BreakerCommand::kProbe);
  EXPECT_FALSE(pool_.HasNews(kA));
  EXPECT_FALSE(pool_.HasNews(kC));
}

TEST_F(BreakerPoolTest, AProbeThatPassedClosesForAll) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId prober = *pool_.prober();
  Obey(prober);
  EXPECT_FALSE(Say(prober, BreakerView::kProbing).has_value());
  const auto decision = Say(prober, BreakerView::kClosed);
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->kind, Kind::kClosed);
  for (const SessionId& session : {kA, kB, kC}) EXPECT_EQ(Obey(session), BreakerCommand::kClose);
  // What was seen before does not open it again.
  BreakerReport old;
  old.evidence.failed = 50;
  EXPECT_FALSE(pool_.Report(kA, old, now_).has_value());
  EXPECT_EQ(pool_.view(), BreakerView::kClosed);
}

// Who has not obeyed the closing yet still shows what it saw before the opening.
TEST_F(BreakerPoolTest, EvidenceUnderAnEarlierOrderIsInNobodysSum) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId prober = *pool_.prober();
  const SessionId other = prober == kA ? kB : kA;
  Say(other, BreakerView::kOpen, {.failed = 50});
  Obey(prober);
  Say(prober, BreakerView::kClosed);
  ASSERT_EQ(pool_.view(), BreakerView::kClosed);
  Obey(prober);
  EXPECT_FALSE(Say(prober, BreakerView::kClosed, {.succeeded = 1}).has_value());
  Obey(other);
  EXPECT_FALSE(Say(other, BreakerView::kClosed).has_value());
}

TEST_F(BreakerPoolTest, AProbeThatFailedStartsALongerCoolOff) {
  OpenAll();
  absl::Duration expected = absl::Seconds(2);
  for (int i = 0; i < 5; ++i) {
    EXPECT_LE(pool_.CoolOffLeft(now_), expected);
    Pass(expected);
    ASSERT_TRUE(pool_.prober().has_value());
    Obey(*pool_.prober());
    const auto decision = Say(*pool_.prober(), BreakerView::kOpen);
    ASSERT_TRUE(decision.has_value());
    EXPECT_EQ(decision->kind, Kind::kReopened);
    expected = std::min(expected * 2, absl::Seconds(8));
    EXPECT_EQ(decision->cool_off, expected);
    ObeyAndSay();
  }
}

// [28] A prober that dies, or has no call, loses the probe; each in turn gets it.
TEST_F(BreakerPoolTest, AProberWithoutCallsLosesTheProbeToTheNext) {
  OpenAll();
  std::set<SessionId> probers;
  for (int i = 0; i < 60; ++i) {
    Pass(absl::Milliseconds(250));
    if (pool_.prober().has_value()) probers.insert(*pool_.prober());
  }
  EXPECT_EQ(probers.size(), 3u);
}

TEST_F(BreakerPoolTest, AProberThatFallsSilentLosesTheProbe) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId dead = *pool_.prober();
  for (int i = 0; i < 16; ++i) {
    now_ = now_ + absl::Milliseconds(250);
    pool_.Advance(now_);
    for (const SessionId& session : {kA, kB, kC}) {
      if (session == dead) continue;
      Obey(session);
      Say(session, obeyed_[session].command == BreakerCommand::kProbe ? BreakerView::kProbing
                                                                      : BreakerView::kOpen);
    }
  }
  ASSERT_TRUE(pool_.prober().has_value());
  EXPECT_NE(*pool_.prober(), dead);
  // It comes back with a result of a probe that is not its own any more.
  EXPECT_FALSE(Say(dead, BreakerView::kClosed).has_value());
  EXPECT_EQ(Obey(dead), BreakerCommand::kOpen);
}

TEST_F(BreakerPoolTest, AProberThatLeavesIsReplaced) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId gone = *pool_.prober();
  pool_.Leave(gone);
  EXPECT_EQ(pool_.view(), BreakerView::kOpen);
  pool_.Advance(now_);
  ASSERT_TRUE(pool_.prober().has_value());
  EXPECT_NE(*pool_.prober(), gone);
}

TEST_F(BreakerPoolTest, ANewcomerIsToldThatItIsOpen) {
  OpenAll();
  const SessionId newcomer("7-9");
  Say(newcomer, BreakerView::kClosed);
  const auto order = pool_.OrderFor(newcomer, kDb, now_);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->command, BreakerCommand::kOpen);
  EXPECT_EQ(order->hold, absl::Seconds(12)) << "the cool-off, and as long as one may be alone";
}

TEST_F(BreakerPoolTest, WithNobodyThereItWaits) {
  OpenAll();
  Pass(absl::Minutes(5), false);
  EXPECT_EQ(pool_.view(), BreakerView::kOpen);
  Obey(kA);
  Say(kA, BreakerView::kOpen);
  pool_.Advance(now_);
  EXPECT_EQ(pool_.prober(), kA);
}

// A probe of its own, while it could not reach the controller, has passed.
TEST_F(BreakerPoolTest, WhoHasFoundTheDependencyWorkingAloneClosesForAll) {
  OpenAll();
  const auto decision = Say(kC, BreakerView::kClosed);
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->kind, Kind::kClosed);
}

TEST_F(BreakerPoolTest, TheNextReignTakesOverThatItIsOpenFromTheFirstThatSaysSo) {
  OpenAll();
  BreakerPool next(Settings(), {Epoch(8), absl::Seconds(10), absl::Seconds(3), absl::Seconds(2)},
                   &last_id_, 1);
  BreakerReport report = obeyed_[kA];
  report.view = BreakerView::kOpen;
  const auto decision = next.Report(kA, report, now_);
  ASSERT_TRUE(decision.has_value());
  EXPECT_EQ(decision->kind, Kind::kInherited);
  const auto order = next.OrderFor(kA, kDb, now_);
  ASSERT_TRUE(order.has_value());
  EXPECT_GT(order->id, report.order);
}

TEST_F(BreakerPoolTest, AReignThatBeginsDoesNotOpenForOneThatIsOpenByItself) {
  BreakerReport report;
  report.view = BreakerView::kOpen;
  EXPECT_FALSE(pool_.Report(kA, report, now_).has_value());
  report.order = {Epoch(3), Seq(9)};  // a closing of an earlier reign
  EXPECT_FALSE(pool_.Report(kB, report, now_).has_value());
}

TEST_F(BreakerPoolTest, AfterTheClosingInAReignOldOpeningsAreEnded) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId prober = *pool_.prober();
  Say(prober, BreakerView::kClosed);
  Obey(prober);
  const SessionId late("7-8");  // was cut off since the reign before
  BreakerReport report;
  report.order = {Epoch(6), Seq(4)};
  report.command = BreakerCommand::kOpen;
  report.view = BreakerView::kOpen;
  Say(kA, BreakerView::kClosed);
  if (pool_.view() != BreakerView::kClosed) Say(kB, BreakerView::kClosed);
  EXPECT_FALSE(pool_.Report(late, report, now_).has_value());
  EXPECT_EQ(pool_.OrderFor(late, kDb, now_)->command, BreakerCommand::kClose);
}

// The same process under a new session: what it is told comes after all that it has obeyed.
TEST_F(BreakerPoolTest, OrdersToANewSessionComeAfterThoseToTheOldOne) {
  OpenAll();
  Pass(absl::Seconds(2));
  const SessionId prober = *pool_.prober();
  Obey(prober);
  BreakerReport report = obeyed_[prober];
  pool_.Leave(prober);
  report.view = BreakerView::kHalfOpen;
  pool_.Report(SessionId("7-10"), report, now_);
  EXPECT_TRUE(pool_.HasNews(SessionId("7-10")));
}

}  // namespace
}  // namespace plimsoll::internal
