#include "agent/src/in_flight.h"

#include <gtest/gtest.h>

#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

std::int64_t Units(Instant at) { return at.ns >> kUnitLog2; }

// The integral up to `at`, call by call.
struct ModelCall {
  Instant entered;
  Instant left = kInfiniteFuture;
};
std::int64_t ModelIntegral(const std::vector<ModelCall>& calls, Instant at) {
  std::int64_t sum = 0;
  for (const ModelCall& call : calls) sum += Units(std::min(call.left, at)) - Units(call.entered);
  return sum;
}

TEST(InFlightTest, EnterTellsHowManyThereAre) {
  InFlight in_flight;
  EXPECT_EQ(in_flight.Enter(Instant{0}).calls(), 1);
  EXPECT_EQ(in_flight.Enter(Instant{5}).calls(), 2);
  EXPECT_EQ(in_flight.calls(), 2);
}

TEST(InFlightTest, LeavingAtTheTimeOfEntryUndoesTheEntryToTheLastBit) {
  InFlight in_flight;
  in_flight.Enter(Instant{7'777'777});
  const InFlight::Reading before = in_flight.Read();
  in_flight.Enter(Instant{123'456'789'012});
  EXPECT_FALSE(in_flight.Leave(Instant{123'456'789'012}).last_of_orphan);
  EXPECT_EQ(in_flight.Read().calls, before.calls);
  EXPECT_EQ(in_flight.Read().sum, before.sum);
}

TEST(InFlightTest, OnlyTheLastCallOfAnOrphanIsToldToCleanUp) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  in_flight.Enter(Instant{2});
  EXPECT_FALSE(in_flight.Orphan());
  EXPECT_FALSE(in_flight.Leave(Instant{3}).last_of_orphan);
  EXPECT_TRUE(in_flight.Leave(Instant{4}).last_of_orphan);
}

TEST(InFlightTest, AnOrphanWithoutCallsIsToldAtOnce) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  EXPECT_FALSE(in_flight.Leave(Instant{2}).last_of_orphan);
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
  const Instant later{5'120'000};
  EXPECT_EQ(in_flight.Read().IntegralAt(later), 3 * (5'000 - 1'000));
  EXPECT_FALSE(in_flight.Leave(later, 3).last_of_orphan);
  EXPECT_EQ(in_flight.calls(), 0);
  EXPECT_EQ(in_flight.Read().IntegralAt(Instant{9'999'999}), 3 * (5'000 - 1'000));
}

TEST(InFlightTest, AHeavyCallThatDoesNotFitChangesNothing) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  const std::uint64_t sum = in_flight.Read().sum;
  EXPECT_FALSE(in_flight.TryEnter(Instant{2}, 10, 10).has_value());
  EXPECT_EQ(in_flight.calls(), 1);
  EXPECT_EQ(in_flight.Read().sum, sum);
  EXPECT_TRUE(in_flight.TryEnter(Instant{2}, 9, 10).has_value());
}

TEST(InFlightTest, TheLastHeavyCallOfAnOrphanIsToldToCleanUp) {
  InFlight in_flight;
  ASSERT_TRUE(in_flight.TryEnter(Instant{1}, 2, 10).has_value());
  ASSERT_TRUE(in_flight.TryEnter(Instant{1}, 5, 10).has_value());
  EXPECT_FALSE(in_flight.Orphan());
  EXPECT_FALSE(in_flight.Leave(Instant{2}, 2).last_of_orphan);
  EXPECT_TRUE(in_flight.Leave(Instant{3}, 5).last_of_orphan);
}

TEST(InFlightTest, WhoeverLeavesAfterSomebodyBeganToWaitIsTold) {
  InFlight in_flight;
  in_flight.Enter(Instant{1});
  in_flight.Enter(Instant{1});
  EXPECT_FALSE(in_flight.Leave(Instant{2}).waiting);
  EXPECT_EQ(in_flight.SetWaiting().calls, 1);
  EXPECT_TRUE(in_flight.Enter(Instant{3}).waiting());
  EXPECT_TRUE(in_flight.Leave(Instant{4}).waiting);
  in_flight.ClearWaiting();
  EXPECT_FALSE(in_flight.Leave(Instant{5}).waiting);
  EXPECT_EQ(in_flight.calls(), 0);
}

// Starts shortly before the sum wraps, at 2^42 units, and far from it.
class InFlightIntegralTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(InFlightIntegralTest, IsThatOfAModelThatRemembersEveryCall) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    InFlight in_flight;
    std::vector<ModelCall> calls;
    std::vector<std::size_t> open;
    Instant now{GetParam()};
    const Instant start = now;
    const std::uint64_t integral_start = in_flight.Read().IntegralAt(start);
    for (int step = 0; step < 400; ++step) {
      now = now + absl::Nanoseconds(random.Below(3'000'000));
      if (open.empty() || random.Chance(0.5)) {
        in_flight.Enter(now);
        open.push_back(calls.size());
        calls.push_back({now});
      } else {
        const std::size_t which = random.Below(open.size());
        calls[open[which]].left = now;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        ASSERT_FALSE(in_flight.Leave(now).last_of_orphan);
      }
      const InFlight::Reading reading = in_flight.Read();
      ASSERT_EQ(reading.calls, static_cast<Calls>(open.size()));
      ASSERT_EQ(InFlight::Difference(reading.IntegralAt(now), integral_start),
                ModelIntegral(calls, now));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, InFlightIntegralTest,
                         ::testing::Values(0, 1'000'000'000, (std::int64_t{1} << 53) - 100'000'000,
                                           (std::int64_t{1} << 62)));

}  // namespace
}  // namespace plimsoll::internal
