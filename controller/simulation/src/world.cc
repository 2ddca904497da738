#include "controller/simulation/src/world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
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

void World::AdoptQuota() {
  if (!adopted_quotas.empty() && adopted_quotas.back().second == quota) return;
  adopted_quotas.emplace_back(queue.now(), quota);
  trace.Note(queue.now(), {24, quota},
             [this] { return absl::StrCat("the quota is ", quota, " now"); });
}

// Holds are stretched by the clocks' inaccuracy and measured by a clock that may be slow.
Calls World::AllowedCalls() const {
  const double slowest = 1 - scenario.clock_rate_error;
  const double stretch = (1 + scenario.clock_rate_error) / slowest / slowest;
  const Instant since =
      queue.now() - (scenario.base_lease + scenario.call_deadline) * stretch - absl::Seconds(1);
  Calls allowed = adopted_quotas.empty() ? quota : adopted_quotas.back().second;
  for (std::size_t i = 0; i + 1 < adopted_quotas.size(); ++i) {
    if (adopted_quotas[i + 1].first >= since) {
      allowed = std::max(allowed, adopted_quotas[i].second);
    }
  }
  return allowed;
}

}  // namespace plimsoll::internal
