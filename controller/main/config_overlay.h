#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "controller/main/config_keys.h"

namespace plimsoll {

// A setting that somebody made beside the file.
struct SettingOverride {
  const ConfigKey* key = nullptr;
  std::string text;    // lists are separated by commas
  std::string source;  // "ENV", "FLAG"
  std::string place;   // "PLIMSOLL_LOG__LEVEL", "--log.level"
};

// What an environment says.
struct EnvironmentSettings {
  std::vector<SettingOverride> overrides;
  // Variables with our prefix that nobody knows: name, and what is wrong with it.
  std::vector<std::pair<std::string, std::string>> unknown;
};

// Reads "NAME=VALUE" for each variable; looks only at those that begin with PLIMSOLL_. Those of the
// command line tool and of agents are nothing to us. Pure.
EnvironmentSettings ReadEnvironment(const std::vector<std::string>& environment);

// Each is a key and its text. Unknown keys must have been refused before. Pure.
std::vector<SettingOverride> ReadSettingFlags(
    const std::vector<std::pair<std::string, std::string>>& flags);

// Puts it into what the file has said, in place of what stood there, so that the reader of the file
// holds it to the same rules; `faults` will name the variable or the flag. Pure.
void Apply(const SettingOverride& setting, YamlNode& root, Faults& faults);

// What stands at a JSON pointer; null if nothing does. Pure.
const YamlNode* FindNode(const YamlNode& root, const std::string& pointer);

}  // namespace plimsoll
