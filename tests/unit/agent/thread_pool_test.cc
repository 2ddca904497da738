#include "plimsoll/agent/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "agent/src/thread_pool_factory.h"
#include "plimsoll/agent/retry_scope.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"
#include "tests/unit/agent/manual_timers.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A task that hangs until it is let go.
struct Hanging {
  std::latch begun{1};
  std::latch release{1};
};

class ThreadPoolTest : public ::testing::Test {
 protected:
  ThreadPoolTest() { Start({.threads = 1, .queue_capacity = 2}); }
  ~ThreadPoolTest() override { Release(); }

  void Start(ThreadPoolOptions options) {
    Release();
    pool_ = nullptr;
    options.dependency = "payments-api";
    options.drain_timeout = milliseconds(0);
    options.log = [this](std::string_view line) { log_ += line; };
    pool_ = *ThreadPoolFactory::Start(std::move(options), clock_, timers_);
  }

  // Occupies a thread; returns when it does.
  auto Hang(const CallOptions& options = {}) {
    auto hanging = hanging_.emplace_back(std::make_shared<Hanging>());
    auto call = pool_->Submit(options, [hanging] {
      hanging->begun.count_down();
      hanging->release.wait();
      return 1;
    });
    hanging->begun.wait();
    return call;
  }
  void Release() {
    for (const auto& hanging : hanging_) hanging->release.count_down();
    hanging_.clear();
  }
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    timers_.RunDue(clock_.Now());
  }
  CallOptions Within(int s) const {
    return {.deadline = Deadline::FromLeaseClock((clock_.Now() + absl::Seconds(s)).ns)};
  }
  // Until the pool's threads have nothing to do.
  void Settle() {
    while (pool_->stats().running + pool_->stats().queued > 0) std::this_thread::yield();
  }

  ManualClock clock_{RealClock().Now()};
  ManualTimers timers_;
  std::string log_;
  std::vector<std::shared_ptr<Hanging>> hanging_;
  std::unique_ptr<ThreadPool> pool_;
};

TEST_F(ThreadPoolTest, RunsTasksInItsThreadsAndHandsOverTheirValues) {
  auto call = pool_->Submit([] { return std::this_thread::get_id(); });
  const auto result = call.Get();
  EXPECT_EQ(result.end, TaskEnd::kDone);
  EXPECT_NE(result.value, std::this_thread::get_id());
}

TEST_F(ThreadPoolTest, TakesTasksAndValuesThatOnlyMove) {
  auto input = std::make_unique<int>(3);
  auto call = pool_->Submit([input = std::move(input)]() mutable { return std::move(input); });
  EXPECT_EQ(**call.Get().value, 3);
  EXPECT_EQ(pool_->Submit([] {}).Get().end, TaskEnd::kDone);
}

TEST_F(ThreadPoolTest, AnExceptionReachesTheCaller) {
  auto call = pool_->Submit([]() -> int { throw std::runtime_error("reset"); });
  EXPECT_THROW(static_cast<void>(call.Get()), std::runtime_error);
  EXPECT_EQ(pool_->stats().failed, 1);
  EXPECT_EQ(pool_->Submit([] { return 1; }).Get().value, 1);  // the thread survived
}

TEST_F(ThreadPoolTest, RefusesAtOnceWhenItsQueueIsFull) {
  auto running = Hang();
  auto first = pool_->Submit([] { return 1; });
  auto second = pool_->Submit([] { return 2; });
  auto third = pool_->Submit([] { return 3; });
  EXPECT_EQ(third.rejection(), Rejection::kQueueFull);
  EXPECT_EQ(third.Get().end, TaskEnd::kRefused);
  EXPECT_EQ(pool_->stats().queued, 2);
  Release();
  EXPECT_EQ(first.Get().value, 1);
  EXPECT_EQ(second.Get().value, 2);
  EXPECT_EQ(pool_->stats().rejected_queue_full, 1);
}

