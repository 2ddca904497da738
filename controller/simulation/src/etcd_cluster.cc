#include "controller/simulation/src/etcd_cluster.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

constexpr char kPrefix[] = "/plimsoll";
constexpr double kStrikesLeader = 0.75;
constexpr double kSplitsAgents = 0.6;
constexpr DurationRange kStart = {absl::ZeroDuration(), absl::Milliseconds(400)};
constexpr DurationRange kAfterwards = {absl::ZeroDuration(), absl::Seconds(10)};
constexpr DurationRange kEtcdCut = {absl::Seconds(1), absl::Seconds(12)};
constexpr DurationRange kIsolation = {absl::Seconds(4), absl::Seconds(14)};
constexpr DurationRange kElects = {absl::Milliseconds(300), absl::Milliseconds(1500)};
constexpr DurationRange kOutage = {absl::Seconds(2), absl::Seconds(8)};
constexpr DurationRange kSlow = {absl::Seconds(1), absl::Seconds(8)};

}  // namespace

EtcdCluster::EtcdCluster(World& world, EtcdCounts& counts)
    : world_(world), day_(*world.scenario.etcd), counts_(counts), etcd_(world, kPrefix, counts) {}

void EtcdCluster::Begin(const std::vector<std::unique_ptr<ControllerHost>>& controllers) {
  for (const auto& controller : controllers) {
    const int index = static_cast<int>(seats_.size());
    seats_.push_back(
        std::make_unique<EtcdSeat>(world_, etcd_, *controller, index, kPrefix, counts_));
    world_.queue.After(Draw(world_.random, kStart), [this, index] { At(index).Start(); });
  }
  if (day_.fault_every < absl::InfiniteDuration()) Strike();
  CompactOften();
}

void EtcdCluster::Commit(int controller, Epoch /*reign*/, const WriteBatch& batch, Done done) {
  At(controller).Commit(batch, std::move(done));
}

void EtcdCluster::Confirm(int controller, Epoch /*reign*/, Done done) {
  At(controller).Confirm(std::move(done));
}

void EtcdCluster::Strike() {
  const double mean = absl::ToDoubleSeconds(day_.fault_every);
  world_.queue.After(absl::Seconds(world_.random.Exponential(mean)), [this] {
    if (!day_.faults.empty()) Do(day_.faults[world_.random.Below(day_.faults.size())]);
    Strike();
  });
}

void EtcdCluster::Do(EtcdFault fault) {
  const Instant now = world_.queue.now();
  const int controller = PickController();
  switch (fault) {
    case EtcdFault::kPause: {
      if (!At(controller).running()) return;
      const Instant until = now + Draw(world_.random, day_.pause);
      At(controller).PauseUntil(until);
      // Half of the agents wait for it, and are found when it goes on again.
      if (world_.random.Chance(kSplitsAgents))
        Split(controller, until + Draw(world_.random, kAfterwards));
      return;
    }
    case EtcdFault::kCrash:
      if (!At(controller).running()) return;
      At(controller).Crash();
      return RestartLater(controller);
    case EtcdFault::kStop:
      if (!At(controller).running()) return;
      At(controller).Stop();
      return RestartLater(controller);
    case EtcdFault::kCutOff: {
      const Instant until = now + Draw(world_.random, kEtcdCut);
      etcd_.CutOff(controller, until);
      if (world_.random.Chance(kSplitsAgents)) Split(controller, until);
      return;
    }
    case EtcdFault::kIsolate: {
      const Instant until = now + Draw(world_.random, kIsolation);
      etcd_.Isolate(controller, until);
      if (world_.random.Chance(kSplitsAgents)) Split(controller, until);
      return;
    }
    case EtcdFault::kElection:
      return etcd_.LoseQuorum(now + Draw(world_.random, kElects));
    case EtcdFault::kOutage:
      return etcd_.LoseQuorum(now + Draw(world_.random, kOutage));
    case EtcdFault::kSlow:
      return etcd_.SlowDown(now + Draw(world_.random, kSlow));
    case EtcdFault::kRevoke:
      return etcd_.RevokeLeader();
  }
}

int EtcdCluster::PickController() {
  const int any = static_cast<int>(world_.random.Below(static_cast<std::uint64_t>(seats_.size())));
  if (!world_.random.Chance(kStrikesLeader)) return any;
  for (int i = 0; i < world_.scenario.controllers; ++i) {
    if (etcd_.leader() == EtcdSeat::NameOf(i)) return i;
  }
  return any;
}

void EtcdCluster::RestartLater(int controller) {
  world_.queue.After(Draw(world_.random, world_.scenario.controller_down), [this, controller] {
    At(controller).Crash();
    At(controller).Start();
  });
}

void EtcdCluster::Split(int controller, Instant until) {
  const bool even = world_.random.Chance(0.5);
  for (int agent = 0; agent < world_.scenario.agents; ++agent) {
    const bool stays = (agent % 2 == 0) == even;
    for (int other = 0; other < world_.scenario.controllers; ++other) {
      if ((other == controller) == stays) continue;
      world_.network.Cut(agent, other, Direction::kToAgent, until);
      world_.network.Cut(agent, other, Direction::kToController, until);
    }
  }
}

void EtcdCluster::CompactOften() {
  if (day_.compact_every == absl::InfiniteDuration()) return;
  const double mean = absl::ToDoubleSeconds(day_.compact_every);
  world_.queue.After(absl::Seconds(world_.random.Exponential(mean)), [this] {
    etcd_.Compact();
    CompactOften();
  });
}

}  // namespace plimsoll::internal
