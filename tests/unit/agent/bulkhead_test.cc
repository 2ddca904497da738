#include "plimsoll/agent/bulkhead.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

class BulkheadTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  internal::Limiter* limiter_ = internal::Limiter::Make(clock_);
  std::unique_ptr<Bulkhead> bulkhead_ = BulkheadFactory::Make("payments-api", limiter_);
};

TEST_F(BulkheadTest, KnowsItsDependency) { EXPECT_EQ(bulkhead_->dependency(), "payments-api"); }

TEST_F(BulkheadTest, RefusesEverythingBeforeTheFirstGrant) {
  const Admission admission = bulkhead_->TryAcquire();
  ASSERT_FALSE(admission);
  EXPECT_EQ(admission.rejection(), Rejection::kLimit);
  EXPECT_EQ(bulkhead_->limit(), 0);
}

TEST_F(BulkheadTest, TellsTheLimitOfThisMoment) {
  const Instant start = clock_.Now();
  limiter_->Install(MakeFunction(1, {5, 2, 0}, start + absl::Seconds(1), start + absl::Seconds(2)),
                    start);
  EXPECT_EQ(bulkhead_->limit(), 5);
  clock_.Advance(absl::Seconds(1));
  EXPECT_EQ(bulkhead_->limit(), 2);
  EXPECT_EQ(bulkhead_->stats().limit, 2);
}

TEST_F(BulkheadTest, CountsWhatItAdmitsAndRefuses) {
  limiter_->Install(MakeFunction(1, 1, clock_), clock_.Now());
  Admission first = bulkhead_->TryAcquire();
  ASSERT_TRUE(first);
  EXPECT_EQ(bulkhead_->in_flight(), 1);
  EXPECT_FALSE(bulkhead_->TryAcquire());
  first->Succeed();
  const BulkheadStats stats = bulkhead_->stats();
  EXPECT_EQ(stats.in_flight, 0);
  EXPECT_EQ(stats.admitted, 1);
  EXPECT_EQ(stats.succeeded, 1);
  EXPECT_EQ(stats.rejected_limit, 1);
}

}  // namespace
}  // namespace plimsoll
