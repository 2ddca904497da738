#include "tests/scale/shard_world.h"

#include <utility>

namespace plimsoll::scale {
namespace {

constexpr double kRateError = 0.01;
constexpr double kLoss = 0.0005;
constexpr double kLate = 0.0005;
constexpr absl::Duration kDelayMin = absl::Microseconds(300);
constexpr double kDelayMeanSeconds = 0.002;

}  // namespace

ShardWorld::ShardWorld(const Options& the_options, const Timetable& the_timetable, int the_shard,
                       const std::vector<Policy>& policies, Figures& the_figures)
    : options(the_options),
      timetable(the_timetable),
      shard(the_shard),
      figures(the_figures),
      random(the_options.seed * 1'000'003 + static_cast<std::uint64_t>(the_shard)),
      books(policies, the_figures) {}

void ShardWorld::Send(internal::EventQueue::Action arrive) {
  const double fate = random.Uniform();
  if (fate < kLoss) return;
  absl::Duration delay = kDelayMin + absl::Seconds(random.Exponential(kDelayMeanSeconds));
  if (fate < kLoss + kLate) delay += absl::Seconds(random.Uniform(0.1, 3));
  After(delay, std::move(arrive));
}

VirtualClock ShardWorld::MakeClock() {
  const double rate = random.Uniform(1 - kRateError, 1 + kRateError);
  return VirtualClock(queue.time(), rate,
                      Instant{static_cast<std::int64_t>(random.Below(1'000'000'000'000))});
}

}  // namespace plimsoll::scale
