#include "plimsoll/simulation/load_simulator.h"

#include <algorithm>

#include "controller/simulation/src/load_engine.h"

namespace plimsoll {
namespace internal {

int ReplicasMax(const LoadScenario& scenario) {
  int most = scenario.replicas;
  for (const LoadPhase& phase : scenario.phases) most = std::max(most, phase.replicas.value_or(0));
  return most;
}

double NominalCapacity(const LoadScenario& scenario) {
  return Capacity(scenario.station) * (scenario.shared ? 1 : scenario.replicas);
}

Station StationAt(const LoadScenario& scenario, std::size_t phase) {
  Station station = scenario.station;
  for (std::size_t i = 0; i <= phase; ++i) {
    const LoadPhase& change = scenario.phases[i];
    station.servers = change.servers.value_or(station.servers);
    station.service = change.service.value_or(station.service);
    station.delay = change.delay.value_or(station.delay);
    station.long_share = change.long_share.value_or(station.long_share);
  }
  return station;
}

int ReplicasAt(const LoadScenario& scenario, std::size_t phase) {
  int replicas = scenario.replicas;
  for (std::size_t i = 0; i <= phase; ++i) {
    replicas = scenario.phases[i].replicas.value_or(replicas);
  }
  return replicas;
}

Policy MakePolicy(const LoadScenario& scenario, const LawUnderTest& law) {
  Policy policy = scenario.policy;
  if (policy.name.empty()) policy.name = DependencyId("dependency");
  const Calls floor = policy.algorithm.floor;
  const Calls ceiling = policy.algorithm.ceiling;
  policy.algorithm = law.algorithm;
  policy.algorithm.floor = floor;
  policy.algorithm.ceiling = ceiling;
  policy.algorithm.initial = std::clamp(law.algorithm.initial, floor, ceiling);
  policy.window = law.window.value_or(policy.window);
  policy.scope = law.scope.value_or(scenario.shared ? Scope::kFleet : Scope::kInstance);
  if (policy.scope == Scope::kFleet && !policy.initial) {
    policy.initial = std::min(policy.quota_or_max(), policy.algorithm.initial * scenario.replicas);
  }
  return policy;
}

}  // namespace internal

LoadRun SimulateLoad(const LoadScenario& scenario, const LawUnderTest& law,
                     const LoadOptions& options) {
  return internal::LoadEngine(scenario, law, options).Run();
}

}  // namespace plimsoll
