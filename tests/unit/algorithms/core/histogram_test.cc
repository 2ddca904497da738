#include "plimsoll/core/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "plimsoll/core/random.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLast = LatencyHistogram::kBuckets - 1;
constexpr std::uint32_t kCountMax = std::numeric_limits<std::uint32_t>::max();

// Every order of magnitude between 1 µs and 100 s equally often.
absl::Duration AnyLatency(Random& random) {
  return absl::Nanoseconds(std::pow(10, random.Uniform(3, 11)));
}

TEST(LatencyHistogramTest, ReadsEveryLatencyBackWithinFivePercent) {
  Random random(1);
  double worst = 0;
  for (int i = 0; i < 200'000; ++i) {
    const absl::Duration latency = AnyLatency(random);
    LatencyHistogram histogram;
    histogram.Record(latency);
    const double error = std::abs(absl::FDivDuration(histogram.Mean(), latency) - 1);
    ASSERT_LE(error, 0.05) << latency;
    worst = std::max(worst, error);
  }
  std::printf("%zu buckets, %zu bytes, largest error %.3f %%\n", LatencyHistogram::kBuckets,
              sizeof(LatencyHistogram), worst * 100);
  // The header's figure; and the property above is not vacuous.
  EXPECT_LE(worst, 1.0 / 32);
  EXPECT_GE(worst, 0.03);
}

TEST(LatencyHistogramTest, ReadsBothEndsOfTheRangeBackWithinFivePercent) {
  for (const absl::Duration latency : {absl::Microseconds(1), absl::Seconds(100)}) {
    LatencyHistogram histogram;
    histogram.Record(latency);
    EXPECT_NEAR(absl::FDivDuration(histogram.Quantile(1), latency), 1, 0.05) << latency;
  }
}

TEST(LatencyHistogramTest, HasNeighbouringBucketsWithoutGaps) {
  for (std::size_t bucket = 0; bucket < kLast; ++bucket) {
    const std::int64_t end = absl::ToInt64Nanoseconds(LatencyHistogram::EndOf(bucket));
    ASSERT_EQ(LatencyHistogram::BucketOf(end - 1), bucket);
    ASSERT_EQ(LatencyHistogram::BucketOf(end), bucket + 1);
    const std::int64_t middle = absl::ToInt64Nanoseconds(LatencyHistogram::MiddleOf(bucket));
    ASSERT_EQ(LatencyHistogram::BucketOf(middle), bucket);
  }
}

TEST(LatencyHistogramTest, CollectsWhatIsBelowTheRangeInTheFirstBucket) {
  for (const std::int64_t ns : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                std::int64_t{0}, std::int64_t{511}}) {
    EXPECT_EQ(LatencyHistogram::BucketOf(ns), 0U) << ns;
  }
  EXPECT_EQ(LatencyHistogram::BucketOf(512), 1U);
  EXPECT_EQ(LatencyHistogram::MiddleOf(0), absl::Nanoseconds(256));
}

TEST(LatencyHistogramTest, CollectsWhatIsAboveTheRangeInTheLastBucket) {
  constexpr std::int64_t start = std::int64_t{1} << 37;
  EXPECT_EQ(LatencyHistogram::BucketOf(start - 1), kLast - 1);
  EXPECT_EQ(LatencyHistogram::BucketOf(start), kLast);
  EXPECT_EQ(LatencyHistogram::BucketOf(std::numeric_limits<std::int64_t>::max()), kLast);
  EXPECT_EQ(LatencyHistogram::MiddleOf(kLast), absl::Nanoseconds(start));
  EXPECT_EQ(LatencyHistogram::EndOf(kLast), absl::InfiniteDuration());
}

TEST(LatencyHistogramTest, TakesInfiniteLatencies) {
  LatencyHistogram histogram;
  histogram.Record(absl::InfiniteDuration());
  histogram.Record(-absl::InfiniteDuration());
  EXPECT_EQ(histogram.count(kLast), 1U);
  EXPECT_EQ(histogram.count(0), 1U);
}

