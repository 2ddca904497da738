#include "controller/main/log.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

const absl::Time kTime = absl::FromUnixMillis(1'700'000'000'042);

TEST(LogTest, TextIsOneLineWithFieldsInQuotesWhereNeeded) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, kTime, LogLevel::kInfo, "listening here",
                          {{"port", "7480"}, {"path", "a b"}, {"empty", ""}}),
            "2023-11-14T22:13:20.042Z info    listening here port=7480 path=\"a b\" empty=\"\"\n");
}

TEST(LogTest, JsonIsOneObjectALine) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, kTime, LogLevel::kError, "no \"way\"", {{"n", "1"}}),
            "{\"time\":\"2023-11-14T22:13:20.042Z\",\"level\":\"error\","
            "\"message\":\"no \\\"way\\\"\",\"n\":\"1\"}\n");
}

TEST(LogTest, NothingThatIsLoggedCanBreakTheLineOrForgeAnother) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const std::string line = FormatLogLine(format, kTime, LogLevel::kInfo, "a\nb\x1b[31m",
                                           {{"k", "x\n2023-11-14 error forged\r\x7f"}});
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find_first_of("\r\x1b\x7f"), std::string::npos);
  }
}

}  // namespace
}  // namespace plimsoll
