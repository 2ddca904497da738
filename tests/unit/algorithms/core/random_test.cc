#include "plimsoll/core/random.h"

#include <array>
#include <cstdint>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(RandomTest, GivesTheKnownNumbersOfTheGenerator) {
  // xoshiro256** over a splitmix64 seed, calculated apart from this code.
  Random zero(0);
  EXPECT_EQ(zero.Next(), 0x99ec5f36cb75f2b4);
  EXPECT_EQ(zero.Next(), 0xbf6e1f784956452a);
  EXPECT_EQ(zero.Next(), 0x1a5f849d4933e6e0);
  Random forty_two(42);
  EXPECT_EQ(forty_two.Next(), 0x15780b2e0c2ec716);
  EXPECT_EQ(forty_two.Next(), 0x6104d9866d113a7e);
  Random highest(~std::uint64_t{0});
  EXPECT_EQ(highest.Next(), 0x8f5520d52a7ead08);
}

TEST(RandomTest, RepeatsItselfWithTheSameSeedOnly) {
  Random a(7);
  Random same(7);
  Random other(8);
  int equal = 0;
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t number = a.Next();
    ASSERT_EQ(number, same.Next());
    if (number == other.Next()) ++equal;
  }
  EXPECT_EQ(equal, 0);
}

TEST(RandomTest, SeedsFromEntropyDifferently) {
  EXPECT_NE(Random::FromEntropy().Next(), Random::FromEntropy().Next());
}

TEST(RandomTest, IsUniformBelowABound) {
  constexpr std::uint64_t bound = 6;
  constexpr int draws = 600'000;
  Random random(9);
  std::array<int, bound> counts{};
  for (int i = 0; i < draws; ++i) ++counts.at(random.Below(bound));
  // Five standard deviations of a binomial count.
  for (const int count : counts) EXPECT_NEAR(count, draws / 6.0, 5 * 289);
}

TEST(RandomTest, DoesNotFavourSmallNumbersBelowAnAwkwardBound) {
  // A plain remainder would give the lower half of this range twice as often as the upper.
  constexpr std::uint64_t bound = std::uint64_t{3} << 62;
  constexpr int draws = 100'000;
  Random random(10);
  int low = 0;
  for (int i = 0; i < draws; ++i) {
    const std::uint64_t number = random.Below(bound);
    ASSERT_LT(number, bound);
    if (number < bound / 3) ++low;
  }
  EXPECT_NEAR(low, draws / 3.0, 5 * 149);
}

TEST(RandomTest, HasOneNumberBelowOne) { EXPECT_EQ(Random(11).Below(1), 0U); }

TEST(RandomDeathTest, RefusesABoundOfZero) {
  EXPECT_DEATH(Random(12).Below(0), "must be positive");
}

TEST(RandomTest, IsUniformBetweenZeroAndOne) {
  Random random(13);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double number = random.Uniform();
    ASSERT_GE(number, 0);
    ASSERT_LT(number, 1);
    sum += number;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(RandomTest, StaysInTheRangeAskedFor) {
  Random random(14);
  for (int i = 0; i < 10'000; ++i) {
    const double number = random.Uniform(-2, 3);
    ASSERT_GE(number, -2);
    ASSERT_LT(number, 3);
  }
  EXPECT_EQ(random.Uniform(5, 5), 5);
}

TEST(RandomTest, IsExponentialWithTheGivenMean) {
  constexpr int draws = 100'000;
  Random random(15);
  double sum = 0;
  int above_mean = 0;
  for (int i = 0; i < draws; ++i) {
    const double number = random.Exponential(4);
    ASSERT_GE(number, 0);
    sum += number;
    if (number > 4) ++above_mean;
  }
  EXPECT_NEAR(sum / draws, 4, 0.1);
  EXPECT_NEAR(above_mean / static_cast<double>(draws), 0.3679, 0.01);  // 1/e
}

TEST(RandomTest, TakesAChanceAsOftenAsAsked) {
  Random random(16);
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (random.Chance(0.2)) ++taken;
    ASSERT_FALSE(random.Chance(0));
    ASSERT_TRUE(random.Chance(1));
  }
  EXPECT_NEAR(taken, 20'000, 5 * 127);
}

}  // namespace
}  // namespace plimsoll
