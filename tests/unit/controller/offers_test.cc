#include "controller/src/offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;

// In use, all of it.
OfferRow Busy(Calls current, Calls share) { return {current, share, 1, 100, true, true, 0}; }
// Uses nothing of what it has beyond a call.
OfferRow Idle(Calls current, Calls share) { return {current, share, 1, 1, false, true, 0}; }
OfferRow Unsettled(OfferRow row) {
  row.settled = false;
  return row;
}

std::vector<Calls> Offers(std::vector<OfferRow> rows, const OfferTerms& terms) {
  MakeOffers(rows, terms);
  std::vector<Calls> offers;
  for (const OfferRow& row : rows) offers.push_back(row.offer);
  return offers;
}

TEST(OffersTest, WhatIsFreeIsOfferedWhateverItsSize) {
  EXPECT_THAT(Offers({Busy(20, 21), Busy(20, 29)}, {50}), ElementsAre(21, 29));
}

TEST(OffersTest, ASmallGainTakesNothingFromOthers) {
  EXPECT_THAT(Offers({Busy(26, 25), Busy(24, 25)}, {50}), ElementsAre(26, 24));
  EXPECT_THAT(Offers({Busy(35, 29), Busy(60, 65), Busy(5, 6)}, {100, 0, 10}),
              ElementsAre(35, 60, 5));
}

TEST(OffersTest, AGainOfATenthIsTaken) {
  EXPECT_THAT(Offers({Busy(40, 38), Busy(10, 12)}, {50, 0, 10}), ElementsAre(38, 12));
}

TEST(OffersTest, WhatWasRaisedJustNowIsNotLowered) {
  EXPECT_THAT(Offers({Unsettled(Busy(40, 25)), Busy(10, 25)}, {50, 0, 50}), ElementsAre(40, 10));
}

TEST(OffersTest, HeadroomIsLoweredForNeedHoweverNewItIs) {
  EXPECT_THAT(Offers({Unsettled(Idle(40, 10)), Busy(10, 40)}, {50, 0, 50}), ElementsAre(10, 40));
}

TEST(OffersTest, HeadroomEvensOutOnceItIsSettled) {
  OfferRow less = Idle(10, 25);
  EXPECT_THAT(Offers({Unsettled(Idle(40, 25)), less}, {50, 0, 50}), ElementsAre(40, 10));
  EXPECT_THAT(Offers({Idle(40, 25), less}, {50, 0, 50}), ElementsAre(25, 25));
}

TEST(OffersTest, OnlySoMuchIsUnderWayAtATime) {
  EXPECT_THAT(Offers({Busy(40, 25), Busy(10, 25)}, {50, 0, 5}), ElementsAre(35, 15));
  EXPECT_THAT(Offers({Busy(40, 25), Busy(10, 25)}, {50, 0, 5, 3}), ElementsAre(38, 12));
  EXPECT_THAT(Offers({Busy(40, 25), Busy(10, 25)}, {50, 0, 5, 9}), ElementsAre(40, 10));
}

TEST(OffersTest, AFirstCallWaitsForNothing) {
  EXPECT_THAT(Offers({Unsettled(Busy(2, 1)), Busy(0, 1)}, {2, 0, 1, 9}), ElementsAre(1, 1));
}

TEST(OffersTest, WhoWantsNothingIsNotUrgent) {
  OfferRow idle = Idle(0, 1);
  idle.low = 0;
  EXPECT_THAT(Offers({Unsettled(Busy(2, 1)), idle}, {2}), ElementsAre(2, 0));
}

TEST(OffersTest, ALowWaitsForNothing) {
  OfferRow below = Busy(1, 8);
  below.low = 5;
  EXPECT_THAT(Offers({Unsettled(Busy(20, 13)), below}, {21, 0, 1, 9}), ElementsAre(16, 5));
}

TEST(OffersTest, ANewcomerMaySpendTheJoinReserve) {
  EXPECT_THAT(Offers({Unsettled(Busy(48, 47)), Busy(0, 1)}, {48, 2}), ElementsAre(48, 1));
}

TEST(OffersTest, TheJoinReserveIsMadeFreeAgain) {
  EXPECT_THAT(Offers({Busy(48, 47), Busy(1, 1)}, {48, 2}), ElementsAre(47, 1));
}

TEST(OffersTest, ACutComesDownAtOnceTheLargestExcessFirst) {
  EXPECT_THAT(Offers({Unsettled(Busy(30, 12)), Unsettled(Busy(20, 18))}, {30, 0, 3, 9}),
              ElementsAre(12, 18));
  EXPECT_THAT(Offers({Unsettled(Busy(30, 12)), Unsettled(Busy(20, 18))}, {40, 0, 3, 9}),
              ElementsAre(20, 20));
}

TEST(OffersTest, WithReservationsAboveTheQuotaEveryExcessIsLowered) {
  OfferTerms terms{50, 0, 5};
  terms.overbooked = true;
  EXPECT_THAT(Offers({Busy(26, 25), Unsettled(Busy(24, 23)), Busy(0, 2)}, terms),
              ElementsAre(25, 23, 2));
}

TEST(OffersTest, RaisesThatNobodyPaysForYetAreNotOffered) {
  const std::vector<Calls> offers = Offers({Busy(45, 25), Busy(5, 25)}, {50, 0, 5});
  EXPECT_EQ(offers[0] + offers[1], 50);
}

}  // namespace
}  // namespace plimsoll::internal
