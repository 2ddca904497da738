#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// A setting in the largest unit in which it is whole, as files and bodies say it: "90s".
std::string SettingText(absl::Duration setting);

// Adds the settings of the law that is chosen, under its name. `fixed` has none.
void AddLawSettings(const AlgorithmConfig& config, nlohmann::ordered_json& view);

}  // namespace plimsoll::internal
