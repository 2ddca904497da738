#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace plimsoll {

// What the program was asked for.
struct CommandLine {
  std::string config_path;  // empty: none was named
  std::string port_path;    // empty: write none
  // "init", "defaults", "schema", "print" or "reference": what `config …` shall print; or empty.
  std::string config_verb;
  std::string backup_path;  // where `backup …` shall write a copy of the store; or empty
  // Settings beside the file, as "log.level" and "debug"; the last one of a key wins.
  std::vector<std::pair<std::string, std::string>> settings;
  bool check_config = false;
  bool strict = false;
  bool skip_secrets = false;
  bool sources = false;
  bool dev = false;
  bool init = false;
  bool state_lost = false;
  bool trust_state = false;
  bool list_metrics = false;
  bool version = false;
  bool help = false;
};

// `arguments` without the name of the program; "--flag value" and "--flag=value" are the same.
// Returns kInvalidArgument, saying which argument is wrong and what is allowed. Pure.
absl::StatusOr<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

// What --help prints.
std::string UsageText();

}  // namespace plimsoll
