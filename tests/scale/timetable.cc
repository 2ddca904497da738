#include "tests/scale/timetable.h"

#include <algorithm>

#include "plimsoll/core/random.h"

namespace plimsoll::scale {
namespace {

constexpr absl::Duration kRestart = absl::Seconds(5);
constexpr int kZones = 3;
// The last outages begin so long before the end that their consequences are seen.
constexpr double kLastOutage = 0.85;

}  // namespace

Timetable::Timetable(const Options& options)
    : etcd_lease_(options.etcd_lease),
      by_controller_(static_cast<std::size_t>(options.controllers)) {
  Random random(options.seed ^ 0x7151'0e7a'b1e5'0001U);
  const Instant begin = Instant{} + Calm(options);
  const absl::Duration span = options.length * kLastOutage - Calm(options);
  for (int i = 0; i < options.controllers; ++i) {
    if (options.failures == Failures::kRolling) {
      Add(i, OutageKind::kRestart, begin + span * i / options.controllers, kRestart, 0);
    }
    if (options.failures == Failures::kZone && i % kZones == 0) {
      Add(i, OutageKind::kSilent, begin, options.length * 0.3, random.Uniform());
    }
  }
  if (options.failures != Failures::kCrash) return;
  const double mean = 60 / options.failures_per_minute;
  for (Instant at = begin; at < begin + span; at = at + absl::Seconds(random.Exponential(mean))) {
    const int victim =
        static_cast<int>(random.Below(static_cast<std::uint64_t>(options.controllers)));
    const double kind = random.Uniform();
    const double spread = random.Uniform();
    const auto& earlier = by_controller_[static_cast<std::size_t>(victim)];
    // Nobody is struck again before it has settled.
    if (!earlier.empty() && at < earlier.back().until + absl::Seconds(2)) continue;
    Add(victim,
        kind < 0.5 ? OutageKind::kKilled
                   : (kind < 0.75 ? OutageKind::kSilent : OutageKind::kCutOff),
        at, options.down, spread);
  }
}

// A lease that was kept alive every third of its length ends between two thirds and all of it after
// the last sign of life.
void Timetable::Add(int controller, OutageKind kind, Instant from, absl::Duration down,
                    double spread) {
  const bool says_so = kind == OutageKind::kRestart;
  const Instant gone = says_so ? from : from + etcd_lease_ * (2 + spread) / 3;
  const Outage outage{controller, kind, from, gone, std::max(from + down, gone + absl::Seconds(1))};
  outages_.push_back(outage);
  by_controller_[static_cast<std::size_t>(controller)].push_back(outage);
}

const Outage* Timetable::At(int controller, Instant now) const {
  for (const Outage& outage : by_controller_[static_cast<std::size_t>(controller)]) {
    if (outage.from <= now && now < outage.until) return &outage;
  }
  return nullptr;
}

}  // namespace plimsoll::scale
