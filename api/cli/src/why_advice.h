#pragma once

#include <string>
#include <vector>

#include "api/cli/src/why.h"

namespace plimsoll::cli {

// What an operator can do about it, the most promising first. `row` as for TellWhy(). Pure.
std::vector<std::string> AdviceFor(const WhyFacts& facts, const Json* row);

// What a reason of the closed list means: "latency is above what the baseline tolerates".
std::string MeaningOf(const std::string& reason);

}  // namespace plimsoll::cli
