#pragma once

#include <vector>

#include "controller/simulation/src/event_queue.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/simulation/scenario.h"

namespace plimsoll::internal {

enum class Direction { kToController, kToAgent };

// Carries messages between the agents and the controllers, or does not. What it carries is a
// function to call on arrival. Order is not kept. Thread-compatible.
class Network {
 public:
  Network(const Scenario& scenario, EventQueue& queue, Random& random);

  void Send(int agent, int controller, Direction direction, const EventQueue::Action& arrive);
  // Nothing between these two, in that direction, arrives until then.
  void Cut(int agent, int controller, Direction direction, Instant until);
  // The same between the agent and all controllers.
  void CutFromAll(int agent, Direction direction, Instant until);

 private:
  absl::Duration DrawDelay();
  Instant& CutUntil(int agent, int controller, Direction direction);

  const NetworkFaults faults_;
  EventQueue& queue_;
  Random& random_;
  const int controllers_;
  std::vector<Instant> cut_until_;  // by agent, controller and direction
};

absl::Duration Draw(Random& random, const DurationRange& range);

}  // namespace plimsoll::internal
