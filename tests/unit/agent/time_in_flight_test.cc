#include "agent/src/time_in_flight.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "agent/src/call_counters.h"
#include "agent/src/lingering.h"
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

// Runs with and without a cell and a stripe of the thread: more threads than there are stripes, and
// latencies that share cells.
TEST(CallCountersTest, EverySampleIsInTheBucketOfItsLatencyOnce) {
  CallCounters counters;
  constexpr int kThreads = kThreadStripes + 3;
  constexpr int kRounds = 500;
  std::atomic<int> started{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ThreadStripe();
      ++started;
      while (started < kThreads) std::this_thread::yield();
      for (int round = 0; round < kRounds; ++round) {
        for (std::int64_t latency = 256; latency < std::int64_t{1} << 38; latency *= 4) {
          counters.Count(Outcome::kSuccess, latency, 1 + round % 2);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int64_t latency = 256; latency < std::int64_t{1} << 38; latency *= 4) {
    EXPECT_EQ(counters.succeeded(LatencyHistogram::BucketOf(latency)), kThreads * kRounds * 3 / 2)
        << latency;
  }
}

TEST(SampleCellsTest, ACellBelongsToTheBucketThatCameTwiceInARowFirst) {
  SampleCells cells;
  EXPECT_FALSE(cells.Count(0, 5 + 64, 1));  // comes once
  EXPECT_FALSE(cells.Count(0, 5, 1));
  EXPECT_TRUE(cells.Count(0, 5, 3));
  EXPECT_FALSE(cells.Count(0, 5 + 64, 1));
  EXPECT_FALSE(cells.Count(0, 5 + 64, 1));
  EXPECT_TRUE(cells.Count(0, 5, 1));
  EXPECT_EQ(cells.count(5), 4);
  EXPECT_EQ(cells.count(5 + 64), 0);
}

TEST(LingeringTest, IsSeenUntilItEnds) {
  const int object = 0;
  const int other = 0;
  const int stripe = ThreadStripe();
  ASSERT_NE(stripe, kNoStripe);
  EXPECT_FALSE(Lingering::At(&object));
  const Lingering lingering(stripe, &object);
  EXPECT_TRUE(Lingering::At(&object));
  EXPECT_FALSE(Lingering::At(&other));
  lingering.End();
  EXPECT_FALSE(Lingering::At(&object));
}

}  // namespace
}  // namespace plimsoll::internal
