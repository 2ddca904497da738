#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "plimsoll/agent/async_call.h"
#include "plimsoll/agent/next_await.h"
#include "tests/unit/agent/guard_support.h"
#include "tests/unit/agent/manual_timers.h"
#include "tests/unit/agent/task.h"

namespace plimsoll {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr CallOptions kPatient = {.wait = seconds(10), .idempotent = true};

// A guard before a bulkhead with a queue and room for one; time and timers go by hand.
class GuardAsyncTest : public GuardTest {
 protected:
  GuardAsyncTest() {
    BulkheadOptions options;
    options.queue.capacity = 9;
    limiter_ = internal::Limiter::Make(clock_, options, &timers_);
    bulkhead_ = BulkheadFactory::Make("payments-api", limiter_);
    Limit(1);
    MakeBreaker();
    guard_ = GuardFactory::Make(Layers(), {}, clock_, Random(7), &timers_);
  }
  ~GuardAsyncTest() override { bulkhead_ = nullptr; }

  void Pass(std::chrono::nanoseconds time) {
    clock_.Advance(absl::FromChrono(time));
    timers_.RunDue(clock_.Now());
  }
  std::int64_t waiting() const { return bulkhead_->stats().waiting; }
  // Begins the next attempt of a call, and notes what came of it.
  void Next(GuardedCall& call, GuardedCall::Executor executor = nullptr) {
    call.NextAsync([this](bool begun) { seen_begun_.push_back(begun); }, std::move(executor));
  }
  // A call that is tried until it has no attempt any more. Ends of attempts come from `ends_`.
  Task Await(std::string name, std::stop_token stop = {},
             GuardedCall::Executor executor = nullptr) {
    GuardedCall call(*guard_, kPatient, stop);
    while (co_await call.NextAwait(executor)) {
      seen_names_.push_back(name);
      call.End(Outcome::kError);
    }
    seen_names_.push_back(name + ":" + std::string(ToString(call.report().end)));
  }
  auto Post() {
    return [this](std::function<void()> work) { posted_.push_back(std::move(work)); };
  }
  void RunPosted() {
    for (const auto& work : std::exchange(posted_, {})) work();
  }

  ManualTimers timers_;
  std::unique_ptr<Guard> guard_;
  std::vector<bool> seen_begun_;
  std::vector<std::string> seen_names_;
  std::vector<std::function<void()>> posted_;
  std::stop_source stop_;
};

TEST_F(GuardAsyncTest, WithRoomAnAttemptBeginsAtOnce) {
  GuardedCall call(*guard_, kPatient);
  Next(call);
  EXPECT_THAT(seen_begun_, ElementsAre(true));
  EXPECT_FALSE(call.End(Outcome::kSuccess));
  EXPECT_TRUE(call.report().ok());
}

TEST_F(GuardAsyncTest, WithoutRoomItWaitsAndBlocksNobody) {
  Admission holder = bulkhead_->TryAcquire();
  GuardedCall call(*guard_, kPatient);
  Next(call);
  EXPECT_THAT(seen_begun_, IsEmpty());
  EXPECT_EQ(waiting(), 1);
  holder->Succeed();
  EXPECT_THAT(seen_begun_, ElementsAre(true));
  EXPECT_EQ(bulkhead_->in_flight(), 1);
}

TEST_F(GuardAsyncTest, AWaitInVainIsRefusedAndSaysNothingOfTheDependency) {
  const Admission holder = bulkhead_->TryAcquire();
  GuardedCall call(*guard_, kPatient);
  Next(call);
  Pass(seconds(10));
  EXPECT_THAT(seen_begun_, ElementsAre(false));
  EXPECT_EQ(call.report().rejection, Rejection::kDeadline);
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 0);
}

TEST_F(GuardAsyncTest, AnOpenBreakerIsAskedBeforeTheBulkhead) {
  breaker_->Force(BreakerState::kForcedOpen);
  GuardedCall call(*guard_, kPatient);
  Next(call);
  EXPECT_EQ(call.report().rejection, Rejection::kBreakerOpen);
  EXPECT_EQ(bulkhead_->stats().admitted, 0);
}

