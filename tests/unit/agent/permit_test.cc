#include "plimsoll/agent/permit.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
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

TEST_F(PermitTest, FinishCountsTheKindToo) {
  for (int outcome = 0; outcome < kOutcomes; ++outcome) {
    for (int times = 0; times <= outcome; ++times) {
      Acquire().Finish(static_cast<Outcome>(outcome));
    }
  }
  EXPECT_EQ(Endings(), "succeeded 3, dropped 7, ignored 11, leaked 0, in flight 0");
  EXPECT_EQ(limiter_->Stats().outcomes, (std::array<std::int64_t, kOutcomes>{1, 2, 3, 4, 5, 6}));
}

TEST_F(PermitTest, TheShortWordsAreKindsToo) {
  Acquire().Succeed();
  Acquire().Drop();
  Acquire().Ignore();
  const BulkheadStats stats = limiter_->Stats();
  EXPECT_EQ(stats.ended_by(Outcome::kSuccess), 1);
  EXPECT_EQ(stats.ended_by(Outcome::kOverload), 1);
  EXPECT_EQ(stats.ended_by(Outcome::kIgnored), 1);
}

TEST_F(PermitTest, OnlyTheFirstFinishCounts) {
  Permit permit = Acquire();
  permit.Finish(Outcome::kTimeout);
  permit.Finish(Outcome::kError);
  permit.Succeed();
  EXPECT_EQ(limiter_->Stats().outcomes, (std::array<std::int64_t, kOutcomes>{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(Endings(), "succeeded 0, dropped 1, ignored 0, leaked 0, in flight 0");
}

TEST_F(PermitTest, AnExceptionEndsItAsLeaked) {
  const auto call = [this] {
    const Permit permit = Acquire();
    throw std::runtime_error("connection reset");
  };
  EXPECT_THROW(call(), std::runtime_error);
  EXPECT_EQ(Endings(), "succeeded 0, dropped 0, ignored 1, leaked 1, in flight 0");
}

TEST_F(PermitTest, AnExceptionAfterTheEndingChangesNothing) {
  const auto call = [this] {
    Permit permit = Acquire();
    permit.Finish(Outcome::kError);
    throw std::runtime_error("what came back cannot be read");
  };
  EXPECT_THROW(call(), std::runtime_error);
  EXPECT_EQ(Endings(), "succeeded 1, dropped 0, ignored 0, leaked 0, in flight 0");
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
    BulkheadOptions options;
    options.tenants.share = 0.5;
    internal::Limiter* limiter = internal::Limiter::Make(clock_, options);
    const auto bulkhead = BulkheadFactory::Make("payments-api", limiter);
    limiter->Install(MakeFunction(1, 1, clock_), clock_.Now());
    permit = *bulkhead->TryAcquire({.cost = 1, .tenant = "acme"});
  }
  permit->Finish(Outcome::kError);
  permit->Finish(Outcome::kError);
}

TEST_F(PermitTest, WithoutACallDeadlineThereIsAllTheTimeInTheWorld) {
  Permit permit = Acquire();
  EXPECT_EQ(permit.time_left(), std::chrono::nanoseconds::max());
  EXPECT_EQ(permit.deadline(), std::chrono::steady_clock::time_point::max());
  permit.Ignore();
}

TEST_F(PermitTest, TheEarlierOfThePolicysAndTheCallersDeadlineHolds) {
  internal::StepFunction function = MakeFunction(2, 10, clock_);
  function.call_deadline = absl::Seconds(5);
  limiter_->Install(function, clock_.Now());
  const auto time_left = [this](absl::Duration wanted) {
    CallOptions options;
    options.deadline = Deadline::FromLeaseClock((clock_.Now() + wanted).ns);
    Admission admission = limiter_->TryAcquire(options);
    const auto left = admission->time_left();
    admission->Ignore();
    return left;
  };
  EXPECT_EQ(time_left(absl::Seconds(2)), std::chrono::seconds(2));
  EXPECT_EQ(time_left(absl::Seconds(9)), std::chrono::seconds(5));
  EXPECT_EQ(time_left(absl::InfiniteDuration()), std::chrono::seconds(5));
}

TEST_F(PermitTest, TheDeadlineOfAScopeHoldsForEveryWayToAcquire) {
  const DeadlineScope scope(Deadline::FromLeaseClock((clock_.Now() + absl::Seconds(3)).ns));
  Permit plain = Acquire();
  EXPECT_EQ(plain.time_left(), std::chrono::seconds(3));
  Admission wished = limiter_->TryAcquire({.cost = 2});
  EXPECT_EQ(wished->time_left(), std::chrono::seconds(3));
  clock_.Advance(absl::Seconds(3));
  EXPECT_EQ(limiter_->TryAcquire().rejection(), Rejection::kDeadline);
  plain.Ignore();
  wished->Ignore();
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
