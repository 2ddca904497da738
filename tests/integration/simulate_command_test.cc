// The program `plimsoll` as a user starts it, with the real simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

constexpr char kShort[] =
    "name: short\nreplicas: 2\nlength: 6s\nshared: true\nstation: {servers: 4, service: 10ms}\n"
    "phases: [{name: busy, start: 0s, load: 1.5}]\n"
    "policy: {algorithm: aimd, floor: 1, ceiling: 20, aimd: {latency_threshold: 50ms}, quota: "
    "{capacity: 30}}\n";

class SimulateCommandTest : public ::testing::Test {
 protected:
  SimulateCommandTest() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "short.yaml") << kShort;
  }
  ~SimulateCommandTest() override { std::filesystem::remove_all(folder_); }

  // The exit status; both streams go to output_.
  int Run(const std::string& arguments) {
    output_.clear();
    const std::string command = absl::StrCat("cd '", folder_.string(), "' && '", PLIMSOLL_BIN_DIR,
                                             "/plimsoll' ", arguments, " 2>&1");
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return -1;
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output_ += buffer.data();
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string output_;
  const std::filesystem::path folder_ =
      ::testing::TempDir() + "simulate_command_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(SimulateCommandTest, AShortScenarioKeepsItsQuotaAndLeavesItsReports) {
  EXPECT_EQ(Run("simulate short.yaml --report r.html --report r.svg --quiet"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("0 quota violations"));
  std::ostringstream page;
  page << std::ifstream(folder_ / "r.html").rdbuf();
  EXPECT_THAT(page.str(), HasSubstr("Decisions of aimd"));
  EXPECT_LT(std::filesystem::file_size(folder_ / "r.svg"), 60'000U);
}

TEST_F(SimulateCommandTest, TheSameSeedGivesTheSameResult) {
  ASSERT_EQ(Run("simulate short.yaml --no-optimum --json --quiet --seed 5"), 0) << output_;
  const std::string first = output_;
  ASSERT_EQ(Run("simulate short.yaml --no-optimum --json --quiet --seed 5 --jobs 1"), 0);
  EXPECT_EQ(output_, first);
  EXPECT_GT(nlohmann::json::parse(first)["laws"][0]["calls"], 1000);
}

TEST_F(SimulateCommandTest, EachDesignedScenarioIsPrintedAndReadBackAsItWas) {
  ASSERT_EQ(Run("simulate --list"), 0);
  std::istringstream lines(output_);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const std::string name = line.substr(0, line.find(' '));
    ASSERT_EQ(Run(absl::StrCat("simulate --print ", name)), 0) << output_;
    // An unknown law is found after the file was accepted.
    std::ofstream(folder_ / "p.yaml") << output_;
    EXPECT_EQ(Run("simulate p.yaml --law none"), 2);
    EXPECT_THAT(output_, HasSubstr("no law is called \"none\"")) << name;
  }
  EXPECT_GE(count, 17);
}

TEST_F(SimulateCommandTest, MistakesEndWithTwo) {
  EXPECT_EQ(Run("simulat"), 2);
  EXPECT_THAT(output_, HasSubstr("unknown command \"simulat\" (did you mean \"simulate\"?)"));
  EXPECT_EQ(Run(""), 2);
  EXPECT_EQ(Run("simulate missing.yaml"), 2);
  EXPECT_THAT(output_, HasSubstr("missing.yaml: cannot be read: No such file or directory"));
  EXPECT_EQ(Run("simulate short.yaml --runs none"), 2);
}

TEST_F(SimulateCommandTest, AReportThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(Run("simulate short.yaml --report no/such/folder/r.html"), 1);
  EXPECT_THAT(output_, HasSubstr("no/such/folder/r.html: cannot be written"));
}

TEST_F(SimulateCommandTest, VersionAndHelpAreThere) {
  EXPECT_EQ(Run("--version"), 0);
  EXPECT_THAT(output_, HasSubstr("plimsoll "));
  EXPECT_EQ(Run("help"), 0);
  EXPECT_THAT(output_, HasSubstr("simulate"));
}

}  // namespace
}  // namespace plimsoll
