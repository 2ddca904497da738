// The controller as a service manager and an operator with backups know it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using demo::ChildProcess;
using demo::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr int kQuota = 20;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a service manager listens at. Each wait ends after ten seconds.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), address.sun_path);
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience{10, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(socket_);
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  std::string Take() const {
    std::array<char, 512> buffer{};
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    return got < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(got));
  }
  // The next message that is no sign of life.
  std::string TakeNews() const {
    std::string message = Take();
    while (message == "WATCHDOG=1") message = Take();
    return message;
  }

 private:
  int socket_;
};

class OperationsProcessTest : public ::testing::Test {
 protected:
  OperationsProcessTest() { WriteConfig("state", 0); }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string log() const { return ReadAll(path("log")); }

  void WriteConfig(const std::string& state, int agent_port) const {
    std::ofstream(path("config.yaml"))
        << "listen: {api: \"127.0.0.1:0\", agents: \"127.0.0.1:" << agent_port << "\"}\n"
        << "state: {dir: \"" << path(state) << "\"}\n"
        << "dependencies:\n  - {name: payments-api, floor: 1, ceiling: " << kQuota
        << ", quota: {capacity: " << kQuota << "}, algorithm: fixed, initial: " << kQuota << "}\n";
  }

  std::unique_ptr<ChildProcess> Spawn(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    command.insert(command.end(), {"--config", path("config.yaml")});
    auto process = ChildProcess::Start(command, path("log"));
    EXPECT_TRUE(process.ok()) << process.status();
    return process.ok() ? *std::move(process) : nullptr;
  }
  int Run(const std::vector<std::string>& arguments) const {
    const std::unique_ptr<ChildProcess> process = Spawn(arguments);
    if (!process->WaitFor(absl::Seconds(20))) return -1;
    return process->exit_code().value_or(-1);
  }
  void Start() {
    std::filesystem::remove(path("ports"));
    controller_ = Spawn({"--port-file=" + path("ports")});
    ASSERT_TRUE(Until([this] { return std::filesystem::exists(path("ports")); })) << log();
    ports_ = Json::parse(ReadAll(path("ports")));
  }
  std::string Ask(const std::string& request) const {
    HttpProbe probe(ports_["api"].get<std::uint16_t>());
    probe.Send(request);
    return probe.Receive();
  }
  Json AskJson(const std::string& target) const { return Json::parse(BodyOf(Ask(Get(target)))); }

  std::unique_ptr<Agent> StartAgent() const {
    AgentOptions options;
    options.controllers = {"http://127.0.0.1:" + std::to_string(ports_["agents"].get<int>())};
    options.service = "checkout";
    options.log = [](std::string_view) {};
    absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return agent.ok() ? *std::move(agent) : nullptr;
  }

  template <typename Condition>
  static bool Until(Condition condition) {
    for (int i = 0; i < 500; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
    return false;
  }

  const TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> controller_;
  Json ports_;
};

TEST_F(OperationsProcessTest, TheServiceManagerIsToldHowItFares) {
  ASSERT_EQ(Run({"--init"}), 0);
  const NotifySocket manager(path("notify"));
  setenv("WATCHDOG_USEC", "400000", 1);
  Start();
  EXPECT_THAT(manager.Take(), StartsWith("READY=1\nSTATUS=serving agents at 127.0.0.1:" +
                                         std::to_string(ports_["agents"].get<int>())));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(manager.Take(), "WATCHDOG=1");
  controller_->Signal(SIGHUP);
  EXPECT_THAT(manager.TakeNews(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_THAT(manager.TakeNews(), StartsWith("READY=1\nSTATUS=serving"));
  // A refused reload is over, too.
  std::ofstream(path("config.yaml")) << "laese: 1\n";
  controller_->Signal(SIGHUP);
  EXPECT_THAT(manager.TakeNews(), StartsWith("RELOADING=1\n"));
  EXPECT_THAT(manager.TakeNews(), StartsWith("READY=1\n"));
  controller_->Signal(SIGTERM);
  EXPECT_THAT(manager.TakeNews(), StartsWith("STOPPING=1\n"));
  ASSERT_TRUE(controller_->WaitFor(absl::Seconds(20)));
  EXPECT_EQ(controller_->exit_code(), 0);
}

TEST_F(OperationsProcessTest, WithoutAWatchdogThereAreNoSignsOfLife) {
  ASSERT_EQ(Run({"--init"}), 0);
  const NotifySocket manager(path("notify"));
  Start();
  EXPECT_THAT(manager.Take(), StartsWith("READY=1\n"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  controller_->Signal(SIGTERM);
  EXPECT_THAT(manager.Take(), StartsWith("STOPPING=1\n"));
}

TEST_F(OperationsProcessTest, ABackupMadeWhileItRunsIsRestoredElsewhereAndKeepsTheQuota) {
  ASSERT_EQ(Run({"--init"}), 0);
  Start();
  const std::unique_ptr<Agent> agent = StartAgent();
  Bulkhead& bulkhead = agent->bulkhead("payments-api");
  // It holds most of the quota; what it may not have is kept for newcomers.
  ASSERT_TRUE(Until([&] { return bulkhead.stats().limit > kQuota / 2; }));
  EXPECT_THAT(Ask("PUT /v1/dependencies/queue HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                  "application/json\r\nContent-Length: 25\r\n\r\n{\"quota\":{\"capacity\":30}} "),
              HasSubstr("201"));
  ASSERT_EQ(Run({"backup", path("copy.db")}), 0) << log();
  EXPECT_EQ(Run({"backup", path("copy.db")}), 1) << "nothing is overwritten";

  // The machine is gone, and with it the state; another one gets the copy.
  controller_->Kill();
  const int port = ports_["agents"];
  std::filesystem::create_directory(path("other"));
  std::filesystem::copy_file(path("copy.db"), path("other") + "/plimsoll.db");
  WriteConfig("other", port);
  Start();
  const Json learning = AskJson("/v1/status")["learning"];
  EXPECT_EQ(learning["active"], true);
  EXPECT_THAT(std::string(learning["why"]), HasSubstr("restored from a backup of 2"));
  EXPECT_EQ(AskJson("/v1/dependencies/queue")["quota"]["capacity"], 30);
  // The agent proves what it holds; a newcomer gets nothing of it, nor of the rest.
  ASSERT_TRUE(Until([&] {
    const Json quota = AskJson("/v1/dependencies/payments-api/quota");
    return quota["shares"].size() == 1 && quota["shares"][0]["reserved"] > 0;
  })) << AskJson("/v1/dependencies/payments-api/quota");
  const std::unique_ptr<Agent> newcomer = StartAgent();
  Bulkhead& hungry = newcomer->bulkhead("payments-api");
  ASSERT_TRUE(Until([&] { return newcomer->connected(); }));
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(hungry.TryAcquire().has_value());
    EXPECT_LE(bulkhead.stats().limit + hungry.stats().limit, kQuota);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_GT(bulkhead.stats().limit, 0) << "the fleet goes on";
  EXPECT_LE(AskJson("/v1/dependencies/payments-api/quota")["reserved"], kQuota);
}

}  // namespace
}  // namespace plimsoll
