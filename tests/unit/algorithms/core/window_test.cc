#include "plimsoll/core/window.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

Window FirstWindow() {
  Window window;
  window.stamp = {Epoch(1), Seq(2)};
  window.length = absl::Seconds(1);
  window.admitted = 10;
  window.succeeded = 6;
  window.dropped = 2;
  window.ignored = 1;
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 4;
  window.in_flight_max = 5;
  window.in_flight = absl::Seconds(3);
  window.at_limit = absl::Milliseconds(200);
  window.latency.Record(absl::Milliseconds(10));
  return window;
}

Window SecondWindow() {
  Window window;
  window.stamp = {Epoch(1), Seq(3)};
  window.length = absl::Seconds(2);
  window.admitted = 100;
  window.succeeded = 60;
  window.dropped = 20;
  window.ignored = 10;
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 40;
  window.rejected[static_cast<std::size_t>(RejectReason::kDraining)] = 7;
  window.in_flight_max = 8;
  window.in_flight = absl::Seconds(30);
  window.at_limit = absl::Milliseconds(50);
  window.latency.Record(absl::Milliseconds(20));
  return window;
}

TEST(WindowTest, MergesSideBySide) {
  Window window = FirstWindow();
  window.MergeParallel(SecondWindow());
  EXPECT_EQ(window.stamp, (GrantStamp{Epoch(1), Seq(2)}));
  EXPECT_EQ(window.length, absl::Seconds(2));
  EXPECT_EQ(window.admitted, 110);
  EXPECT_EQ(window.succeeded, 66);
  EXPECT_EQ(window.dropped, 22);
  EXPECT_EQ(window.ignored, 11);
  EXPECT_EQ(window.rejected_by(RejectReason::kLimit), 44);
  EXPECT_EQ(window.rejected_by(RejectReason::kDraining), 7);
  EXPECT_EQ(window.rejected_by(RejectReason::kDeadline), 0);
  EXPECT_EQ(window.in_flight_max, 13);
  EXPECT_EQ(window.in_flight, absl::Seconds(33));
  EXPECT_EQ(window.at_limit, absl::Milliseconds(250));
  EXPECT_EQ(window.latency.TotalCount(), 2U);
}

TEST(WindowTest, MergesToTheSameInEitherOrderButForTheStamp) {
  Window one = FirstWindow();
  one.MergeParallel(SecondWindow());
  Window other = SecondWindow();
  other.MergeParallel(FirstWindow());
  other.stamp = one.stamp;
  EXPECT_EQ(one, other);
}

TEST(WindowTest, DoesNotOverflowTheMaximumOfAHugePool) {
  Window pool;
  Window window;
  window.in_flight_max = kCallsMax;
  for (int instance = 0; instance < 3'000; ++instance) pool.MergeParallel(window);
  EXPECT_EQ(pool.in_flight_max, kCallsMax);
}

TEST(WindowTest, FindsTheMeanLatencyByLittlesLaw) {
  // 3 call-seconds in flight, 6 + 2 + 1 calls ended.
  EXPECT_EQ(FirstWindow().completed(), 8);
  EXPECT_EQ(FirstWindow().MeanLatency(), absl::Seconds(3) / 9);
}

TEST(WindowTest, HasNoMeanLatencyIfNothingEnded) {
  Window window;
  window.in_flight = absl::Seconds(3);
  EXPECT_EQ(window.MeanLatency(), absl::ZeroDuration());
}

}  // namespace
}  // namespace plimsoll
