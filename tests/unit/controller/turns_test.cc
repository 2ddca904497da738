#include "controller/src/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;

constexpr absl::Duration kInterval = absl::Seconds(2);
constexpr Instant kStart{1'000'000'000};

class TurnsTest : public ::testing::Test {
 protected:
  std::vector<bool> Take(const std::vector<double>& shares, Calls calls, absl::Duration at) {
    turns_.resize(shares.size());
    std::vector<TurnTaker> takers;
    for (std::size_t i = 0; i < shares.size(); ++i) takers.push_back({&turns_[i], shares[i]});
    TakeTurns(takers, calls, kInterval, kStart + at, ring_);
    std::vector<bool> holds;
    for (const Turn& turn : turns_) holds.push_back(turn.holds);
    return holds;
  }

  std::vector<Turn> turns_;
  Ring ring_;
};

TEST_F(TurnsTest, TheFirstInLineHoldFirst) {
  EXPECT_THAT(Take({0.5, 0.5, 0.5, 0.5}, 2, {}), ElementsAre(true, true, false, false));
}

TEST_F(TurnsTest, NothingMovesBeforeTheTurnIsOver) {
  const auto first = Take({0.5, 0.5}, 1, {});
  EXPECT_EQ(Take({0.5, 0.5}, 1, kInterval - absl::Milliseconds(1)), first);
}

TEST_F(TurnsTest, OneCallChangesHandsInATurn) {
  Take({0.5, 0.5, 0.5, 0.5}, 2, {});
  EXPECT_THAT(Take({0.5, 0.5, 0.5, 0.5}, 2, kInterval), ElementsAre(false, true, true, false));
  EXPECT_THAT(Take({0.5, 0.5, 0.5, 0.5}, 2, 2 * kInterval), ElementsAre(false, false, true, true));
}

TEST_F(TurnsTest, FewerCallsAreTakenBackAtOnce) {
  Take({0.6, 0.6, 0.6}, 2, {});
  EXPECT_THAT(Take({0.3, 0.3, 0.3}, 1, absl::Milliseconds(1)), ElementsAre(false, true, false));
}

TEST_F(TurnsTest, MoreCallsAreHandedOutAtOnce) {
  Take({0.3, 0.3, 0.3}, 1, {});
  EXPECT_THAT(Take({0.6, 0.6, 0.6}, 2, absl::Milliseconds(1)), ElementsAre(true, true, false));
}

TEST_F(TurnsTest, WithACallForEachAllHold) {
  EXPECT_THAT(Take({0.9, 0.9}, 2, {}), ElementsAre(true, true));
}

TEST_F(TurnsTest, ANewcomerWaitsBehindThoseWhoWaited) {
  Take({0.3, 0.3}, 1, {});
  EXPECT_THAT(Take({0.3, 0.3, 0.3}, 1, kInterval), ElementsAre(false, true, false));
  EXPECT_THAT(Take({0.3, 0.3, 0.3}, 1, 2 * kInterval), ElementsAre(false, false, true));
}

TEST_F(TurnsTest, WhoIsDueThreeTimesTheShareHoldsThreeTimesAsLong) {
  int first = 0;
  for (int turn = 0; turn < 400; ++turn) {
    first += Take({0.75, 0.25}, 1, turn * kInterval)[0] ? 1 : 0;
  }
  EXPECT_NEAR(first, 300, 2);
}

}  // namespace
}  // namespace plimsoll::internal
