#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {

// The policy of the provider, and leases short enough for a story of seconds, as YAML.
std::string DemoConfig(absl::Duration lease = kLease);
// The same, and the provider once more under the name by which it is only observed.
std::string StoryConfig();

// A plimsoll-controller on ports of its own choice, with its state in a folder. Confined to the
// thread that made it.
class ControllerProcess {
 public:
  // `config` is all of the configuration but `listen` and `state`. Files go to `folder`. Both
  // planes listen on `address`; what is not loopback must be allowed by `config`. `state` is the
  // value of that key; empty: embedded, in `folder`.
  ControllerProcess(std::string binary, std::string folder, std::string config,
                    std::string address = "127.0.0.1", std::string state = "");

  // Makes its state and starts it, or starts it again: then on the same ports and with the same
  // state. Returns when it listens; fails with its last words if it does not.
  absl::Status Start();
  // Replaces the configuration file, for the next start or SIGHUP.
  void set_config(std::string config);
  // Instead of ports of its own choice. Before the first start.
  void set_ports(int agent_port, int api_port);
  // More arguments for the programs that are started from now on.
  void set_arguments(std::vector<std::string> arguments) { arguments_ = std::move(arguments); }
  // Sends a signal, unless it has ended.
  void Signal(int signal) { process_->Signal(signal); }
  // kill -9.
  void Kill() { process_.reset(); }
  // SIGTERM, and waits for the end. Returns the exit status, -1 if it had to be killed.
  int Terminate();

  bool Running() { return process_ != nullptr && process_->Running(); }
  int agent_port() const { return agent_port_; }
  int api_port() const { return api_port_; }
  std::string config_file() const { return folder_ + "/controller.yaml"; }
  pid_t pid() const { return process_->pid(); }

 private:
  void WriteConfig() const;
  absl::Status MakeStore() const;
  bool ReadPorts();
  std::string LastWords() const;

  const std::string binary_;
  const std::string folder_;
  std::string config_;
  const std::string address_;
  const std::string state_;
  std::vector<std::string> arguments_;
  std::unique_ptr<ChildProcess> process_;
  int agent_port_ = 0;
  int api_port_ = 0;
};

}  // namespace plimsoll::demo
