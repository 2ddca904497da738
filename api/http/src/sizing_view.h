#pragma once

#include <nlohmann/json_fwd.hpp>

#include <vector>

#include "plimsoll/controller/sizing.h"

namespace plimsoll::internal {

// The body of GET /v1/sizing: {"items":[…]}, one for each dependency. Numbers that could not be
// found are null. Thread-safe.
nlohmann::ordered_json SizingView(const std::vector<SizingAdvice>& advice);

}  // namespace plimsoll::internal
