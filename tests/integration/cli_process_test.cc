// The program `plimsoll` as an operator starts it, against a controller as an operator starts it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/integration/cli_program.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CliProcessTest : public ::testing::Test {
 protected:
  CliProcessTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "config.yaml")
        << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:0\"}\nstate: {mode: memory}\n"
        << "dependencies:\n  - {name: payments-api, quota: {capacity: 50}}\n"
        << "  - {name: orders-db, mode: observe}\n";
  }
  ~CliProcessTest() override {
    if (controller_ > 0) {
      kill(controller_, SIGKILL);
      waitpid(controller_, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  void StartController() {
    const std::string program = absl::StrCat(PLIMSOLL_BIN_DIR, "/plimsoll-controller");
    const std::string config = (folder_ / "config.yaml").string();
    const std::string ports = absl::StrCat("--port-file=", (folder_ / "ports").string());
    controller_ = fork();
    if (controller_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      execl(program.c_str(), program.c_str(), "--config", config.c_str(), ports.c_str(), nullptr);
      _exit(127);
    }
    for (int i = 0; i < 2000 && !std::filesystem::exists(folder_ / "ports"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const Json read = Json::parse(ReadAll(folder_ / "ports"), nullptr, false);
    ASSERT_TRUE(read.contains("api")) << "the controller did not start";
    address_ = absl::StrCat("http://127.0.0.1:", read["api"].get<int>());
  }

  // The exit status; output_ and error_ are what it said.
  int Run(const std::string& arguments) {
    CliProgram program(folder_.string());
    program.set_environment("PLIMSOLL_ADDR=" + address_);
    const int status = program.Run(arguments);
    output_ = program.out();
    error_ = program.error();
    return status;
  }

  const std::filesystem::path folder_ =
      ::testing::TempDir() + "cli_process_" +
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  pid_t controller_ = -1;
  std::string address_ = "http://127.0.0.1:1";
  std::string output_;
  std::string error_;
};

TEST_F(CliProcessTest, LooksAtARealControllerInEveryWay) {
  StartController();
  EXPECT_EQ(Run("status"), 0) << error_;
  EXPECT_THAT(output_, AllOf(HasSubstr("leader"), HasSubstr("dependencies  2, 0 limited")));
  EXPECT_EQ(Run("status --quiet"), 0) << error_;
  EXPECT_EQ(Run("get dependencies -o name"), 0) << error_;
  EXPECT_EQ(output_, "orders-db\npayments-api\n");
  for (const char* const kind : {"dependencies", "limits", "instances", "quotas", "events"}) {
    for (const char* const format : {"table", "wide", "json", "yaml", "jsonl", "csv", "name"}) {
      EXPECT_EQ(Run(absl::StrCat("get ", kind, " -o ", format)), 0) << kind << format << error_;
    }
  }
  EXPECT_EQ(Run("get quotas payments-api -o json"), 0) << error_;
  EXPECT_EQ(Json::parse(output_)["capacity"], 50);
  EXPECT_EQ(Run("describe dependency payments-api"), 0) << error_;
  EXPECT_EQ(Run("why payments-api"), 0) << error_;
  EXPECT_THAT(output_, HasSubstr("No instance uses payments-api"));
  EXPECT_EQ(Run("why orders-db"), 0) << error_;
  EXPECT_THAT(output_, HasSubstr("in mode observe"));
  EXPECT_EQ(Run("top --count 1"), 0) << error_;
  EXPECT_EQ(Run("check limits"), 0) << error_;
  EXPECT_EQ(Run("check quotas"), 0) << error_;
  EXPECT_EQ(Run("version"), 0) << error_;
  EXPECT_EQ(Run("api GET /v1/version"), 0) << error_;
  EXPECT_TRUE(Json::accept(output_)) << output_;
}

TEST_F(CliProcessTest, WhatIsNotThereAndWhoDoesNotListenHaveTheirStatuses) {
  EXPECT_EQ(Run("status"), 6);
  EXPECT_THAT(error_, HasSubstr("is the controller running"));
  StartController();
  EXPECT_EQ(Run("why nothing"), 3);
  EXPECT_THAT(error_, AllOf(HasSubstr("plimsoll: "), HasSubstr("NOT_FOUND, request ")));
  EXPECT_EQ(Run("get dependencies nothing"), 3);
  EXPECT_EQ(Run("get dependencis"), 2);
  EXPECT_EQ(Run("status --addr ftp://x"), 2);
  EXPECT_EQ(Run("status --addr https://127.0.0.1:1 --cacert none.pem"), 2);
}

TEST_F(CliProcessTest, ChecksAConfigurationAsTheControllerReadsIt) {
  EXPECT_EQ(Run("check-config config.yaml"), 0) << error_;
  EXPECT_EQ(output_, "config.yaml: valid, 2 dependencies\n");
  std::ofstream(folder_ / "bad.yaml")
      << "agents: {laese: 2s}\ndependencies: [{name: a, floor: -1}]\n";
  EXPECT_EQ(Run("check-config bad.yaml"), 7);
  EXPECT_THAT(error_, AllOf(HasSubstr("bad.yaml:1:10: /agents/laese"), HasSubstr("floor")));
  EXPECT_EQ(Run("check-config none.yaml"), 7);
  std::ofstream(folder_ / "more.yaml")
      << "include: config.yaml\nauth: {tokens_file: none.tokens}\n";
  EXPECT_EQ(Run("check-config more.yaml"), 7);
  EXPECT_THAT(error_, AllOf(HasSubstr("/include"), HasSubstr("only dependencies")));
  std::ofstream(folder_ / "tokens.yaml") << "auth: {tokens_file: none.tokens}\n";
  EXPECT_EQ(Run("check-config tokens.yaml"), 7);
  EXPECT_THAT(error_, HasSubstr("none.tokens"));
  EXPECT_EQ(Run("check-config --strict --skip-secrets tokens.yaml"), 0) << error_;
}

}  // namespace
}  // namespace plimsoll
