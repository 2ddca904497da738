#include "api/http/src/url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Url, PathIsSplitBeforeItIsDecoded) {
  EXPECT_THAT(*SplitPath("/v1/limits/a%2Eb"), ElementsAre("v1", "limits", "a.b"));
  EXPECT_THAT(*SplitPath("/"), ElementsAre(""));
  EXPECT_THAT(*SplitPath("/v1/"), ElementsAre("v1", ""));
  EXPECT_THAT(*SplitPath("/a+b"), ElementsAre("a+b"));
}

TEST(Url, EscapedSlashOrNulIsNotFound) {
  for (const char* path : {"/v1/a%2Fb", "/v1/a%2fb", "/v1/%00"}) {
    EXPECT_TRUE(absl::IsNotFound(SplitPath(path).status())) << path;
  }
}

TEST(Url, BrokenEscapeIsInvalid) {
  for (const char* path : {"/%", "/%1", "/%zz", "/a%2"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(SplitPath(path).status())) << path;
  }
}

TEST(Url, QueryIsDecodedOnce) {
  EXPECT_THAT(*SplitQuery("a=1&b=x%2520y&c=d+e&f&&g="),
              ElementsAre(Pair("a", "1"), Pair("b", "x%20y"), Pair("c", "d e"), Pair("f", ""),
                          Pair("g", "")));
  EXPECT_TRUE(SplitQuery("")->empty());
}

TEST(Url, DoubledParameterIsInvalid) {
  EXPECT_TRUE(absl::IsInvalidArgument(SplitQuery("a=1&a=1").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(SplitQuery("a=%g1").status()));
}

}  // namespace
}  // namespace plimsoll::internal
