#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace plimsoll {

// The program `plimsoll` as somebody starts it from a shell. Thread-compatible.
class CliProgram {
 public:
  // `folder` is where it runs, and for what it says on standard error.
  explicit CliProgram(std::string folder) : folder_(std::move(folder)) {}

  // Assignments before its name, such as "PLIMSOLL_ADDR=http://127.0.0.1:7480".
  void set_environment(std::string assignments) { environment_ = std::move(assignments); }

  // Its exit status; -1 if a signal ended it.
  int Run(const std::string& arguments) {
    const std::string command = "cd '" + folder_ + "' && " + environment_ + " '" +
                                PLIMSOLL_BIN_DIR + "/plimsoll' " + arguments + " 2>cli-error";
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return -1;
    out_.clear();
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) out_ += buffer.data();
    const int status = pclose(pipe);
    std::ifstream file(folder_ + "/cli-error");
    error_.assign(std::istreambuf_iterator<char>(file), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // What the last run said.
  const std::string& out() const { return out_; }
  const std::string& error() const { return error_; }

 private:
  const std::string folder_;
  std::string environment_;
  std::string out_;
  std::string error_;
};

}  // namespace plimsoll