TEST_F(ThreadPoolTest, WithoutAQueueItTakesWhatItsThreadsCanTake) {
  Start({.threads = 2, .queue_capacity = 0});
  auto first = Hang();
  auto second = Hang();
  EXPECT_EQ(pool_->Submit([] {}).rejection(), Rejection::kQueueFull);
}

TEST_F(ThreadPoolTest, TheCallerHasItsTimeoutThoughTheTaskHangs) {
  auto call = Hang(Within(1));
  std::thread timer([this] { Advance(absl::Seconds(1)); });
  const auto result = call.Get();
  timer.join();
  EXPECT_EQ(result.end, TaskEnd::kTimeout);
  EXPECT_FALSE(result.value.has_value());
  const ThreadPoolStats stats = pool_->stats();
  EXPECT_EQ(stats.overran, 1);
  EXPECT_EQ(stats.hung, 1);
  EXPECT_EQ(stats.running, 1);  // it has its thread still
  Release();
  Settle();
  EXPECT_EQ(pool_->stats().hung, 0);
  EXPECT_EQ(pool_->stats().overran, 1);
}

TEST_F(ThreadPoolTest, TheTimeoutDoesNotNeedTheTimer) {
  auto call = Hang(Within(1));
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(call.Get().end, TaskEnd::kTimeout);
}

TEST_F(ThreadPoolTest, HungTasksAreCountedThoughNobodyAsks) {
  auto call = Hang(Within(1));
  Advance(absl::Seconds(1));
  EXPECT_EQ(pool_->stats().hung, 1);
  EXPECT_EQ(pool_->stats().overran, 1);
}

TEST_F(ThreadPoolTest, TheTimeoutOfThePoolHoldsForEveryTask) {
  Start({.threads = 1, .timeout = seconds(2)});
  auto call = Hang(Within(60));
  Advance(absl::Seconds(2));
  EXPECT_EQ(call.Get().end, TaskEnd::kTimeout);
}

TEST_F(ThreadPoolTest, AResultThatComesTooLateIsATimeout) {
  auto call = Hang(Within(1));
  clock_.Advance(absl::Seconds(1));
  Release();
  Settle();
  EXPECT_EQ(call.Get().end, TaskEnd::kTimeout);
  EXPECT_EQ(pool_->stats().overran, 1);
  EXPECT_EQ(pool_->stats().hung, 0);
}

TEST_F(ThreadPoolTest, ATaskWhoseTimeRunsOutInTheQueueNeverRuns) {
  for (const bool by_timer : {true, false}) {
    auto running = Hang(Within(60));
    std::atomic<bool> ran{false};
    auto call = pool_->Submit(Within(1), [&] { ran = true; });
    clock_.Advance(absl::Seconds(1));
    if (by_timer) {
      timers_.RunDue(clock_.Now());
      EXPECT_EQ(pool_->stats().queued, 0);  // its place is free at once
    }
    Release();
    Settle();
    const auto result = call.Get();
    EXPECT_EQ(result.end, TaskEnd::kRefused);
    EXPECT_EQ(result.rejection, Rejection::kDeadline);
    EXPECT_FALSE(ran);
  }
  EXPECT_EQ(pool_->stats().rejected_deadline, 2);
}

TEST_F(ThreadPoolTest, APassedDeadlineIsRefusedAtOnce) {
  EXPECT_EQ(pool_->Submit(Within(0), [] {}).rejection(), Rejection::kDeadline);
}

TEST_F(ThreadPoolTest, InheritsTheDeadlineAndHandsItOn) {
  const Deadline deadline = Within(1).deadline;
  const DeadlineScope scope(deadline);
  auto call = pool_->Submit([] { return Deadline::Current(); });
  EXPECT_EQ(call.Get().value, deadline);
}

TEST_F(ThreadPoolTest, RetriesOfTheTaskAreMissingInTheCaller) {
  const RetryScope scope(3);
  auto call = pool_->Submit([] { return RetryScope::TryTake() ? RetryScope::Left() : -1; });
  EXPECT_EQ(call.Get().value, 2);
  EXPECT_EQ(RetryScope::Left(), 2);
  auto hung = Hang(Within(1));
  Advance(absl::Seconds(1));
  static_cast<void>(hung.Get());
  EXPECT_EQ(RetryScope::Left(), 0);
}

