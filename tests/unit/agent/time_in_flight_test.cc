#include "agent/src/time_in_flight.h"

#include <gtest/gtest.h>

#include <thread>
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

TEST(TimeInFlightTest, ACallOfSeveralUnitsCountsAsSoManyCalls) {
  TimeInFlight time;
  time.Enter(Instant{1'024'000}, 3);
  EXPECT_EQ(time.IntegralAt(Instant{5'120'000}), 3 * (5'000 - 1'000));
  time.Leave(Instant{5'120'000}, 3);
  EXPECT_EQ(time.IntegralAt(Instant{9'999'999}), 3 * (5'000 - 1'000));
}

// A call may end on another thread than it began on; then a word of the sum is negative.
TEST(TimeInFlightTest, DoesNotMindWhereACallEnds) {
  TimeInFlight time;
  for (int i = 0; i < 5; ++i) time.Enter(Instant{1'024'000}, 1);
  std::thread([&] { time.Leave(Instant{2'048'000}, 1); }).join();
  std::thread([&] { time.Leave(Instant{3'072'000}, 4); }).join();
  EXPECT_EQ(time.IntegralAt(Instant{9'999'999}), 1'000 + 4 * 2'000);
}

// A reading may see the end of a call, and not yet its beginning on another thread.
TEST(TimeInFlightTest, AnEndSeenBeforeItsBeginningIsOffByTheTimeBetween) {
  TimeInFlight time;
  time.Leave(Instant{4'096'000}, 1);
  EXPECT_EQ(TimeInFlight::Difference(time.IntegralAt(Instant{5'120'000}), 0), -1'000);
}

// Starts shortly before the sum wraps, at 2^42 units, and far from it.
class TimeInFlightModelTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(TimeInFlightModelTest, IsThatOfAModelThatRemembersEveryCall) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    TimeInFlight time;
    std::vector<ModelCall> calls;
    std::vector<std::size_t> open;
    Instant now{GetParam()};
    const Instant start = now;
    const std::uint64_t integral_start = time.IntegralAt(start);
    for (int step = 0; step < 400; ++step) {
      now = now + absl::Nanoseconds(random.Below(3'000'000));
      if (open.empty() || random.Chance(0.5)) {
        time.Enter(now, 1);
        open.push_back(calls.size());
        calls.push_back({now});
      } else {
        const std::size_t which = random.Below(open.size());
        calls[open[which]].left = now;
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        time.Leave(now, 1);
      }
      ASSERT_EQ(TimeInFlight::Difference(time.IntegralAt(now), integral_start),
                ModelIntegral(calls, now));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, TimeInFlightModelTest,
                         ::testing::Values(0, 1'000'000'000, (std::int64_t{1} << 53) - 100'000'000,
                                           (std::int64_t{1} << 62)));

}  // namespace
}  // namespace plimsoll::internal