TEST_F(GuardAsyncTest, ThePauseComesBeforeTheNextPermitAndHoldsNone) {
  GuardedCall call(*guard_, kPatient);
  Next(call);
  ASSERT_TRUE(call.End(AttemptEnd(Outcome::kOverload, seconds(2))));
  Next(call);
  EXPECT_EQ(bulkhead_->in_flight(), 0);
  Pass(seconds(1));
  EXPECT_EQ(seen_begun_.size(), 1U);
  Pass(call.pause() - seconds(1));
  EXPECT_THAT(seen_begun_, ElementsAre(true, true));
  EXPECT_EQ(call.attempt().number, 2);
  EXPECT_EQ(bulkhead_->in_flight(), 1);
}

TEST_F(GuardAsyncTest, AStopEndsAPauseAtOnce) {
  GuardedCall call(*guard_, kPatient, stop_.get_token());
  Next(call);
  ASSERT_TRUE(call.End(AttemptEnd(Outcome::kError, seconds(2))));
  Next(call);
  stop_.request_stop();  // the clock stands still
  EXPECT_THAT(seen_begun_, ElementsAre(true, false));
  EXPECT_TRUE(call.report().cancelled());
  EXPECT_EQ(call.report().outcome, Outcome::kError);  // the attempt was one
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 1);
  EXPECT_EQ(timers_.size(), 0U);
}

TEST_F(GuardAsyncTest, AStopEndsAWaitAtOnce) {
  const Admission holder = bulkhead_->TryAcquire();
  GuardedCall call(*guard_, kPatient, stop_.get_token());
  Next(call);
  stop_.request_stop();
  EXPECT_THAT(seen_begun_, ElementsAre(false));
  EXPECT_TRUE(call.report().cancelled());
  EXPECT_FALSE(call.report().refused());
  EXPECT_EQ(call.report().outcome, Outcome::kCancelled);
  EXPECT_EQ(waiting(), 0);
  EXPECT_EQ(timers_.size(), 0U);
}

TEST_F(GuardAsyncTest, AStoppedCallBeginsNothing) {
  stop_.request_stop();
  GuardedCall async(*guard_, kPatient, stop_.get_token());
  Next(async);
  GuardedCall sync(*guard_, kPatient, stop_.get_token());
  EXPECT_FALSE(sync.Begin());
  EXPECT_THAT(seen_begun_, ElementsAre(false));
  EXPECT_EQ(bulkhead_->stats().admitted, 0);
}

TEST_F(GuardAsyncTest, AStopWhileItRunsLeavesItTheLastAttempt) {
  GuardedCall call(*guard_, kPatient, stop_.get_token());
  Next(call);
  stop_.request_stop();
  EXPECT_FALSE(call.End(Outcome::kError));
  EXPECT_TRUE(call.report().cancelled());
  EXPECT_EQ(call.report().attempts, 1);
}

TEST_F(GuardAsyncTest, AnAttemptThatIsCancelledByTheStopCancelsTheCall) {
  GuardedCall call(*guard_, kPatient, stop_.get_token());
  Next(call);
  stop_.request_stop();
  EXPECT_FALSE(call.End(Outcome::kCancelled));
  EXPECT_TRUE(call.report().cancelled());
}

// It is on its way to the executor when the stop comes: it must not be lost, nor the answer twice.
TEST_F(GuardAsyncTest, AStopAfterTheGrantGivesThePermitToTheNext) {
  Admission holder = bulkhead_->TryAcquire();
  GuardedCall first(*guard_, kPatient, stop_.get_token());
  GuardedCall second(*guard_, kPatient);
  Next(first, Post());
  Next(second);
  holder->Succeed();
  EXPECT_THAT(seen_begun_, IsEmpty());
  stop_.request_stop();
  EXPECT_THAT(seen_begun_, ElementsAre(true));  // the second
  RunPosted();
  EXPECT_THAT(seen_begun_, ElementsAre(true, false));
  EXPECT_TRUE(first.report().cancelled());
  EXPECT_EQ(bulkhead_->in_flight(), 1);
}

