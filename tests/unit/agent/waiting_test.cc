// Waiting for a permit: who gets an answer when, and which.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/agent/waiting_support.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(WaitingTest, WhoFindsRoomIsAnsweredAtOnce) {
  Make(WithQueue(9), 1);
  Ask("a");
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
  EXPECT_EQ(limiter_->Stats().waited, 0);
}

TEST_F(WaitingTest, WhoFindsNoneGetsItFromThoseWhoEndInTheOrderOfComing) {
  Make(WithQueue(9), 1);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
  EXPECT_EQ(limiter_->in_flight(), 1);
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
  EXPECT_EQ(limiter_->in_flight(), 1);
  End("b");
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
}

TEST_F(WaitingTest, WithoutAQueueOrWithoutPatienceItIsTheLimitThatRefuses) {
  Make(WithQueue(0), 1);
  Ask("a");
  Ask("b");
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: limit"));
  permits_.clear();
  Make(WithQueue(9), 1);
  Ask("c");
  CallOptions impatient = Waits();
  impatient.wait = {};
  Ask("d", impatient);
  EXPECT_THAT(Answers(), ElementsAre("c: in", "d: limit"));
  EXPECT_FALSE(limiter_->TryAcquire(Waits()));
}

TEST_F(WaitingTest, ARiseOfTheLimitWakesAtOnceAndAFallNobody) {
  Make(WithQueue(9), 1);
  for (const char* name : {"a", "b", "c", "d"}) Ask(name);
  Answers();
  Grant(3);
  EXPECT_THAT(Answers(), ElementsAre("b: in", "c: in"));
  Grant(2);
  End("a");
  EXPECT_THAT(Answers(), IsEmpty());
  End("b");
  EXPECT_THAT(Answers(), ElementsAre("d: in"));
}

TEST_F(WaitingTest, BeforeTheFirstGrantOneMayWaitForIt) {
  limiter_ = LimiterPtr(Limiter::Make(clock_, WithQueue(9), &timers_));
  Ask("a", Waits(7));
  EXPECT_THAT(Answers(), IsEmpty());
  Grant(7);
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
}

