#include "tests/scale/shard_run.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <variant>

#include "tests/scale/placement.h"

namespace plimsoll::scale {
namespace {

// So many of the best ranked may own a shard: that all of them are lost at once does not happen.
constexpr int kCandidates = 16;
constexpr absl::Duration kSampleEvery = absl::Milliseconds(250);
constexpr std::size_t kSamplesPerSecond = 4;
// The use before is the mean of so many samples.
constexpr std::ptrdiff_t kSamplesBefore = 8;
// The default of agents.
constexpr absl::Duration kConnectTimeout = absl::Seconds(1);
constexpr double kRestored = 0.95;
constexpr double kNearlyAll = 0.99;

double MeanOf(const std::vector<double>& all, std::ptrdiff_t from, std::ptrdiff_t to) {
  if (from >= to) return 1;
  return std::accumulate(all.begin() + from, all.begin() + to, 0.0) /
         static_cast<double>(to - from);
}

}  // namespace

ShardRun::ShardRun(const Options& options, const Timetable& timetable, const ShardLoad& load,
                   int shard, Figures& figures)
    : world_(options, timetable, shard, load.policies, figures),
      load_(load),
      reach_([this](ShardAgent& agent, int controller, std::int64_t exchange,
                    const AgentMessage& message) { Reach(agent, controller, exchange, message); }),
      rank_of_(static_cast<std::size_t>(options.controllers), -1) {
  const auto n = static_cast<std::size_t>(options.controllers);
  figures.messages.resize(n);
  figures.asked.resize(n);
  figures.busy_ns.resize(n);
  figures.owned.resize(n);
  for (const Policy& policy : load.policies) policies_[policy.name] = policy;
  const std::vector<int> ranked = Ranked(shard, options.controllers);
  const int candidates = std::min(kCandidates, options.controllers);
  for (int rank = 0; rank < candidates; ++rank) {
    const int controller = ranked[static_cast<std::size_t>(rank)];
    rank_of_[static_cast<std::size_t>(controller)] = rank;
    candidates_.push_back(
        std::make_unique<ShardController>(world_, policies_, *this, ranked, rank, candidates));
  }
  agents_.reserve(load.agents.size());
}

void ShardRun::Run() {
  OnKeyGone();
  for (const AgentPart& part : load_.agents) {
    world_.After(world_.options.ramp * world_.random.Uniform(), [this, &part] {
      agents_.push_back(std::make_unique<ShardAgent>(world_, part, load_.policies, reach_));
      agents_.back()->Start();
    });
  }
  for (const Outage& outage : world_.timetable.outages()) Plan(outage);
  SampleOften();
  const Instant end = Instant{} + world_.options.length;
  // Of a broken rule, the first consequence is enough.
  const bool until_broken = world_.options.sabotage != Sabotage::kNone;
  bool more = true;
  while (more) {
    more = world_.queue.Step(end) && !(until_broken && world_.figures.violations > 0);
  }
  if (following_.has_value()) world_.figures.take_overs.push_back(*following_);
  NoteStart();
}

void ShardRun::Plan(const Outage& outage) {
  world_.queue.At(outage.from, [this, &outage] { Begin(outage); });
  const int rank = rank_of_[static_cast<std::size_t>(outage.controller)];
  if (rank < 0) return;
  world_.queue.At(outage.until, [this, &outage, rank] {
    ShardController& controller = *Candidate(outage.controller);
    controller.Return(outage.kind);
    controller.SeeAll(Living());
    Tell(rank, true);
  });
}

void ShardRun::Begin(const Outage& outage) {
  if (ShardController* const controller = Candidate(outage.controller)) {
    const std::int64_t lease = controller->lease();
    controller->Fail(outage.kind);
    world_.queue.At(outage.gone, [this, &outage, lease] {
      if (world_.etcd.EndLease(lease)) OnKeyGone();
      Tell(rank_of_[static_cast<std::size_t>(outage.controller)], false);
    });
  }
  if (outage.kind != OutageKind::kKilled && outage.kind != OutageKind::kRestart) return;
  for (const auto& agent : agents_) {
    if (!agent->ExchangesWith(outage.controller)) continue;
    world_.Send(
        [to = agent.get(), controller = outage.controller] { to->OnConnectionLost(controller); });
  }
}

// All that may own the shard see it, each in its time.
void ShardRun::Tell(int rank, bool lives) {
  for (const auto& candidate : candidates_) {
    world_.After(world_.WatchTime(), [to = candidate.get(), rank, lives] { to->See(rank, lives); });
  }
}

std::vector<bool> ShardRun::Living() const {
  std::vector<bool> lives;
  for (const auto& candidate : candidates_) {
    const Outage* const outage = world_.timetable.At(candidate->controller(), world_.now());
    lives.push_back(outage == nullptr || world_.now() < outage->gone);
  }
  return lives;
}

ShardController* ShardRun::Candidate(int controller) {
  const int rank = rank_of_[static_cast<std::size_t>(controller)];
  return rank < 0 ? nullptr : candidates_[static_cast<std::size_t>(rank)].get();
}

void ShardRun::Reach(ShardAgent& agent, int controller, std::int64_t exchange,
                     const AgentMessage& message) {
  const Instant now = world_.now();
  const Outage* const outage = world_.timetable.At(controller, now);
  const bool cut_off = outage != nullptr && outage->kind == OutageKind::kCutOff;
  if (outage != nullptr && !cut_off) return Refuse(*outage, agent, exchange);
  ++Second(world_.figures.messages[static_cast<std::size_t>(controller)], now);
  const bool registers = std::holds_alternative<RegisterRequest>(message);
  world_.figures.Add(registers ? Count::kRegistrations : Count::kSyncs, now);
  ShardController* const candidate = Candidate(controller);
  if (candidate != nullptr && candidate->core() != nullptr) {
    return candidate->Receive(agent, exchange, message);
  }
  world_.figures.Add(Count::kRefusals, now);
  world_.Send([&agent, exchange, leader = cut_off ? -1 : key_of_] {
    agent.OnAnswer(exchange, Refusal{RefusalCode::kNotLeader, "", Epoch()}, leader);
  });
}

// A machine without the process refuses connections. One that is gone says nothing: who has a
// connection waits for an answer, who makes one gives up sooner.
void ShardRun::Refuse(const Outage& outage, ShardAgent& agent, std::int64_t exchange) {
  const bool silent = outage.kind == OutageKind::kSilent;
  if (silent && agent.HasConnection(outage.controller)) return;
  const auto refused = [&agent, exchange] {
    agent.OnAnswer(exchange, internal::NoAnswer{absl::UnavailableError("no connection")}, -1);
  };
  silent ? world_.After(kConnectTimeout, refused) : world_.Send(refused);
}

void ShardRun::OnKeyGone() {
  key_of_ = -1;
  for (const auto& candidate : candidates_) {
    world_.After(world_.WatchTime(), [to = candidate.get()] { to->Decide(); });
  }
}

void ShardRun::OnLed(int controller, const Core& core, std::int64_t bounds) {
  TakeOver begun;
  begun.shard = world_.shard;
  begun.from = lost_by_;
  begun.to = controller;
  begun.lost = lost_at_;
  begun.led = world_.now();
  begun.lowest = lowest_;
  begun.bounds = bounds;
  if (following_.has_value()) world_.figures.take_overs.push_back(*following_);
  if (!load_.agents.empty()) following_ = begun;
  owner_ = key_of_ = controller;
  epoch_ = core.epoch().value;
  heard_ = 0;
  for (const auto& agent : agents_) CheckCovered(*agent, core);
}

void ShardRun::OnLost(int controller) {
  if (controller != owner_) return;
  owner_ = -1;
  lost_by_ = controller;
  lost_at_ = world_.now();
  before_ = MeanOf(uses_, std::max<std::ptrdiff_t>(0, std::ssize(uses_) - kSamplesBefore),
                   std::ssize(uses_));
  lowest_ = 1;
}

void ShardRun::OnHeard(ShardAgent& agent, const Core& core) {
  CheckCovered(agent, core);
  if (agent.heard_by == epoch_ || core.epoch().value != epoch_) return;
  agent.heard_by = epoch_;
  ++heard_;
  const auto enough = kNearlyAll * static_cast<double>(agents_.size());
  if (static_cast<double>(heard_) < enough) return;
  if (following_.has_value() && following_->heard == Instant{}) following_->heard = world_.now();
  if (all_heard_ == Instant{} && agents_.size() == load_.agents.size()) all_heard_ = world_.now();
}

void ShardRun::CheckCovered(const ShardAgent& agent, const Core& core) {
  if (agent.session().empty()) return;
  for (const auto& share : agent.shares()) {
    const Calls reserved =
        core.Reserved(world_.books.name(share->dependency()), agent.session(), Instant{});
    world_.books.CheckCovered(share->dependency(), reserved, share->has(), world_.now());
  }
}

void ShardRun::SampleOften() {
  const std::int64_t usable = world_.books.usable();
  const std::int64_t used = world_.books.used();
  world_.figures.usable.push_back(usable);
  world_.figures.used.push_back(used);
  uses_.push_back(usable == 0 ? 1 : static_cast<double>(used) / static_cast<double>(usable));
  FollowTakeOver(uses_.back());
  if (owner_ >= 0 && uses_.size() % kSamplesPerSecond == 1) {
    ++Second(world_.figures.owned[static_cast<std::size_t>(owner_)], world_.now());
    const Core* const core = Candidate(owner_)->core();
    for (const auto& agent : agents_) {
      if (core != nullptr) CheckCovered(*agent, *core);
    }
  }
  world_.After(kSampleEvery, [this] { SampleOften(); });
}

void ShardRun::FollowTakeOver(double use) {
  const double part = before_ > 0 ? use / before_ : 1;
  lowest_ = std::min(lowest_, part);
  if (!following_.has_value() || owner_ < 0) return;
  following_->lowest = std::min(following_->lowest, part);
  if (following_->heard == Instant{} || part < kRestored) return;
  following_->restored = world_.now();
  world_.figures.take_overs.push_back(*std::exchange(following_, std::nullopt));
}

// Settled: all are heard, and the use of the quota is what it will be until the first outage.
void ShardRun::NoteStart() {
  if (load_.agents.empty()) return;
  const auto calm = static_cast<std::ptrdiff_t>(Timetable::Calm(world_.options) / kSampleEvery);
  const double usual = MeanOf(uses_, calm / 2, std::min(calm, std::ssize(uses_)));
  const auto settled = std::find_if(uses_.begin(), uses_.end(), [&](const double& use) {
    const auto at = Instant{} + kSampleEvery * (&use - uses_.data());
    return all_heard_ != Instant{} && at >= all_heard_ && use >= kRestored * usual;
  });
  const double seconds = absl::ToDoubleSeconds(kSampleEvery * (settled - uses_.begin()));
  world_.figures.started.push_back(seconds);
}

}  // namespace plimsoll::scale