TEST_F(GuardAsyncTest, ACallThatIsDestroyedWhileItWaitsLeavesTheQueue) {
  Admission holder = bulkhead_->TryAcquire();
  {
    GuardedCall call(*guard_, kPatient, stop_.get_token());
    Next(call);
    EXPECT_EQ(waiting(), 1);
  }
  EXPECT_EQ(waiting(), 0);
  holder->Succeed();
  stop_.request_stop();
  EXPECT_THAT(seen_begun_, IsEmpty());
  EXPECT_EQ(bulkhead_->in_flight(), 0);
}

TEST_F(GuardAsyncTest, ACallThatIsDestroyedInAPauseIsOver) {
  {
    GuardedCall call(*guard_, kPatient);
    Next(call);
    ASSERT_TRUE(call.End(AttemptEnd(Outcome::kError, seconds(2))));
    Next(call, Post());
    Pass(seconds(9));  // posted already
  }
  RunPosted();
  EXPECT_THAT(seen_begun_, ElementsAre(true));
  EXPECT_EQ(breaker_->Snapshot().failures_in_a_row, 1);
}

TEST_F(GuardAsyncTest, ACoroutineGoesThroughAllItsAttempts) {
  const Task task = Await("a");
  Pass(seconds(5));
  Pass(seconds(5));
  EXPECT_THAT(seen_names_, ElementsAre("a", "a", "a", "a:attempts"));
}

TEST_F(GuardAsyncTest, ACoroutineWaitsForItsPermitInItsExecutor) {
  Admission holder = bulkhead_->TryAcquire();
  const Task task = Await("a", {}, Post());
  holder->Succeed();
  EXPECT_THAT(seen_names_, IsEmpty());
  RunPosted();
  EXPECT_THAT(seen_names_, ElementsAre("a"));
}

TEST_F(GuardAsyncTest, ACoroutineHearsOfAStopInItsPause) {
  const Task task = Await("a", stop_.get_token());
  stop_.request_stop();
  EXPECT_THAT(seen_names_, ElementsAre("a", "a:cancelled"));
}

TEST_F(GuardAsyncTest, ACoroutineThatIsDestroyedWhileItWaitsLeavesTheQueue) {
  const Admission holder = bulkhead_->TryAcquire();
  {
    const Task task = Await("a", stop_.get_token(), Post());
    EXPECT_EQ(waiting(), 1);
  }
  EXPECT_EQ(waiting(), 0);
}

// A thread that sleeps for a permit is woken by the stop.
TEST_F(GuardAsyncTest, AStopEndsABlockedWait) {
  const Admission holder = bulkhead_->TryAcquire();
  GuardReport report;
  std::thread caller([&] {
    report =
        guard_->Call(kPatient, stop_.get_token(), [](const Attempt&) { return Outcome::kSuccess; });
  });
  while (waiting() == 0) std::this_thread::yield();
  stop_.request_stop();
  caller.join();
  EXPECT_TRUE(report.cancelled());
}

TEST_F(GuardAsyncTest, ABlockedWaitWithAStopGetsItsPermit) {
  Admission holder = bulkhead_->TryAcquire();
  GuardReport report;
  std::thread caller([&] {
    report =
        guard_->Call(kPatient, stop_.get_token(), [](const Attempt&) { return Outcome::kSuccess; });
  });
  while (waiting() == 0) std::this_thread::yield();
  holder->Succeed();
  caller.join();
  EXPECT_TRUE(report.ok());
}

// The real clock: a pause of an hour would outlast the test.
TEST_F(GuardAsyncTest, AStopEndsABlockedPause) {
  Guard guard({}, {});
  const auto result = guard.Call({}, stop_.get_token(), [&](const Attempt&) {
    std::thread([this] { stop_.request_stop(); }).detach();
    return AttemptEnd(Outcome::kOverload, std::chrono::hours(1));
  });
  EXPECT_TRUE(result.cancelled());
  EXPECT_EQ(result.attempts, 1);
}

