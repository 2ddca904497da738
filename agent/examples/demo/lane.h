#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/report.h"
#include "agent/examples/demo/screen.h"

namespace plimsoll::demo {

struct LaneOptions {
  std::string program;  // this one, for the replicas
  double seconds = 0;
  std::uint64_t seed = 1;
  bool observed = false;    // hand-set limits, and a controller that looks on
  double keep_seconds = 0;  // afterwards, fleet and load go on for so long, or until a signal
};

struct Share {
  std::string replica;
  double calls_per_second = 0;  // offered
  double mean_limit = 0;
  double admitted_per_second = 0;
};

// How the fleet lived through the acts of the lane `plimsoll`. A time that was not reached within
// the lane is absent.
struct Facts {
  // From kill -9 until the limits of the others add up to all that the dead replica may not still
  // use: its lease and the call deadline have to run out.
  std::optional<double> regrant_seconds;
  // From its restart under the same name until its first call succeeds.
  std::optional<double> return_seconds;
  // From SIGTERM of a replica until the others have its share.
  std::optional<double> release_seconds;
  // From kill -9 of the controller to its restart, and from there until the limits add up to nine
  // tenths of what they were, for good.
  std::optional<double> outage_seconds;
  std::optional<double> recovery_seconds;
  double goodput_before_outage = 0;  // calls per second
  double goodput_in_outage = 0;
  // Sums of limits: before, the highest while it was away, the lowest until they were whole again.
  int limits_before_outage = 0;
  int limits_in_outage_max = 0;
  int limits_lowest = 0;
};

struct LaneResult {
  std::string name;
  double seconds = 0;
  Report total;
  int provider_max = 0;         // the highest concurrency that the provider counted
  std::int64_t violations = 0;  // calls that met more than the quota at the provider
  std::vector<Share> shares;
  Facts facts;

  double goodput() const { return static_cast<double>(total.succeeded) / seconds; }
};

// Eight replicas with a limit of 20 each; the controller only looks on.
absl::StatusOr<LaneResult> RunUnlimitedLane(LaneOptions options, ControllerProcess& controller,
                                            Screen& screen);

// The same replicas with the agent library, and a controller with a quota; a replica and the
// controller are killed and come back, and one replica leaves in good order. At its end, while the
// fleet still runs, `finale` is called.
using Finale = std::function<void(const LaneResult&, const std::vector<Replica>&)>;
absl::StatusOr<LaneResult> RunPlimsollLane(const LaneOptions& options,
                                           ControllerProcess& controller, Screen& screen,
                                           const Finale& finale);

// Makes SIGINT and SIGTERM end the lane that runs, with kCancelled.
void CatchSignals();

}  // namespace plimsoll::demo
