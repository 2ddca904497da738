#pragma once

#include <string>

#include "agent/src/limiter.h"
#include "plimsoll/agent/metrics.h"

namespace plimsoll::internal {

// What metrics tell of a bulkhead that a controller looks after. Any thread; waits for nothing.
BulkheadSnapshot TakeSnapshot(const std::string& dependency, const Limiter& limiter);
// Takes out what only a controller can tell.
void MakeLocal(BulkheadSnapshot& snapshot);

}  // namespace plimsoll::internal
