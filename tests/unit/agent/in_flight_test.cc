#include "agent/src/in_flight.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

TEST(InFlightTest, EnterTellsHowManyThereAre) {
  InFlight in_flight;
  EXPECT_EQ(in_flight.Enter(Instant{0}).calls(), 1);
  EXPECT_EQ(in_flight.Enter(Instant{5}).calls(), 2);
  EXPECT_EQ(in_flight.calls(), 2);
}

TEST(InFlightTest, OnlyTheLastCallOfAnOrphanIsToldToCleanUp) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  in_flight.Enter(Instant{2});
  EXPECT_FALSE(in_flight.Orphan());
  EXPECT_FALSE(in_flight.Leave().last_of_orphan);
  EXPECT_TRUE(in_flight.Leave().last_of_orphan);
}

TEST(InFlightTest, AnOrphanWithoutCallsIsToldAtOnce) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  EXPECT_FALSE(in_flight.Leave().last_of_orphan);
  EXPECT_TRUE(in_flight.Orphan());
}

TEST(InFlightTest, TheLargestLimitAndItsCallersFitBesideTheOrphanBit) {
  InFlight in_flight;
  constexpr Calls kMost = (1 << 20) - 1;
  for (Calls i = 0; i < kMost; ++i) in_flight.Enter(Instant{i});
  EXPECT_EQ(in_flight.calls(), kMost);
  EXPECT_FALSE(in_flight.Read().orphaned);
}

TEST(InFlightTest, ACallOfSeveralUnitsCountsAsSoManyCalls) {
  InFlight in_flight;
  const auto heavy = in_flight.TryEnter(Instant{1'024'000}, 3, 10);
  ASSERT_TRUE(heavy.has_value());
  EXPECT_EQ(heavy->calls(), 3);
  EXPECT_FALSE(in_flight.Leave(3).last_of_orphan);
  EXPECT_EQ(in_flight.calls(), 0);
}

TEST(InFlightTest, AHeavyCallThatDoesNotFitChangesNothing) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  EXPECT_FALSE(in_flight.TryEnter(Instant{2}, 10, 10).has_value());
  EXPECT_EQ(in_flight.calls(), 1);
  EXPECT_TRUE(in_flight.TryEnter(Instant{2}, 9, 10).has_value());
}

TEST(InFlightTest, TheLastHeavyCallOfAnOrphanIsToldToCleanUp) {
  InFlight in_flight;
  ASSERT_TRUE(in_flight.TryEnter(Instant{1}, 2, 10).has_value());
  ASSERT_TRUE(in_flight.TryEnter(Instant{1}, 5, 10).has_value());
  EXPECT_FALSE(in_flight.Orphan());
  EXPECT_FALSE(in_flight.Leave(2).last_of_orphan);
  EXPECT_TRUE(in_flight.Leave(5).last_of_orphan);
}

TEST(InFlightTest, WhoeverLeavesAfterSomebodyBeganToWaitIsTold) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  in_flight.Enter(Instant{1});
  EXPECT_FALSE(in_flight.Leave().waiting);
  EXPECT_EQ(in_flight.SetWaiting().calls, 1);
  EXPECT_TRUE(in_flight.Enter(Instant{3}).waiting());
  EXPECT_TRUE(in_flight.Leave().waiting);
  in_flight.ClearWaiting();
  EXPECT_FALSE(in_flight.Leave().waiting);
  EXPECT_EQ(in_flight.calls(), 0);
}

}  // namespace
}  // namespace plimsoll::internal
