#include "controller/simulation/src/fleet.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kSampleEvery = absl::Milliseconds(250);
// The fleet needs some time to come up.
constexpr Instant kSampleFrom{10'000'000'000};
constexpr DurationRange kAgentPause = {absl::Milliseconds(500), absl::Seconds(8)};
constexpr DurationRange kControllerPause = {absl::Milliseconds(300), absl::Seconds(8)};
constexpr DurationRange kCut = {absl::Seconds(1), absl::Seconds(14)};
// Nothing is on its way for longer, and no call lasts longer.
constexpr absl::Duration kForgetAfter = absl::Minutes(2);
constexpr absl::Duration kIdleLook = absl::Milliseconds(200);
// Callers that wait look about so often whether there is room.
constexpr absl::Duration kCallersLook = absl::Microseconds(83'333);
constexpr DurationRange kElection = {absl::Milliseconds(10), absl::Milliseconds(300)};
constexpr DurationRange kStoreCut = {absl::Seconds(2), absl::Seconds(12)};
constexpr DurationRange kSplit = {absl::Seconds(6), absl::Seconds(14)};
constexpr std::array<Calls, 4> kQuotas = {20, 30, 40, 50};
constexpr std::array<Calls, 6> kPins = {0, 1, 4, 9, 20, 50};

std::unique_ptr<EtcdCluster> MakeEtcd(World& world, EtcdCounts& counts) {
  if (!world.scenario.etcd.has_value()) return nullptr;
  return std::make_unique<EtcdCluster>(world, counts);
}

StorePort& Either(VirtualStore& store, EtcdCluster* etcd) {
  if (etcd != nullptr) return *etcd;
  return store;
}

Controllers MakeControllers(World& world, StorePort& store) {
  Controllers controllers;
  for (int i = 0; i < world.scenario.controllers; ++i) {
    controllers.push_back(std::make_unique<ControllerHost>(world, store, i));
  }
  return controllers;
}

}  // namespace

Fleet::Fleet(const Scenario& scenario, std::uint64_t seed, bool traced, Sabotage& sabotage)
    : world_(scenario, seed, traced, sabotage),
      store_(world_.scenario, world_.queue, world_.random),
      etcd_(MakeEtcd(world_, result_.etcd)),
      controllers_(MakeControllers(world_, Either(store_, etcd_.get()))),
      instances_(static_cast<std::size_t>(scenario.agents)),
      rollout_(MakeRollout()),
      checker_(world_, Either(store_, etcd_.get()), controllers_, instances_, result_) {
  result_.seed = seed;
}

SimulationResult Fleet::Run(bool until_broken) {
  etcd_ != nullptr ? etcd_->Begin(controllers_) : StartController();
  for (int i = 0; i < world_.scenario.agents; ++i) {
    instances_[static_cast<std::size_t>(i)].demand = static_cast<Calls>(
        world_.random.Below(static_cast<std::uint64_t>(world_.scenario.ceiling) + 1));
    world_.queue.After(absl::Seconds(world_.random.Uniform()), [this, i] { ArriveAt(i); });
  }
  rollout_.Begin();
  world_.queue.At(kSampleFrom, [this] { SampleOften(); });
  world_.queue.After(world_.scenario.demand_every, [this] { ChangeDemand(); });
  world_.queue.After(world_.scenario.fault_every, [this] { Strike(); });
  world_.queue.After(Draw(world_.random, world_.scenario.quota_every), [this] { ChangeQuota(); });
  if (world_.scenario.operator_every.max < absl::InfiniteDuration()) Operate();
  while (world_.queue.Step(Instant{} + world_.scenario.length)) {
    ++result_.events;
    checker_.Check();
    if (until_broken && !result_.ok()) break;
  }
  result_.calls_admitted = world_.calls_admitted;
  result_.calls_refused = world_.calls_refused;
  result_.controller_starts = world_.controller_starts;
  result_.agent_starts = world_.agent_starts;
  result_.messages = world_.messages;
  for (const auto& controller : controllers_) controller->CountTemplates();
  result_.templates = world_.templates;
  result_.trace_hash = world_.trace.hash();
  result_.trace = world_.trace.TakeLines();
  return std::move(result_);
}

void Fleet::ArriveAt(int index) {
  const Instance& instance = instances_[static_cast<std::size_t>(index)];
  if (instance.demand == 0) {
    world_.queue.After(kIdleLook, [this, index] { ArriveAt(index); });
    return;
  }
  if (instance.alive()) instance.process->Arrive();
  const bool waits = world_.scenario.callers == Callers::kWait;
  world_.queue.After(
      DrawExponential(waits ? kCallersLook : world_.scenario.call_mean / instance.demand),
      [this, index] { ArriveAt(index); });
}

void Fleet::ChangeDemand() {
  const Calls most = world_.scenario.ceiling;
  const std::array<Calls, 8> demands = {0, 1, most / 6, most / 3, most / 2, most, most, most};
  instances_[static_cast<std::size_t>(PickInstance())].demand =
      demands[world_.random.Below(demands.size())];
  world_.queue.After(DrawExponential(world_.scenario.demand_every), [this] { ChangeDemand(); });
}

Rollout Fleet::MakeRollout() {
  return Rollout(world_, {[this](int index) { return !At(index).alive() && !At(index).wanted; },
                          [this](int index) {
                            At(index).wanted = true;
                            StartAgent(index);
                          },
                          [this](int index) { End(index, /*by_crash=*/false); },
                          [this](int index) { End(index, /*by_crash=*/true); }});
}

void Fleet::End(int index, bool by_crash) {
  Instance& instance = At(index);
  // Whoever is in a crash loop is wanted all the same.
  instance.wanted = world_.scenario.plan == FleetPlan::kCrashLoop;
  if (!instance.alive()) return;
  by_crash ? instance.process->Crash() : instance.process->Leave();
}

void Fleet::ForgetEnded() {
  const Instant long_ago = world_.queue.now() - kForgetAfter;
  while (!processes_.empty() && !processes_.front()->alive() &&
         processes_.front()->ended_at() < long_ago) {
    processes_.pop_front();
  }
}

void Fleet::StartAgent(int index) {
  ForgetEnded();
  Instance& instance = At(index);
  const bool named_anew = world_.scenario.plan == FleetPlan::kRolling ||
                          world_.scenario.plan == FleetPlan::kScale ||
                          world_.scenario.plan == FleetPlan::kJobs;
  ++instance.started;
  const InstanceId name(named_anew ? absl::StrCat("checkout-", index, "-", instance.started)
                                   : absl::StrCat("checkout-", index));
  processes_.push_back(std::make_unique<AgentProcess>(
      world_, controllers_, index, name, instance.demand, [this, index] { OnAgentEnded(index); }));
  instance.process = processes_.back().get();
}

void Fleet::OnAgentEnded(int index) {
  world_.queue.After(Draw(world_.random, world_.scenario.agent_down), [this, index] {
    if (At(index).wanted && !At(index).alive()) StartAgent(index);
  });
}

void Fleet::StartController() {
  store_.TakeOver();
  controllers_[leader_]->Start(store_.Read());
  const bool shared = controllers_.size() > 1;
  world_.queue.After(
      Draw(world_.random, shared ? world_.scenario.failover_every : world_.scenario.controller_up),
      [this, shared] { shared ? FailOver() : StopController(); });
}

// Another controller takes over. The former one still runs, and may be cut off from the store or
// from half of the agents.
void Fleet::FailOver() {
  const std::size_t former = leader_;
  leader_ = (leader_ + 1 + world_.random.Below(controllers_.size() - 1)) % controllers_.size();
  const Epoch epoch = store_.TakeOver();
  if (world_.scenario.split || world_.random.Chance(0.5)) Separate(static_cast<int>(former));
  store_.CutOff(static_cast<int>(leader_), Instant{});
  world_.queue.After(Draw(world_.random, kElection), [this, to = leader_, epoch] {
    controllers_[to]->StartInPlace(epoch, [this] { return store_.Read(); });
  });
  world_.queue.After(Draw(world_.random, world_.scenario.failover_every), [this] { FailOver(); });
}

void Fleet::Separate(int former) {
  const Instant now = world_.queue.now();
  const bool split = world_.scenario.split;
  const Instant until = now + Draw(world_.random, split ? kSplit : kStoreCut);
  store_.CutOff(former, until);
  for (int agent = 0; agent < world_.scenario.agents; ++agent) {
    const bool stays = agent % 2 == store_.epoch().value % 2;
    if (!split && world_.random.Chance(0.5)) continue;
    for (int i = 0; i < world_.scenario.controllers; ++i) {
      const bool cut = split ? (i == former) != stays : i == former;
      if (!cut) continue;
      world_.network.Cut(agent, i, Direction::kToAgent, until);
      world_.network.Cut(agent, i, Direction::kToController, until);
    }
  }
}

void Fleet::StopController() {
  if (world_.random.Chance(0.3)) controllers_[leader_]->ShutDown();
  controllers_[leader_]->Crash();
  if (world_.random.Chance(world_.scenario.store_lost)) store_.Lose();
  world_.queue.After(Draw(world_.random, world_.scenario.controller_down),
                     [this] { StartController(); });
}

void Fleet::Strike() {
  const Instant now = world_.queue.now();
  if (world_.random.Chance(0.2)) {
    const Instant until = now + Draw(world_.random, kControllerPause);
    world_.trace.Note(now, {20}, [] { return "controller pauses"; });
    controllers_[world_.random.Below(controllers_.size())]->PauseUntil(until);
  } else {
    StrikeAgent(PickInstance());
  }
  world_.queue.After(DrawExponential(world_.scenario.fault_every), [this] { Strike(); });
}

void Fleet::StrikeAgent(int index) {
  const Instance& instance = instances_[static_cast<std::size_t>(index)];
  const double kind = world_.random.Uniform();
  if (kind < 0.3) return CutOff(index);
  if (!instance.alive()) return;
  if (kind < 0.6) return instance.process->Crash();
  if (kind < 0.75) return instance.process->Leave();
  if (kind < 0.8) return instance.process->SuspectClock();
  const Instant now = world_.queue.now();
  world_.trace.Note(now, {21, index}, [&] { return absl::StrCat("agent ", index, " pauses"); });
  instance.process->PauseUntil(now + Draw(world_.random, kAgentPause));
}

void Fleet::CutOff(int index) {
  const Instant now = world_.queue.now();
  const Instant until = now + Draw(world_.random, kCut);
  const std::uint64_t ways = world_.random.Below(4);  // both ways twice as often
  world_.trace.Note(now, {22, index}, [&] {
    return absl::StrCat("agent ", index, " is cut off",
                        ways == 0 ? ", to it" : (ways == 1 ? ", from it" : ""));
  });
  if (ways != 1) world_.network.CutFromAll(index, Direction::kToAgent, until);
  if (ways != 0) world_.network.CutFromAll(index, Direction::kToController, until);
}

void Fleet::ChangeQuota() {
  world_.quota = kQuotas[world_.random.Below(kQuotas.size())];
  TellPolicies();
  world_.queue.After(Draw(world_.random, world_.scenario.quota_every), [this] { ChangeQuota(); });
}

void Fleet::TellPolicies() {
  for (const auto& controller : controllers_) controller->ChangePolicies();
}

void Fleet::Operate() {
  const double kind = world_.random.Uniform();
  if (kind < 0.3) {
    world_.pin.limit = kPins[world_.random.Below(kPins.size())];
  } else if (kind < 0.5) {
    world_.pin = {};
  } else if (kind < 0.65) {
    world_.quota = kQuotas[world_.random.Below(kQuotas.size())];
  } else if (kind < 0.75) {
    for (const auto& controller : controllers_) controller->Reset();
  } else if (kind < 0.9) {
    const int index = PickInstance();
    for (const auto& controller : controllers_) {
      controller->Evict(InstanceId(absl::StrCat("checkout-", index)));
    }
  }
  // A deleted dependency is made again with the next change.
  world_.deleted = kind >= 0.9 && !world_.deleted;
  if (world_.deleted) world_.pin = {};
  TellPolicies();
  world_.queue.After(Draw(world_.random, world_.scenario.operator_every), [this] { Operate(); });
}

void Fleet::SampleOften() {
  checker_.Sample();
  const ControllerHost* const host =
      etcd_ != nullptr ? checker_.Reigning() : controllers_[leader_].get();
  if (host != nullptr && host->core() != nullptr) {
    result_.sessions_max = std::max(result_.sessions_max, host->core()->sessions());
  }
  world_.queue.After(kSampleEvery, [this] { SampleOften(); });
}

int Fleet::PickInstance() { return static_cast<int>(world_.random.Below(instances_.size())); }

absl::Duration Fleet::DrawExponential(absl::Duration mean) {
  if (mean == absl::InfiniteDuration()) return mean;
  return absl::Seconds(world_.random.Exponential(absl::ToDoubleSeconds(mean)));
}

SimulationResult SimulateUntilBroken(const Scenario& scenario, std::uint64_t seed,
                                     Sabotage& sabotage, bool traced) {
  return Fleet(scenario, seed, traced, sabotage).Run(/*until_broken=*/true);
}

}  // namespace plimsoll::internal
