#include "api/http/src/core_driver.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

TEST(CoreDriverTest, LookingAtALargeFleetTakesHalfAPercentOfTheTime) {
  EXPECT_EQ(CoreDriver::SnapshotAgeMax(absl::ZeroDuration()), absl::Milliseconds(200));
  EXPECT_EQ(CoreDriver::SnapshotAgeMax(absl::Milliseconds(1)), absl::Milliseconds(200));
  EXPECT_EQ(CoreDriver::SnapshotAgeMax(absl::Milliseconds(4)), absl::Milliseconds(800));
  EXPECT_EQ(CoreDriver::SnapshotAgeMax(absl::Seconds(1)), absl::Seconds(2));
}

}  // namespace
}  // namespace plimsoll::internal
