#include "controller/simulation/src/world.h"

#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

// Processes have been up for up to this long, by their own clocks, when the world begins.
constexpr double kUptimeMaxSeconds = 1e6;

}  // namespace

const DependencyId& SimulatedDependency() {
  static const DependencyId* const name = new DependencyId("provider");
  return *name;
}

VirtualClock MakeClock(World& world, Role role) {
  const double error = world.scenario.clock_rate_error;
  const Instant start = Instant{} + absl::Seconds(world.random.Uniform(1, kUptimeMaxSeconds));
  double rate = world.random.Uniform(1 - error, 1 + error);
  if (world.scenario.extreme_clocks) rate = role == Role::kAgent ? 1 - error : 1 + error;
  return VirtualClock(world.queue.time(), rate, start);
}

}  // namespace plimsoll::internal
