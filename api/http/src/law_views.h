#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// A setting in one unit, as files and bodies say it: "2.5s", "90s", "2h".
std::string SettingText(absl::Duration setting);

// Adds the settings of the law that is chosen, under its name. `fixed` has none.
void AddLawSettings(const AlgorithmConfig& config, nlohmann::ordered_json& view);

}  // namespace plimsoll::internal