TEST_F(ThreadPoolTest, ATaskThatIsTakenBackInTheQueueNeverRuns) {
  auto running = Hang();
  std::atomic<bool> ran{false};
  auto call = pool_->Submit([&] { ran = true; });
  call.Cancel();
  EXPECT_EQ(pool_->stats().queued, 0);
  Release();
  Settle();
  EXPECT_EQ(call.Get().end, TaskEnd::kCancelled);
  EXPECT_FALSE(ran);
  EXPECT_EQ(pool_->stats().cancelled, 1);
}

TEST_F(ThreadPoolTest, ARunningTaskIsAskedToStopByItsCallerOrItsDeadline) {
  for (const bool by_deadline : {true, false}) {
    auto begun = std::make_shared<std::latch>(1);
    auto call = pool_->Submit(Within(1), [begun](const std::stop_token& stop) {
      begun->count_down();
      while (!stop.stop_requested()) std::this_thread::yield();
      return 7;
    });
    begun->wait();
    if (by_deadline) {
      Advance(absl::Seconds(1));
    } else {
      call.Cancel();
    }
    const auto result = call.Get();
    EXPECT_EQ(result.end, by_deadline ? TaskEnd::kTimeout : TaskEnd::kDone);
    Settle();
  }
}

TEST_F(ThreadPoolTest, DrainingRefusesAndWaits) {
  auto call = pool_->Submit([] { return 1; });
  EXPECT_TRUE(pool_->Drain(std::chrono::hours(1)).ok());
  EXPECT_EQ(call.Get().value, 1);
  EXPECT_EQ(pool_->Submit([] {}).rejection(), Rejection::kDraining);
}

TEST_F(ThreadPoolTest, OutOfTimeDrainingRefusesTheQueueAndSaysWhatHangs) {
  auto running = Hang();
  std::atomic<bool> ran{false};
  auto queued = pool_->Submit([&] { ran = true; });
  const absl::Status status = pool_->Drain(seconds(0));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "1 tasks still run, 1 in the queue were refused");
  EXPECT_EQ(queued.Get().rejection, Rejection::kDraining);
  Release();
  Settle();
  EXPECT_FALSE(ran);
}

TEST_F(ThreadPoolTest, ItsEndWaitsForATaskThatHangsAndSaysSo) {
  auto hanging = std::make_shared<Hanging>();
  std::atomic<bool> ended{false};
  auto call = pool_->Submit([&, hanging](const std::stop_token& stop) {
    hanging->begun.count_down();
    while (!stop.stop_requested()) std::this_thread::yield();
    ended = true;
    return 5;
  });
  hanging->begun.wait();
  pool_ = nullptr;
  EXPECT_TRUE(ended);
  EXPECT_EQ(log_,
            "thread pool of 'payments-api' waits for its threads to end: 1 tasks still run, 0 in "
            "the queue were refused");
  EXPECT_EQ(call.Get().value, 5);  // outlives the pool
}

TEST_F(ThreadPoolTest, ManyCallersLoseNothing) {
  Start({.threads = 3, .queue_capacity = 1000, .timeout = std::chrono::hours(1)});
  std::atomic<int> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      for (int j = 1; j <= 200; ++j) sum += *pool_->Submit([j] { return j; }).Get().value;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 3 * 200 * 201 / 2);
  EXPECT_EQ(pool_->stats().started, 600);
  EXPECT_EQ(timers_.size(), 0U);  // nothing is kept of those that ended
}

