#pragma once

#include <string>
#include <vector>

namespace plimsoll {

// One setting of the configuration, as operators are shown it.
struct ConfigEntry {
  std::string key;     // "agents.lease"
  std::string value;   // as one would write it; "***" if it is a secret
  std::string source;  // "FILE", "ENV", "FLAG" or "DEFAULT"
  // Where it was set: "FILE:LINE:COLUMN", the name of the variable or of the flag; empty for a
  // default.
  std::string place;
  bool needs_restart = false;  // a change of it waits for one

  friend bool operator==(const ConfigEntry&, const ConfigEntry&) = default;
};

// What GET /v1/config tells.
struct ConfigSettings {
  std::vector<ConfigEntry> entries;          // what is in force
  std::vector<std::string> pending_restart;  // keys that were changed since the start
};

}  // namespace plimsoll
