#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/cli/src/suite.h"

namespace plimsoll::cli {

// Grows when a field changes its meaning or goes; new fields do not change it.
inline constexpr int kJsonSchemaVersion = 1;

// One scenario: everything its tables have, with unrounded numbers. What is not known is null.
std::string OutcomeJson(const Outcome& outcome);
// The suite, likewise.
std::string SuiteJson(const std::vector<SuitePart>& parts);

}  // namespace plimsoll::cli
