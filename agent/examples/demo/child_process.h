#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace plimsoll::demo {

// A process that this one started, and that dies with it: the kernel kills it when the thread that
// started it ends. Confined to that thread.
class ChildProcess {
 public:
  // `command` is a path and its arguments. Standard output goes to a pipe, see TakeLines();
  // standard error is appended to the file `error_file`, or shared with this process if that is
  // empty.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const std::vector<std::string>& command, const std::string& error_file = "");
  // Kills it if it still runs.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool Running();
  // Sends a signal, unless it has ended.
  void Signal(int signal);
  // True if it has ended by then.
  bool WaitFor(absl::Duration timeout);
  // SIGKILL, and waits for the end.
  void Kill();
  // As a shell shows it: 128 + signal for a process that was killed. Nothing while it runs.
  std::optional<int> exit_code() const { return exit_code_; }

  // For poll(): readable when there is output.
  int output() const { return output_; }
  // The lines that have arrived whole. Never waits.
  std::vector<std::string> TakeLines();

 private:
  ChildProcess(pid_t pid, int output) : pid_(pid), output_(output) {}
  void Reap(int flags);

  const pid_t pid_;
  const int output_;
  std::string unfinished_;
  std::optional<int> exit_code_;
};

// The folder of the program that runs.
std::string OwnFolder();

}  // namespace plimsoll::demo
