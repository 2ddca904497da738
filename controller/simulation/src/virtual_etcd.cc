#include "controller/simulation/src/virtual_etcd.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/check.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll::internal {
namespace {

constexpr DurationRange kEtcdElection = {absl::Milliseconds(300), absl::Milliseconds(1500)};
constexpr DurationRange kSlowWork = {absl::Milliseconds(50), absl::Milliseconds(2500)};
// etcd looks for leases that have ended so often, and then has to agree on it.
constexpr DurationRange kLeaseEndsLate = {absl::ZeroDuration(), absl::Milliseconds(700)};
// A proposal without a quorum is dropped, or waits for one.
constexpr double kWaitsForQuorum = 0.5;
// The member that is cut off was the one that led.
constexpr double kIsolatedLed = 1.0 / 3;

bool NeedsQuorum(const EtcdRequest& request) {
  const auto* txn = std::get_if<EtcdTxn>(&request.what);
  return txn == nullptr || !OnlyAsks(*txn) || HasRange(*txn);
}

}  // namespace

VirtualEtcd::VirtualEtcd(World& world, std::string prefix, EtcdCounts& counts)
    : world_(world),
      day_(*world.scenario.etcd),
      prefix_(std::move(prefix)),
      counts_(counts),
      state_(day_.ops_max, day_.page_max),
      clock_rate_(world.random.Uniform(1 - world.scenario.clock_rate_error,
                                       1 + world.scenario.clock_rate_error)),
      cut_until_(Index(world.scenario.controllers * world.scenario.controllers)),
      isolated_until_(Index(world.scenario.controllers)),
      heard_(Index(world.scenario.controllers)) {}

void VirtualEtcd::Send(int member, const EtcdSending& sending, const Answered& answered) {
  if (IsCut(sending.request.controller, member)) return;
  const int copies = world_.random.Chance(day_.network.duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (world_.random.Chance(day_.network.loss)) continue;
    world_.queue.After(DrawWay() + DrawWork(),
                       [this, member, sending, answered] { Arrive(member, sending, answered); });
  }
}

bool VirtualEtcd::IsCut(int controller, int member) const {
  return world_.queue.now() < cut_until_[Index(controller * world_.scenario.controllers + member)];
}

bool VirtualEtcd::HasQuorum(int member) const {
  const Instant now = world_.queue.now();
  return now >= no_quorum_until_ && now >= isolated_until_[Index(member)];
}

absl::Duration VirtualEtcd::DrawWay() {
  if (world_.random.Chance(day_.network.late)) return Draw(world_.random, day_.network.late_by);
  return absl::Milliseconds(1) + absl::Seconds(world_.random.Exponential(0.002));
}

absl::Duration VirtualEtcd::DrawWork() {
  const bool slow = world_.queue.now() < slow_until_;
  return Draw(world_.random, slow ? kSlowWork : day_.work);
}

void VirtualEtcd::Arrive(int member, const EtcdSending& sending, const Answered& answered) {
  if (NeedsQuorum(sending.request) && !HasQuorum(member)) {
    if (!world_.random.Chance(kWaitsForQuorum)) return;
    const Instant until = std::max(no_quorum_until_, isolated_until_[Index(member)]);
    world_.queue.At(until + DrawWay(),
                    [this, member, sending, answered] { Arrive(member, sending, answered); });
    return;
  }
  const EtcdAnswer answer = Do(member, sending);
  if (IsCut(sending.request.controller, member)) return;
  if (world_.random.Chance(day_.network.loss)) return;
  world_.queue.After(DrawWay(), [answer, answered] { answered(answer); });
}

