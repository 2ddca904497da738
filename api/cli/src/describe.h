#pragma once

#include <string>
#include <vector>

#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll::cli {

// The scenario in words: what stands there, what is offered and what happens, a sentence each.
std::vector<std::string> DescribeScenario(const LoadScenario& scenario);

// "0.8 ms", "12.3 ms", "1.50 s".
std::string LatencyText(absl::Duration latency);

}  // namespace plimsoll::cli
