#pragma once

#include <optional>

#include "api/cli/src/yaml_writer.h"
#include "plimsoll/controller/policy.h"

namespace plimsoll::cli {

// Writes the section "policy" with the keys that controller/config/policy_reader.cc reads. The
// scope is written only if it was chosen.
void WritePolicy(YamlWriter& top, const Policy& policy, const std::optional<Scope>& scope);

}  // namespace plimsoll::cli
