#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/main/command_line.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "controller/main/run.h"
#include "controller/main/signals.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {
namespace {

constexpr char kDefaultConfigPath[] = "/etc/plimsoll/plimsoll-controller.yaml";

// The exit statuses that every program of Plimsoll shares.
constexpr int kExitFine = 0;
constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;
constexpr int kExitInvalidConfig = 7;

void Print(std::FILE* file, const std::string& text) { std::fputs(text.c_str(), file); }

std::string ConfigPath(const CommandLine& command) {
  if (command.config_path.empty() && !command.dev) return kDefaultConfigPath;
  return command.config_path;
}

absl::StatusOr<Config> Load(const CommandLine& command) {
  const Profile profile = command.dev ? Profile::kDevelopment : Profile::kProduction;
  const std::string path = ConfigPath(command);
  return path.empty() ? DefaultConfig(profile) : LoadConfig(path, profile);
}

int CheckConfig(const CommandLine& command, const Config& config) {
  const std::size_t count = config.policies.size();
  const std::string path = ConfigPath(command);
  Print(stdout, absl::StrCat(path.empty() ? "built-in defaults" : path, ": valid, ", count,
                             count == 1 ? " dependency\n" : " dependencies\n"));
  return kExitFine;
}

int Serve(const CommandLine& command, Config config) {
  config.server.version = PLIMSOLL_VERSION;
  const Logger logger(config.log_level, config.log_format, stderr, RealClock());
  HoldSignals();
  const absl::Status served = RunController(config, command.port_path, logger, RealClock());
  if (served.ok()) return kExitFine;
  logger.Error(std::string(served.message()));
  return kExitFailure;
}

int Main(const std::vector<std::string>& arguments) {
  const absl::StatusOr<CommandLine> command = ParseCommandLine(arguments);
  if (!command.ok()) {
    Print(stderr, absl::StrCat(std::string(command.status().message()), "\n"));
    return kExitUsage;
  }
  if (command->help) {
    Print(stdout, UsageText());
    return kExitFine;
  }
  if (command->version) {
    Print(stdout, "plimsoll-controller " PLIMSOLL_VERSION "\n");
    return kExitFine;
  }
  absl::StatusOr<Config> config = Load(*command);
  if (!config.ok()) {
    Print(stderr, absl::StrCat(std::string(config.status().message()), "\n"));
    return kExitInvalidConfig;
  }
  if (command->check_config) return CheckConfig(*command, *config);
  return Serve(*command, *std::move(config));
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) { return plimsoll::Main({argv + 1, argv + argc}); }
