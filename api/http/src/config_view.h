#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plimsoll/http/config_facts.h"

namespace plimsoll::internal {

// The answer to GET /v1/config: a list of one page, and what waits for a restart. Pure.
nlohmann::ordered_json ConfigView(const ConfigSettings& facts, const std::string& hash);

}  // namespace plimsoll::internal
