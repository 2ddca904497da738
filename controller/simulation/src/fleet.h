#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "controller/simulation/src/agent_process.h"
#include "controller/simulation/src/checker.h"
#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/etcd_cluster.h"
#include "controller/simulation/src/rollout.h"
#include "controller/simulation/src/sabotage.h"
#include "controller/simulation/src/virtual_store.h"
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
  Rollout MakeRollout();
  void StartAgent(int index);
  void ForgetEnded();
  void End(int index, bool by_crash);
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
  // The operator changes something.
  void Operate();
  void TellPolicies();
  void SampleOften();
  Instance& At(int index) { return instances_[static_cast<std::size_t>(index)]; }
  int PickInstance();
  absl::Duration DrawExponential(absl::Duration mean);

  SimulationResult result_;
  World world_;
  VirtualStore store_;
  // Instead of it, on days on which controllers share an etcd.
  std::unique_ptr<EtcdCluster> etcd_;
  Controllers controllers_;
  std::size_t leader_ = 0;
  std::vector<Instance> instances_;
  // Those that may still have messages or calls under way.
  std::deque<std::unique_ptr<AgentProcess>> processes_;
  Rollout rollout_;
  Checker checker_;
};

// As Simulate(), with everything passing through `sabotage`, until an invariant breaks.
SimulationResult SimulateUntilBroken(const Scenario& scenario, std::uint64_t seed,
                                     Sabotage& sabotage, bool traced = false);

}  // namespace plimsoll::internal
