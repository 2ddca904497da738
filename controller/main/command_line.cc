#include "controller/main/command_line.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"

namespace plimsoll {
namespace {

struct Flag {
  const char* name;
  const char* value;  // what its value is called; null if it takes none
  const char* help;
  bool CommandLine::*set;
  std::string CommandLine::*text;
};

constexpr Flag kFlags[] = {
    {"--config", "FILE",
     "read FILE; without it /etc/plimsoll/plimsoll-controller.yaml, or nothing with --dev", nullptr,
     &CommandLine::config_path},
    {"--check-config", nullptr, "read the configuration, tell all that is wrong with it, and end",
     &CommandLine::check_config, nullptr},
    {"--dev", nullptr,
     "other defaults: state in memory, leases of 2s; the configuration still wins",
     &CommandLine::dev, nullptr},
    {"--init", nullptr,
     "make an empty store for a fleet that has never been granted anything, and end",
     &CommandLine::init, nullptr},
    {"--state-lost", nullptr,
     "distrust the store and learn from agents: after restoring a backup or moving a volume",
     &CommandLine::state_lost, nullptr},
    {"--trust-state", nullptr,
     "vouch that nothing is in force that the store does not know, and learn nothing",
     &CommandLine::trust_state, nullptr},
    {"--port-file", "PATH",
     "once listening, write {\"agents\":PORT,\"api\":PORT,\"pid\":N} to PATH", nullptr,
     &CommandLine::port_path},
    {"--list-metrics", nullptr, "print every metric as JSON, and end", &CommandLine::list_metrics,
     nullptr},
    {"--version", nullptr, "print the version, and end", &CommandLine::version, nullptr},
    {"--help", nullptr, "print this, and end", &CommandLine::help, nullptr},
};

absl::Status Wrong(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(what, "; see plimsoll-controller --help"));
}

const Flag* Find(const std::string& name) {
  for (const Flag& flag : kFlags) {
    if (name == flag.name) return &flag;
  }
  return nullptr;
}

absl::Status Unknown(const std::string& argument) {
  std::vector<std::string> names;
  for (const Flag& flag : kFlags) names.emplace_back(flag.name);
  return Wrong(absl::StrCat("unknown argument ", Quoted(argument), Suggestion(argument, names)));
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const Flag* const flag = Find(name);
    if (flag == nullptr) return Unknown(name);
    if (flag->set != nullptr) {
      if (has_value) return Wrong(absl::StrCat(name, " takes no value"));
      result.*(flag->set) = true;
      continue;
    }
    if (!has_value && i + 1 == arguments.size()) {
      return Wrong(absl::StrCat(name, " needs a ", flag->value));
    }
    result.*(flag->text) = has_value ? arguments[i].substr(equals + 1) : arguments[++i];
    if ((result.*(flag->text)).empty()) return Wrong(absl::StrCat(name, " needs a ", flag->value));
  }
  if (result.state_lost && result.trust_state) {
    return Wrong("--state-lost and --trust-state contradict each other");
  }
  if (result.init && (result.state_lost || result.trust_state)) {
    return Wrong("--init makes a store and ends: start without it to say how far to trust one");
  }
  return result;
}

std::string UsageText() {
  std::string text =
      "usage: plimsoll-controller [--config FILE] [--dev] [--port-file PATH] [--state-lost | "
      "--trust-state]\n"
      "       plimsoll-controller [--config FILE] --init | --check-config\n"
      "       plimsoll-controller hash-token NAME ROLE [--stdin]\n\n";
  for (const Flag& flag : kFlags) {
    const std::string left =
        flag.value == nullptr ? flag.name : absl::StrCat(flag.name, " ", flag.value);
    absl::StrAppend(&text, "  ", left, std::string(20 - left.size(), ' '), flag.help, "\n");
  }
  absl::StrAppend(&text,
                  "\nSIGTERM or SIGINT ends it in order, a second one at once; SIGHUP reads the "
                  "configuration anew.\n"
                  "exit status: 0 fine, 1 failure, 2 usage, 7 invalid configuration\n");
  return text;
}

}  // namespace plimsoll
