#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "controller/simulation/src/event_queue.h"
#include "controller/simulation/src/network.h"
#include "controller/simulation/src/sabotage.h"
#include "controller/simulation/src/trace.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/types.h"
#include "plimsoll/simulation/fleet_simulator.h"
#include "plimsoll/simulation/scenario.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {

// The dependency of every simulated fleet.
const DependencyId& SimulatedDependency();

// The provider, which counts by itself what runs, by the session that admitted it. Calls of a dead
// process run on. Thread-compatible.
class Provider {
 public:
  void Begin(const SessionId& session) {
    ++in_flight_;
    ++by_session_[session];
  }
  void End(const SessionId& session) {
    --in_flight_;
    const auto calls = by_session_.find(session);
    if (--calls->second == 0) by_session_.erase(calls);
  }

  Calls in_flight() const { return in_flight_; }
  // Without sessions that have none.
  const std::map<SessionId, Calls>& by_session() const { return by_session_; }

 private:
  Calls in_flight_ = 0;
  std::map<SessionId, Calls> by_session_;
};

// What everybody in a simulated world shares. Thread-compatible.
struct World {
  World(const Scenario& the_scenario, std::uint64_t seed, bool traced, Sabotage& the_sabotage)
      : scenario(the_scenario),
        random(seed),
        trace(traced),
        network(scenario, queue, random),
        sabotage(the_sabotage),
        quota(the_scenario.quota) {
    sabotage.SetTime(queue.time());
  }

  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const Scenario scenario;
  Random random;
  EventQueue queue;
  Trace trace;
  Network network;
  Provider provider;
  Sabotage& sabotage;

  // The quota as the operator has set it, and since when which one was in use by the controller
  // that rightfully reigned.
  Calls quota = 0;
  // What else the operator has set.
  Override pin;
  bool deleted = false;
  std::vector<std::pair<Instant, Calls>> adopted_quotas;
  void AdoptQuota();
  // The largest quota under which anything that is still in force can have been granted.
  Calls AllowedCalls() const;

  // Something that may have raised a limit, a reservation or a count of calls has happened since
  // the last check. Everything else only lowers them.
  bool raised = false;

  // Counts.
  std::int64_t calls_admitted = 0;
  std::int64_t calls_refused = 0;
  std::int64_t controller_starts = 0;
  std::int64_t agent_starts = 0;
  std::int64_t messages = 0;
  TemplateCounts templates;
};

// Whose rate a clock may have.
enum class Role { kAgent, kController };

// The clock of a new process.
VirtualClock MakeClock(World& world, Role role);

// A process that can be stopped for a while: what is to happen in it happens later then.
// Thread-compatible.
class Pausable {
 public:
  explicit Pausable(EventQueue& queue) : queue_(queue) {}

  void PauseUntil(Instant until) { paused_until_ = until; }
  bool paused() const { return queue_.now() < paused_until_; }
  Instant paused_until() const { return paused_until_; }
  void Deliver(EventQueue::Action action) {
    if (!paused()) return action();
    queue_.At(paused_until_,
              [this, action = std::move(action)]() mutable { Deliver(std::move(action)); });
  }

 private:
  EventQueue& queue_;
  Instant paused_until_;
};

}  // namespace plimsoll::internal
