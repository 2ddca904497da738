#include "plimsoll/agent/permit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

class PermitTest : public ::testing::Test {
 protected:
  PermitTest() { limiter_->Install(MakeFunction(1, 10, clock_), clock_.Now()); }

  Permit Acquire() {
    Admission admission = limiter_->TryAcquire();
    EXPECT_TRUE(admission.has_value());
    return *std::move(admission);
  }
  // The endings counted so far.
  std::string Endings() const {
    const BulkheadStats stats = limiter_->Stats();
    return "succeeded " + std::to_string(stats.succeeded) + ", dropped " +
           std::to_string(stats.dropped) + ", ignored " + std::to_string(stats.ignored) +
           ", leaked " + std::to_string(stats.leaked) + ", in flight " +
           std::to_string(stats.in_flight);
  }

  ManualClock clock_;
  LimiterPtr limiter_ = MakeLimiter(clock_);
};

TEST_F(PermitTest, SucceedCounts) {
  Acquire().Succeed();
  EXPECT_EQ(Endings(), "succeeded 1, dropped 0, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, DropCounts) {
  Acquire().Drop();
  EXPECT_EQ(Endings(), "succeeded 0, dropped 1, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, IgnoreCounts) {
  Acquire().Ignore();
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 1, leaked 0, in flight 0");
}

TEST_F(PermitTest, OneThatIsDestroyedCountsAsIgnoredAndLeaked) {
  { const Permit forgotten = Acquire(); }
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 1, leaked 1, in flight 0");
}

TEST_F(PermitTest, OnlyTheFirstEndingCounts) {
  Permit permit = Acquire();
  permit.Drop();
  permit.Succeed();
  permit.Ignore();
  permit.Drop();
  EXPECT_EQ(Endings(), "succeeded 0, dropped 1, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, MovingHandsTheCallOn) {
  Permit first = Acquire();
  Permit second = std::move(first);
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 0, leaked 0, in flight 1");
  first.Succeed();  // NOLINT(bugprone-use-after-move): does nothing, by contract
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 0, leaked 0, in flight 1");
  second.Succeed();
  EXPECT_EQ(Endings(), "succeeded 1, dropped 0, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, AssigningEndsWhatWasHeldBefore) {
  Permit held = Acquire();
  held = Acquire();
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 1, leaked 1, in flight 1");
  held.Succeed();
}

TEST_F(PermitTest, AssigningToItselfChangesNothing) {
  Permit permit = Acquire();
  Permit& same = permit;
  permit = std::move(same);
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 0, leaked 0, in flight 1");
  permit.Succeed();
}

TEST_F(PermitTest, AnotherThreadMayEndIt) {
  Permit permit = Acquire();
  std::thread([moved = std::move(permit)]() mutable { moved.Succeed(); }).join();
  EXPECT_EQ(Endings(), "succeeded 1, dropped 0, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, MayOutliveItsBulkhead) {
  std::optional<Permit> permit;
  {
    internal::Limiter* limiter = internal::Limiter::Make(clock_);
    const auto bulkhead = BulkheadFactory::Make("payments-api", limiter);
    limiter->Install(MakeFunction(1, 1, clock_), clock_.Now());
    permit = *bulkhead->TryAcquire();
  }
  permit->Succeed();
  permit->Succeed();
}

TEST_F(PermitTest, WithoutACallDeadlineThereIsAllTheTimeInTheWorld) {
  Permit permit = Acquire();
  EXPECT_EQ(permit.time_left(), std::chrono::nanoseconds::max());
  EXPECT_EQ(permit.deadline(), std::chrono::steady_clock::time_point::max());
  permit.Ignore();
}

TEST_F(PermitTest, TimeLeftCountsFromTheAdmissionAndBecomesNegative) {
  internal::StepFunction function = MakeFunction(2, 10, clock_);
  function.call_deadline = absl::Seconds(5);
  limiter_->Install(function, clock_.Now());
  Permit permit = Acquire();
  clock_.Advance(absl::Seconds(2));
  EXPECT_EQ(permit.time_left(), std::chrono::seconds(3));
  EXPECT_GT(permit.deadline(), std::chrono::steady_clock::now());
  clock_.Advance(absl::Seconds(4));
  EXPECT_EQ(permit.time_left(), std::chrono::seconds(-1));
  EXPECT_LT(permit.deadline(), std::chrono::steady_clock::now());
  permit.Ignore();
  EXPECT_EQ(permit.time_left(), std::chrono::nanoseconds::zero());
}

TEST(RejectionTest, EveryOneHasAName) {
  EXPECT_EQ(ToString(Rejection::kLimit), "limit");
  EXPECT_EQ(ToString(Rejection::kQueueFull), "queue_full");
  EXPECT_EQ(ToString(Rejection::kDeadline), "deadline");
  EXPECT_EQ(ToString(Rejection::kBreakerOpen), "breaker_open");
  EXPECT_EQ(ToString(Rejection::kDraining), "draining");
}

}  // namespace
}  // namespace plimsoll
