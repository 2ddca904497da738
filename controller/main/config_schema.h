#pragma once

#include <string>

namespace plimsoll {

// What editors and checkers want: the configuration file as JSON Schema 2020-12, from the tables of
// config_keys.h. What it takes, the reader takes, but for combinations and some ranges. Pure.
std::string SchemaText();

}  // namespace plimsoll
