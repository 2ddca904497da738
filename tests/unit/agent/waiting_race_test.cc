// Waiting for a permit when two things happen at once. Sync points force the order; no test sleeps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "agent/src/timer_thread.h"
#include "plimsoll/core/random.h"
#include "tests/unit/agent/sync_points.h"
#include "tests/unit/agent/waiting_support.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitingRaceTest : public WaitingTest {
 protected:
  // A thread that asks and waits; its answer is in answers_ once it has ended.
  std::thread Block(const std::string& name, const CallOptions& options) {
    return std::thread(
        [this, name, options] { Note(name, limiter_->Acquire(options, CallSite::Here())); });
  }
  std::thread Block(const std::string& name) { return Block(name, Waits()); }

  // There is one place, and "a" has it.
  void MakeFull() {
    Make(WithQueue(9), 1);
    Ask("a");
    Answers();
  }
  // "b" is refused for want of room; before it queues, this happens.
  void BetweenRefusalAndQueue(const std::function<void()>& happens) {
    HeldAt refused(SyncPoint::kRefused);
    std::thread thread = Block("b");
    refused.Await();
    happens();
    refused.LetGo();
    thread.join();
  }
  // "a" ends; when whoever's turn comes is at this point, the limit falls to 1.
  void FallWhileATurnIsAt(SyncPoint point) {
    HeldAt turn(point);
    std::thread ends([this] { End("a"); });
    turn.Await();
    std::thread installs(
        [this] { limiter_->Install(MakeFunction(++seq_, 1, clock_), clock_.Now()); });
    while (limiter_->limit() != 1) std::this_thread::yield();
    turn.LetGo();
    ends.join();
    installs.join();
    timers_.RunDue(clock_.Now());
  }
};

