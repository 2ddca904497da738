#pragma once

#include <deque>
#include <functional>

#include "controller/simulation/src/world.h"

namespace plimsoll::internal {

// What a rollout does to the places of a fleet, each of which has at most one process.
struct FleetControls {
  std::function<bool(int)> is_free;
  std::function<void(int)> start;  // a place that is free
  std::function<void(int)> leave;  // by its own will, and for good
  std::function<void(int)> crash;  // and for good
};

// How instances come and go because somebody wants it so: deploys, autoscaling, short-lived jobs.
// Thread-compatible.
class Rollout {
 public:
  Rollout(World& world, FleetControls controls);

  // Starts those that are there from the beginning, and does the rest in time.
  void Begin();

 private:
  void ReplaceOldest();
  void ScaleTo(int size, absl::Duration step);
  void StartJob();
  void LoopCrashes(int place);
  void ComeTogether();
  void EndWave();
  void Start(int place);
  int FreePlace(int from) const;

  World& world_;
  const FleetControls controls_;
  std::deque<int> running_;  // oldest first
};

}  // namespace plimsoll::internal