EtcdAnswer VirtualEtcd::Do(int member, const EtcdSending& sending) {
  struct Doer {
    EtcdAnswer operator()(const EtcdTxn& txn) const { return etcd.DoTxn(member, sending, txn); }
    EtcdAnswer operator()(const EtcdRange& range) const { return etcd.DoRange(range); }
    EtcdAnswer operator()(const EtcdGrantLease&) const { return etcd.DoGrant(); }
    EtcdAnswer operator()(const EtcdKeepLeaseAlive& keep) const {
      return etcd.DoKeepAlive(keep.lease);
    }
    EtcdAnswer operator()(const EtcdRevokeLease& end) const { return etcd.DoRevoke(end.lease); }
    VirtualEtcd& etcd;
    int member;
    const EtcdSending& sending;
  };
  return std::visit(Doer{*this, member, sending}, sending.request.what);
}

EtcdAnswer VirtualEtcd::DoTxn(int member, const EtcdSending& sending, const EtcdTxn& txn) {
  const bool stale = IsStale(txn);
  if (OnlyAsks(txn)) {
    const bool current = NeedsQuorum(sending.request) || HasQuorum(member);
    EtcdTxnResult result = state_.Ask(txn, current ? state_.revision() : heard_[Index(member)]);
    counts_.stale_answers += !current;
    counts_.stale_confirms += stale && sending.request.purpose == EtcdPurpose::kConfirm;
    return {absl::OkStatus(), std::move(result)};
  }
  const absl::StatusOr<EtcdTxnResult> result = state_.Apply(txn);
  if (!result.ok()) return {result.status()};
  sending.fate->landed |= result->succeeded;
  if (sending.request.purpose == EtcdPurpose::kWrite) {
    CountWrite(sending, result->succeeded, stale);
  } else if (result->succeeded) {
    Note(41, sending.request.controller, [&] {
      return absl::StrCat("etcd: the leader key is controller ", sending.request.controller, "'s");
    });
  }
  return {absl::OkStatus(), *result};
}

// The first of what a reign compares is its token.
bool VirtualEtcd::IsStale(const EtcdTxn& txn) const {
  if (txn.compare.empty()) return false;
  const EtcdKeyValue* const key = state_.Find(absl::StrCat(prefix_, "/leader"));
  return (key == nullptr ? 0 : key->create_revision) != txn.compare[0].revision;
}

void VirtualEtcd::CountWrite(const EtcdSending& sending, bool succeeded, bool stale) {
  const bool late = sending.fate->given_up;
  ++(succeeded ? counts_.writes : (stale ? counts_.stale_writes : counts_.refused_again));
  counts_.landed_late += late && succeeded;
  counts_.refused_late += late && !succeeded;
  Note(42, sending.request.controller, [&] {
    return absl::StrCat("etcd: a write of controller ", sending.request.controller,
                        succeeded ? " lands" : (stale ? " is stale" : " is refused"),
                        late ? ", and nobody waits for it" : "");
  });
}

EtcdAnswer VirtualEtcd::DoRange(const EtcdRange& range) {
  ++counts_.pages;
  absl::StatusOr<EtcdRangeResult> result = state_.Read(range);
  if (!result.ok()) {
    ++counts_.compacted_pages;
    return {result.status()};
  }
  EtcdAnswer answer;
  answer.range = *std::move(result);
  return answer;
}

EtcdAnswer VirtualEtcd::DoGrant() {
  EtcdAnswer answer;
  answer.lease = ++last_lease_;
  state_.AddLease(answer.lease);
  ExtendLease(answer.lease, leases_[answer.lease]);
  return answer;
}

EtcdAnswer VirtualEtcd::DoKeepAlive(std::int64_t lease) {
  const auto found = leases_.find(lease);
  // One that is due and not yet ended is not brought back either.
  if (found == leases_.end() || found->second.ends <= world_.queue.now()) {
    return {absl::NotFoundError("requested lease not found")};
  }
  ExtendLease(lease, found->second);
  return {};
}

EtcdAnswer VirtualEtcd::DoRevoke(std::int64_t lease) {
  if (leases_.erase(lease) == 0) return {absl::NotFoundError("requested lease not found")};
  state_.EndLease(lease);
  return {};
}

