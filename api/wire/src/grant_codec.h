#pragma once

#include <vector>

#include "api/wire/src/json_reader.h"
#include "api/wire/src/json_writer.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/protocol.h"

namespace plimsoll::internal {

// What the answers to registrations and syncs have in common. Unknown keys are skipped.
void ReadGrants(const JsonValue& value, Faults& faults, std::vector<Grant>& into);
void WriteGrants(const std::vector<Grant>& grants, JsonWriter& writer);

// An object whose keys are the names of the dependencies.
void ReadSettings(const JsonValue& value, Faults& faults, std::vector<DependencySettings>& into);
void WriteSettings(const std::vector<DependencySettings>& settings, JsonWriter& writer);

// Timers in answers: a longer one is taken for a fault.
inline constexpr absl::Duration kTimerMax = absl::Hours(24 * 366);

}  // namespace plimsoll::internal
