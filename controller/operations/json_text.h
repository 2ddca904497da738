#pragma once

#include <string>

#include "controller/config/yaml_tree.h"

namespace plimsoll {

// A tree that was read from JSON as JSON again, on one line, in the order of its keys. Pure.
std::string ToJson(const YamlNode& node);
// A string in quotes, escaped.
std::string JsonString(const std::string& text);

// `patch` merged into `target` as RFC 7396 says: null removes. Pure.
void MergePatch(YamlNode& target, const YamlNode& patch);
// Members that are null are as if they were absent, at any depth.
void DropNulls(YamlNode& node);

}  // namespace plimsoll