// The installing thread is the agent's: a callback that takes long must not keep it from syncs.
TEST_F(WaitingTest, CallbacksDoNotRunOnTheAgentsThread) {
  Make(WithQueue(9), 1);
  Ask("a");
  Ask("b");
  Answers();
  limiter_->Install(MakeFunction(++seq_, 2, clock_), clock_.Now());
  EXPECT_THAT(Answers(), IsEmpty());
  timers_.RunDue(clock_.Now());
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

TEST_F(WaitingTest, APatienceThatEndsIsADeadlineAndThePlaceIsFree) {
  Make(WithQueue(1), 1);
  Ask("a");
  Ask("b");
  Answers();
  Pass(absl::Seconds(10) - absl::Nanoseconds(1));
  EXPECT_THAT(Answers(), IsEmpty());
  Pass(absl::Nanoseconds(1));
  EXPECT_THAT(Answers(), ElementsAre("b: deadline"));
  EXPECT_EQ(limiter_->Stats().timed_out_waiting, 1);
  EXPECT_EQ(limiter_->Stats().refused_by(Rejection::kDeadline), 1);
  Ask("c");
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
}

TEST_F(WaitingTest, WhoIsServedHasNoTimerLeft) {
  Make(WithQueue(1), 1);
  Ask("a");
  Ask("b");
  EXPECT_EQ(timers_.size(), 1);
  End("a");
  EXPECT_EQ(timers_.size(), 0);
}

TEST_F(WaitingTest, NobodyWaitsBeyondItsDeadline) {
  Make(WithQueue(9), 1);
  Ask("a");
  CallOptions options = Waits();
  options.deadline = In(absl::Seconds(2));
  Ask("b", options);
  Answers();
  Pass(absl::Seconds(2));
  EXPECT_THAT(Answers(), ElementsAre("b: deadline"));
}

class WaitWithDeadlineTest : public WaitingTest {
 protected:
  // Calls take about as long from now on.
  void Learn(absl::Duration latency) {
    for (int window = 0; window < 3; ++window) {
      std::vector<Permit> permits;
      for (int i = 0; i < 8; ++i) permits.push_back(*limiter_->TryAcquire());
      clock_.Advance(latency);
      for (Permit& permit : permits) permit.Succeed();
      limiter_->Measure(clock_.Now(), absl::ZeroDuration());
    }
  }
};

TEST_F(WaitWithDeadlineTest, AWaitEndsWhenTheAnswerCouldNotComeInTimeAnyMore) {
  Make(WithQueue(9), 8);
  Learn(absl::Seconds(1));
  Ask("a", Waits(8));
  CallOptions options = Waits();
  options.deadline = In(absl::Seconds(2));
  Ask("b", options);
  Answers();
  Pass(absl::Milliseconds(800));
  EXPECT_THAT(Answers(), IsEmpty());
  Pass(absl::Milliseconds(300));
  EXPECT_THAT(Answers(), ElementsAre("b: deadline"));
}

TEST_F(WaitWithDeadlineTest, AWaitGoesOnIfCallsHaveBecomeQuicker) {
  Make(WithQueue(9), 9);
  Learn(absl::Seconds(1));
  Ask("a", Waits(9));
  CallOptions options = Waits();
  options.deadline = In(absl::Seconds(2));
  Ask("b", options);
  for (int window = 0; window < 8; ++window) {
    clock_.Advance(absl::Nanoseconds(1));
    limiter_->Measure(clock_.Now(), absl::ZeroDuration());  // empty: what is known fades
  }
  Answers();
  Pass(absl::Milliseconds(1500));
  EXPECT_THAT(Answers(), IsEmpty());
  Pass(absl::Milliseconds(500));
  EXPECT_THAT(Answers(), ElementsAre("b: deadline"));
}

TEST_F(WaitingTest, WhoFindsTheQueueFullIsToldSo) {
  Make(WithQueue(1), 1);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  EXPECT_THAT(Answers(), ElementsAre("a: in", "c: queue_full"));
  EXPECT_EQ(limiter_->Stats().refused_by(Rejection::kQueueFull), 1);
  EXPECT_EQ(waiting(), 1);
}

class ClassesTest : public WaitingTest {
 protected:
  void SetUp() override {
    BulkheadOptions options = WithQueue(2);
    options.classes = {{"users", 1}, {"batch", 0.5}};
    Make(options, 4);
  }
};

TEST_F(ClassesTest, AMoreImportantOneIsServedFirst) {
  Ask("a", Waits(4));
  Ask("batch", Waits(1, 1));
  Ask("user", Waits(1, 0));
  Answers();
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("user: in", "batch: in"));
}

TEST_F(ClassesTest, IfTheQueueIsFullALessImportantOneGivesWay) {
  Ask("a", Waits(4));
  for (const char* name : {"b1", "b2"}) Ask(name, Waits(1, 1));
  Ask("user", Waits());
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b2: queue_full"));
}

TEST_F(ClassesTest, AClassWaitsForItsShareThoughTheLimitHasRoom) {
  Ask("a", Waits(2));
  Ask("batch", Waits(1, 1));
  EXPECT_TRUE(limiter_->TryAcquire());  // passes
  EXPECT_THAT(Answers(), ElementsAre("a: in"));
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("batch: in"));
}

TEST_F(ClassesTest, NewcomersDoNotOvertakeTheirOwnClassOrAMoreImportantOne) {
  Ask("a", Waits(3));
  Ask("costly", Waits(2));
  Answers();
  EXPECT_FALSE(limiter_->TryAcquire());  // though there is room for one
  EXPECT_FALSE(limiter_->TryAcquire(Waits(1, 1)));
  Ask("cheap", Waits());
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(limiter_->in_flight(), 3);
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("costly: in", "cheap: in"));
}

TEST_F(WaitingTest, WhatCostsMoreThanTheLimitDoesNotWaitForIt) {
  Make(WithQueue(9), 4);
  Ask("a", Waits(5));
  EXPECT_THAT(Answers(), ElementsAre("a: limit"));
}

