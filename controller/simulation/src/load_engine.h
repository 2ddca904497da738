#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/simulation/src/event_queue.h"
#include "controller/simulation/src/load_agent.h"
#include "controller/simulation/src/load_calls.h"
#include "controller/simulation/src/load_controller.h"
#include "controller/simulation/src/load_meter.h"
#include "controller/simulation/src/load_station.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll::internal {

// How many replicas there ever are.
int ReplicasMax(const LoadScenario& scenario);
// Calls per second that the whole healthy dependency can do at its nominal size.
double NominalCapacity(const LoadScenario& scenario);
// What all phases up to `phase` make of a station, one that is not weak.
Station StationAt(const LoadScenario& scenario, std::size_t phase);
int ReplicasAt(const LoadScenario& scenario, std::size_t phase);
// The policy under which a law runs a scenario.
Policy MakePolicy(const LoadScenario& scenario, const LawUnderTest& law);

// One run. What happens seldom is an action in an EventQueue; what happens with every call is a
// small value in a heap of its own; arrivals need no queue at all. The three are merged by time.
// Thread-compatible.
class LoadEngine {
 public:
  // The first two must outlive the engine.
  LoadEngine(const LoadScenario& scenario, const LawUnderTest& law, const LoadOptions& options);
  ~LoadEngine();

  LoadRun Run();

 private:
  // One life of one replica.
  struct Process {
    int replica = 0;
    bool alive = true;                 // without an agent
    Calls in_flight = 0;               // likewise
    std::unique_ptr<LoadAgent> agent;  // null under a static limit
    bool Lives() const { return agent ? agent->alive() : alive; }
  };
  struct Replica {
    int process = -1;  // that takes calls; -1: none
    int deploys = 0;   // how often it came anew
    double traffic = 0;
  };

  // What is to happen, and when.
  void Schedule();
  void SchedulePhases();
  void ScheduleFaults();
  void SchedulePause(absl::Duration at);
  void ScheduleNoise(absl::Duration wait, double factor);
  void ScheduleSample(absl::Duration at);

  // The fleet.
  void Join(int replica);
  void Leave(int replica);
  void Crash(int replica);
  void ListThere();
  Calls LimitOf(const Process& process) const;

  void BeginPhase(std::size_t phase);
  void ChangeStations(std::size_t phase);
  void Sample();
  void CollectDecisions();

  // Calls.
  void StepCalls();
  void Arrive();
  void DrawNextArrival();
  int PickReplica();
  void Offer(int replica, std::int64_t first_arrival, int attempt);
  bool Admit(Process& process, std::optional<Permit>& permit);
  void Begin(int replica, std::int64_t first_arrival, int attempt, std::optional<Permit> permit);
  void Refuse(int replica, std::int64_t first_arrival, int attempt);
  void Retry(CallIndex call);
  void Finish(CallIndex call);
  StationModel& StationOf(int replica) {
    return stations_[scenario_.shared ? 0 : static_cast<std::size_t>(replica)];
  }
  Replica& replica(int index) { return replicas_[static_cast<std::size_t>(index)]; }
  Process& process(int index) { return processes_[static_cast<std::size_t>(index)]; }
  std::int64_t now() const { return queue_.now().ns; }

  const LoadScenario& scenario_;
  const LawUnderTest& law_;
  const LoadOptions& options_;
  const Policy policy_;
  const double nominal_capacity_;
  EventQueue queue_;
  Random control_random_;
  Random arrival_random_;
  Random service_random_;
  LoadRun run_;
  LoadMeter meter_;
  LoadNet net_;
  std::unique_ptr<LoadController> controller_;  // null under a static limit

  std::vector<Replica> replicas_;
  std::vector<int> there_;  // replicas that take calls
  double traffic_there_ = 0;
  std::vector<Process> processes_;

  CallPool calls_;
  CallEvents events_;
  std::vector<StationModel> stations_;
  std::int64_t next_arrival_ = INT64_MAX;
  double arrivals_per_second_ = 0;
  double delay_seconds_ = 0;
  double delay_factor_ = 1;
  Calls in_flight_ = 0;
  std::int64_t deadline_ns_ = 0;
};

}  // namespace plimsoll::internal
