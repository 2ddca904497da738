#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/main/config.h"

namespace plimsoll {

// What a setting is called, and its value as text: "quota" → "50".
using Settings = std::map<std::string, std::string>;

// All settings of one policy, under their names in the configuration file.
Settings SettingsOf(const Policy& policy);
// All settings beside the policies: none of them changes while the controller runs.
Settings FixedSettingsOf(const Config& config);

// Who may do what, and certificates: what changes at once beside the policies. No secrets.
Settings AccessSettingsOf(const Config& config);

// What a new configuration changes, for people.
struct ConfigChanges {
  // One line per dependency or template that is new, gone or changed: "payments-api: quota 50 ->
  // 20".
  std::vector<std::string> policies;
  // One line per setting of AccessSettingsOf().
  std::vector<std::string> access;
  // One line per setting that only a restart changes: "state.dir a -> b".
  std::vector<std::string> needs_restart;
};

// Compares two valid configurations. Pure.
ConfigChanges Compare(const Config& before, const Config& after);

// Whether the policies and the access of `after` can be used beside the settings of `running` that
// stay as they are. Returns kInvalidArgument with one line per fault.
absl::Status CheckReload(const Config& running, const Config& after);

}  // namespace plimsoll
