#include "agent/src/breaker_window.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kWindow = 1000 * kMs;
constexpr std::int64_t kHang = 2000 * kMs;
constexpr std::int64_t kStart = 5'000'000'000;

// The slow and obvious twin: remembers every call.
class Twin {
 public:
  enum class End { kSuccess, kFailure, kNothing };

  std::size_t Start(std::int64_t now) {
    calls_.push_back({now});
    return calls_.size() - 1;
  }
  void Finish(std::size_t call, std::int64_t now, End end) {
    calls_[call].ended = now;
    calls_[call].end = end;
  }
  // Those that ended within `window`, and those in flight that began between the two ages.
  BreakerEvidence Read(std::int64_t now, std::int64_t window, std::int64_t youngest,
                       std::int64_t oldest) const {
    BreakerEvidence evidence;
    for (const Call& call : calls_) {
      const bool in_flight = call.ended < 0;
      const std::int64_t age = now - (in_flight ? call.began : call.ended);
      if (in_flight) evidence.hanging += age >= youngest && age < oldest ? 1 : 0;
      if (in_flight || age >= window) continue;
      evidence.succeeded += call.end == End::kSuccess ? 1 : 0;
      evidence.failed += call.end == End::kFailure ? 1 : 0;
    }
    return evidence;
  }

 private:
  struct Call {
    std::int64_t began = 0;
    std::int64_t ended = -1;
    End end = End::kNothing;
  };
  std::vector<Call> calls_;
};

// Slices make the window longer by up to a quarter, and successes are dated to their start if that
// is near; what hangs is seen up to two slices late.
TEST(BreakerWindowTest, CountsWhatItsTwinCounts) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    BreakerWindow window(kWindow, kHang);
    Twin twin;
    std::vector<std::pair<std::size_t, std::int64_t>> open;
    std::int64_t now = kStart;
    for (int i = 0; i < 3000; ++i) {
      now += static_cast<std::int64_t>(random.Below(6 * kMs));
      if (open.size() < 30 || random.Chance(0.5)) {
        static_cast<void>(window.Start(now));
        open.emplace_back(twin.Start(now), now);
      } else {
        const std::size_t index = random.Below(open.size());
        const auto [call, began] = open[index];
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
        const auto end = static_cast<Twin::End>(random.Below(3));
        if (end == Twin::End::kSuccess) static_cast<void>(window.Succeed(began, now));
        if (end == Twin::End::kFailure) window.Fail(began, now, false);
        if (end == Twin::End::kNothing) window.Leave(began);
        twin.Finish(call, now, end);
      }
      const BreakerEvidence seen = window.Read(now);
      const BreakerEvidence least =
          twin.Read(now, kWindow * 3 / 8, kHang * 5 / 4, kHang * 5 / 4 + kWindow / 2);
      const BreakerEvidence most = twin.Read(now, kWindow * 5 / 4, kHang, kHang + kWindow * 3 / 2);
      ASSERT_GE(seen.succeeded, least.succeeded);
      ASSERT_LE(seen.succeeded, most.succeeded);
      ASSERT_GE(seen.failed, twin.Read(now, kWindow, 0, 0).failed);
      ASSERT_LE(seen.failed, most.failed);
      ASSERT_GE(seen.hanging, least.hanging);
      ASSERT_LE(seen.hanging, most.hanging);
    }
  }
}

TEST(BreakerWindowTest, ForgetsWhatIsOlder) {
  BreakerWindow window(kWindow, 0);
  static_cast<void>(window.Succeed(kStart, kStart));
  window.Fail(kStart, kStart, true);
  EXPECT_EQ(window.Read(kStart + kWindow),
            (BreakerEvidence{.succeeded = 1, .failed = 1, .slow = 1}));
  EXPECT_EQ(window.Read(kStart + kWindow * 3 / 2), BreakerEvidence());
}

TEST(BreakerWindowTest, WritesOffWhatHasHungForAWindow) {
  BreakerWindow window(kWindow, kHang);
  static_cast<void>(window.Start(kStart));
  EXPECT_EQ(window.Read(kStart + kHang - 1).hanging, 0);
  EXPECT_EQ(window.Read(kStart + kHang * 5 / 4).hanging, 1);
  EXPECT_EQ(window.Read(kStart + kHang + 2 * kWindow).hanging, 0);
  window.Leave(kStart);
}

TEST(BreakerWindowTest, TheFirstCallOfASliceIsTold) {
  BreakerWindow window(kWindow, kHang);
  EXPECT_TRUE(window.Start(kStart));
  EXPECT_FALSE(window.Start(kStart));
  EXPECT_TRUE(window.Start(kStart + kWindow));
}

// Failures carry their slice in their word, so one of an earlier turn of the ring never counts.
TEST(BreakerWindowTest, FailuresOfAnEarlierTurnDoNotComeBack) {
  BreakerWindow window(kWindow, 0);
  for (int i = 0; i < 100; ++i) window.Fail(kStart, kStart, false);
  for (std::int64_t now = kStart + 2 * kWindow; now < kStart + 60 * kWindow; now += kWindow / 3) {
    static_cast<void>(window.Succeed(now, now));
    ASSERT_EQ(window.Read(now).failed, 0);
  }
}

TEST(BreakerWindowTest, LosesNothingAmongThreadsWithinASlice) {
  BreakerWindow window(kWindow, kHang);
  static_cast<void>(window.Start(kStart));
  window.Leave(kStart);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&window] {
      for (int i = 0; i < 2000; ++i) {
        static_cast<void>(window.Start(kStart));
        if (i % 4 == 0) {
          window.Fail(kStart, kStart, i % 8 == 0);
        } else {
          static_cast<void>(window.Succeed(kStart, kStart));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(window.Read(kStart),
            (BreakerEvidence{.succeeded = 6000, .failed = 2000, .slow = 1000}));
  EXPECT_EQ(window.Read(kStart + kHang * 5 / 4).hanging, 0);
}

}  // namespace
}  // namespace plimsoll::internal
