#pragma once

#include <string>
#include <vector>

#include "api/cli/src/verb.h"

namespace plimsoll::cli {

// All verbs, in the order of the help: the one source of parser, help, manual and completions.
const std::vector<Verb>& Verbs();

// The flags of every verb that talks to the controller.
const std::vector<VerbFlag>& ConnectionFlags();

// The flags that this verb takes, with those of the connection and --help.
std::vector<VerbFlag> FlagsOf(const Verb& verb);

// A manual page and what it is about.
struct ManualTopic {
  std::string name;
  std::string help;
};
const std::vector<ManualTopic>& Pages();

// Variables of the environment and exit statuses, each with what it means.
const std::vector<std::pair<std::string, std::string>>& EnvironmentTable();
const std::vector<std::pair<std::string, std::string>>& ExitTable();

// "plimsoll why DEP [INSTANCE]".
std::string Synopsis(const Verb& verb);

}  // namespace plimsoll::cli
