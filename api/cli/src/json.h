#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace plimsoll::cli {

// As the controller wrote it: keys keep their order.
using Json = nlohmann::ordered_json;

// The value at a JSON pointer; null if there is none. `pointer` must be valid.
const Json& At(const Json& value, const std::string& pointer);
// Likewise, as what it ought to be; the default if it is something else.
std::string TextAt(const Json& value, const std::string& pointer);
double NumberAt(const Json& value, const std::string& pointer, double usual = 0);

// One line; faulty UTF-8 becomes U+FFFD.
std::string ToLine(const Json& value);
// Indented, with a line break at the end.
std::string ToPretty(const Json& value);
// In block style of YAML, with a line break at the end.
std::string ToYaml(const Json& value);

}  // namespace plimsoll::cli
