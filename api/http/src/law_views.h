#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// Adds the settings of the law that is chosen, under its name. `fixed` has none.
void AddLawSettings(const AlgorithmConfig& config, nlohmann::ordered_json& view);

}  // namespace plimsoll::internal
