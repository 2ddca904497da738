#include "agent/examples/demo/controller_process.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {
namespace {

constexpr int kStartPolls = 1000;   // of 10 ms
constexpr std::size_t kTail = 600;  // of the log
constexpr absl::Duration kInitTimeout = absl::Seconds(10);
constexpr absl::Duration kTerminateTimeout = absl::Seconds(5);

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The number of a key in {"agents":4711,"api":4712,…}; 0 if it is not there, or not yet.
int NumberOf(const std::string& text, const std::string& key) {
  const std::string quoted = absl::StrCat("\"", key, "\":");
  const std::size_t at = text.find(quoted);
  if (at == std::string::npos || text.find('}') == std::string::npos) return 0;
  return std::atoi(text.c_str() + at + quoted.size());
}

std::string PolicyText(const std::string& name, const std::string& mode) {
  return absl::StrFormat(R"(  - name: %s
    mode: %s
    scope: fleet
    algorithm: aimd
    aimd: {latency_threshold: 500ms}
    floor: %d
    ceiling: %d
    initial: %d
    window: {length: 500ms, min_samples: 20, percentile: 0.9}
    call_deadline: %s
    quota: {capacity: %d}
    outage: {base_lease: %s}
)",
                         name, mode, kFloor, kQuota, kQuota, absl::FormatDuration(kCallDeadline),
                         kQuota, absl::FormatDuration(kBaseLease));
}

}  // namespace

std::string DemoConfig(absl::Duration lease) {
  return absl::StrFormat(R"(agents:
  lease: %s
  hold_max: %s
  sync_min: 20ms
  tick: 50ms
dependencies:
)",
                         absl::FormatDuration(lease), absl::FormatDuration(kLease / 10)) +
         PolicyText(kDependency, "enforce");
}

std::string StoryConfig() { return DemoConfig() + PolicyText(kObservedDependency, "observe"); }

ControllerProcess::ControllerProcess(std::string binary, std::string folder, std::string config,
                                     std::string address, std::string state)
    : binary_(std::move(binary)),
      folder_(std::move(folder)),
      config_(std::move(config)),
      address_(std::move(address)),
      state_(std::move(state)) {
  WriteConfig();
}

void ControllerProcess::set_config(std::string config) {
  config_ = std::move(config);
  WriteConfig();
}

void ControllerProcess::set_ports(int agent_port, int api_port) {
  agent_port_ = agent_port;
  api_port_ = api_port;
  WriteConfig();
}

void ControllerProcess::WriteConfig() const {
  std::ofstream(config_file()) << absl::StrFormat(
      "listen: {api: \"%s:%d\", agents: \"%s:%d\"}\n"
      "state: %s\n%s",
      address_, api_port_, address_, agent_port_,
      state_.empty() ? absl::StrCat("{mode: embedded, dir: \"", folder_, "/state\"}") : state_,
      config_);
}

// A fleet that has never been granted anything may start at once, and has to say so.
absl::Status ControllerProcess::MakeStore() const {
  const absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(
      {binary_, "--init", "--config", config_file()}, folder_ + "/controller.log");
  if (!process.ok()) return process.status();
  const bool made = (*process)->WaitFor(kInitTimeout) && (*process)->exit_code() == 0;
  if (made) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(binary_, " --init failed: ", LastWords()));
}

absl::Status ControllerProcess::Start() {
  std::error_code ignored;
  if (state_.empty() && !std::filesystem::exists(folder_ + "/state", ignored)) {
    if (absl::Status made = MakeStore(); !made.ok()) return made;
  }
  const std::string port_file = folder_ + "/ports";
  std::filesystem::remove(port_file, ignored);
  std::vector<std::string> command = {binary_, "--config", config_file(), "--port-file", port_file};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  absl::StatusOr<std::unique_ptr<ChildProcess>> process =
      ChildProcess::Start(command, folder_ + "/controller.log");
  if (!process.ok()) return process.status();
  process_ = *std::move(process);
  for (int i = 0; i < kStartPolls && process_->Running(); ++i) {
    if (ReadPorts()) return absl::OkStatus();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return absl::UnavailableError(absl::StrCat(binary_, " did not start: ", LastWords()));
}

// Once the ports are known, the configuration names them, so that a restart keeps them.
bool ControllerProcess::ReadPorts() {
  const std::string ports = ReadFile(folder_ + "/ports");
  const int agent_port = NumberOf(ports, "agents");
  const int api_port = NumberOf(ports, "api");
  if (agent_port == 0 || api_port == 0) return false;
  agent_port_ = agent_port;
  api_port_ = api_port;
  WriteConfig();
  return true;
}

int ControllerProcess::Terminate() {
  process_->Signal(SIGTERM);
  const bool ended = process_->WaitFor(kTerminateTimeout);
  const int code = ended ? process_->exit_code().value_or(-1) : -1;
  process_.reset();
  return code;
}

std::string ControllerProcess::LastWords() const {
  const std::string log = ReadFile(folder_ + "/controller.log");
  return log.size() > kTail ? log.substr(log.size() - kTail) : log;
}

}  // namespace plimsoll::demo
