#include "controller/main/command_line.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/faults.h"
#include "controller/main/config_keys.h"

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
    {"--strict", nullptr, "variables PLIMSOLL_* that nobody knows are faults, not warnings",
     &CommandLine::strict, nullptr},
    {"--skip-secrets", nullptr,
     "with --check-config: leave unread the files of tokens and certificates",
     &CommandLine::skip_secrets, nullptr},
    {"--sources", nullptr, "with config print: where each setting comes from",
     &CommandLine::sources, nullptr},
    {"--dev", nullptr,
     "other defaults: state in memory, leases of 2s, a policy for every dependency that agents ask "
     "for; the configuration still wins",
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
  for (const ConfigKey& key : ConfigKeys()) names.push_back(absl::StrCat("--", key.name));
  return Wrong(absl::StrCat("unknown argument ", Quoted(argument), Suggestion(argument, names)));
}

// The setting that "--log.level" is about; null if there is none.
const ConfigKey* FindSetting(const std::string& name) {
  return absl::StartsWith(name, "--") ? FindConfigKey(name.substr(2)) : nullptr;
}

// `config VERB` or `backup TARGET` at the beginning. Returns how many arguments that takes.
absl::StatusOr<std::size_t> ReadVerb(const std::vector<std::string>& arguments,
                                     CommandLine& result) {
  if (!arguments.empty() && arguments[0] == "backup") {
    if (arguments.size() < 2 || arguments[1].empty() || arguments[1][0] == '-') {
      return Wrong("backup needs the name of the file to write");
    }
    result.backup_path = arguments[1];
    return 2;
  }
  if (arguments.empty() || arguments[0] != "config") return 0;
  const std::vector<std::string> verbs = {"init", "defaults", "schema", "print", "reference"};
  const std::string verb = arguments.size() > 1 ? arguments[1] : "";
  if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) {
    return Wrong(absl::StrCat("config needs one of ", absl::StrJoin(verbs, ", "), ", not ",
                              Quoted(verb), Suggestion(verb, verbs)));
  }
  result.config_verb = verb;
  return 2;
}

// A flag with its value, if it has one.
struct Argument {
  std::string name;
  std::optional<std::string> value;
};

Argument Split(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) return {argument, std::nullopt};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

// Takes the value out of the next argument if it was not given with the name.
absl::Status NeedValue(const std::string& what, const std::vector<std::string>& arguments,
                       std::size_t& i, Argument& argument) {
  if (!argument.value.has_value() && i + 1 < arguments.size()) argument.value = arguments[++i];
  if (argument.value.has_value()) return absl::OkStatus();
  return Wrong(absl::StrCat(argument.name, " needs a ", what));
}

// Reads one flag, the arguments of which begin at `i`, which is moved to the last of them.
absl::Status ReadFlag(const std::vector<std::string>& arguments, std::size_t& i,
                      CommandLine& result) {
  Argument argument = Split(arguments[i]);
  const Flag* const flag = Find(argument.name);
  if (flag == nullptr) {
    const ConfigKey* const key = FindSetting(argument.name);
    if (key == nullptr) return Unknown(argument.name);
    absl::Status status = NeedValue("VALUE", arguments, i, argument);
    if (status.ok()) result.settings.emplace_back(key->name, *argument.value);
    return status;
  }
  if (flag->set != nullptr) {
    if (argument.value.has_value()) return Wrong(absl::StrCat(argument.name, " takes no value"));
    result.*(flag->set) = true;
    return absl::OkStatus();
  }
  if (absl::Status status = NeedValue(flag->value, arguments, i, argument); !status.ok()) {
    return status;
  }
  if (argument.value->empty()) return Wrong(absl::StrCat(argument.name, " needs a ", flag->value));
  result.*(flag->text) = *argument.value;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  CommandLine result;
  const absl::StatusOr<std::size_t> first = ReadVerb(arguments, result);
  if (!first.ok()) return first.status();
  for (std::size_t i = *first; i < arguments.size(); ++i) {
    if (absl::Status read = ReadFlag(arguments, i, result); !read.ok()) return read;
  }
  if (result.skip_secrets && !result.check_config && result.config_verb != "print") {
    return Wrong("--skip-secrets belongs to --check-config: without its secrets nothing starts");
  }
  if (result.sources && result.config_verb != "print") {
    return Wrong("--sources belongs to config print");
  }
  if (result.state_lost && result.trust_state) {
    return Wrong("--state-lost and --trust-state contradict each other");
  }
  if (!result.backup_path.empty() &&
      (result.init || result.state_lost || result.trust_state || result.check_config)) {
    return Wrong("backup writes a copy and ends: it goes with no other thing to do");
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
      "       plimsoll-controller [--config FILE] --init | --check-config [--strict] "
      "[--skip-secrets]\n"
      "       plimsoll-controller config init | defaults | schema | print [--sources] | "
      "reference\n"
      "       plimsoll-controller backup TARGET [--config FILE]\n"
      "       plimsoll-controller hash-token NAME ROLE [--stdin]\n\n";
  for (const Flag& flag : kFlags) {
    const std::string left =
        flag.value == nullptr ? flag.name : absl::StrCat(flag.name, " ", flag.value);
    absl::StrAppend(&text, "  ", left, std::string(20 - left.size(), ' '), flag.help, "\n");
  }
  absl::StrAppend(&text,
                  "\nEvery setting outside of defaults and dependencies has a flag and a variable: "
                  "--log.level debug,\nPLIMSOLL_LOG__LEVEL=debug. Flags win over variables, "
                  "variables over the file.\n");
  absl::StrAppend(&text,
                  "\nSIGTERM or SIGINT ends it in order, a second one at once; SIGHUP reads the "
                  "configuration anew.\n"
                  "exit status: 0 fine, 1 failure, 2 usage, 7 invalid configuration\n");
  return text;
}

}  // namespace plimsoll
