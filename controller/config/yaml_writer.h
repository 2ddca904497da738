#pragma once

#include <string>

#include "controller/config/yaml_tree.h"

namespace plimsoll {

// A scalar as strings are written in JSON. Pure.
std::string QuotedJson(const std::string& text);

// `node` as JSON, which is YAML too: numbers, true and false that were written without quotes stay
// as they were, all other scalars are strings. On one line if `indent` is 0, otherwise each level
// is indented by so many spaces more. Reading it back gives the same values. Pure.
std::string ToJson(const YamlNode& node, int indent = 0);

}  // namespace plimsoll
