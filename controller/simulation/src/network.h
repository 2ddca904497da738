#pragma once

#include <vector>

#include "controller/simulation/src/event_queue.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/simulation/scenario.h"

namespace plimsoll::internal {

enum class Direction { kToController, kToAgent };

// Carries messages between the agents and the controller, or does not. What it carries is a
// function to call on arrival. Order is not kept. Thread-compatible.
class Network {
 public:
  Network(const Scenario& scenario, EventQueue& queue, Random& random);

  void Send(int agent, Direction direction, const EventQueue::Action& arrive);
  // Nothing sent by or to this agent, in that direction, arrives until then.
  void Cut(int agent, Direction direction, Instant until);

 private:
  absl::Duration DrawDelay();
  Instant& CutUntil(int agent, Direction direction);

  const NetworkFaults faults_;
  EventQueue& queue_;
  Random& random_;
  std::vector<Instant> cut_until_;  // by agent and direction
};

absl::Duration Draw(Random& random, const DurationRange& range);

}  // namespace plimsoll::internal
