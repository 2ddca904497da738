#include "controller/src/ledger.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

const SessionId kA("1-1");
const SessionId kB("1-2");
constexpr Instant kStart{1'000'000'000};

LedgerTerms Terms() { return {absl::Seconds(10), absl::Seconds(60), absl::Seconds(3), 0.01}; }

// How long a duration may last on the slowest agent, seen from the fastest controller.
absl::Duration Stretched(absl::Duration duration) { return duration * (1.01 / 0.99); }

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() : ledger_(Terms()) { ledger_.Join(kA, kStart); }

  Ledger ledger_;
};

TEST_F(LedgerTest, ANewcomerHoldsNothing) { EXPECT_EQ(ledger_.Reserved(), 0); }

TEST_F(LedgerTest, TheSumOfManyChargesIsExact) {
  for (int i = 0; i < 2'148; ++i) {
    const SessionId session("2-" + std::to_string(i));
    ledger_.Join(session, kStart);
    ledger_.Charge(session, kCallsMax);
  }
  EXPECT_EQ(ledger_.Reserved(), std::int64_t{2'148} * kCallsMax);
}

TEST_F(LedgerTest, WhatIsBookedIsReservedBeforeItIsSent) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  EXPECT_EQ(ledger_.Reserved(kA), 7);
  EXPECT_EQ(ledger_.Reserved(), 7);
}

TEST_F(LedgerTest, ALoweringCountsOnlyOnceItIsAcknowledged) {
  ledger_.Book(kA, Seq(1), {7, 2, 0});
  ledger_.Book(kA, Seq(2), {3, 2, 0});
  EXPECT_EQ(ledger_.Reserved(kA), 7);
  EXPECT_EQ(ledger_.Acknowledge(kA, Seq(1), 0), 0);
  EXPECT_EQ(ledger_.Reserved(kA), 7);
  EXPECT_EQ(ledger_.Acknowledge(kA, Seq(2), 0), 4);
  EXPECT_EQ(ledger_.Reserved(kA), 3);
}

TEST_F(LedgerTest, CallsInFlightKeepTheReservationUp) {
  ledger_.Book(kA, Seq(1), {7, 2, 0});
  ledger_.Book(kA, Seq(2), {3, 2, 0});
  ledger_.Acknowledge(kA, Seq(2), 6);
  EXPECT_EQ(ledger_.Reserved(kA), 6);
  ledger_.Acknowledge(kA, Seq(2), 1);
  EXPECT_EQ(ledger_.Reserved(kA), 3);
}

TEST_F(LedgerTest, AReportNeverRaisesAReservation) {
  ledger_.Book(kA, Seq(1), {3, 0, 0});
  ledger_.Acknowledge(kA, Seq(1), 1000);
  EXPECT_EQ(ledger_.Reserved(kA), 3);
}

TEST_F(LedgerTest, TheLimitIsHeldForLeaseAndCallDeadlineStretchedThenTheBase) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  const Instant limit_end = kStart + Stretched(absl::Seconds(13));
  const Instant base_end = kStart + Stretched(absl::Seconds(63));
  EXPECT_EQ(ledger_.Expire(kA, limit_end - absl::Nanoseconds(10)), 0);
  EXPECT_EQ(ledger_.Reserved(kA), 7);
  EXPECT_EQ(ledger_.Expire(kA, limit_end + absl::Nanoseconds(10)), 5);
  EXPECT_EQ(ledger_.Reserved(kA), 2);
  EXPECT_EQ(ledger_.Expire(kA, base_end - absl::Nanoseconds(10)), 0);
  EXPECT_EQ(ledger_.Expire(kA, base_end + absl::Nanoseconds(10)), 1);
  EXPECT_EQ(ledger_.Reserved(kA), 1) << "a reserve never expires";
  EXPECT_TRUE(ledger_.ExpireAll(base_end + absl::Hours(1)).gone.empty());
}

TEST_F(LedgerTest, AMessageExtendsTheHolds) {
  ledger_.Book(kA, Seq(1), {7, 2, 0});
  ledger_.ExtendHolds(kA, kStart + absl::Seconds(5));
  ledger_.Expire(kA, kStart + Stretched(absl::Seconds(13)) + absl::Seconds(1));
  EXPECT_EQ(ledger_.Reserved(kA), 7);
}

TEST_F(LedgerTest, WhatHasEndedStaysEndedWhenTheAgentComesBack) {
  ledger_.Book(kA, Seq(1), {7, 2, 0});
  const Instant late = kStart + absl::Seconds(20);
  ledger_.Expire(kA, late);
  ledger_.ExtendHolds(kA, late);
  ledger_.Acknowledge(kA, Seq(1), 7);
  EXPECT_EQ(ledger_.Reserved(kA), 2);
}

