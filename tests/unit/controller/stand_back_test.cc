#include "controller/main/stand_back.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

constexpr absl::Duration kLease = absl::Seconds(10);

class StandBackTest : public ::testing::Test {
 protected:
  // For how long nobody may lead the shard before this controller stands.
  absl::Duration WaitsFor(int shard) {
    const Instant free = now_;
    while (!stand_back_.MayStand(shard, now_) && now_ < free + absl::Hours(10)) {
      now_ = now_ + absl::Milliseconds(250);
    }
    return now_ - free;
  }

  StandBack stand_back_{2, kLease};
  Instant now_ = Instant() + absl::Hours(1);
};

TEST_F(StandBackTest, WhomAgentsReachStandsAtOnce) { EXPECT_EQ(WaitsFor(0), absl::ZeroDuration()); }

TEST_F(StandBackTest, OtherwiseItWaitsForALeaseEachTime) {
  stand_back_.Unheard(now_);
  EXPECT_EQ(WaitsFor(0), kLease);
  now_ = now_ + absl::Seconds(3);  // somebody leads
  EXPECT_EQ(WaitsFor(0), kLease);
  EXPECT_EQ(WaitsFor(1), kLease) << "each shard by itself";
}

TEST_F(StandBackTest, UntilAnAgentIsHeard) {
  stand_back_.Unheard(now_);
  EXPECT_FALSE(stand_back_.MayStand(0, now_));
  stand_back_.Heard();
  EXPECT_TRUE(stand_back_.MayStand(0, now_));
}

TEST_F(StandBackTest, OrForSixLeasesAndTwiceThatTheNextTime) {
  for (const int leases : {6, 12, 24, 48, 96, 96}) {
    stand_back_.Unheard(now_);
    now_ = now_ + leases * kLease - absl::Seconds(1);
    EXPECT_EQ(WaitsFor(0), absl::Seconds(1)) << leases;
  }
  stand_back_.Heard();
  stand_back_.Unheard(now_);
  now_ = now_ + 6 * kLease;
  EXPECT_EQ(WaitsFor(0), absl::ZeroDuration());
}

}  // namespace
}  // namespace plimsoll
