#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "controller/main/config.h"
#include "plimsoll/http/config_facts.h"

namespace plimsoll {

// From where to take a configuration. What comes later wins: defaults of the profile, file,
// environment, flags.
struct ConfigRequest {
  std::string path;  // empty: no file
  Profile profile = Profile::kProduction;
  std::vector<std::string> environment;                    // "NAME=VALUE"
  std::vector<std::pair<std::string, std::string>> flags;  // "log.level", "debug"
  bool skip_secrets = false;  // leaves unread the files of tokens and certificates; only to check
  bool strict = false;        // variables that nobody knows are faults, not warnings
  // The text was sent by somebody and is only to be checked: it includes what lies in the folder of
  // `path` and nothing else, and no secret is looked at.
  bool sent = false;
};

// Reads all of it, and the files that it includes or refers to. Everything that is wrong is told at
// once, one line per fault, as ParseConfig() does; what the environment or a flag has set wrongly
// names the variable or the flag instead of a file. kNotFound or kUnavailable if a file cannot be
// read. `faults`, which must be empty, has the faults one by one.
absl::StatusOr<Config> LoadLayered(const ConfigRequest& request, Faults& faults);
absl::StatusOr<Config> LoadLayered(const ConfigRequest& request);

// The same without reading the file, which has this text. For tests, and for texts that are to be
// checked only.
absl::StatusOr<Config> ReadLayered(const ConfigRequest& request, const std::string& text,
                                   Faults& faults);

// What is in force after a reload that was taken: what waits for a restart stays as it is in
// `running`, and is named. Pure.
ConfigSettings FactsAfterReload(const ConfigSettings& running,
                                const std::vector<ConfigEntry>& fresh);

}  // namespace plimsoll
