#include "agent/src/limit_journal.h"

#include <gtest/gtest.h>

#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {
namespace {

using internal::LimitJournal;
using internal::StepFunction;

constexpr auto kUp = LimitJournal::Direction::kUp;
constexpr auto kDown = LimitJournal::Direction::kDown;

class LimitJournalTest : public ::testing::Test {
 protected:
  StepFunction Grant(std::int64_t seq, Steps steps, Reason reason) {
    StepFunction function = MakeFunction(seq, steps, clock_.Now() + absl::Seconds(10),
                                         clock_.Now() + absl::Seconds(20));
    function.explanation.reason = reason;
    return function;
  }
  void Install(std::int64_t seq, Steps steps, Reason reason) {
    limiter_->Install(Grant(seq, steps, reason), clock_.Now());
  }
  std::int64_t Changes(LimitJournal::Direction direction, Reason reason) const {
    return limiter_->journal().changes(direction, reason);
  }
  std::int64_t AllChanges() const {
    std::int64_t sum = 0;
    for (std::size_t reason = 0; reason < kReasons; ++reason) {
      sum +=
          Changes(kUp, static_cast<Reason>(reason)) + Changes(kDown, static_cast<Reason>(reason));
    }
    return sum;
  }

  ManualClock clock_;
  LimiterPtr limiter_ = MakeLimiter(clock_);
};

TEST_F(LimitJournalTest, NothingIsKnownBeforeTheFirstGrant) {
  EXPECT_FALSE(limiter_->journal().Newest().has_value());
  limiter_->Install(StepFunction(), clock_.Now());
  EXPECT_FALSE(limiter_->journal().Newest().has_value());
  EXPECT_EQ(AllChanges(), 0);
}

TEST_F(LimitJournalTest, KeepsWhatTheNewestGrantSaid) {
  StepFunction function = Grant(1, {5, 0, 0}, Reason::kInitial);
  function.explanation.algorithm_limit = 9;
  function.explanation.quota_share = 5;
  function.explanation.floor = 2;
  function.explanation.ceiling = 50;
  function.explanation.binding = BindingConstraint::kQuota;
  limiter_->Install(function, clock_.Now());
  Explanation expected = function.explanation;
  expected.reason = Reason::kInitial;
  EXPECT_EQ(limiter_->journal().Newest(), expected);
  EXPECT_EQ(limiter_->journal().confirmed(), clock_.Now());
}

// As from a controller that cannot confirm its reign: it lowers, and the lease runs on.
TEST_F(LimitJournalTest, AGrantThatMakesNoLeaseLongerDoesNotCountAsOne) {
  const StepFunction first = Grant(1, {5, 0, 0}, Reason::kInitial);
  limiter_->Install(first, clock_.Now());
  const Instant granted = clock_.Now();
  clock_.Advance(absl::Seconds(4));
  StepFunction lower = Grant(2, {3, 0, 0}, Reason::kQuotaRebalanced);
  lower.limit_end = first.limit_end;
  limiter_->Install(lower, clock_.Now());
  EXPECT_EQ(limiter_->journal().confirmed(), granted);
  Install(3, {3, 0, 0}, Reason::kQuotaRebalanced);
  EXPECT_EQ(limiter_->journal().confirmed(), clock_.Now());
}

TEST_F(LimitJournalTest, CountsChangesByDirectionAndReason) {
  Install(1, {5, 0, 0}, Reason::kInitial);
  Install(2, {5, 0, 0}, Reason::kLatencyFell);  // a renewal is no change
  Install(3, {6, 0, 0}, Reason::kLatencyFell);
  Install(4, {3, 0, 0}, Reason::kQuotaRebalanced);
  EXPECT_EQ(Changes(kUp, Reason::kInitial), 1);
  EXPECT_EQ(Changes(kUp, Reason::kLatencyFell), 1);
  EXPECT_EQ(Changes(kDown, Reason::kQuotaRebalanced), 1);
  EXPECT_EQ(AllChanges(), 3);
}

TEST_F(LimitJournalTest, AStepThatEndsIsAFallbackAndWhatComesNextLeavesIt) {
  Install(1, {5, 2, 1}, Reason::kInitial);
  clock_.Advance(absl::Seconds(10));
  limiter_->Measure(clock_.Now(), absl::Seconds(1));
  clock_.Advance(absl::Seconds(10));
  limiter_->Measure(clock_.Now(), absl::Seconds(1));
  EXPECT_EQ(Changes(kDown, Reason::kFallbackEntered), 2);
  Install(2, {6, 2, 1}, Reason::kLatencyFell);
  EXPECT_EQ(Changes(kUp, Reason::kFallbackLeft), 1);
  Install(3, {7, 2, 1}, Reason::kLatencyFell);
  EXPECT_EQ(Changes(kUp, Reason::kLatencyFell), 1);
  EXPECT_EQ(AllChanges(), 5);
}

TEST_F(LimitJournalTest, AStepThatEndedUnseenIsCountedWithTheNextGrant) {
  Install(1, {5, 2, 1}, Reason::kInitial);
  clock_.Advance(absl::Seconds(10));
  Install(2, {5, 2, 1}, Reason::kLatencyFell);
  EXPECT_EQ(Changes(kDown, Reason::kFallbackEntered), 1);
  EXPECT_EQ(Changes(kUp, Reason::kFallbackLeft), 1);
}

TEST_F(LimitJournalTest, AGrantTakenBackIsAFallback) {
  Install(1, {5, 2, 1}, Reason::kInitial);
  limiter_->Install(StepFunction(), clock_.Now());
  EXPECT_EQ(Changes(kDown, Reason::kFallbackEntered), 1);
  Install(2, {5, 2, 1}, Reason::kInitial);
  EXPECT_EQ(Changes(kUp, Reason::kFallbackLeft), 1);
}

TEST_F(LimitJournalTest, AShortenedLeaseConfirmsNothing) {
  Install(1, {5, 2, 1}, Reason::kInitial);
  const Instant confirmed = clock_.Now();
  clock_.Advance(absl::Seconds(1));
  StepFunction shortened = Grant(1, {5, 2, 1}, Reason::kInitial);
  shortened.limit_end = clock_.Now();
  limiter_->Install(shortened, clock_.Now());
  EXPECT_EQ(limiter_->journal().confirmed(), confirmed);
  EXPECT_EQ(Changes(kDown, Reason::kFallbackEntered), 1);
}

}  // namespace
}  // namespace plimsoll
