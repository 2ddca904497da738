// Samples that are counted in the cells of threads: each is in the window in which its call ended,
// or in the next, and none is lost whatever becomes of threads and windows.

#include "agent/src/sample_cells.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "agent/src/call_counters.h"
#include "agent/src/due_work.h"
#include "agent/src/window_cutter.h"
#include "plimsoll/core/random.h"
#include "tests/unit/agent/limiter_support.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll::internal {
namespace {

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

// Any thread of any stripe, or none, before and after any reading. The latencies share few cells.
TEST(SampleCellsTest, EveryReadingHasAllThatWasCountedBefore) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto counters = std::make_unique<CallCounters>();
    std::map<std::size_t, std::uint64_t> model;
    for (int step = 0; step < 2'000; ++step) {
      const std::int64_t latency = std::int64_t{256} << random.Below(24);
      const auto units = static_cast<Calls>(1 + random.Below(3));
      const int stripe = static_cast<int>(random.Below(kThreadStripes + 1));
      counters->CountSuccess(stripe == kThreadStripes ? kNoStripe : stripe, latency, units);
      model[LatencyHistogram::BucketOf(latency)] += static_cast<std::uint64_t>(units);
      for (const auto& [bucket, count] : model) ASSERT_EQ(counters->succeeded(bucket), count);
    }
  }
}

class SampleWindowsTest : public ::testing::Test {
 protected:
  void Grant(Calls limit) {
    limiter_->Install(MakeFunction(++seq_, limit, clock_), clock_.Now());
    Take();
  }
  // What the windows closed by now have counted.
  Window Take() {
    constexpr absl::Duration kLength = absl::Milliseconds(1);
    clock_.Advance(kLength);
    Window sum;
    for (const Window& window : limiter_->Measure(clock_.Now(), kLength).windows) {
      sum.succeeded += window.succeeded;
      sum.admitted += window.admitted;
      sum.latency.Merge(window.latency);
    }
    return sum;
  }
  void Call(int times) {
    for (int i = 0; i < times; ++i) limiter_->TryAcquire()->Succeed();
  }

  ManualClock clock_;
  LimiterPtr limiter_ = MakeLimiter(clock_);
  std::int64_t seq_ = 0;
};

TEST_F(SampleWindowsTest, ASampleIsInTheWindowInWhichItsCallEnded) {
  Grant(9);
  for (int calls = 0; calls < 6; ++calls) {
    Call(calls);
    std::thread([&] { Call(2 * calls); }).join();
    const Window window = Take();
    EXPECT_EQ(window.succeeded, 3 * calls);
    EXPECT_EQ(window.admitted, 3 * calls);
    EXPECT_EQ(window.latency.TotalCount(), 3 * calls);
  }
}

// Runs what it was told to in the ending of a call: after the sample, before the call leaves.
class Interruption final : public DueWork {
 public:
  explicit Interruption(std::function<void()> work) : work_(std::move(work)) {}
  void Run(Limiter& limiter, Instant /*at*/) override {
    limiter.SetDue(kInfiniteFuture);
    work_();
  }

 private:
  std::function<void()> work_;
};

TEST_F(SampleWindowsTest, AWindowCutWhileACallLeavesHasItsSampleAndTheNextDoesNot) {
  Window cut;
  Calls in_flight = 0;
  limiter_->SetDueWork(std::make_unique<Interruption>([&] {
    in_flight = limiter_->in_flight();
    cut = Take();
  }));
  Grant(9);
  Call(5);
  EXPECT_EQ(Take().succeeded, 5);
  limiter_->SetDue(clock_.Now());
  Call(1);
  EXPECT_EQ(in_flight, 1);
  EXPECT_EQ(cut.succeeded, 1);
  EXPECT_EQ(Take().succeeded, 0);
  EXPECT_EQ(limiter_->Stats().succeeded, 6);
}

// Threads that all have begun, and each go on when told.
class Crowd {
 public:
  explicit Crowd(int size) : size_(size) {}

  // Each runs `first`, waits until `between` has run here, runs `then`, and ends.
  template <typename First, typename Then>
  void Run(const First& first, const std::function<void()>& between, const Then& then) {
    std::atomic<int> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < size_; ++i) {
      threads.emplace_back([&] {
        auto kept = first();
        ++ready;
        while (!go) std::this_thread::yield();
        then(std::move(kept));
      });
    }
    while (ready < size_) std::this_thread::yield();
    between();
    go = true;
    for (std::thread& thread : threads) thread.join();
  }

 private:
  int size_;
};

// More threads than there are stripes, twice, so that the second have stripes of the first. A drain
// comes while all hold permits: what ends then, on threads that are gone when it is read, counts.
TEST_F(SampleWindowsTest, NoSampleIsLostToADrainOrTheEndOfMoreThreadsThanHaveCells) {
  constexpr int kThreads = kThreadStripes + 8;
  Grant(kThreads);
  Crowd crowd(kThreads);
  const auto enter = [this] {
    ThreadStripe();
    return std::optional<Permit>(*limiter_->TryAcquire());
  };
  const auto succeed = [](std::optional<Permit> permit) { permit->Succeed(); };
  crowd.Run(
      enter, [this] { EXPECT_EQ(Take().succeeded, 0); },
      [&](std::optional<Permit> permit) {
        permit->Succeed();
        Call(9);
      });
  EXPECT_EQ(Take().succeeded, 10 * kThreads);
  crowd.Run(
      enter,
      [this] {
        limiter_->StopAdmitting();
        EXPECT_EQ(Take().succeeded, 0);
      },
      succeed);
  EXPECT_EQ(limiter_->in_flight(), 0);
  EXPECT_EQ(Take().succeeded, kThreads);
  EXPECT_EQ(limiter_->Stats().succeeded, 11 * kThreads);
}

// As above, but windows are cut all the time.
TEST_F(SampleWindowsTest, EverySampleIsInOneWindowThoughTheyAreCutMeanwhile) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 2'000;
  Grant(kThreads);
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Call(kCalls);
      --running;
    });
  }
  std::int64_t succeeded = 0;
  while (running > 0) succeeded += Take().succeeded;
  for (std::thread& thread : threads) thread.join();
  succeeded += Take().succeeded;
  EXPECT_EQ(succeeded, kThreads * kCalls);
}

}  // namespace
}  // namespace plimsoll::internal
