#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/simulation/src/agent_process.h"
#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/store_port.h"
#include "controller/simulation/src/world.h"
#include "plimsoll/simulation/fleet_simulator.h"

namespace plimsoll::internal {

// One instance of the service: its process, if one runs, and what its callers ask of it.
struct Instance {
  AgentProcess* process = nullptr;  // the newest; may have ended
  Calls demand = 0;
  bool wanted = false;                    // started again when its process ends
  int started = 0;                        // processes so far
  std::optional<Instant> starving_since;  // connected, with demand, and no limit

  bool alive() const { return process != nullptr && process->alive(); }
};

using Controllers = std::vector<std::unique_ptr<ControllerHost>>;

// Looks at the whole world after every event, as nobody inside it can. Thread-compatible.
class Checker {
 public:
  Checker(World& world, const StorePort& store, const Controllers& controllers,
          std::vector<Instance>& instances, SimulationResult& result);

  // Does nothing if nothing can have risen since the last time.
  void Check();
  // Adds to the usable share, and looks who starves.
  void Sample();
  // The one that reigns by the store's word, and knows; null if there is none.
  const ControllerHost* Reigning() const;

 private:
  void CheckLimits();
  void CheckInFlight();
  void CheckReservations(const ControllerHost& controller);
  void CheckCovered(const ControllerHost& controller, const SessionId& session, Calls calls,
                    const char* what);
  // The same; null as well while it is still learning.
  const ControllerHost* Rightful() const;
  void NoteStarving(Instance& instance);
  void Report(Invariant invariant, const std::string& what);

  World& world_;
  const StorePort& store_;
  const Controllers& controllers_;
  std::vector<Instance>& instances_;
  SimulationResult& result_;
  double usable_ = 0;
  double used_ = 0;
};

}  // namespace plimsoll::internal
