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

TEST(DemoTest, RefusesArgumentsThatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string errors = folder.path() + "/errors";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--secnods", "12"}, {"--seconds", "11"}, {"--lane", "none"}, {"--seconds"}}) {
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
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::vector<pid_t> children = ChildrenOf(demo->pid());
  EXPECT_EQ(children.size(), 8U);
  demo->Signal(SIGINT);
  ASSERT_TRUE(demo->WaitFor(absl::Seconds(10)));
  EXPECT_EQ(demo->exit_code(), 130);
  ExpectAllGone(children);
}

TEST(DemoTest, TakesItsReplicasWithItWhenKilled) {
  const std::unique_ptr<ChildProcess> demo =
      StartDemo({"--lane", "unlimited", "--seconds", "30", "--json"});
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::vector<pid_t> children = ChildrenOf(demo->pid());
  EXPECT_EQ(children.size(), 8U);
  demo->Kill();
  ExpectAllGone(children);
}

}  // namespace
}  // namespace plimsoll::demo