// Attempts of a client that answers when the test says so.
class CallAsyncTest : public GuardAsyncTest {
 protected:
  void Call(const CallOptions& options = kPatient) {
    CallAsync(
        *guard_, options,
        [this](const Attempt& attempt, AttemptDone done) {
          deadlines_.push_back(Deadline::Current());
          retries_.push_back(RetryScope::Left());
          EXPECT_EQ(attempt.deadline, Deadline::Current());
          running_.push_back(std::move(done));
        },
        [this](const GuardReport& report) { reports_.push_back(report); },
        {.stop = stop_.get_token()});
  }
  void EndNext(const AttemptEnd& end) {
    const AttemptDone done = running_.front();
    running_.erase(running_.begin());
    done(end);
    done(Outcome::kSuccess);  // does not count
  }

  std::vector<AttemptDone> running_;
  std::vector<int> retries_;
  std::vector<GuardReport> reports_;
};

TEST_F(CallAsyncTest, GoesThroughAttemptsAndPausesToItsReport) {
  Call();
  EndNext(Outcome::kError);
  EXPECT_THAT(running_, IsEmpty());
  Pass(seconds(5));
  EndNext(Outcome::kSuccess);
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_TRUE(reports_[0].ok());
  EXPECT_EQ(reports_[0].attempts, 2);
  EXPECT_THAT(retries_, ElementsAre(2, 1));
  EXPECT_EQ(bulkhead_->stats().admitted, 2);
}

TEST_F(CallAsyncTest, WaitsForItsTurn) {
  Call();
  Call();
  EXPECT_EQ(running_.size(), 1U);
  EndNext(Outcome::kSuccess);
  EXPECT_EQ(running_.size(), 1U);
  EndNext(Outcome::kSuccess);
  EXPECT_EQ(reports_.size(), 2U);
}

TEST_F(CallAsyncTest, AnAttemptThatIsForgottenIsAnError) {
  Call({});
  running_.clear();
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].outcome, Outcome::kError);
  EXPECT_EQ(bulkhead_->in_flight(), 0);
}

TEST_F(CallAsyncTest, AStopInAPauseReportsAtOnce) {
  Call();
  EndNext(AttemptEnd(Outcome::kOverload, seconds(5)));
  stop_.request_stop();
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_TRUE(reports_[0].cancelled());
  EXPECT_EQ(timers_.size(), 0U);
}

TEST_F(CallAsyncTest, ARefusalReportsWithoutAnAttempt) {
  const Admission holder = bulkhead_->TryAcquire();
  Call({});
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].rejection, Rejection::kLimit);
}

TEST_F(CallAsyncTest, WhatTheDependencyCallsFinalIsNotTriedAgain) {
  Call();
  AttemptEnd end(Outcome::kOverload);
  end.final = true;
  EndNext(end);
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].end, RetryEnd::kOutcome);
}

// Stops against grants, many times, from two threads.
TEST_F(CallAsyncTest, AStopThatMeetsAGrantLosesNoPermit) {
  for (int i = 0; i < 300; ++i) {
    std::stop_source stop;
    std::optional<Admission> holder = bulkhead_->TryAcquire();
    ASSERT_TRUE(*holder) << i;
    std::atomic<int> answers{0};
    {
      CallAsync(
          *guard_, kPatient,
          [](const Attempt&, const AttemptDone& done) { done(Outcome::kSuccess); },
          [&](const GuardReport&) { ++answers; }, {.stop = stop.get_token()});
    }
    std::thread stopper([&] { stop.request_stop(); });
    (*holder)->Succeed();
    stopper.join();
    EXPECT_EQ(answers, 1);
    EXPECT_EQ(bulkhead_->in_flight(), 0);
  }
}

}  // namespace
}  // namespace plimsoll
