#pragma once

#include <string>

namespace plimsoll {

// Every metric of the controller as a JSON array, in the order in which they are exported:
// {"name", "type": "counter" | "gauge" | "histogram", "unit", "labels", "help"}. `labels` maps each
// name to the list of its values, or to null where that is open. Pure.
std::string MetricsListJson();

}  // namespace plimsoll
