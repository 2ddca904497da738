#include "plimsoll/agent/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>

#include "agent/src/agent_factory.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/metrics.h"
#include "plimsoll/agent/retry_budget.h"
#include "tests/unit/agent/agent_support.h"
#include "tests/unit/agent/fake_transport.h"
#include "tests/unit/agent/manual_clock.h"
#include "tests/unit/agent/manual_timers.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr Calls kLimit = 5;
constexpr std::chrono::hours kLong(1);
constexpr std::chrono::nanoseconds kNoTime(0);

class AgentTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  FakeNetwork network_{[](const Sent& sent) { return AnswerWell(sent, kLimit); }};
};

TEST_F(AgentTest, BadOptionsAreRefusedBeforeAnythingStarts) {
  AgentOptions options = QuietOptions();
  options.service.clear();
  const auto agent = AgentFactory::Start(options, {clock_, Random(1), network_.MakeTransport()});
  EXPECT_EQ(agent.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(agent.status().message()), HasSubstr("service"));
  EXPECT_EQ(Agent::Start(AgentOptions()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(AgentTest, AdmitsWhatTheControllerGrants) {
  const auto agent = StartAgent(network_, clock_);
  Bulkhead& payments = agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  EXPECT_TRUE(agent->connected());
  EXPECT_EQ(payments.limit(), kLimit);
  EXPECT_TRUE(payments.TryAcquire());
}

TEST_F(AgentTest, HandsOutOneBulkheadPerDependency) {
  const auto agent = StartAgent(network_, clock_);
  Bulkhead& payments = agent->bulkhead("payments-api");
  EXPECT_EQ(&agent->bulkhead("payments-api"), &payments);
  EXPECT_NE(&agent->bulkhead("orders-db"), &payments);
}

TEST_F(AgentTest, TheLayersOfADependencyAreSharedByAllWhoAskForThem) {
  const auto agent = StartAgent(network_, clock_);
  const GuardLayers layers = agent->layers("payments-api");
  EXPECT_EQ(layers.bulkhead, &agent->bulkhead("payments-api"));
  EXPECT_EQ(layers.breaker, &agent->breaker("payments-api"));
  EXPECT_EQ(layers.retry_budget, &agent->retry_budget("payments-api"));
  EXPECT_NE(agent->layers("search-api").retry_budget, layers.retry_budget);
}

TEST_F(AgentTest, MetricsTellOfBreakersAndBudgetsThatSomebodyAskedFor) {
  const auto agent = StartAgent(network_, clock_);
  agent->bulkhead("search-api");
  RetryBudget& budget = *agent->layers("payments-api").retry_budget;
  int denied = 0;
  for (int i = 0; i < 1000; ++i) denied += budget.TryTake() ? 0 : 1;
  ASSERT_GT(denied, 0);
  const AgentSnapshot snapshot = agent->Snapshot();
  ASSERT_EQ(snapshot.bulkheads.size(), 2U);
  EXPECT_FALSE(snapshot.bulkheads[0].breaker.has_value());
  EXPECT_FALSE(snapshot.bulkheads[0].retries_denied.has_value());
  ASSERT_TRUE(snapshot.bulkheads[1].breaker.has_value());
  EXPECT_EQ(snapshot.bulkheads[1].breaker->opened, 0);
  EXPECT_EQ(snapshot.bulkheads[1].retries_denied, denied);
}

TEST_F(AgentTest, ABulkheadHasTheOptionsItWasFirstAskedForWith) {
  const auto agent = StartAgent(network_, clock_);
  BulkheadOptions options;
  options.classes = {{"serve", 1.0}, {"batch", 0.5}};
  const absl::StatusOr<Bulkhead*> payments = agent->bulkhead("payments-api", options);
  ASSERT_TRUE(payments.ok()) << payments.status();
  EXPECT_EQ((*payments)->stats().classes.size(), 2u);
  EXPECT_EQ(*agent->bulkhead("payments-api", options), *payments);
  EXPECT_EQ(&agent->bulkhead("payments-api"), *payments);

  const absl::Status other = agent->bulkhead("payments-api", BulkheadOptions()).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.message()), HasSubstr("'payments-api' has other options"));
}

TEST_F(AgentTest, BadOptionsMakeNoBulkhead) {
  const auto agent = StartAgent(network_, clock_);
  BulkheadOptions bad;
  bad.tenants.share = 0;
  EXPECT_EQ(agent->bulkhead("payments-api", bad).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(agent->bulkhead("payments-api", BulkheadOptions()).ok());
}

TEST_F(AgentTest, ABulkheadMadeLaterIsGrantedTooWithoutWaitingForTheHoldToEnd) {
  const auto agent = StartAgent(network_, clock_);
  agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  agent->bulkhead("orders-db");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  EXPECT_EQ(agent->bulkhead("orders-db").limit(), kLimit);
}

TEST_F(AgentTest, ThreadsThatAskForTheSameBulkheadGetTheSame) {
  const auto agent = StartAgent(network_, clock_);
  std::atomic<Bulkhead*> seen[4] = {};
  std::vector<std::thread> threads;
  for (auto& place : seen) {
    threads.emplace_back([&] { place = &agent->bulkhead("payments-api"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& place : seen) EXPECT_EQ(place, seen[0]);
}

TEST_F(AgentTest, ABadNameOfADependencyIsAProgrammersError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(StartAgent(network_, clock_)->bulkhead("no such/name"), "must be valid");
}

TEST_F(AgentTest, WaitUntilGrantedGivesUpAndSaysWhatToLookAt) {
  FakeNetwork silent(
      [](const Sent&) { return internal::NoAnswer{absl::UnavailableError("away")}; });
  const auto agent = StartAgent(silent, clock_);
  agent->bulkhead("payments-api");
  const absl::Status status = agent->WaitUntilGranted(kNoTime);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no controller answers"));
  EXPECT_FALSE(agent->connected());
}

TEST_F(AgentTest, WithoutAControllerNothingIsAdmitted) {
  FakeNetwork silent(
      [](const Sent&) { return internal::NoAnswer{absl::UnavailableError("away")}; });
  const auto agent = StartAgent(silent, clock_);
  const Admission admission = agent->bulkhead("payments-api").TryAcquire();
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.rejection(), Rejection::kLimit);
}

TEST_F(AgentTest, DrawsARandomInstanceNameThatIsNotUniqueByContract) {
  const auto agent = StartAgent(network_, clock_);
  const Sent sent = network_.Take();
  ASSERT_NE(sent.registration(), nullptr);
  EXPECT_FALSE(sent.registration()->unique_instance);
  EXPECT_THAT(agent->instance(), MatchesRegex("checkout~[0-9a-f]{16}"));
  EXPECT_EQ(agent->instance(), sent.registration()->instance.value);
}

TEST_F(AgentTest, ARandomNameIsValidEvenIfTheServiceHasALongOne) {
  AgentOptions options = QuietOptions();
  options.service = std::string(63, 's');
  const auto agent = StartAgent(network_, clock_, options);
  EXPECT_TRUE(IsValidName(agent->instance())) << agent->instance();
}

TEST_F(AgentTest, AGivenInstanceNameIsUniqueByContract) {
  AgentOptions options = QuietOptions();
  options.instance = "checkout-0";
  const auto agent = StartAgent(network_, clock_, options);
  const Sent sent = network_.Take();
  ASSERT_NE(sent.registration(), nullptr);
  EXPECT_TRUE(sent.registration()->unique_instance);
  EXPECT_EQ(agent->instance(), "checkout-0");
}

TEST_F(AgentTest, DrainStopsAdmittingAndReleasesTheSession) {
  const auto agent = StartAgent(network_, clock_);
  Bulkhead& payments = agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  EXPECT_TRUE(agent->Drain(kLong).ok());
  const Admission admission = payments.TryAcquire();
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.rejection(), Rejection::kDraining);
  bool released = false;
  while (network_.HasMessage()) released = network_.Take().is_release();
  EXPECT_TRUE(released) << "the release must be the last message";
}

TEST_F(AgentTest, DrainingTwiceIsAsGoodAsOnce) {
  const auto agent = StartAgent(network_, clock_);
  EXPECT_TRUE(agent->Drain(kLong).ok());
  EXPECT_TRUE(agent->Drain(kNoTime).ok());
}

// Its callback asks for a bulkhead, which takes the agent's lock.
TEST_F(AgentTest, WhoWaitsWhenTheAgentLeavesIsToldBeforeDrainReturns) {
  ManualTimers timers;
  auto agent =
      *AgentFactory::Start(QuietOptions(), {clock_, Random(1), network_.MakeTransport(), &timers});
  BulkheadOptions options;
  options.queue.capacity = 1;
  Bulkhead& payments = **agent->bulkhead("payments-api", options);
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  CallOptions all;
  all.cost = kLimit;
  all.wait = kLong;
  Admission held = payments.Acquire(all);
  ASSERT_TRUE(held);
  std::optional<Rejection> why;
  payments.AcquireAsync(all, [&](Admission admission) {
    why = admission.rejection();
    agent->bulkhead("orders-db");
  });
  agent->Drain(kNoTime).IgnoreError();
  EXPECT_EQ(why, Rejection::kDraining);
}

TEST_F(AgentTest, ABulkheadMadeAfterDrainAdmitsNothing) {
  const auto agent = StartAgent(network_, clock_);
  ASSERT_TRUE(agent->Drain(kLong).ok());
  const Admission admission = agent->bulkhead("orders-db").TryAcquire();
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.rejection(), Rejection::kDraining);
}

TEST(AgentDrainTest, WaitsForTheCallsInFlightBeforeItReleases) {
  std::optional<Permit> permit;  // handed to the agent's thread once it leaves
  int syncs_while_leaving = 0;
  FakeNetwork network([&](const Sent& sent) {
    if (sent.sync() != nullptr && sent.sync()->leaving) {
      EXPECT_EQ(sent.sync()->dependencies[0].in_flight, 1);
      if (++syncs_while_leaving == 2) permit->Succeed();
    }
    return AnswerWell(sent, kLimit);
  });
  const auto agent = StartAgent(network, RealClock());
  Bulkhead& payments = agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  permit = *payments.TryAcquire();
  EXPECT_TRUE(agent->Drain(kLong).ok());
  EXPECT_EQ(syncs_while_leaving, 2);
  EXPECT_EQ(payments.stats().succeeded, 1);
}

TEST_F(AgentTest, DrainGivesUpOnCallsThatDoNotEnd) {
  const auto agent = StartAgent(network_, clock_);
  Bulkhead& payments = agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  Admission admission = payments.TryAcquire();
  ASSERT_TRUE(admission);
  const absl::Status status = agent->Drain(kNoTime);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1 calls are still in flight"));
}

TEST_F(AgentTest, DrainSaysSoIfTheControllerCannotBeTold) {
  FakeNetwork network([](const Sent& sent) -> std::optional<internal::Answer> {
    if (sent.is_release()) return internal::NoAnswer{absl::UnavailableError("away")};
    return AnswerWell(sent, kLimit);
  });
  const auto agent = StartAgent(network, clock_);
  agent->bulkhead("payments-api");
  ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
  const absl::Status status = agent->Drain(kNoTime);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no controller could be told"));
}

TEST_F(AgentTest, PermitsMayOutliveTheAgent) {
  std::optional<Permit> kept;
  {
    const auto agent = StartAgent(network_, clock_);
    Bulkhead& payments = agent->bulkhead("payments-api");
    ASSERT_TRUE(agent->WaitUntilGranted(kLong).ok());
    kept = *payments.TryAcquire();
  }
  EXPECT_GT(kept->time_left(), kNoTime);
  kept->Succeed();
}

TEST_F(AgentTest, AnAgentWhoseControllerNeverAnswersCanBeDestroyed) {
  FakeNetwork silent([](const Sent&) { return std::nullopt; });  // holds everything
  const auto agent = StartAgent(silent, clock_);
  agent->bulkhead("payments-api");
  silent.Take();
}

}  // namespace
}  // namespace plimsoll