TEST(LatencyHistogramTest, MergesToWhatRecordingTogetherGives) {
  Random random(2);
  LatencyHistogram first;
  LatencyHistogram second;
  LatencyHistogram together;
  for (int i = 0; i < 10'000; ++i) {
    const absl::Duration latency = AnyLatency(random);
    (random.Chance(0.3) ? first : second).Record(latency);
    together.Record(latency);
  }
  first.Merge(second);
  EXPECT_EQ(first, together);
  EXPECT_EQ(first.TotalCount(), 10'000U);
}

TEST(LatencyHistogramTest, IsTheSameInWhateverOrderItWasFilled) {
  Random random(4);
  std::vector<std::size_t> buckets;
  for (int i = 0; i < 200; ++i) buckets.push_back(random.Below(LatencyHistogram::kBuckets));
  LatencyHistogram histogram;
  LatencyHistogram backwards;
  std::vector<std::uint32_t> counts(LatencyHistogram::kBuckets);
  for (const std::size_t bucket : buckets) {
    histogram.Add(bucket, 3);
    counts[bucket] += 3;
  }
  for (auto it = buckets.rbegin(); it != buckets.rend(); ++it) backwards.Add(*it, 3);
  EXPECT_EQ(histogram, backwards);
  for (std::size_t bucket = 0; bucket <= kLast; ++bucket) {
    ASSERT_EQ(histogram.count(bucket), counts[bucket]) << bucket;
    ASSERT_EQ(backwards.count(bucket), counts[bucket]) << bucket;
  }
  backwards.Add(buckets.front(), 1);
  EXPECT_NE(histogram, backwards);
}

TEST(LatencyHistogramTest, KeepsOnlyWhatLiesBetweenTheLowestAndTheHighest) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.begin(), histogram.end());
  histogram.Add(100, 0);
  EXPECT_EQ(histogram.begin(), histogram.end());
  histogram.Add(100, 1);
  histogram.Add(90, 1);
  EXPECT_EQ(histogram.begin(), 90U);
  EXPECT_EQ(histogram.end(), 101U);
  histogram.Clear();
  EXPECT_EQ(histogram, LatencyHistogram());
  histogram.Add(7, 1);
  EXPECT_EQ(histogram.begin(), 7U);
  EXPECT_EQ(histogram.TotalCount(), 1U);
}

TEST(LatencyHistogramTest, StaysAtTheLargestCount) {
  LatencyHistogram histogram;
  histogram.Add(7, kCountMax - 1);
  histogram.Add(7, 1);
  EXPECT_EQ(histogram.count(7), kCountMax);
  histogram.Add(7, 1);
  histogram.Merge(histogram);
  EXPECT_EQ(histogram.count(7), kCountMax);
}

TEST(LatencyHistogramTest, SumsFullBucketsWithoutWrapping) {
  LatencyHistogram histogram;
  for (std::size_t bucket = 0; bucket <= kLast; ++bucket) histogram.Add(bucket, kCountMax);
  EXPECT_EQ(histogram.TotalCount(), std::uint64_t{kCountMax} * LatencyHistogram::kBuckets);
  EXPECT_GT(histogram.TotalLatency(), absl::Seconds(137) * std::int64_t{kCountMax});
  EXPECT_LT(histogram.Mean(), absl::Seconds(137));
}

TEST(LatencyHistogramTest, FindsQuantilesLikeASortedList) {
  Random random(3);
  LatencyHistogram histogram;
  std::vector<absl::Duration> sorted;
  for (int i = 0; i < 1'000; ++i) {
    sorted.push_back(AnyLatency(random));
    histogram.Record(sorted.back());
  }
  std::sort(sorted.begin(), sorted.end());
  for (const std::size_t rank : {1U, 250U, 500U, 900U, 990U, 1000U}) {
    const double quantile = static_cast<double>(rank) / 1'000;
    EXPECT_NEAR(absl::FDivDuration(histogram.Quantile(quantile), sorted[rank - 1]), 1, 0.05)
        << quantile;
  }
  EXPECT_EQ(histogram.Quantile(0), histogram.Quantile(0.001));
}

TEST(LatencyHistogramTest, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.TotalCount(), 0U);
  EXPECT_EQ(histogram.Mean(), absl::ZeroDuration());
  EXPECT_EQ(histogram.Quantile(0.5), absl::ZeroDuration());
}

TEST(LatencyHistogramDeathTest, RefusesBucketsAndQuantilesThatDoNotExist) {
  LatencyHistogram histogram;
  EXPECT_DEATH(histogram.Add(LatencyHistogram::kBuckets, 1), "no such histogram bucket");
  EXPECT_DEATH(LatencyHistogram::MiddleOf(LatencyHistogram::kBuckets), "no such histogram bucket");
  EXPECT_DEATH(LatencyHistogram::EndOf(LatencyHistogram::kBuckets), "no such histogram bucket");
  EXPECT_DEATH(histogram.Quantile(1.1), "between 0 and 1");
  EXPECT_DEATH(histogram.Quantile(std::nan("")), "between 0 and 1");
}

}  // namespace
}  // namespace plimsoll
