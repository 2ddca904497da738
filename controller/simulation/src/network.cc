#include "controller/simulation/src/network.h"

#include <cstddef>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kDelayMin = absl::Milliseconds(1);
constexpr double kDelayMeanSeconds = 0.01;

}  // namespace

absl::Duration Draw(Random& random, const DurationRange& range) {
  if (range.min == absl::InfiniteDuration()) return range.min;
  return range.min + random.Uniform() * (range.max - range.min);
}

Network::Network(const Scenario& scenario, EventQueue& queue, Random& random)
    : faults_(scenario.network),
      queue_(queue),
      random_(random),
      controllers_(scenario.controllers),
      cut_until_(2 * static_cast<std::size_t>(scenario.agents * scenario.controllers)) {}

void Network::Send(int agent, int controller, Direction direction,
                   const EventQueue::Action& arrive) {
  if (queue_.now() < CutUntil(agent, controller, direction)) return;
  const int copies = random_.Chance(faults_.duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (random_.Chance(faults_.loss)) continue;
    queue_.After(DrawDelay(), arrive);
  }
}

void Network::Cut(int agent, int controller, Direction direction, Instant until) {
  CutUntil(agent, controller, direction) = until;
}

void Network::CutFromAll(int agent, Direction direction, Instant until) {
  for (int i = 0; i < controllers_; ++i) Cut(agent, i, direction, until);
}

absl::Duration Network::DrawDelay() {
  if (random_.Chance(faults_.late)) return Draw(random_, faults_.late_by);
  return kDelayMin + absl::Seconds(random_.Exponential(kDelayMeanSeconds));
}

Instant& Network::CutUntil(int agent, int controller, Direction direction) {
  return cut_until_[2 * static_cast<std::size_t>(agent * controllers_ + controller) +
                    (direction == Direction::kToAgent ? 1 : 0)];
}

}  // namespace plimsoll::internal
