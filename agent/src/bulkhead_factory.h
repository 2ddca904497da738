#pragma once

#include <memory>
#include <string>
#include <utility>

#include "agent/src/limiter.h"
#include "plimsoll/agent/bulkhead.h"

namespace plimsoll {

// Makes bulkheads for those who own them: the agent, the simulator, tests.
class BulkheadFactory {
 public:
  // The bulkhead abandons `limiter` when it is destroyed.
  static std::unique_ptr<Bulkhead> Make(std::string dependency, internal::Limiter* limiter) {
    return std::unique_ptr<Bulkhead>(new Bulkhead(std::move(dependency), limiter));
  }
};

}  // namespace plimsoll
