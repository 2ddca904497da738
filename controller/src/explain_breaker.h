#pragma once

#include <string>

#include "controller/src/breaker_pool.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The sentence that stands beside what a fleet's breaker does. `instance` is whose probe decided;
// empty if there was none. Pure.
std::string ExplainBreaker(const DependencyId& dependency, const BreakerSettings& settings,
                           const BreakerDecision& decision, const InstanceId& instance);

}  // namespace plimsoll::internal
