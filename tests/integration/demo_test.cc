// The demo as a user runs it: real processes, real HTTP, and a provider that counts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"

namespace plimsoll::demo {
namespace {

std::unique_ptr<ChildProcess> StartDemo(const std::vector<std::string>& arguments,
                                        const std::string& error_file = "") {
  std::vector<std::string> command = {std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-demo"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  auto process = ChildProcess::Start(command, error_file);
  EXPECT_TRUE(process.ok()) << process.status();
  return process.ok() ? *std::move(process) : nullptr;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  const std::string id = std::to_string(pid);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; file >> child;) children.push_back(child);
  return children;
}

// All that the demo starts for a lane, once it is there.
std::vector<pid_t> WaitForChildren(pid_t pid) {
  std::vector<pid_t> children;
  for (int i = 0; i < 1000 && children.size() < 9; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    children = ChildrenOf(pid);
  }
  return children;
}

// The process has ended; its parent may not have noticed yet.
bool IsGone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string ignored;
  std::string state;
  return !(file >> ignored >> ignored >> state) || state == "Z" || state == "X";
}

void ExpectAllGone(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    for (int i = 0; i < 500 && !IsGone(pid); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(IsGone(pid)) << "process " << pid << " was left behind";
  }
}

TEST(DemoTest, KeepsTheQuotaWhereHandSetLimitsBreakIt) {
  const std::unique_ptr<ChildProcess> demo = StartDemo({"--seconds", "12", "--json"});
  ASSERT_TRUE(demo->WaitFor(absl::Seconds(60)));
  EXPECT_EQ(demo->exit_code(), 0);
  const std::vector<std::string> lines = demo->TakeLines();
  ASSERT_EQ(lines.size(), 1U) << "one JSON object on one line";
  const nlohmann::json result = nlohmann::json::parse(lines[0]);
  const nlohmann::json& plimsoll = result["lanes"]["plimsoll"];
  const nlohmann::json& unlimited = result["lanes"]["unlimited"];
  SCOPED_TRACE(lines[0]);

  EXPECT_EQ(result["quota"], 50);
  EXPECT_EQ(result["violations"], 0);
  EXPECT_LE(plimsoll["provider_max_in_flight"].get<int>(), 50);
  EXPECT_GT(plimsoll["provider_max_in_flight"].get<int>(), 25) << "hardly anything was admitted";
  EXPECT_GT(unlimited["provider_max_in_flight"].get<int>(), 100);
  EXPECT_GE(plimsoll["goodput_per_second"].get<double>(),
            2 * unlimited["goodput_per_second"].get<double>());
  EXPECT_GT(plimsoll["rejected"].get<int>(), 0);
  EXPECT_LT(plimsoll["p99_seconds"].get<double>(), unlimited["p50_seconds"].get<double>());
  double others = 0;
  for (int i = 1; i < 8; ++i) others += plimsoll["shares"][i]["mean_limit"].get<double>();
  EXPECT_GT(plimsoll["shares"][0]["mean_limit"].get<double>(), 1.5 * others / 7)
      << "the first replica has three times the traffic";
  EXPECT_TRUE(result["regrant_seconds"].is_number());
  EXPECT_TRUE(result["return_seconds"].is_number());
}

// The console's page and its API answer as long as the fleet is kept.
TEST(DemoTest, ShowsItsConsoleAndEndsWithTheSentencesOfWhy) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  const std::unique_ptr<ChildProcess> demo =
      StartDemo({"--lane", "plimsoll", "--seconds", "8", "--plain", "--keep", "60"}, errors);
  std::string out;
  for (int i = 0; i < 6000 && out.find("Ctrl-C") == std::string::npos; ++i) {
    out += absl::StrJoin(demo->TakeLines(), "\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::ifstream file(errors);
  const std::string story{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(story, testing::ContainsRegex("console: http://127.0.0.1:[1-9][0-9]*/ui/\n"));
  for (const char* const page : {"dependencies/provider", "quota", "instances", "events"}) {
    EXPECT_THAT(story, testing::ContainsRegex(absl::StrCat("look: http://127.*/ui/", page, "\n")));
  }
  EXPECT_THAT(out, testing::ContainsRegex("\\$ plimsoll why provider --brief\n"
                                          "  [0-9.]+ calls/s to provider are refused"));
  EXPECT_THAT(out, testing::HasSubstr("$ plimsoll why provider checkout-0"));
  EXPECT_THAT(out, testing::HasSubstr("What to do"));
  EXPECT_TRUE(demo->Running()) << "somebody looks at the console";
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitFor(absl::Seconds(10)));
  EXPECT_EQ(demo->exit_code(), 0) << "that is how it is meant to end";
}

TEST(DemoTest, RefusesArgumentsThatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--secnods", "12"},
                                             {"--keep", "-1"},
                                             {"--seconds", "11"},
                                             {"--lane", "none"},
                                             {"--seconds"}}) {
    const std::unique_ptr<ChildProcess> demo = StartDemo(arguments, errors);
    ASSERT_TRUE(demo->WaitFor(absl::Seconds(10)));
    EXPECT_EQ(demo->exit_code(), 2) << testing::PrintToString(arguments);
  }
}

TEST(DemoTest, SaysWhatDidNotStart) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  const std::unique_ptr<ChildProcess> demo = StartDemo(
      {"--lane", "plimsoll", "--seconds", "8", "--controller", "/nowhere/controller"}, errors);
  ASSERT_TRUE(demo->WaitFor(absl::Seconds(10)));
  EXPECT_EQ(demo->exit_code(), 1);
  std::ifstream file(errors);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::HasSubstr("/nowhere/controller"));
}

TEST(DemoTest, TakesItsReplicasWithItWhenInterrupted) {
  const std::unique_ptr<ChildProcess> demo =
      StartDemo({"--lane", "unlimited", "--seconds", "30", "--json"});
  const std::vector<pid_t> children = WaitForChildren(demo->pid());
  EXPECT_EQ(children.size(), 9U) << "replicas and the controller";
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitFor(absl::Seconds(10)));
  EXPECT_EQ(demo->exit_code(), 130);
  ExpectAllGone(children);
}

TEST(DemoTest, TakesItsReplicasWithItWhenKilled) {
  const std::unique_ptr<ChildProcess> demo =
      StartDemo({"--lane", "unlimited", "--seconds", "30", "--json"});
  const std::vector<pid_t> children = WaitForChildren(demo->pid());
  EXPECT_EQ(children.size(), 9U) << "replicas and the controller";
  demo->Kill();
  ExpectAllGone(children);
}

}  // namespace
}  // namespace plimsoll::demo
