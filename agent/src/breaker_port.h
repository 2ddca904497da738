#pragma once

#include <optional>

#include "plimsoll/core/breaker.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What the session needs of the breaker of a dependency. Confined to the agent's thread.
class BreakerPort {
 public:
  virtual ~BreakerPort() = default;

  // What the policy says now; nothing: it has no breaker, and everything passes.
  virtual void Configure(const std::optional<BreakerSettings>& settings) = 0;
  // The controller's word. An order that is older than the last one is ignored.
  virtual void Obey(const BreakerOrder& order, Instant now) = 0;
  // What to tell; nothing without a policy, without a user, or where an operator has spoken.
  virtual std::optional<BreakerReport> Report(Instant now) = 0;
};

}  // namespace plimsoll::internal
