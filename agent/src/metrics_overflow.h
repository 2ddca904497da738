#pragma once

#include <vector>

#include "plimsoll/agent/metrics.h"

namespace plimsoll::internal {

// The bulkheads whose labels are one too many, as one row: numbers are added up, the highest is
// taken where a sum means nothing, and what cannot be told of several is left out: limits, states,
// classes.
BulkheadSnapshot Fold(const std::vector<const BulkheadSnapshot*>& bulkheads);

}  // namespace plimsoll::internal
