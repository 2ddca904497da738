#pragma once

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "agent/src/timers.h"
#include "agent/src/transport.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/options.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// What an agent takes from its surroundings.
struct AgentParts {
  const Clock& clock;  // must outlive the agent and its permits
  Random random;
  std::unique_ptr<internal::Transport> transport;
  // Must outlive the callbacks of those who wait. Null: those of the process, which go by the real
  // clock; so hand some in with another clock.
  internal::Timers* timers = nullptr;
  // To the routes of a shard. Empty: controllers with shards cannot be talked to.
  std::function<std::unique_ptr<internal::Transport>(int shard)> shard_transport = {};
};

// Starts agents whose time, chance and network are handed in.
class AgentFactory {
 public:
  // As Agent::Start().
  static absl::StatusOr<std::unique_ptr<Agent>> Start(const AgentOptions& options,
                                                      AgentParts parts);
};

}  // namespace plimsoll
