#pragma once

#include <string>

namespace plimsoll::fleet {

// Every metric of an agent as a JSON array, in the form of `plimsoll-controller --list-metrics`:
// {"name", "type", "unit", "labels", "help"}. The values of closed labels are those that an agent
// really exports.
std::string AgentMetricsJson();

}  // namespace plimsoll::fleet