TEST_F(WaitingTest, AFallOfTheLimitBelowItsCostSendsItAwayAtItsTurnAndTheNextGoes) {
  Make(WithQueue(9), 4);
  Ask("a", Waits(4));
  Ask("costly", Waits(3));
  Ask("cheap", Waits(1));
  Answers();
  Grant(2);
  EXPECT_THAT(Answers(), ElementsAre("costly: limit"));
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("cheap: in"));
}

TEST_F(WaitingTest, IfACostlyOneGivesUpThoseBehindItGo) {
  Make(WithQueue(9), 4);
  Ask("a", Waits(3));
  CallOptions costly = Waits(2);
  costly.wait = std::chrono::seconds(1);
  Ask("costly", costly);
  Ask("cheap", Waits(1));
  Answers();
  Pass(absl::Seconds(1));
  EXPECT_THAT(Answers(), ElementsAre("costly: deadline", "cheap: in"));
}

TEST_F(WaitingTest, ATenantAtItsCapDoesNotHoldUpOthers) {
  BulkheadOptions options = WithQueue(9);
  options.tenants.share = 0.5;
  Make(options, 2);
  CallOptions greedy = Waits();
  greedy.tenant = "greedy";
  Ask("a", greedy);
  Ask("b");
  Ask("c", greedy);
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: in"));
  Ask("d");
  End("b");
  EXPECT_THAT(Answers(), ElementsAre("c: tenant", "d: in"));
}

TEST_F(WaitingTest, DrainingRefusesAllWhoWaitAndWhoComesLater) {
  Make(WithQueue(9), 1);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  Answers();
  limiter_->Drain();
  EXPECT_THAT(Answers(), ElementsAre("b: draining", "c: draining"));
  Ask("d");
  EXPECT_THAT(Answers(), ElementsAre("d: draining"));
  EXPECT_EQ(limiter_->Stats().rejected_draining, 3);
  End("a");
  EXPECT_THAT(Answers(), IsEmpty());
}

TEST_F(WaitingTest, WhoWaitsWhenTheBulkheadGoesIsRefused) {
  Make(WithQueue(9), 1);
  Ask("a");
  Ask("b");
  limiter_.reset();
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: draining"));
  Pass(absl::Hours(1));
  End("a");
}

TEST_F(WaitingTest, ObserveModeLetsAllIn) {
  Make(WithQueue(9), 1);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  Answers();
  limiter_->SetObserve(true);
  timers_.RunDue(clock_.Now());
  EXPECT_THAT(Answers(), ElementsAre("b: in", "c: in"));
  Ask("d");
  EXPECT_THAT(Answers(), ElementsAre("d: in"));
  EXPECT_EQ(limiter_->Stats().would_reject, 3);
}

TEST_F(WaitingTest, ControlledDelayRefusesThoseWhoWaitedTooLongInAStandingQueue) {
  BulkheadOptions options = WithQueue(99);
  options.queue.codel_target = std::chrono::milliseconds(5);
  Make(options, 1);
  Ask("0");
  for (int i = 1; i <= 40; ++i) Ask(std::to_string(i));
  int refused = 0;
  for (int turn = 0; turn < 30; ++turn) {
    clock_.Advance(absl::Milliseconds(20));
    ASSERT_EQ(permits_.size(), 1);
    End(permits_.begin()->first);
    for (const std::string& answer : Answers()) {
      if (answer.ends_with("deadline")) ++refused;
    }
    if (permits_.empty()) break;
  }
  EXPECT_GT(refused, 20);
  EXPECT_EQ(limiter_->Stats().timed_out_waiting, refused);
}

TEST_F(WaitingTest, APermitThatReachesItsCallerAfterTheDeadlineGoesOn) {
  Make(WithQueue(9), 1);
  Ask("a");
  std::vector<std::function<void()>> posted;
  CallOptions options = Waits();
  options.deadline = In(absl::Seconds(1));
  const auto ticket = std::make_shared<AsyncTicket>(
      limiter_->RequestOf(options, CallSite::Here()),
      [this](Admission admission) { Note("late", std::move(admission)); },
      [&posted](std::function<void()> function) { posted.push_back(std::move(function)); });
  limiter_->queue()->WaitAsync(ticket, absl::Hours(1));
  Ask("next");
  End("a");
  Answers();
  ASSERT_EQ(posted.size(), 1);
  clock_.Advance(absl::Seconds(1));
  posted[0]();
  EXPECT_THAT(Answers(), ElementsAre("next: in", "late: deadline"));
  EXPECT_EQ(limiter_->Stats().ignored, 1);
  EXPECT_EQ(limiter_->in_flight(), 1);
}

