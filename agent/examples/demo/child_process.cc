#include "agent/examples/demo/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"

namespace plimsoll::demo {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(5);

// Between fork and exec in a process with threads: only async-signal-safe calls.
[[noreturn]] void BecomeChild(char* const* arguments, int output, const char* error_file,
                              pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  dup2(output, STDOUT_FILENO);
  if (*error_file != '\0') {
    const int error = open(error_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (error >= 0) dup2(error, STDERR_FILENO);
  }
  // Sockets of others are not for it, and would count against its limit.
  static_cast<void>(close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC));
  execv(arguments[0], arguments);
  _exit(127);
}

std::vector<char*> Pointers(std::vector<std::string>& command) {
  std::vector<char*> pointers;
  pointers.reserve(command.size() + 1);
  for (std::string& argument : command) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const std::vector<std::string>& command, const std::string& error_file) {
  if (command.empty() || access(command[0].c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(command.empty() ? "" : command[0], " is not a program that can be run"));
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return absl::UnavailableError("no pipe for a process");
  std::vector<std::string> copy = command;
  const std::vector<char*> arguments = Pointers(copy);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeChild(arguments.data(), ends[1], error_file.c_str(), parent);
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return absl::UnavailableError(absl::StrCat("cannot start ", command[0]));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<ChildProcess>(new ChildProcess(pid, ends[0]));
}

ChildProcess::~ChildProcess() {
  Kill();
  close(output_);
}

void ChildProcess::Reap(int flags) {
  if (exit_code_) return;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &status, flags);
  } while (ended < 0 && errno == EINTR);
  if (ended == 0) return;
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ChildProcess::Running() {
  Reap(WNOHANG);
  return !exit_code_;
}

void ChildProcess::Signal(int signal) {
  if (Running()) kill(pid_, signal);
}

bool ChildProcess::WaitFor(absl::Duration timeout) {
  for (absl::Duration waited; Running(); waited += kPollInterval) {
    if (waited >= timeout) return false;
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(kPollInterval));
  }
  return true;
}

void ChildProcess::Kill() {
  Signal(SIGKILL);
  Reap(0);
}

std::vector<std::string> ChildProcess::TakeLines() {
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(output_, buffer.data(), buffer.size())) > 0;) {
    unfinished_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::vector<std::string> lines;
  for (std::size_t end = 0; (end = unfinished_.find('\n')) != std::string::npos;) {
    lines.push_back(unfinished_.substr(0, end));
    unfinished_.erase(0, end + 1);
  }
  return lines;
}

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

}  // namespace plimsoll::demo
