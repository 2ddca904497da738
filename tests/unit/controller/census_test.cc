#include "controller/src/census.h"

#include <gtest/gtest.h>

#include "tests/support/allocation_fleet.h"

namespace plimsoll::internal {
namespace {

using ::plimsoll::testing::AllocationFleet;

// Quota 100, in a controller that has been attentive for long: two instances of old, and others.
class CensusTest : public ::testing::Test {
 protected:
  CensusTest() : fleet_(AllocationFleet::Plain(100)) {
    fleet_.dependency().allocated_at = fleet_.now();
    fleet_.dependency().attentive_since = fleet_.now() - absl::Hours(1);
    for (int i = 0; i < 2; ++i) Lives(absl::Hours(1));
  }

  int Lives(absl::Duration age, Calls holds = 0) {
    const int index = fleet_.Add("a", 20, holds);
    fleet_.session(index).joined_at = fleet_.now() - age;
    HeardOf(index, absl::ZeroDuration());
    return index;
  }
  // It lived so long, and has been silent since.
  int Lost(absl::Duration life, absl::Duration silent = absl::Seconds(6), Calls holds = 5) {
    const int index = Lives(life + silent, holds);
    HeardOf(index, silent);
    return index;
  }
  void HeardOf(int index, absl::Duration ago) {
    fleet_.session(index).seen_at = fleet_.now() - ago;
    fleet_.member(index).reported_at = fleet_.now() - ago;
  }
  Calls ShareOf(int index) {
    fleet_.AllocateOnly();
    return fleet_.member(index).share;
  }

  AllocationFleet fleet_;
};

TEST_F(CensusTest, WhoIsSilentForTwoSyncsClaimsNothingAndKeepsWhatIsReserved) {
  const int silent = Lost(absl::Hours(1), absl::Milliseconds(3100), 7);
  const int late = Lost(absl::Hours(1), absl::Milliseconds(2900), 7);
  EXPECT_EQ(ShareOf(silent), 0);
  EXPECT_EQ(fleet_.member(silent).offer, 7);
  EXPECT_GT(ShareOf(late), 7);
}

TEST_F(CensusTest, WithoutALoopANewcomerGetsItsShare) {
  for (int i = 0; i < 2; ++i) Lost(absl::Seconds(2));
  EXPECT_EQ(ShareOf(Lives(absl::Seconds(1))), 20);
}

TEST_F(CensusTest, ACrashLoopLeavesNewcomersATenthLessWhatIsLost) {
  for (int i = 0; i < 3; ++i) Lost(absl::Seconds(2), absl::Seconds(6), 2);
  EXPECT_EQ(ShareOf(Lives(absl::Seconds(1))), 4);
  EXPECT_EQ(ShareOf(0), 20) << "the others do not notice";
}

TEST_F(CensusTest, ANewcomerKeepsWhatItHasInACrashLoop) {
  for (int i = 0; i < 3; ++i) Lost(absl::Seconds(2));
  EXPECT_EQ(ShareOf(Lives(absl::Seconds(1), 9)), 9);
}

TEST_F(CensusTest, WhoHasLivedTwiceAsLongIsNotInTheLoop) {
  for (int i = 0; i < 3; ++i) Lost(absl::Seconds(2));
  EXPECT_EQ(ShareOf(Lives(absl::Milliseconds(5100))), 20);
}

TEST_F(CensusTest, WhoWasOnlyCutOffIsNotLost) {
  std::vector<int> back;
  for (int i = 0; i < 3; ++i) back.push_back(Lost(absl::Seconds(2)));
  const int newcomer = Lives(absl::Seconds(1));
  EXPECT_LT(ShareOf(newcomer), 5);
  for (int index : back) HeardOf(index, absl::ZeroDuration());
  EXPECT_GT(ShareOf(newcomer), 15);
}

TEST_F(CensusTest, AControllerThatWasStoppedCallsNobodyLost) {
  for (int i = 0; i < 3; ++i) Lost(absl::Seconds(2));
  fleet_.dependency().allocated_at = fleet_.now() - absl::Seconds(5);
  EXPECT_EQ(ShareOf(Lives(absl::Seconds(1))), 20);
}

}  // namespace
}  // namespace plimsoll::internal