// Each ends its call in its own callback, which hands the place to the next.
TEST_F(WaitingTest, CallbacksThatEndTheirCallsAtOnceMakeNoDeepStack) {
  constexpr int kMany = 20'000;
  Make(WithQueue(kMany), 1);
  Ask("a");
  int depth = 0;
  int deepest = 0;
  int served = 0;
  for (int i = 0; i < kMany; ++i) {
    limiter_->AcquireAsync(
        Waits(),
        [&](Admission admission) {
          deepest = std::max(deepest, ++depth);
          served += admission ? 1 : 0;
          if (admission) admission->Succeed();
          --depth;
        },
        CallSite::Here());
  }
  End("a");
  EXPECT_EQ(served, kMany);
  EXPECT_EQ(deepest, 1);
}

TEST_F(WaitingTest, TellsWhatWaitsAndWhatBecameOfThoseWhoDid) {
  Make(WithQueue(9), 1);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  EXPECT_EQ(limiter_->Measure(clock_.Now(), absl::Seconds(1)).waiting, 2);
  clock_.Advance(absl::Milliseconds(40));
  End("a");
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_EQ(stats.waiting, 1);
  EXPECT_EQ(stats.waiting_max, 2);
  EXPECT_EQ(stats.waited, 1);
  ASSERT_EQ(stats.wait.size(), 1);
  EXPECT_EQ(stats.wait[0].count, 1);
  EXPECT_GT(stats.wait[0].below, std::chrono::milliseconds(40));
  EXPECT_LT(stats.wait[0].below, std::chrono::milliseconds(60));
}

// Waiting is no latency: the time of a call begins with its admission.
TEST_F(WaitingTest, TheWaitIsNoPartOfTheLatency) {
  Make(WithQueue(9), 1);
  Ask("a");
  Ask("b");
  clock_.Advance(absl::Seconds(5));
  permits_.extract("a").mapped().Ignore();
  clock_.Advance(absl::Milliseconds(1));
  End("b");
  const BulkheadStats stats = limiter_->Stats();
  ASSERT_EQ(stats.latency.size(), 1);
  EXPECT_LT(stats.latency[0].below, std::chrono::milliseconds(2));
}

class BlockedTest : public WaitingTest {
 protected:
  // A thread that asks and waits.
  std::thread Block(const std::string& name, const CallOptions& options) {
    return std::thread([this, name, options] {
      Admission admission = limiter_->Acquire(options, CallSite::Here());
      const MutexLock lock(mutex_);
      Note(name, std::move(admission));
    });
  }

  Mutex mutex_;
};

TEST_F(BlockedTest, AThreadSleepsUntilThereIsRoom) {
  Make(WithQueue(9), 1);
  Ask("a");
  Answers();
  std::thread thread = Block("b", Waits());
  AwaitWaiting(1);
  End("a");
  thread.join();
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

TEST_F(BlockedTest, AThreadSleepsNoLongerThanItsPatience) {
  Make(WithQueue(9), 1);
  Ask("a");
  std::thread thread = Block("b", Waits());
  AwaitWaiting(1);
  Pass(absl::Seconds(9));
  EXPECT_EQ(waiting(), 1);
  Pass(absl::Seconds(1));
  thread.join();
  EXPECT_THAT(Answers(), ElementsAre("a: in", "b: deadline"));
  EXPECT_EQ(waiting(), 0);
}

TEST_F(BlockedTest, AThreadThatFindsRoomDoesNotSleep) {
  Make(WithQueue(9), 1);
  EXPECT_TRUE(limiter_->Acquire(Waits(), CallSite::Here()));
}

}  // namespace
}  // namespace plimsoll::internal