void VirtualEtcd::ExtendLease(std::int64_t id, Lease& lease) {
  lease.ends = std::max(lease.ends, world_.queue.now() + day_.lease / clock_rate_);
  const std::int64_t version = ++lease.version;
  world_.queue.At(lease.ends + Draw(world_.random, kLeaseEndsLate),
                  [this, id, version] { EndLeaseIfDue(id, version); });
}

void VirtualEtcd::EndLeaseIfDue(std::int64_t id, std::int64_t version) {
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second.version != version) return;
  // Nobody can agree on it; whoever leads next extends it.
  if (world_.queue.now() < no_quorum_until_) return;
  ++counts_.leases_ended;
  Note(43, id, [id] { return absl::StrCat("etcd: lease ", id, " ends"); });
  leases_.erase(found);
  state_.EndLease(id);
}

void VirtualEtcd::CutOff(int controller, Instant until) {
  for (int member = 0; member < world_.scenario.controllers; ++member) {
    cut_until_[Index(controller * world_.scenario.controllers + member)] = until;
  }
  Note(44, controller,
       [controller] { return absl::StrCat("controller ", controller, " is cut off from etcd"); });
}

void VirtualEtcd::Isolate(int controller, Instant until) {
  const int member = controller;
  for (int other = 0; other < world_.scenario.controllers; ++other) {
    if (other == member) continue;
    cut_until_[Index(controller * world_.scenario.controllers + other)] = until;
  }
  if (world_.queue.now() >= isolated_until_[Index(member)]) {
    heard_[Index(member)] = state_.revision();
  }
  isolated_until_[Index(member)] = until;
  if (world_.random.Chance(kIsolatedLed)) {
    LoseQuorum(world_.queue.now() + Draw(world_.random, kEtcdElection));
  }
  Note(45, controller, [controller] {
    return absl::StrCat("controller ", controller, " and its member of etcd are cut off");
  });
}

void VirtualEtcd::LoseQuorum(Instant until) {
  no_quorum_until_ = std::max(no_quorum_until_, until);
  Note(46, 0, [] { return "etcd has no quorum"; });
  world_.queue.At(until, [this] { Lead(); });
}

// A member of etcd leads anew: it does not know when leases were kept alive last.
void VirtualEtcd::Lead() {
  if (world_.queue.now() < no_quorum_until_) return;
  for (auto& [id, lease] : leases_) ExtendLease(id, lease);
  Note(47, 0, [] { return "etcd has a quorum"; });
}

void VirtualEtcd::Compact() {
  const EtcdTxn txn{.success = {EtcdPut{"/neighbour", absl::StrCat(++neighbours_)}}};
  PLIMSOLL_CHECK(state_.Apply(txn).ok(), "a neighbour may write");
  state_.Compact(state_.revision());
}

void VirtualEtcd::RevokeLeader() {
  const EtcdKeyValue* const key = state_.Find(absl::StrCat(prefix_, "/leader"));
  if (key == nullptr) return;
  Note(48, key->lease, [] { return "somebody ends the lease of the leader"; });
  static_cast<void>(DoRevoke(key->lease));
}

Epoch VirtualEtcd::epoch() const {
  if (epoch_revision_ == state_.revision()) return epoch_;
  epoch_revision_ = state_.revision();
  const auto look = ReadLook(prefix_, state_.Ask(LookTxn(prefix_), epoch_revision_));
  PLIMSOLL_CHECK(look.ok(), "controllers write what they can read");
  return epoch_ = Epoch(look->epoch);
}

std::string VirtualEtcd::leader() const {
  const auto look = ReadLook(prefix_, state_.Ask(LookTxn(prefix_), state_.revision()));
  return look.ok() && look->leader.has_value() ? look->leader->id : "";
}

void VirtualEtcd::Note(std::int64_t kind, std::int64_t fact,
                       const std::function<std::string()>& text) {
  world_.trace.Note(world_.queue.now(), {kind, fact}, text);
}

}  // namespace plimsoll::internal
