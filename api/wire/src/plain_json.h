#pragma once

#include <string_view>
#include <vector>

#include "api/wire/src/json_tree.h"

namespace plimsoll::internal {

// Reads the JSON that agents and controllers write, many thousand times a second: printable ASCII
// without escapes, numbers without exponent, whole ones of at most 18 digits and others of at most
// 15. Keys and strings of `nodes` are places in `text`.
//
// Everything else, valid or not, is left to the full parser: then false, and `nodes` is worthless.
// What is read here, the full parser would read as the same nodes.
bool ReadPlainJson(std::string_view text, std::vector<JsonNode>& nodes);

}  // namespace plimsoll::internal
