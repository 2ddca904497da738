#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "api/cli/src/config_check.h"
#include "api/cli/src/context.h"
#include "api/cli/src/engine.h"
#include "api/cli/src/exit_status.h"
#include "api/cli/src/simulate.h"
#include "controller/config/read_file.h"

namespace plimsoll::cli {
namespace {

// Lines of a watch are for who waits for them. Whoever read them may have gone, as `head` does:
// that is no failure, and ends this program as it ends any other.
void Print(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if ((written && std::fflush(stdout) == 0) || errno != EPIPE) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}
void PrintError(const std::string& text) { std::fputs(text.c_str(), stderr); }

TerminalSize Size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

int RunSimulate(const std::vector<std::string>& arguments) {
  return Simulate(arguments, RealEngine(),
                  {Print, PrintError, isatty(STDERR_FILENO) == 1, RealClock()});
}

absl::StatusOr<std::string> Read(const std::string& path) {
  if (path != "-") return ReadFile(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

std::string ReadLine() {
  std::string line;
  std::getline(std::cin, line);
  return line;
}

std::string Environment(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

int Main(const std::vector<std::string>& arguments) {
  // Connections that are cut are told of by whoever uses them, see Print().
  std::signal(SIGPIPE, SIG_IGN);
  const Context context{.out = Print,
                        .error = PrintError,
                        .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                        .out_size = Size,
                        .in_is_terminal = isatty(STDIN_FILENO) == 1,
                        .read_line = ReadLine,
                        .read_file = Read,
                        .environment = Environment,
                        .connect = Connect,
                        .pause = absl::SleepFor,
                        .check_config = CheckConfig,
                        .simulate = RunSimulate,
                        .clock = RealClock(),
                        .version = PLIMSOLL_VERSION};
  return RunCommandLine(arguments, context);
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) {
  const int status = plimsoll::cli::Main({argv + 1, argv + argc});
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fputs("the output could not be written\n", stderr);
  return plimsoll::cli::kExitFailure;
}
