#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "agent/src/agent_factory.h"
#include "agent/src/timer_thread.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/local_bulkhead.h"
#include "plimsoll/agent/thread_pool.h"
#include "tests/unit/agent/fake_transport.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

constexpr std::chrono::hours kLong(1);
constexpr unsigned kPatienceSeconds = 60;

// Runs `body` in a forked child, where it must return true. A child that hangs fails, too.
void ExpectInChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(kPatienceSeconds);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "the child was killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() {
    AgentOptions options;
    options.controllers = {"http://127.0.0.1:7481"};
    options.service = "checkout";
    options.instance = "checkout-0";
    options.log = [](std::string_view) {};
    auto started = AgentFactory::Start(options, {RealClock(), Random(1), network_.MakeTransport()});
    agent_ = *std::move(started);
    payments_ = &agent_->bulkhead("payments-api");
    EXPECT_TRUE(agent_->WaitUntilGranted(kLong).ok());
  }

  static bool IsDraining(Bulkhead& bulkhead) {
    const Admission admission = bulkhead.TryAcquire();
    return !admission && admission.rejection() == Rejection::kDraining;
  }

  FakeNetwork network_{[](const Sent& sent) { return AnswerWell(sent, 5); }};
  std::unique_ptr<Agent> agent_;
  Bulkhead* payments_ = nullptr;
};

TEST_F(ForkTest, TheChildAdmitsNothingAndTheParentGoesOn) {
  ExpectInChild([this] { return IsDraining(*payments_) && payments_->limit() == 0; });
  EXPECT_EQ(payments_->limit(), 5);
  EXPECT_TRUE(payments_->TryAcquire());
  EXPECT_TRUE(agent_->Drain(kLong).ok());
}

TEST_F(ForkTest, TheChildMayAskForBulkheadsAndGetsDrainingOnes) {
  ExpectInChild([this] {
    return &agent_->bulkhead("payments-api") == payments_ &&
           IsDraining(agent_->bulkhead("orders-db"));
  });
}

TEST_F(ForkTest, InTheChildNothingWaitsForTheControllerAndNothingIsToldToIt) {
  while (network_.HasMessage()) network_.Take();
  ExpectInChild([this] {
    return agent_->Drain(kLong).code() == absl::StatusCode::kFailedPrecondition &&
           agent_->WaitUntilGranted(kLong).code() == absl::StatusCode::kFailedPrecondition &&
           !agent_->connected() && agent_->instance() == "checkout-0";
  });
  EXPECT_TRUE(agent_->connected());
  EXPECT_EQ(payments_->limit(), 5);
}

TEST_F(ForkTest, TheChildMayEndInheritedPermitsAndDestroyTheAgent) {
  std::optional<Permit> permit = *payments_->TryAcquire();
  std::optional<Permit> outlives = *payments_->TryAcquire();
  ExpectInChild([&] {
    permit->Succeed();
    agent_.reset();
    outlives->Succeed();
    return true;
  });
  EXPECT_EQ(payments_->in_flight(), 2);
  permit->Succeed();
  outlives->Succeed();
  EXPECT_EQ(payments_->in_flight(), 0);
}

// Threads count samples for themselves. The child has the counts of those that it has not.
TEST_F(ForkTest, TheChildGoesOnFromTheCountsOfAllThreadsAndTheParentFromItsOwn) {
  std::optional<Permit> held = *payments_->TryAcquire();
  const auto call_often = [this] {
    for (int i = 0; i < 10; ++i) payments_->TryAcquire()->Succeed();
  };
  std::atomic<bool> counted{false};
  std::atomic<bool> stop{false};
  std::thread other([&] {
    call_often();
    counted = true;
    while (!stop) std::this_thread::yield();
  });
  call_often();
  while (!counted) std::this_thread::yield();
  ExpectInChild([&] {
    held->Succeed();
    return payments_->stats().succeeded == 21 && payments_->in_flight() == 0;
  });
  EXPECT_EQ(payments_->stats().succeeded, 20);
  held->Succeed();
  EXPECT_EQ(payments_->stats().succeeded, 21);
  stop = true;
  other.join();
}

TEST_F(ForkTest, AForkDuringOtherThreadsCallsLeavesNoLockBehind) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) agent_->bulkhead("payments-api");
  });
  for (int i = 0; i < 20; ++i) {
    ExpectInChild([this] { return &agent_->bulkhead("payments-api") == payments_; });
  }
  stop = true;
  other.join();
}