TEST_F(LedgerTest, AnEmptyEntryGoesWhenItsHoldEnds) {
  EXPECT_TRUE(ledger_.ExpireAll(kStart + absl::Seconds(12)).gone.empty());
  EXPECT_EQ(ledger_.ExpireAll(kStart + absl::Seconds(14)).gone, std::vector{kA});
  EXPECT_FALSE(ledger_.Has(kA));
}

TEST_F(LedgerTest, ExpiredReservationsAreTold) {
  ledger_.Book(kA, Seq(1), {7, 2, 0});
  const Ledger::Expired expired = ledger_.ExpireAll(kStart + absl::Seconds(14));
  EXPECT_EQ(expired.lowered, std::vector{kA});
  EXPECT_TRUE(expired.gone.empty());
}

TEST_F(LedgerTest, AFenceEndsEverythingAfterTheCallDeadlineStretched) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  ledger_.Fence(kA, kStart);
  const Instant end = kStart + Stretched(absl::Seconds(3));
  EXPECT_TRUE(ledger_.ExpireAll(end - absl::Nanoseconds(10)).gone.empty());
  EXPECT_EQ(ledger_.ExpireAll(end + absl::Nanoseconds(10)).gone, std::vector{kA});
  EXPECT_EQ(ledger_.Reserved(), 0);
}

TEST_F(LedgerTest, ACancelledFenceEndsNothing) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  ledger_.Fence(kA, kStart);
  ledger_.CancelFence(kA);
  EXPECT_TRUE(ledger_.ExpireAll(kStart + absl::Seconds(4)).gone.empty());
  EXPECT_EQ(ledger_.Reserved(), 7);
}

TEST_F(LedgerTest, AnInheritedBoundCountsUntilAGrantOfThisReignIsAcknowledged) {
  ledger_.Inherit(kB, {9, 3, 0}, Terms(), kStart);
  ledger_.Book(kB, Seq(1), {4, 3, 0});
  EXPECT_EQ(ledger_.Reserved(kB), 9);
  ledger_.Acknowledge(kB, Seq(1), 0);
  EXPECT_EQ(ledger_.Reserved(kB), 4);
}

TEST_F(LedgerTest, LongerInheritedTermsHoldLonger) {
  LedgerTerms longer = Terms();
  longer.lease = absl::Seconds(100);
  longer.base_lease = absl::Seconds(200);
  ledger_.Inherit(kB, {9, 3, 0}, longer, kStart);
  ledger_.Expire(kB, kStart + absl::Seconds(100));
  EXPECT_EQ(ledger_.Reserved(kB), 9);
  EXPECT_EQ(ledger_.Terms().lease, absl::Seconds(100));
  // Calls of the former terms may run on after the acknowledgement, until all of them have ended.
  ledger_.Book(kB, Seq(1), {9, 3, 0});
  ledger_.Acknowledge(kB, Seq(1), 0);
  EXPECT_EQ(ledger_.Terms().lease, absl::Seconds(100));
  ledger_.ExtendHolds(kB, kStart + absl::Seconds(300));
  EXPECT_EQ(ledger_.Terms().lease, absl::Seconds(10));
}

TEST_F(LedgerTest, TheBoundCoversWhatIsSentAndWhatRuns) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  ledger_.Book(kA, Seq(2), {3, 1, 0});
  EXPECT_EQ(ledger_.Bound(kA), (Steps{7, 2, 1}));
  ledger_.Acknowledge(kA, Seq(2), 5);
  EXPECT_EQ(ledger_.Bound(kA), (Steps{5, 1, 0}));
}

TEST_F(LedgerTest, AReleaseFreesAllOfIt) {
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  ledger_.Release(kA);
  EXPECT_EQ(ledger_.Reserved(), 0);
  EXPECT_FALSE(ledger_.Has(kA));
}

TEST_F(LedgerTest, TheSumIsTheSumOfTheParts) {
  ledger_.Join(kB, kStart);
  ledger_.Book(kA, Seq(1), {7, 2, 1});
  ledger_.Book(kB, Seq(2), {5, 5, 0});
  ledger_.Acknowledge(kB, Seq(2), 2);
  ledger_.Expire(kA, kStart + absl::Seconds(14));
  EXPECT_EQ(ledger_.Reserved(), ledger_.Reserved(kA) + ledger_.Reserved(kB));
}

using LedgerDeathTest = LedgerTest;

TEST_F(LedgerDeathTest, GrantsAreBookedInOrder) {
  ledger_.Book(kA, Seq(2), {7, 2, 1});
  EXPECT_DEATH(ledger_.Book(kA, Seq(2), {7, 2, 1}), "booked in order");
}

}  // namespace
}  // namespace plimsoll::internal
