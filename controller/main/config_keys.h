#pragma once

#include <string>
#include <vector>

#include "controller/main/config.h"

namespace plimsoll {

// What a setting looks like in the file.
enum class KeyType {
  kAddress,   // "127.0.0.1:7480"
  kText,      // in quotes if it looks like a number
  kWhole,     // a number without a fraction
  kNumber,    //
  kDuration,  // with a unit
  kSize,      // with a unit
  kFlag,      // true or false
  kWord,      // one of a list
  kTexts,     // a list of texts
  kWords,     // a list of words
  kMaps,      // a list of maps: in the file only
};

// One setting, and all that is told of it: the table from which come the names of environment
// variables and flags, the JSON Schema, the reference, and the commands `config defaults`, `config
// init` and `config print`. A test compares it with what the file's reader takes. All texts are of
// static storage.
struct ConfigKey {
  enum Traits : unsigned {
    kLive = 0,     // a reload changes it
    kRestart = 1,  // a change waits for a restart
    kSecret = 2,   // never shown: it refers to variables (secret.h)
    kLater = 4,    // planned: refused so far
  };

  const char* name;  // "api.rate_limit.burst"
  KeyType type;
  const char* value;      // the default, as one would write it; empty: none
  const char* dev_value;  // with --dev; null: the same
  // The words, separated by '|'; or the range, as "1 to 100" for numbers and words for people
  // otherwise; or empty.
  const char* allowed;
  unsigned traits;
  const char* meaning;  // what it is, and why one would change it; one line

  bool Is(Traits trait) const { return (traits & trait) != 0; }
};

// All outside of "defaults" and "dependencies", in the order of the file: sections stay together.
const std::vector<ConfigKey>& ConfigKeys();

// What a dependency may set, and "defaults" for all of them: names are relative to that. NAME
// stands for the name of a service. Without the sections of the laws, which have a table of their
// own (plimsoll/algorithms/law_settings.h).
const std::vector<ConfigKey>& PolicyKeys();

// Null if there is no such key outside of "defaults" and "dependencies".
const ConfigKey* FindConfigKey(const std::string& name);

const char* DefaultText(const ConfigKey& key, Profile profile);

// "PLIMSOLL_API__RATE_LIMIT__BURST".
std::string EnvironmentName(const ConfigKey& key);

// "/api/rate_limit/burst": where the setting stands in the file.
std::string PointerOf(const ConfigKey& key);

// "a duration", "one of text, json, default text" and so on, for people.
std::string DescribeType(const ConfigKey& key);

}  // namespace plimsoll
