#include "plimsoll/core/protocol.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(RefusalCodeTest, HasTheNamesOfTheApi) {
  EXPECT_EQ(ToString(RefusalCode::kInvalidArgument), "INVALID_ARGUMENT");
  EXPECT_EQ(ToString(RefusalCode::kAgentTooOld), "AGENT_TOO_OLD");
  EXPECT_EQ(ToString(RefusalCode::kSessionUnknown), "SESSION_UNKNOWN");
  EXPECT_EQ(ToString(RefusalCode::kSessionSuperseded), "SESSION_SUPERSEDED");
  EXPECT_EQ(ToString(RefusalCode::kStaleSync), "STALE_SYNC");
  EXPECT_EQ(ToString(RefusalCode::kRateLimited), "RATE_LIMITED");
  EXPECT_EQ(ToString(RefusalCode::kNotReady), "NOT_READY");
}

}  // namespace
}  // namespace plimsoll
