#include "api/cli/src/simulate_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SimulateOptionsTest, AFileAloneIsOneRunWithTheUsualSeed) {
  const auto options = ParseSimulateOptions({"x.yaml"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->file, "x.yaml");
  EXPECT_EQ(options->seed, 1000U);
  EXPECT_EQ(options->runs, 1);
}

TEST(SimulateOptionsTest, FlagsTakeTheirValueEitherWay) {
  const auto options = ParseSimulateOptions(
      {"--scenario=A", "--law", "aimd", "--law=bdp", "--seed", "7", "--runs=4", "--report",
       "a.html", "--report", "b.svg", "--jobs", "2", "--json", "--quiet", "--no-optimum"});
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ(options->scenario, "A");
  EXPECT_THAT(options->laws, ElementsAre("aimd", "bdp"));
  EXPECT_EQ(options->seed, 7U);
  EXPECT_EQ(options->runs, 4);
  EXPECT_THAT(options->reports, ElementsAre("a.html", "b.svg"));
  EXPECT_EQ(options->jobs, 2);
  EXPECT_TRUE(options->json && options->quiet && options->no_optimum);
}

TEST(SimulateOptionsTest, ASuiteHasThreeRunsUnlessToldOtherwise) {
  EXPECT_EQ(ParseSimulateOptions({"--suite", "algorithms"})->runs, 3);
  EXPECT_EQ(ParseSimulateOptions({"--suite", "algorithms", "--runs", "1"})->runs, 1);
}

TEST(SimulateOptionsTest, EachMistakeIsToldWithAWayOut) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "name one of: a scenario FILE"},
      {{"x.yaml", "--list"}, "name one of: a scenario FILE"},
      {{"x.yaml", "y.yaml"}, "one scenario file at a time"},
      {{"x.yaml", "--seed", "1", "--seed=2"},
       "--seed is given twice, as \"1\" and \"2\": it takes one N"},
      {{"--scenario", "A", "--scenario", "B"},
       "--scenario is given twice, as \"A\" and \"B\": it takes one NAME"},
      {{"--scenaro", "A"}, "unknown flag \"--scenaro\" (did you mean \"--scenario\"?)"},
      {{"x.yaml", "--seed", "soon"}, "--seed must be a whole number, not \"soon\""},
      {{"x.yaml", "--runs", "0"}, "--runs must be between 1 and 1000, not \"0\""},
      {{"x.yaml", "--law"}, "--law needs a NAME"},
      {{"x.yaml", "--json=1"}, "--json takes no value"},
      {{"x.yaml", "--report", "a.pdf"}, "must end in .html or .svg"},
      {{"--suite", "algoritms"}, "no suite is called \"algoritms\": there is algorithms"},
      {{"--suite", "algorithms", "--report", "a.svg"}, "must end in .html"},
      {{"--suite", "algorithms", "--no-optimum"}, "cannot do with --no-optimum"},
      {{"x.yaml", "--hold-out", "3"}, "belong to --suite"},
  };
  for (const auto& [arguments, message] : cases) {
    const auto options = ParseSimulateOptions(arguments);
    ASSERT_FALSE(options.ok()) << message;
    EXPECT_THAT(std::string(options.status().message()), HasSubstr(message));
    EXPECT_THAT(std::string(options.status().message()), HasSubstr("see plimsoll simulate --help"));
  }
}

TEST(SimulateOptionsTest, HelpNamesEveryFlag) {
  for (const char* const flag :
       {"--scenario", "--list", "--print", "--suite", "--law", "--seed", "--runs", "--hold-out",
        "--scenarios", "--no-optimum", "--json", "--report", "--jobs", "--quiet"}) {
    EXPECT_THAT(SimulateUsage(), HasSubstr(flag));
  }
}

}  // namespace
}  // namespace plimsoll::cli
