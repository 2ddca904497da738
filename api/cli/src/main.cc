#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/cli/src/engine.h"
#include "api/cli/src/simulate.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

struct Command {
  const char* name;
  const char* help;
  int (*run)(const std::vector<std::string>& arguments, const Console& console);
};

int RunSimulate(const std::vector<std::string>& arguments, const Console& console) {
  return Simulate(arguments, RealEngine(), console);
}

constexpr Command kCommands[] = {
    {"simulate", "try a policy on a modelled dependency before you roll it out", RunSimulate},
};

std::string Usage() {
  std::string text = "usage: plimsoll COMMAND [ARGUMENT]...\n\n";
  for (const Command& command : kCommands) {
    absl::StrAppend(&text, "  ", command.name,
                    std::string(12 - std::string(command.name).size(), ' '), command.help, "\n");
  }
  return absl::StrCat(text, "  help        print this\n  --version   print the version\n\n",
                      "plimsoll COMMAND --help tells more.\n");
}

int Unknown(const std::string& name, const Console& console) {
  std::vector<std::string> names = {"help", "--version"};
  for (const Command& command : kCommands) names.emplace_back(command.name);
  console.error(absl::StrCat("unknown command ", Quoted(name), Suggestion(name, names),
                             "; see plimsoll help\n"));
  return kExitUsage;
}

int Main(const std::vector<std::string>& arguments) {
  const Console console{[](const std::string& text) { std::fputs(text.c_str(), stdout); },
                        [](const std::string& text) { std::fputs(text.c_str(), stderr); },
                        isatty(STDERR_FILENO) == 1, RealClock()};
  if (arguments.empty()) {
    console.error(Usage());
    return kExitUsage;
  }
  const std::string& name = arguments.front();
  if (name == "help" || name == "--help") {
    console.out(Usage());
    return kExitFine;
  }
  if (name == "--version") {
    console.out("plimsoll " PLIMSOLL_VERSION "\n");
    return kExitFine;
  }
  for (const Command& command : kCommands) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()}, console);
  }
  return Unknown(name, console);
}

}  // namespace
}  // namespace plimsoll::cli

int main(int argc, char** argv) {
  const int status = plimsoll::cli::Main({argv + 1, argv + argc});
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fputs("the output could not be written\n", stderr);
  return plimsoll::cli::kExitFailure;
}