// The classic lost wake-up: nobody leaves after it has queued.
TEST_F(WaitingRaceTest, TheLastCallEndsBetweenARefusalAndTheQueue) {
  MakeFull();
  BetweenRefusalAndQueue([this] { End("a"); });
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

TEST_F(WaitingRaceTest, TheLimitRisesBetweenARefusalAndTheQueue) {
  MakeFull();
  BetweenRefusalAndQueue([this] { Grant(2); });
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

// The turn was given by the old limit; it is let in by the new one.
TEST_F(WaitingRaceTest, TheLimitFallsWhileSomebodysTurnComes) {
  Make(WithQueue(9), 2);
  for (const char* name : {"a", "b", "c"}) Ask(name);
  Answers();
  FallWhileATurnIsAt(SyncPoint::kTurn);
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(limiter_->in_flight(), 1);
  EXPECT_EQ(waiting(), 1);
  End("b");
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
}

// The call has looked at the limit, and would be within it. All of its tenant's counts are taken
// back, so a later one is let in.
TEST_F(WaitingRaceTest, TheLimitFallsBetweenALookAtItAndTheEntry) {
  BulkheadOptions options = WithQueue(0);
  options.tenants.share = 0.5;
  Make(options, 2);
  CallOptions of_tenant;
  of_tenant.tenant = "t";
  HeldAt entry(SyncPoint::kTenant);
  std::thread asks([&] { Note("a", limiter_->TryAcquire(of_tenant)); });
  entry.Await();
  Grant(0);
  entry.LetGo();
  asks.join();
  EXPECT_THAT(Answers(), ElementsAre("a: limit"));
  EXPECT_EQ(limiter_->in_flight(), 0);
  Grant(2);
  Note("b", limiter_->TryAcquire(of_tenant));
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
}

// The same for one whose turn has come: it waits on.
TEST_F(WaitingRaceTest, TheLimitFallsBetweenALookAtItAndTheEntryOfOneWhoWaited) {
  BulkheadOptions options = WithQueue(9);
  options.tenants.share = 0.5;
  Make(options, 2);
  CallOptions of_tenant = Waits();
  of_tenant.tenant = "t";
  for (const char* name : {"a", "b"}) Ask(name);
  Ask("c", of_tenant);
  Answers();
  FallWhileATurnIsAt(SyncPoint::kTenant);
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(limiter_->in_flight(), 1);
  EXPECT_EQ(waiting(), 1);
}

// The timer has begun, but calls have become quicker, so that there still is time: it finds a
// caller that has been served.
TEST_F(WaitingRaceTest, APermitComesWhileTheTimerOfItsCallerHasBegun) {
  MakeFull();
  Ask("b");
  Answers();
  HeldAt timer(SyncPoint::kTimer);
  std::thread early([this] { timers_.RunDue(clock_.Now() + absl::Seconds(10)); });
  timer.Await();
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("b: in"));
  timer.LetGo();
  early.join();
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(limiter_->in_flight(), 1);
}

// The timer has begun and the patience has ended when a call ends: the place goes to the next.
TEST_F(WaitingRaceTest, APermitThatComesAfterTheEndOfAPatienceGoesToTheNext) {
  MakeFull();
  Ask("b");
  clock_.Advance(absl::Seconds(1));
  Ask("c");
  Answers();
  HeldAt timer(SyncPoint::kTimer);
  std::thread timers([this] { Pass(absl::Seconds(9)); });
  timer.Await();
  End("a");
  EXPECT_THAT(Answers(), ElementsAre("b: deadline", "c: in"));
  timer.LetGo();
  timers.join();
  EXPECT_THAT(Answers(), IsEmpty());
}

// A thread has its permit, but the machine puts it aside until the deadline has passed.
TEST_F(WaitingRaceTest, AThreadAwakesWithItsPermitAfterItsDeadline) {
  MakeFull();
  CallOptions options = Waits();
  options.deadline = In(absl::Seconds(1));
  HeldAt awake(SyncPoint::kAwake);
  std::thread thread = Block("b", options);
  AwaitWaiting(1);
  Ask("c");
  Answers();
  End("a");
  awake.Await();
  clock_.Advance(absl::Seconds(1));
  awake.LetGo();
  thread.join();
  EXPECT_THAT(Answers(), ElementsAre("c: in", "b: deadline"));
  EXPECT_EQ(limiter_->in_flight(), 1);
}

TEST_F(WaitingRaceTest, ACallerGivesUpWhileItsPermitIsOnItsWay) {
  MakeFull();
  const auto ticket = std::make_shared<AsyncTicket>(
      limiter_->RequestOf(Waits(), CallSite::Here()),
      [this](Admission admission) { Note("b", std::move(admission)); });
  limiter_->queue()->WaitAsync(ticket, absl::Seconds(10));
  Ask("c");
  Answers();
  HeldAt delivery(SyncPoint::kBeforeClaim);
  std::thread ends([this] { End("a"); });
  delivery.Await();
  limiter_->queue()->GiveUp(*ticket);
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
  delivery.LetGo();
  ends.join();
  EXPECT_THAT(Answers(), IsEmpty());
  EXPECT_EQ(limiter_->in_flight(), 1);
}

TEST_F(WaitingRaceTest, TheAgentLeavesBetweenARefusalAndTheQueue) {
  MakeFull();
  BetweenRefusalAndQueue([this] { limiter_->StopAdmitting(); });
  EXPECT_THAT(Answers(), ElementsAre("b: draining"));
}

// The call has left and the limiter is gone before it wakes those who waited. By then the queue is
// another limiter's.
TEST_F(WaitingRaceTest, ALimiterGoesWhileOneWhoLeftIsAboutToWakeOthers) {
  MakeFull();
  Ask("b");
  Answers();
  HeldAt left(SyncPoint::kLeft);
  std::thread ends([this] { End("a"); });
  left.Await();
  const PermitQueue* const before = limiter_->queue();
  limiter_.reset();
  EXPECT_THAT(Answers(), ElementsAre("b: draining"));
  Make(WithQueue(9), 1);
  EXPECT_EQ(limiter_->queue(), before);
  Ask("c");
  Ask("d");
  left.LetGo();
  ends.join();
  EXPECT_THAT(Answers(), ElementsAre("c: in"));
  End("c");
  EXPECT_THAT(Answers(), ElementsAre("d: in"));
}

// The one who has left has woken nobody yet. Leaving tells of the sample.
TEST_F(WaitingRaceTest, WhoHasLeftIsCounted) {
  MakeFull();
  Ask("b");
  Answers();
  HeldAt left(SyncPoint::kLeft);
  std::thread ends([this] { End("a"); });
  left.Await();
  EXPECT_EQ(limiter_->in_flight(), 0);
  EXPECT_EQ(limiter_->Stats().succeeded, 1);
  clock_.Advance(absl::Seconds(1));
  const std::vector<Window> windows = limiter_->Measure(clock_.Now(), absl::Seconds(1)).windows;
  ASSERT_EQ(windows.size(), 1);
  EXPECT_EQ(windows[0].succeeded, 1);
  left.LetGo();
  ends.join();
}

// Threads that wait, give up, end and are let in by callbacks, while the limit goes up and down.
TEST(WaitingStressTest, NobodyIsForgottenAndNoPermitIsLost) {
  constexpr Calls kLimitMax = 3;
  constexpr int kThreads = 4;
  constexpr int kRounds = 400;
  BulkheadOptions options = WithQueue(8);
  options.classes = {{"a", 1}, {"b", 0.7}};
  options.queue.order = QueueOrder::kAdaptiveLifo;
  options.queue.codel_interval = std::chrono::microseconds(200);
  options.queue.codel_target = std::chrono::microseconds(20);
  TimerThread timers(RealClock());
  LimiterPtr limiter(Limiter::Make(RealClock(), options, &timers));
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> asked{0};
  std::atomic<int> answered{0};
  const auto use = [&](Admission admission) {
    if (!admission) return void(++answered);
    const int now = inside.fetch_add(admission->cost()) + admission->cost();
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    for (int i = 0; i < 5; ++i) std::this_thread::yield();  // so that others come meanwhile
    inside -= admission->cost();
    admission->Succeed();
    ++answered;
  };
  const auto work = [&](std::uint64_t seed) {
    Random random(seed);
    for (int round = 0; round < kRounds; ++round) {
      CallOptions call;
      call.cost = static_cast<int>(1 + random.Next() % 2);
      call.priority = static_cast<int>(random.Next() % 2);
      call.wait = std::chrono::microseconds(20 + random.Next() % 400);
      ++asked;
      if (random.Next() % 2 == 0) {
        use(limiter->Acquire(call, CallSite::Here()));
      } else {
        limiter->AcquireAsync(call, use, CallSite::Here());
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (int seq = 1; answered < kThreads * kRounds; ++seq) {
    const Calls limit = seq % (kLimitMax + 1);
    limiter->Install(MakeFunction(seq, limit, RealClock()), RealClock().Now());
    const int before = answered;
    while (answered < before + 10 && answered < kThreads * kRounds) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, asked);
  EXPECT_LE(most, kLimitMax);
  EXPECT_EQ(limiter->in_flight(), 0);
  const BulkheadStats stats = limiter->Stats();
  EXPECT_EQ(stats.waiting, 0);
  EXPECT_GT(stats.waited, 0);
  EXPECT_GT(stats.refused_by(Rejection::kDeadline), 0);
}

}  // namespace
}  // namespace plimsoll::internal
