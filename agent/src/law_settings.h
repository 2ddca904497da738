#pragma once

#include <map>
#include <string>
#include <vector>

#include "plimsoll/algorithms/config.h"

namespace plimsoll::internal {

// The settings of one law, as text: names, units and spellings are those of algorithms/README.md.
using LawSettings = std::map<std::string, std::string>;

// Puts `settings` into the section of `config` that belongs to config.kind. Returns what is wrong
// with them, one line each: names that the law does not have, texts that are no such value. Ranges
// are for Validate(config). Bad settings leave their default.
std::vector<std::string> ReadLawSettings(const LawSettings& settings, AlgorithmConfig& config);

}  // namespace plimsoll::internal
