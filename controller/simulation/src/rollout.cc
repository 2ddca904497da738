#include "controller/simulation/src/rollout.h"

#include <utility>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kDeployEvery = absl::Seconds(6);
constexpr absl::Duration kOverlap = absl::Seconds(2);
constexpr absl::Duration kScaleUpAt = absl::Seconds(20);
constexpr absl::Duration kScaleDownAt = absl::Seconds(80);
constexpr absl::Duration kScaleStep = absl::Milliseconds(500);
// A thousand a minute.
constexpr absl::Duration kJobEvery = absl::Milliseconds(60);
constexpr absl::Duration kJobLasts = absl::Seconds(2);
constexpr absl::Duration kCrashAfter = absl::Seconds(1);
constexpr absl::Duration kLook = absl::Milliseconds(100);
constexpr int kCrashing = 2;
constexpr DurationRange kWaveLasts = {absl::Seconds(2), absl::Seconds(8)};
constexpr DurationRange kWaveGone = {absl::Seconds(1), absl::Seconds(12)};
constexpr double kCrashesAtEnd = 0.1;

}  // namespace

Rollout::Rollout(World& world, FleetControls controls)
    : world_(world), controls_(std::move(controls)) {}

void Rollout::Begin() {
  const Scenario& scenario = world_.scenario;
  if (scenario.plan == FleetPlan::kWaves) return ComeTogether();
  for (int i = 0; i < scenario.agents_at_start.value_or(scenario.agents); ++i) {
    world_.queue.After(absl::Seconds(world_.random.Uniform()), [this, i] { Start(i); });
  }
  switch (scenario.plan) {
    case FleetPlan::kSteady:
    case FleetPlan::kWaves:
      return;
    case FleetPlan::kRolling:
      return world_.queue.After(kDeployEvery, [this] { ReplaceOldest(); });
    case FleetPlan::kScale:
      world_.queue.After(kScaleUpAt, [this] { ScaleTo(world_.scenario.agents, kScaleStep); });
      return world_.queue.After(kScaleDownAt,
                                [this] { ScaleTo(*world_.scenario.agents_at_start, kScaleStep); });
    case FleetPlan::kJobs:
      return world_.queue.After(kJobEvery, [this] { StartJob(); });
    case FleetPlan::kCrashLoop:
      for (int i = 0; i < kCrashing; ++i) LoopCrashes(i);
      return;
  }
}

void Rollout::Start(int place) {
  if (place < 0 || !controls_.is_free(place)) return;
  controls_.start(place);
  running_.push_back(place);
}

int Rollout::FreePlace(int from) const {
  for (int i = from; i < world_.scenario.agents; ++i) {
    if (controls_.is_free(i)) return i;
  }
  return -1;
}

void Rollout::ReplaceOldest() {
  Start(FreePlace(0));
  world_.queue.After(kOverlap, [this] {
    controls_.leave(running_.front());
    running_.pop_front();
  });
  world_.queue.After(kDeployEvery, [this] { ReplaceOldest(); });
}

void Rollout::ScaleTo(int size, absl::Duration step) {
  if (static_cast<int>(running_.size()) == size) return;
  if (static_cast<int>(running_.size()) < size) {
    Start(FreePlace(0));
  } else {
    controls_.leave(running_.front());
    running_.pop_front();
  }
  world_.queue.After(step, [this, size, step] { ScaleTo(size, step); });
}

// Half of the jobs crash, half leave as they should.
void Rollout::StartJob() {
  const int place = FreePlace(*world_.scenario.agents_at_start);
  if (place >= 0) {
    controls_.start(place);
    const bool crashes = world_.random.Chance(0.5);
    world_.queue.After(kJobLasts, [this, place, crashes] {
      crashes ? controls_.crash(place) : controls_.leave(place);
    });
  }
  world_.queue.After(kJobEvery, [this] { StartJob(); });
}

// It is started again under the same name by whoever keeps the fleet at its size.
void Rollout::LoopCrashes(int place) {
  if (controls_.is_free(place)) {
    world_.queue.After(kLook, [this, place] { LoopCrashes(place); });
    return;
  }
  world_.queue.After(kCrashAfter, [this, place] {
    controls_.crash(place);
    world_.queue.After(kLook, [this, place] { LoopCrashes(place); });
  });
}

// Who still drains from the wave before stays away from this one.
void Rollout::ComeTogether() {
  for (int i = 0; i < world_.scenario.agents; ++i) {
    world_.queue.After(absl::Seconds(world_.random.Uniform()), [this, i] { Start(i); });
  }
  world_.queue.After(Draw(world_.random, kWaveLasts), [this] { EndWave(); });
}

void Rollout::EndWave() {
  for (const int place : std::exchange(running_, {})) {
    world_.random.Chance(kCrashesAtEnd) ? controls_.crash(place) : controls_.leave(place);
  }
  world_.queue.After(Draw(world_.random, kWaveGone), [this] { ComeTogether(); });
}

}  // namespace plimsoll::internal