TEST(RealThreadPoolTest, TheTimeoutComesInTime) {
  const auto pool = *ThreadPool::Start({.threads = 1, .timeout = milliseconds(20)});
  std::latch release(1);
  const Instant start = RealClock().Now();
  auto call = pool->Submit([&] { release.wait(); });
  EXPECT_EQ(call.Get().end, TaskEnd::kTimeout);
  EXPECT_GE(RealClock().Now() - start, absl::Milliseconds(20));
  EXPECT_LT(RealClock().Now() - start, absl::Seconds(10));
  release.count_down();
}

class PoolWithBulkheadTest : public ThreadPoolTest {
 protected:
  PoolWithBulkheadTest() {
    Limit(1);
    Start({.threads = 2, .queue_capacity = 2, .bulkhead = bulkhead_.get()});
  }
  ~PoolWithBulkheadTest() override {
    Release();
    pool_ = nullptr;
  }
  void Limit(Calls limit) {
    limiter_->Install(MakeFunction(++grants_, limit, clock_), clock_.Now());
  }

  internal::Limiter* limiter_ = internal::Limiter::Make(clock_);
  std::unique_ptr<Bulkhead> bulkhead_ = BulkheadFactory::Make("payments-api", limiter_);
  std::int64_t grants_ = 0;
};

TEST_F(PoolWithBulkheadTest, ATaskRunsOnlyWithAPermit) {
  auto running = Hang();
  EXPECT_EQ(bulkhead_->in_flight(), 1);
  auto call = pool_->Submit([] { return 1; });
  const auto result = call.Get();
  EXPECT_EQ(result.end, TaskEnd::kRefused);
  EXPECT_EQ(result.rejection, Rejection::kLimit);
  EXPECT_EQ(pool_->stats().rejected_bulkhead, 1);
}

TEST_F(PoolWithBulkheadTest, ATaskInTheQueueIsNotInFlight) {
  Limit(5);
  auto first = Hang();
  auto second = Hang();
  auto third = pool_->Submit([] { return 1; });
  EXPECT_EQ(bulkhead_->in_flight(), 2);
}

TEST_F(PoolWithBulkheadTest, WhatATaskReturnsTellsHowItsPermitEnds) {
  static_cast<void>(pool_->Submit([] { return 1; }).Get());
  EXPECT_EQ(bulkhead_->stats().succeeded, 1);
  static_cast<void>(pool_->Submit([] { return Outcome::kOverload; }).Get());
  EXPECT_EQ(bulkhead_->stats().dropped, 1);
  static_cast<void>(pool_->Submit([] { return std::pair(Outcome::kCancelled, 1); }).Get());
  EXPECT_EQ(bulkhead_->stats().ignored, 1);
  auto thrower = pool_->Submit([]() -> int { throw std::runtime_error("reset"); });
  EXPECT_THROW(static_cast<void>(thrower.Get()), std::runtime_error);
  EXPECT_EQ(bulkhead_->stats().succeeded, 2);  // kError
  EXPECT_EQ(bulkhead_->stats().leaked, 0);
}

TEST_F(PoolWithBulkheadTest, AHungTaskStaysInFlightAndEndsAsATimeout) {
  auto call = Hang(Within(1));
  Advance(absl::Seconds(1));
  EXPECT_EQ(call.Get().end, TaskEnd::kTimeout);
  EXPECT_EQ(bulkhead_->in_flight(), 1);
  Release();
  Settle();
  EXPECT_EQ(bulkhead_->in_flight(), 0);
  EXPECT_EQ(bulkhead_->stats().dropped, 1);
}

TEST(ThreadPoolOptionsTest, NamesEveryFault) {
  EXPECT_TRUE(Validate(ThreadPoolOptions()).ok());
  const ThreadPoolOptions faulty = {
      .threads = 0, .queue_capacity = -1, .timeout = seconds(0), .drain_timeout = seconds(-1)};
  EXPECT_EQ(ThreadPool::Start(faulty).status().message(),
            "thread pool options: threads is 0: must be 1 to 1000; queue_capacity is -1: must be 0 "
            "to 1000000; timeout is 0 ns: must be positive; drain_timeout is -1000000000 ns: must "
            "be zero or more");
}

}  // namespace
}  // namespace plimsoll
