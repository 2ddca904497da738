#include "controller/src/apportion.h"

#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll::internal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Eight replicas that could each use their ceiling of 20.
std::vector<Claim> Replicas(std::size_t count) { return std::vector<Claim>(count, {1, 0, 20, 20}); }

std::int64_t Sum(const std::vector<Calls>& shares) {
  return std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
}

TEST(ApportionTest, FiftyOverEightSumsToFifty) {
  EXPECT_THAT(Apportion(50, Replicas(8)), ElementsAre(7, 7, 6, 6, 6, 6, 6, 6));
}

TEST(ApportionTest, FiftyOverSixtyFourGivesFiftyOfThemOneEach) {
  const std::vector<Calls> shares = Apportion(50, Replicas(64));
  EXPECT_EQ(Sum(shares), 50);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(shares[i], i < 50 ? 1 : 0) << i;
}

TEST(ApportionTest, LightClaimGetsWhatItUsesAndTheOthersSplitTheRest) {
  EXPECT_THAT(Apportion(50, {{1, 0, 2, 20}, {1, 0, 20, 20}, {1, 0, 20, 20}, {1, 0, 20, 20}}),
              ElementsAre(2, 16, 16, 16));
}

TEST(ApportionTest, ThreeTimesTheWeightGetsThreeTimesTheShare) {
  EXPECT_THAT(Apportion(40, {{3, 0, 100, 100}, {1, 0, 100, 100}}), ElementsAre(30, 10));
}

TEST(ApportionTest, LowsComeBeforeWeights) {
  EXPECT_THAT(Apportion(40, {{9, 0, 40, 40}, {1, 12, 40, 40}}), ElementsAre(28, 12));
}

TEST(ApportionTest, LowsThatDoNotFitAreCutInProportion) {
  EXPECT_THAT(Apportion(10, {{1, 15, 20, 20}, {9, 5, 20, 20}}), ElementsAre(8, 2));
}

TEST(ApportionTest, HeadroomGoesUpToTheTop) {
  EXPECT_THAT(Apportion(30, {{1, 0, 4, 20}, {1, 0, 6, 8}}), ElementsAre(20, 8));
}

TEST(ApportionTest, HeadroomFillsTheLowestFirst) {
  EXPECT_THAT(Apportion(14, {{1, 0, 2, 20}, {1, 0, 8, 20}}), ElementsAre(6, 8));
}

TEST(ApportionTest, NothingAvailableGivesNothing) {
  EXPECT_THAT(Apportion(0, {{1, 3, 20, 20}, {1, 0, 20, 20}}), Each(0));
}

TEST(ApportionTest, NegativeCountsAsNothingAvailable) {
  EXPECT_THAT(Apportion(-7, {{1, 3, 20, 20}, {0, 2, 20, 20}}), Each(0));
}

TEST(ApportionTest, NoClaimsGiveAnEmptyResult) { EXPECT_THAT(Apportion(50, {}), IsEmpty()); }

TEST(ApportionTest, ZeroWeightGetsItsLowAndNothingBeyond) {
  EXPECT_THAT(Apportion(50, {{0, 3, 20, 20}, {1, 0, 20, 20}}), ElementsAre(3, 20));
}

TEST(ApportionTest, WithoutAnyWeightWhatIsBeyondTheLowsStaysUnassigned) {
  EXPECT_THAT(Apportion(50, {{0, 3, 20, 20}, {0, 4, 20, 20}}), ElementsAre(3, 4));
}

TEST(ApportionTest, TheHolderOfACallKeepsItAmongEquals) {
  std::vector<Claim> claims = Replicas(8);
  claims[5].holds = 7;
  claims[7].holds = 7;
  EXPECT_THAT(Apportion(50, claims), ElementsAre(6, 6, 6, 6, 6, 7, 6, 7));
}

TEST(ApportionTest, ALargerFractionBeatsTheHolder) {
  // Shares 4.5, 2.75, 2.75.
  EXPECT_THAT(Apportion(10, {{18, 0, 20, 20, 5}, {11, 0, 20, 20}, {11, 0, 20, 20}}),
              ElementsAre(4, 3, 3));
}

TEST(ApportionTest, FractionsInTheSameSixteenthAreEqual) {
  // Shares 2.51 and 2.49.
  EXPECT_THAT(Apportion(5, {{251, 0, 20, 20}, {249, 0, 20, 20, 3}}), ElementsAre(2, 3));
}

TEST(ApportionTest, LargestNumbersDoNotOverflow) {
  const std::vector<Claim> claims(10'000, {1, kCallsMax, kCallsMax, kCallsMax});
  EXPECT_EQ(Sum(Apportion(std::numeric_limits<Calls>::max(), claims)),
            std::numeric_limits<Calls>::max());
}

TEST(ApportionTest, WeightsOfAllMagnitudesKeepTheSumExact) {
  constexpr double tiny = std::numeric_limits<double>::denorm_min();
  constexpr double huge = std::numeric_limits<double>::max();
  const std::vector<Claim> claims = {
      {tiny, 0, 100, 100}, {1e-9, 5, 100, 100}, {1, 0, 100, 100}, {huge, 0, 100, 100}};
  for (Calls available = 0; available <= 450; ++available) {
    EXPECT_EQ(Sum(Apportion(available, claims)), std::min(available, 400)) << available;
  }
}

TEST(ApportionDeathTest, ContradictoryBoundsAreAProgrammerError) {
  EXPECT_DEATH(Apportion(5, {{1, 3, 2, 4}}), "low <= high");
  EXPECT_DEATH(Apportion(5, {{1, 0, 5, 4}}), "high <= top");
  EXPECT_DEATH(Apportion(5, {{1, -1, 2, 4}}), "0 <= low");
}

TEST(ApportionDeathTest, AWeightThatIsNoNumberIsAProgrammerError) {
  EXPECT_DEATH(Apportion(5, {{std::numeric_limits<double>::quiet_NaN(), 0, 2, 4}}), "weight");
  EXPECT_DEATH(Apportion(5, {{std::numeric_limits<double>::infinity(), 0, 2, 4}}), "weight");
  EXPECT_DEATH(Apportion(5, {{-1, 0, 2, 4}}), "weight");
}

}  // namespace
}  // namespace plimsoll::internal
