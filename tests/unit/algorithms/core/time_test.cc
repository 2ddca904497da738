#include "plimsoll/core/time.h"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kNsMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNsMax = std::numeric_limits<std::int64_t>::max();

TEST(InstantTest, MovesByDurations) {
  const Instant at{1'000};
  EXPECT_EQ(at + absl::Nanoseconds(5), Instant{1'005});
  EXPECT_EQ(at - absl::Nanoseconds(5), Instant{995});
  EXPECT_EQ(at + -absl::Nanoseconds(5), Instant{995});
  EXPECT_EQ(Instant{1'005} - at, absl::Nanoseconds(5));
  EXPECT_EQ(at - Instant{1'005}, -absl::Nanoseconds(5));
}

TEST(InstantTest, Orders) {
  EXPECT_LT(Instant{1}, Instant{2});
  EXPECT_LT(Instant{2}, kInfiniteFuture);
}

TEST(InstantTest, SaturatesInTheFuture) {
  EXPECT_EQ(Instant{1} + absl::InfiniteDuration(), kInfiniteFuture);
  EXPECT_EQ(Instant{1} - -absl::InfiniteDuration(), kInfiniteFuture);
  EXPECT_EQ(Instant{kNsMax - 1} + absl::Nanoseconds(2), kInfiniteFuture);
  EXPECT_EQ(Instant{kNsMax - 2} + absl::Nanoseconds(1), Instant{kNsMax - 1});
}

TEST(InstantTest, SaturatesInThePast) {
  EXPECT_EQ(Instant{-1} - absl::InfiniteDuration(), Instant{kNsMin});
  EXPECT_EQ(Instant{kNsMin + 1} - absl::Nanoseconds(2), Instant{kNsMin});
  EXPECT_EQ(Instant{kNsMin + 1} - absl::Nanoseconds(1), Instant{kNsMin});
}

TEST(InstantTest, LeavesTheInfiniteFutureWhereItIs) {
  EXPECT_EQ(kInfiniteFuture + absl::Seconds(1), kInfiniteFuture);
  EXPECT_EQ(kInfiniteFuture - absl::Seconds(1), kInfiniteFuture);
  EXPECT_EQ(kInfiniteFuture - absl::InfiniteDuration(), kInfiniteFuture);
}

TEST(InstantTest, SubtractsTheFarthestInstantsWithoutOverflow) {
  const absl::Duration whole = Instant{kNsMax} - Instant{kNsMin};
  EXPECT_EQ(whole, absl::Nanoseconds(kNsMax) - absl::Nanoseconds(kNsMin));
  EXPECT_GT(whole, absl::Nanoseconds(kNsMax));
}

}  // namespace
}  // namespace plimsoll
