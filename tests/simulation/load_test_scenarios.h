#pragma once

#include "absl/time/time.h"
#include "plimsoll/simulation/load_scenario.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll {

// One replica in front of a FIFO station of 4 servers, 5 ms each: 800 calls a second; 20 s, with a
// deadline that all calls meet. What a test is about it changes.
inline LoadScenario SmallScenario(double load) {
  LoadScenario scenario;
  scenario.name = "small";
  scenario.replicas = 1;
  scenario.station.servers = 4;
  scenario.station.service = absl::Milliseconds(5);
  scenario.deadline = absl::Seconds(10);
  scenario.length = absl::Seconds(20);
  LoadPhase phase;
  phase.name = "only";
  phase.load = load;
  scenario.phases = {phase};
  scenario.policy.name = DependencyId("dependency");
  scenario.policy.algorithm.floor = 1;
  scenario.policy.algorithm.ceiling = 1000;
  return scenario;
}

inline LoadPhase PhaseAt(int seconds, double load) {
  LoadPhase phase;
  phase.name = "later";
  phase.start = absl::Seconds(seconds);
  phase.load = load;
  return phase;
}

inline LawUnderTest StaticLaw(Calls limit) {
  LawUnderTest law;
  law.name = "static";
  law.static_limit = limit;
  return law;
}

// The controller grants this limit to each replica, and never another one.
inline LawUnderTest FixedLaw(Calls limit) {
  LawUnderTest law;
  law.name = "fixed";
  law.algorithm.kind = AlgorithmKind::kFixed;
  law.algorithm.initial = limit;
  return law;
}

inline LoadRun RunOf(const LoadScenario& scenario, const LawUnderTest& law) {
  return SimulateLoad(scenario, law, {});
}

}  // namespace plimsoll
