#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "controller/config/faults.h"
#include "controller/config/map_reader.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {

// Secrets stand in no file of ours: a setting names the variable that has it, as "${CI_TOKEN}".
// Only the name is ever shown.

// The value of a variable of the environment; nothing if it is not set.
using VariableLookup = std::function<std::optional<std::string>(const std::string& name)>;

// "CI_TOKEN" of "${CI_TOKEN}"; nothing for a text that is no such reference. Pure.
std::optional<std::string> ReferredVariable(const std::string& text);

// All variables that texts below `node` refer to. Pure.
std::set<std::string> ReferredVariables(const YamlNode& node);

// The secret that a key must refer to. What is no reference is reported without being shown, and so
// are a missing key and a variable that is not set. Without `variables` nothing but the form is
// looked at, and the result is nothing.
std::optional<std::string> ReadSecret(MapReader& map, const std::string& key,
                                      const VariableLookup& variables, Faults& faults);

// A value that holds secrets as JSON: of its scalars only references, and what stands under "name"
// and "role"; "***" for all others. Pure.
std::string ShowSecrets(const YamlNode& node);

}  // namespace plimsoll
