#include "tests/scale/shard_controller.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace plimsoll::scale {
namespace {

// Reading a page and making books of it takes so long for each bound: an assumption.
constexpr absl::Duration kReadEach = absl::Microseconds(10);

std::int64_t BytesOf(const EtcdRangeResult& range) {
  std::size_t bytes = 0;
  for (const EtcdKeyValue& kv : range.kvs) bytes += kv.key.size() + kv.value.size();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::int64_t BytesOf(const EtcdTxn& txn) {
  std::size_t bytes = 0;
  for (const EtcdOp& op : txn.success) {
    if (const auto* put = std::get_if<EtcdPut>(&op)) bytes += put->key.size() + put->value.size();
    if (const auto* erase = std::get_if<EtcdDelete>(&op)) bytes += erase->key.size();
  }
  return static_cast<std::int64_t>(bytes);
}

std::string ShardPrefix(int shard) { return absl::StrCat("/plimsoll/shard/", shard); }
std::string LeaderKey(int shard) { return ShardPrefix(shard) + "/leader"; }

ShardController::ShardController(ShardWorld& world, const PolicySet& policies,
                                 ShardSurroundings& surroundings, int controller, int rank,
                                 int candidates)
    : world_(world),
      policies_(policies),
      surroundings_(surroundings),
      controller_(controller),
      rank_(static_cast<std::size_t>(rank)),
      prefix_(ShardPrefix(world.shard)),
      lives_(static_cast<std::size_t>(candidates), true),
      clock_(world.MakeClock()) {}

void ShardController::Later(absl::Duration delay, Then then) {
  world_.After(delay, [this, then = std::move(then), incarnation = incarnation_, reign = reign_] {
    if (up_ && incarnation == incarnation_ && reign == reign_) then();
  });
}

void ShardController::See(int rank, bool lives) {
  if (!up_ || cut_off_) return;
  lives_[static_cast<std::size_t>(rank)] = lives;
  Decide();
}

void ShardController::SeeAll(std::vector<bool> lives) {
  lives_ = std::move(lives);
  Decide();
}

void ShardController::Decide() {
  if (!up_ || cut_off_) return;
  lives_[rank_] = true;
  const auto first = std::find(lives_.begin(), lives_.end(), true) - lives_.begin();
  const bool wanted = static_cast<std::size_t>(first) == rank_;
  if (wanted && core_ == nullptr && !campaigning_) Campaign();
  if (!wanted && core_ != nullptr) HandOver();
}

void ShardController::Campaign() {
  campaigning_ = true;
  Later(world_.EtcdTime(), [this] {
    if (!Reachable()) return;
    if (world_.options.sabotage == Sabotage::kOwnsByRankAlone) {
      world_.etcd.Erase(LeaderKey(world_.shard));
    }
    world_.figures.Add(Count::kLooks, world_.now());
    const auto look = ReadLook(prefix_, world_.etcd.Do(LookTxn(prefix_)));
    campaigning_ = look.ok() && !look->leader.has_value();
    // Otherwise the key's end will be seen.
    if (!campaigning_) return;
    EtcdTakeOverOptions options;
    options.prefix = prefix_;
    options.self = {absl::StrCat("controller-", controller_), absl::StrCat(controller_), ""};
    options.lease = lease();
    options.fresh_log_id = absl::StrCat("log-", world_.shard);
    TakeOver(std::make_shared<EtcdTakeOver>(*look, std::move(options)));
  });
}

void ShardController::TakeOver(std::shared_ptr<EtcdTakeOver> plan) {
  const auto request = plan->Next();
  if (!request.has_value()) {
    campaigning_ = false;
    if (plan->outcome().ok()) Lead(plan->TakeStart());
    return;
  }
  Later(world_.EtcdTime(), [this, plan = std::move(plan), request = *request] {
    if (!Reachable()) return;
    absl::Duration reading;
    if (const auto* txn = std::get_if<EtcdTxn>(&request)) {
      world_.figures.Add(Count::kWrites, world_.now());
      world_.figures.Add(Count::kOperations, world_.now(), std::ssize(txn->success));
      world_.figures.Add(Count::kWriteBytes, world_.now(), BytesOf(*txn));
      plan->On(world_.etcd.Do(*txn));
    } else {
      const EtcdRangeResult page = world_.etcd.Read(std::get<EtcdRange>(request));
      world_.figures.Add(Count::kLooks, world_.now());
      world_.figures.Add(Count::kLookedBytes, world_.now(), BytesOf(page));
      reading = kReadEach * std::ssize(page.kvs);
      plan->On(page);
    }
    Later(reading, [this, plan] { TakeOver(plan); });
  });
}

void ShardController::Lead(EtcdReignStart start) {
  ++reign_;
  StoreState found = start.state;
  Instant now = clock_.Now();
  const auto bounds = std::ssize(found.bounds);
  if (world_.options.sabotage == Sabotage::kInheritsNothing) found.bounds.clear();
  plan_ = std::make_unique<EtcdReignPlan>(start);
  start_ = std::move(start);
  start_->state.bounds.clear();
  CoreOptions options;
  options.lease = world_.options.lease;
  options.hold_max = world_.options.hold_max;
  options.sessions_max = 1'000'000;
  options.events_keep = 100;
  options.seed = world_.random.Next();
  if (world_.options.sabotage == Sabotage::kHoldsCutShort) now = now - absl::Seconds(60);
  core_ = std::make_unique<Core>(options, policies_, found, now);
  surroundings_.OnLed(controller_, *core_, bounds);
  Tick();
}

// A better one has come, or the process ends: the agents are told, and the key goes.
void ShardController::HandOver() {
  surroundings_.OnLost(controller_);
  Apply(ShutdownEvent{});
  End();
  world_.After(world_.EtcdTime(), [this, lease = lease()] {
    const EtcdKeyValue* const key = world_.etcd.Find(LeaderKey(world_.shard));
    if (key == nullptr || key->lease != lease) return;
    world_.figures.Add(Count::kWrites, world_.now());
    world_.figures.Add(Count::kOperations, world_.now());
    world_.etcd.Erase(LeaderKey(world_.shard));
    surroundings_.OnKeyGone();
  });
}

void ShardController::End() {
  ++reign_;
  core_.reset();
  plan_.reset();
  start_.reset();
  deposed_ = false;
  campaigning_ = false;
  waiting_.clear();
}

void ShardController::Fail(OutageKind kind) {
  if (core_ != nullptr && kind != OutageKind::kRestart) surroundings_.OnLost(controller_);
  if (kind == OutageKind::kCutOff) {
    cut_off_ = true;
    campaigning_ = false;
    return;
  }
  if (core_ != nullptr && kind == OutageKind::kRestart) HandOver();
  End();
  up_ = false;
}

void ShardController::Return(OutageKind kind) {
  cut_off_ = false;
  up_ = true;
  ++leases_;
  // What was cut off goes on, and will hear from etcd that its reign is over.
  if (kind == OutageKind::kCutOff) return;
  ++incarnation_;
  End();
}

void ShardController::Tick() {
  Apply(TickEvent{});
  if (core_ == nullptr) return;
  world_.queue.At(clock_.TrueTimeOf(clock_.Now() + CoreOptions().tick), [this, reign = reign_] {
    if (reign == reign_ && core_ != nullptr) Tick();
  });
}

}  // namespace plimsoll::scale
