#pragma once

#include <string>
#include <vector>

#include "plimsoll/controller/policy.h"
#include "tests/scale/options.h"

namespace plimsoll::scale {

// What an agent wants of one shard: it holds one session with it.
struct AgentPart {
  int agent = 0;
  std::vector<int> dependencies;  // indexes into ShardLoad::policies
};
struct ShardLoad {
  std::vector<Policy> policies;  // of the dependencies of this shard
  std::vector<AgentPart> agents;
};

// Who uses what. A function of the options alone.
struct Workload {
  std::vector<ShardLoad> shards;
  std::int64_t sessions = 0;     // all shards together
  std::int64_t memberships = 0;  // of agents in dependencies
  int members_max = 0;           // of the most popular dependency
  int members_median = 0;
};
Workload MakeWorkload(const Options& options);

}  // namespace plimsoll::scale
