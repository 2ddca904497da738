#include "api/cli/src/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/unit/agent/manual_clock.h"
#include "tests/unit/api/cli/fake_engine.h"
#include "tests/unit/api/cli/xml_checker.h"

namespace plimsoll::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class SimulateTest : public ::testing::Test {
 protected:
  SimulateTest() { std::filesystem::create_directories(folder_); }
  ~SimulateTest() override { std::filesystem::remove_all(folder_); }

  int Run(const std::vector<std::string>& arguments) {
    out_.clear();
    error_.clear();
    const Console console{[this](const std::string& text) { out_ += text; },
                          [this](const std::string& text) { error_ += text; }, false, clock_};
    return Simulate(arguments, engine_.Make(), console);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  ManualClock clock_;
  FakeEngine engine_;
  std::string out_;
  std::string error_;
  const std::filesystem::path folder_ =
      ::testing::TempDir() + "simulate_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SimulateTest, PrintsTheScenarioAndATableOfItsPhases) {
  EXPECT_EQ(Run({"--scenario", "A", "--law", "good", "--quiet"}), kExitFine);
  EXPECT_THAT(
      out_,
      HasSubstr(
          "\ngood\n"
          "phase   offered/s  good/s  optimum  ÷ optimum      p99  ÷ optimum  to 90 %  limit  "
          "best  overshoot  oscillation  fairness  rejected/s\n"
          "calm          500     900      500      1.800  40.0 ms       1.25    2.0 s   10.0  "
          "  12       1.20        0.050     0.990        -400\n"
          "busy *       2000     900     1000      0.900  40.0 ms       1.25    2.0 s   10.0  "
          "  12       1.20        0.050     0.990        1100\n"
          "0 quota violations, at most 60 of 64 in flight; 75000 calls, 1000 messages, 59 "
          "grants\n"));
  EXPECT_THAT(out_, HasSubstr("  what A is about\n"));
  EXPECT_THAT(error_, IsEmpty());
}

TEST_F(SimulateTest, APhaseThatNeverGetsThereSaysSo) {
  Run({"--scenario", "A", "--law", "poor"});
  EXPECT_THAT(out_, HasSubstr("0.630  40.0 ms       1.25    never"));
}

TEST_F(SimulateTest, SeveralRunsGiveTheMean) {
  Run({"--scenario", "A", "--law", "good", "--runs", "3"});
  // 900, 909 and 918.
  EXPECT_THAT(out_, HasSubstr("busy *       2000     909"));
  EXPECT_THAT(out_, HasSubstr("225000 calls"));
}

TEST_F(SimulateTest, WithoutOptimumNothingIsHeldAgainstIt) {
  EXPECT_EQ(Run({"--scenario", "A", "--no-optimum"}), kExitFine);
  EXPECT_EQ(*engine_.optima, 0);
  EXPECT_THAT(out_, HasSubstr("busy *       2000     900        -          -  40.0 ms"));
}

TEST_F(SimulateTest, ProgressGoesToTheOtherStreamUnlessQuiet) {
  Run({"--scenario", "A", "--jobs", "1"});
  EXPECT_THAT(error_, HasSubstr("100 % done\n"));
  EXPECT_THAT(out_, Not(HasSubstr("done")));
}

TEST_F(SimulateTest, ABrokenQuotaIsAFailure) {
  engine_.quota_violations = 2;
  EXPECT_EQ(Run({"--scenario", "A"}), kExitFailure);
  EXPECT_THAT(out_, HasSubstr("2 quota violations, "));
}

TEST_F(SimulateTest, AFileIsRunUnderTheLawsThatItNames) {
  const std::string path =
      Write("x.yaml", "name: mine\nphases: [{name: all, start: 0s}]\nlaws: [aimd, \"static:9\"]\n");
  EXPECT_EQ(Run({path, "--quiet"}), kExitFine) << error_;
  EXPECT_THAT(out_, HasSubstr("\naimd\n"));
  EXPECT_THAT(out_, HasSubstr("\nstatic:9\n"));
}

TEST_F(SimulateTest, AFaultyFileIsToldWithItsPlace) {
  const std::string path = Write("x.yaml", "name: mine\nphase: []\n");
  EXPECT_EQ(Run({path}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr(path + ":2:8: /phase: unknown key (did you mean \"phases\"?)\n"));
}

TEST_F(SimulateTest, WhatIsUnknownIsToldWithWhatThereIs) {
  EXPECT_EQ(Run({"--scenario", "Z"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("no designed scenario is called \"Z\""));
  EXPECT_THAT(error_, HasSubstr("there are A, B, halved"));
  EXPECT_EQ(Run({"--scenario", "A", "--law", "aimt"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("no law is called \"aimt\" (did you mean \"aimd\"?)"));
  EXPECT_EQ(Run({"--suite", "algorithms", "--law", "best"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("there are good, poor"));
  EXPECT_EQ(Run({"--suite", "algorithms", "--scenarios", "AX"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("no designed scenario is called \"X\""));
  EXPECT_EQ(Run({"--scenario", "A", "--law", "static:0"}), kExitUsage);
  EXPECT_THAT(error_, HasSubstr("the limit in \"static:0\" must be between 1 and"));
}

TEST_F(SimulateTest, ListNamesTheDesignedScenarios) {
  EXPECT_EQ(Run({"--list"}), kExitFine);
  EXPECT_THAT(out_, HasSubstr("halved      what halved is about\n"));
}

TEST_F(SimulateTest, APrintedScenarioCanBeRun) {
  EXPECT_EQ(Run({"--print", "halved"}), kExitFine);
  const std::string path = Write("p.yaml", out_);
  EXPECT_EQ(Run({path, "--quiet"}), kExitFine) << error_;
  EXPECT_THAT(out_, HasSubstr("scenario halved\n"));
}

TEST_F(SimulateTest, AReportIsAWellFormedPageWithEverythingInIt) {
  EXPECT_EQ(Run({"--scenario", "A", "--law", "good", "--report", Path("r.html"), "--report",
                 Path("r.svg")}),
            kExitFine);
  const std::string page = Read("r.html");
  EXPECT_EQ(XmlFault(page), "");
  EXPECT_THAT(page, HasSubstr("more &lt;calls&gt; &amp; &quot;more&quot; throughput"));
  EXPECT_THAT(page, HasSubstr("THROUGHPUT_GREW"));
  EXPECT_THAT(page, HasSubstr("quota 64"));
  EXPECT_THAT(page, HasSubstr("deadline 100.0 ms"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  const std::string picture = Read("r.svg");
  EXPECT_EQ(XmlFault(picture), "");
  EXPECT_LT(picture.size(), 60'000U);
  EXPECT_THAT(error_, HasSubstr("wrote " + Path("r.svg")));
}

TEST_F(SimulateTest, AReportThatCannotBeWrittenIsToldBeforeTheWork) {
  EXPECT_EQ(Run({"--scenario", "A", "--report", Path("no/such/r.html")}), kExitFailure);
  EXPECT_THAT(error_, HasSubstr("no/such/r.html: cannot be written: No such file or directory"));
  EXPECT_THAT(out_, IsEmpty());
}

TEST_F(SimulateTest, JsonHasWhatTheTableHas) {
  EXPECT_EQ(Run({"--scenario", "A", "--law", "poor", "--json"}), kExitFine);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["scenario"], "A");
  EXPECT_EQ(json["quota"], 64);
  EXPECT_EQ(json["phases"][1]["overload"], true);
  EXPECT_EQ(json["phases"][1]["optimum"]["limit"], 12);
  EXPECT_EQ(json["laws"][0]["law"], "poor");
  EXPECT_EQ(json["laws"][0]["quota_violations"], 0);
  const auto& busy = json["laws"][0]["phases"][1];
  EXPECT_DOUBLE_EQ(busy["good_per_second"], 630);
  EXPECT_DOUBLE_EQ(busy["score"]["goodput"], 0.63);
  EXPECT_EQ(busy["score"]["converged"], false);
}

TEST_F(SimulateTest, TheSuiteComparesAllLawsInOverload) {
  EXPECT_EQ(Run({"--suite", "algorithms", "--quiet"}), kExitFine);
  EXPECT_THAT(out_, HasSubstr("designed: 3 scenarios, 3 overload phases, 3 runs each, seeds from "
                              "1000\n"));
  EXPECT_THAT(out_, HasSubstr("good    0.909  0.909  A/busy"));
  EXPECT_THAT(out_, HasSubstr("halved/busy  0.909  0.639\n"));
  EXPECT_THAT(out_, Not(HasSubstr("calm")));
  // Once per overload phase, whatever the number of laws and runs.
  EXPECT_EQ(*engine_.optima, 3);
}

TEST_F(SimulateTest, HoldOutScenariosAreReportedApart) {
  Run({"--suite", "algorithms", "--hold-out", "2", "--seed", "7", "--json", "--scenarios", "AB"});
  const auto json = nlohmann::json::parse(out_);
  ASSERT_EQ(json["sets"].size(), 2U);
  EXPECT_EQ(json["sets"][0]["name"], "designed");
  EXPECT_EQ(json["sets"][0]["scenarios"].size(), 2U);
  EXPECT_EQ(json["sets"][0]["scenario_seed"], nullptr);
  EXPECT_EQ(json["sets"][1]["name"], "hold-out, made with seed 7");
  EXPECT_EQ(json["sets"][1]["scenario_seed"], 7);
  EXPECT_EQ(json["sets"][1]["scenarios"].size(), 2U);
  const auto& poor = json["sets"][0]["totals"][1];
  EXPECT_EQ(poor["law"], "poor");
  EXPECT_EQ(poor["overload_phases"], 2);
  EXPECT_EQ(poor["phases_below_0_8"], 2);
  EXPECT_EQ(poor["never_90"], 2);
}

TEST_F(SimulateTest, TheResultDoesNotDependOnTheNumberOfThreads) {
  const std::vector<std::string> arguments = {"--suite", "algorithms", "--hold-out", "3", "--json"};
  std::vector<std::string> one = arguments;
  std::vector<std::string> many = arguments;
  one.insert(one.end(), {"--jobs", "1"});
  many.insert(many.end(), {"--jobs", "7"});
  Run(one);
  const std::string expected = out_;
  Run(many);
  EXPECT_EQ(out_, expected);
}

TEST_F(SimulateTest, TheReportOfASuiteIsAWellFormedPage) {
  EXPECT_EQ(Run({"--suite", "algorithms", "--report", Path("s.html")}), kExitFine);
  const std::string page = Read("s.html");
  EXPECT_EQ(XmlFault(page), "");
  EXPECT_THAT(page, HasSubstr("Scenario halved: what halved is about"));
}

}  // namespace
}  // namespace plimsoll::cli
