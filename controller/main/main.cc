#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/main/command_line.h"
#include "controller/main/config.h"
#include "controller/main/config_loader.h"
#include "controller/main/config_report.h"
#include "controller/main/config_schema.h"
#include "controller/main/hash_token.h"
#include "controller/main/log.h"
#include "controller/main/run.h"
#include "controller/main/service_notifier.h"
#include "controller/main/signals.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/metrics_list.h"
#include "plimsoll/store/sqlite_store.h"

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

Profile ProfileOf(const CommandLine& command) {
  return command.dev ? Profile::kDevelopment : Profile::kProduction;
}

ConfigRequest RequestOf(const CommandLine& command) {
  ConfigRequest request;
  request.path = ConfigPath(command);
  request.profile = ProfileOf(command);
  request.flags = command.settings;
  request.strict = command.strict;
  request.skip_secrets = command.skip_secrets;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    request.environment.emplace_back(*variable);
  }
  return request;
}

absl::StatusOr<Config> Load(const CommandLine& command, Faults& faults) {
  return LoadLayered(RequestOf(command), faults);
}

// What needs no configuration.
std::string PrintedText(const CommandLine& command) {
  if (command.help) return UsageText();
  if (command.version) return "plimsoll-controller " PLIMSOLL_VERSION "\n";
  if (command.config_verb == "init") return InitText();
  if (command.config_verb == "defaults") return DefaultsText(ProfileOf(command));
  if (command.config_verb == "schema") return SchemaText();
  if (command.config_verb == "reference") return ReferenceText();
  return "";
}

int CheckConfig(const CommandLine& command, const Config& config) {
  for (const std::string& warning : config.warnings) {
    Print(stderr, absl::StrCat("warning: ", warning, "\n"));
  }
  const std::string path = ConfigPath(command);
  Print(stdout, ValidText(path.empty() ? "built-in defaults" : path, config));
  return kExitFine;
}

int Init(const Config& config) {
  if (config.state_mode == StateMode::kMemory) {
    Print(stderr, "state.mode is memory: there is no store to make\n");
    return kExitFailure;
  }
  if (config.state_mode == StateMode::kEtcd) {
    Print(stderr, "state.mode is etcd: the first controller makes what it needs there\n");
    return kExitFailure;
  }
  const absl::StatusOr<std::string> id = InitSqliteStore(config.state_dir);
  if (!id.ok()) {
    Print(stderr, absl::StrCat(std::string(id.status().message()), "\n"));
    return kExitFailure;
  }
  Print(stdout, absl::StrCat("made an empty store in '", config.state_dir, "', id ", *id, "\n"));
  return kExitFine;
}

int BackUp(const Config& config, const std::string& target) {
  if (config.state_mode == StateMode::kMemory) {
    Print(stderr, "state.mode is memory: there is no store to make a copy of\n");
    return kExitFailure;
  }
  if (config.state_mode == StateMode::kEtcd) {
    Print(stderr,
          "state.mode is etcd: the store is there, so 'etcdctl snapshot save FILE' makes a copy; "
          "start the first controller with --state-lost after restoring one\n");
    return kExitFailure;
  }
  const std::string when =
      absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", RealClock().WallTime(), absl::UTCTimeZone());
  const absl::Status done = BackUpSqliteStore(
      config.state_dir, target, absl::StrCat("It was restored from a backup of ", when));
  if (!done.ok()) {
    Print(stderr, absl::StrCat(std::string(done.message()), "\n"));
    return kExitFailure;
  }
  Print(stdout, absl::StrCat("wrote a copy of the store in '", config.state_dir, "' to '", target,
                             "'; to restore it, make it plimsoll.db of an empty state.dir\n"));
  return kExitFine;
}

RunOptions OptionsOf(const CommandLine& command) {
  RunOptions options;
  options.port_path = command.port_path;
  options.announce = command.dev;
  const char* const notify_socket = std::getenv("NOTIFY_SOCKET");
  options.notify_socket = notify_socket == nullptr ? "" : notify_socket;
  options.watchdog =
      WatchdogPeriod(std::getenv("WATCHDOG_USEC"), std::getenv("WATCHDOG_PID"), ::getpid());
  if (command.state_lost) options.word = OperatorWord::kLost;
  if (command.trust_state) options.word = OperatorWord::kTrust;
  options.profile = ProfileOf(command);
  options.config_name = ConfigPath(command);
  if (!options.config_name.empty()) {
    options.load = [command](Faults& faults) { return Load(command, faults); };
  }
  options.parse = [command](const std::string& text, Faults& faults) {
    ConfigRequest request = RequestOf(command);
    request.sent = true;
    return ReadLayered(request, text, faults);
  };
  return options;
}

int Serve(const CommandLine& command, Config config) {
  config.server.version = PLIMSOLL_VERSION;
  config.server.revision = PLIMSOLL_REVISION;
  const Logger logger(config.log_level, config.log_format, stderr, RealClock());
  for (const std::string& warning : config.warnings) logger.Warning(warning);
  HoldSignals();
  const absl::Status served = RunController(config, OptionsOf(command), logger, RealClock());
  if (served.ok()) return kExitFine;
  logger.Error(std::string(served.message()));
  return kExitFailure;
}

// The token goes to standard error, so that the line alone can be appended to a file.
int MakeTokenLine(const std::vector<std::string>& arguments) {
  const absl::StatusOr<HashedToken> hashed = HashTokenCommand(arguments, std::cin);
  if (!hashed.ok()) {
    Print(stderr, absl::StrCat(std::string(hashed.status().message()), "\n"));
    return kExitUsage;
  }
  if (!hashed->token.empty()) {
    Print(stderr, absl::StrCat("the token, which is shown only now: ", hashed->token, "\n"));
  }
  Print(stdout, absl::StrCat(hashed->line, "\n"));
  return kExitFine;
}

int Main(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "hash-token") {
    return MakeTokenLine({arguments.begin() + 1, arguments.end()});
  }
  const absl::StatusOr<CommandLine> command = ParseCommandLine(arguments);
  if (!command.ok()) {
    Print(stderr, absl::StrCat(std::string(command.status().message()), "\n"));
    return kExitUsage;
  }
  if (const std::string text = PrintedText(*command); !text.empty()) {
    Print(stdout, text);
    return kExitFine;
  }
  if (command->list_metrics) {
    Print(stdout, MetricsListJson());
    return kExitFine;
  }
  Faults faults;
  absl::StatusOr<Config> config = Load(*command, faults);
  if (!config.ok()) {
    Print(stderr, absl::StrCat(std::string(config.status().message()), "\n"));
    return kExitInvalidConfig;
  }
  if (command->config_verb == "print") {
    Print(stdout, EffectiveText(*config, command->sources));
    return kExitFine;
  }
  if (command->check_config) return CheckConfig(*command, *config);
  if (command->init) return Init(*config);
  if (!command->backup_path.empty()) return BackUp(*config, command->backup_path);
  return Serve(*command, *std::move(config));
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) { return plimsoll::Main({argv + 1, argv + argc}); }