// Who waits is the parent's. In the child nobody is woken, and the queue is not touched.
TEST_F(ForkTest, TheChildEndsCallsForWhichTheParentsCallersWait) {
  BulkheadOptions options;
  options.queue.capacity = 9;
  Bulkhead& orders = **agent_->bulkhead("orders-db", options);
  ASSERT_TRUE(agent_->WaitUntilGranted(kLong).ok());
  CallOptions call;
  call.cost = 5;
  call.wait = kLong;
  Admission held = orders.TryAcquire(call);
  ASSERT_TRUE(held);
  std::atomic<int> answered{0};
  orders.AcquireAsync(call, [&answered](Admission) { ++answered; });
  ExpectInChild([&] {
    const Admission late = orders.Acquire(call);
    held->Succeed();
    return answered == 0 && !late && late.rejection() == Rejection::kDraining;
  });
  EXPECT_EQ(orders.stats().waiting, 5);
  held->Succeed();
  EXPECT_EQ(answered, 1);
}

// ThreadSanitizer ends a forked child that starts a thread.
#ifndef __SANITIZE_THREAD__
TEST_F(ForkTest, AnAgentThatTheChildStartsIsItsOwn) {
  ExpectInChild([this] {
    FakeNetwork network([](const Sent& sent) { return AnswerWell(sent, 3); });
    AgentOptions options;
    options.controllers = {"http://127.0.0.1:7481"};
    options.service = "checkout";
    auto own = AgentFactory::Start(options, {RealClock(), Random(2), network.MakeTransport()});
    if (!own.ok()) return false;
    Bulkhead& payments = (*own)->bulkhead("payments-api");
    const bool granted = (*own)->WaitUntilGranted(kLong).ok() && payments.limit() == 3;
    return granted && IsDraining(*payments_) && (*own)->Drain(kLong).ok();
  });
}

TEST(ThreadPoolForkTest, TheChildsCopyRefusesAndMayBeDestroyed) {
  auto pool = *ThreadPool::Start({.dependency = "payments-api", .threads = 2});
  auto call = pool->Submit([] { return 1; });
  ExpectInChild([&] {
    const bool refused = pool->Submit([] {}).rejection() == Rejection::kDraining;
    const bool ended = call.Get().end == TaskEnd::kRefused;
    pool.reset();
    return refused && ended;
  });
  EXPECT_EQ(call.Get().value, 1);
}

TEST(TimerForkTest, TheChildRunsItsOwnTimersAndNoneOfItsParents) {
  ManualClock clock;
  internal::TimerThread timers(clock);
  std::atomic<int> of_parent{0};
  const auto at = clock.Now() + absl::Seconds(1);
  const auto parents = timers.Schedule(at, [&] { ++of_parent; });
  ExpectInChild([&] {
    std::atomic<bool> ran{false};
    if (timers.Cancel(parents)) return false;
    clock.Advance(absl::Seconds(2));
    if (timers.Schedule(at, [&] { ran = true; }) == internal::kNoTimer) return false;
    while (!ran) std::this_thread::yield();
    return of_parent == 0;
  });
  EXPECT_TRUE(timers.Cancel(parents));
}
#endif

TEST_F(ForkTest, TheChildMayTakeASnapshot) {
  ExpectInChild([this] {
    const AgentSnapshot snapshot = agent_->Snapshot();
    return snapshot.bulkheads.size() == 1 && !snapshot.connected;
  });
}

TEST(LocalForkTest, ALocalBulkheadStaysWithTheParent) {
  LocalBulkheadOptions options;
  options.dependency = "payments-api";
  const auto local = *MakeLocalBulkhead(options);
  ExpectInChild([&local] {
    const Admission admission = local->bulkhead().TryAcquire();
    const bool refused = !admission && admission.rejection() == Rejection::kDraining;
    return refused && absl::IsFailedPrecondition(local->SetLimit(5)) &&
           absl::IsFailedPrecondition(local->ClearLimit()) && local->Snapshot().stats.limit == 0;
  });
  EXPECT_TRUE(local->SetLimit(5).ok());
  EXPECT_TRUE(local->bulkhead().TryAcquire());
}

}  // namespace
}  // namespace plimsoll
