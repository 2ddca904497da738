// Runs that are made by the second implementation, read again, and replayed.

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "plimsoll/core/random.h"
#include "tests/conformance/made_runs.h"
#include "tests/conformance/replay.h"
#include "tests/conformance/trace.h"

namespace plimsoll {
namespace {

class OtherSettingsTest : public testing::TestWithParam<const char*> {};

TEST_P(OtherSettingsTest, AgreeWithTheSecondImplementation) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const nlohmann::json run = MakeRun(random, GetParam());
    const auto file = ParseTraceFile(absl::StrCat(GetParam(), " ", i), run.dump());
    ASSERT_TRUE(file.ok()) << file.status() << run["settings"];
    const Trace& trace = file->traces.front();
    const auto law = MakeAlgorithm(trace.config);
    ASSERT_TRUE(law.ok()) << law.status();
    const auto difference = FirstDifference(trace, **law);
    ASSERT_FALSE(difference) << *difference << " " << run["settings"];
  }
}

INSTANTIATE_TEST_SUITE_P(EveryAlgorithm, OtherSettingsTest,
                         testing::Values("aimd", "vegas", "gradient", "gradient2", "windowed"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace plimsoll
