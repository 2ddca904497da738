#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/simulation/src/agent_process.h"
#include "controller/simulation/src/checker.h"
#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/sabotage.h"
#include "controller/simulation/src/world.h"
#include "plimsoll/simulation/fleet_simulator.h"

namespace plimsoll::internal {

// A whole simulated world: the parts, the callers, and the adversary. Thread-compatible.
class Fleet {
 public:
  Fleet(const Scenario& scenario, std::uint64_t seed, bool traced, Sabotage& sabotage);

  // Lives the scenario, to its end or until an invariant breaks. Call it once.
  SimulationResult Run(bool until_broken);

 private:
  // Callers.
  void ArriveAt(int index);
  void ChangeDemand();

  // Life and death.
  void StartAgent(int index);
  void OnAgentEnded(int index);
  void StartController();
  void StopController();
  void FailOver();
  void Separate(int former);

  // The adversary.
  void Strike();
  void StrikeAgent(int index);
  void CutOff(int index);

  void ChangeQuota();
  void SampleOften();
  int PickInstance();
  absl::Duration DrawExponential(absl::Duration mean);

  World world_;
  VirtualStore store_;
  Controllers controllers_;
  std::size_t leader_ = 0;
  std::vector<Instance> instances_;
  std::vector<std::unique_ptr<AgentProcess>> processes_;  // all there ever were
  SimulationResult result_;
  Checker checker_;
};

// As Simulate(), with everything passing through `sabotage`, until an invariant breaks.
SimulationResult SimulateUntilBroken(const Scenario& scenario, std::uint64_t seed,
                                     Sabotage& sabotage, bool traced = false);

}  // namespace plimsoll::internal
