#include "api/http/src/host_check.h"

#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

TEST(HostCheck, KnowsItsOwnNames) {
  const HostCheck check("10.0.0.5", {"Plimsoll.example"});
  for (const char* host : {"localhost", "LOCALHOST:7480", "127.0.0.1:7480", "[::1]:7480", "[::1]",
                           "10.0.0.5:7480", "plimsoll.example:443", "192.168.7.7", ""}) {
    EXPECT_TRUE(check.IsOurs(host, "192.168.7.7")) << host;
  }
}

TEST(HostCheck, RefusesNamesOfOthers) {
  const HostCheck check("127.0.0.1", {});
  for (const char* host : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                           "10.0.0.5", "[::2]", ":80", "[", "[]", "localhost@evil.example"}) {
    EXPECT_FALSE(check.IsOurs(host, "127.0.0.1")) << host;
  }
}

TEST(HostCheck, OriginMustBeOneOfOurPages) {
  const HostCheck check("127.0.0.1", {});
  EXPECT_TRUE(check.IsOwnOrigin("", "127.0.0.1"));
  EXPECT_TRUE(check.IsOwnOrigin("http://localhost:7480", "127.0.0.1"));
  EXPECT_FALSE(check.IsOwnOrigin("http://evil.example", "127.0.0.1"));
  EXPECT_FALSE(check.IsOwnOrigin("null", "127.0.0.1"));
  EXPECT_FALSE(check.IsOwnOrigin("https://", "127.0.0.1"));
}

}  // namespace
}  // namespace plimsoll::internal
