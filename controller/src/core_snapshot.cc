// The read model: values copied out of the state machine.
#include <algorithm>
#include <utility>

#include "controller/src/core_impl.h"

namespace plimsoll {

using internal::DependencyState;
using internal::ExcessOf;
using internal::Judgements;
using internal::Member;
using internal::Membership;
using internal::SessionState;

namespace {

LeaseStage StageOf(const internal::Ledger& ledger, const SessionId& id, Instant now) {
  if (ledger.LimitHeld(id, now)) return LeaseStage::kLease;
  return ledger.BaseHeld(id, now) ? LeaseStage::kBase : LeaseStage::kReserve;
}

Mode ModeOf(const DependencyState& dependency, const Member& member) {
  if (!member.unbounded) return Mode::kEnforce;
  return dependency.policy.mode == Mode::kDisabled ? Mode::kDisabled : Mode::kObserve;
}

LimitRow MakeLimitRow(const DependencyState& dependency, const Member& member,
                      const SessionState& session, Instant now) {
  LimitRow row;
  row.dependency = dependency.policy.name;
  row.service = session.service;
  row.instance = session.instance;
  row.session = session.id;
  row.mode = ModeOf(dependency, member);
  row.enforced = member.in_force.limit;
  row.granted = member.sent.limit;
  row.reserved = dependency.ledger.Reserved(session.id);
  row.wanted = member.wanted;
  row.in_flight = member.in_flight;
  row.in_flight_max = member.in_flight_max;
  row.calls = member.totals;
  row.steps = member.sent;
  row.explanation = member.explanation;
  row.stage = StageOf(dependency.ledger, session.id, now);
  row.age = now - session.seen_at;
  row.fenced = session.fenced;
  row.changed_at = member.changed_at;
  if (member.judgements != nullptr) row.last_decision = member.judgements->last;
  return row;
}

InstanceRow MakeInstanceRow(const SessionState& session, absl::Duration lease, Instant now) {
  InstanceRow row;
  row.session = session.id;
  row.service = session.service;
  row.instance = session.instance;
  row.agent_version = session.agent_version;
  row.zone = session.zone;
  row.age = now - session.seen_at;
  row.connected =
      !session.evicted && (session.held.has_value() || (session.spoken && row.age < lease));
  row.leaving = session.leaving;
  row.fenced = session.fenced;
  row.evicted = session.evicted;
  row.joined_at = session.joined_at;
  row.dependencies.reserve(session.dependencies.size());
  for (const Membership& joined : session.dependencies) row.dependencies.push_back(joined.name());
  return row;
}

void AddRates(const DependencyState& dependency, Instant now, DependencyRow& row) {
  const internal::CallRates::Recent recent =
      dependency.rates.Until(now, dependency.totals, dependency.latencies);
  row.admitted_per_second = recent.admitted_per_second;
  row.rejected_per_second = recent.rejected_per_second;
  row.latency_mean = recent.latency.Mean();
  row.latency_p50 = recent.latency.Quantile(0.5);
  row.latency_p99 = recent.latency.Quantile(0.99);
  row.calls = dependency.totals;
  row.latencies = dependency.latencies;
}

void AddJudgements(const Judgements& judgements, DependencyRow& row) {
  row.last_decision = judgements.last;
  if (!judgements.used.has_value()) return;
  row.window_latency = judgements.used->inputs.latency;
  row.baseline = judgements.used->inputs.baseline;
  row.gradient = judgements.used->inputs.gradient;
}

BreakerRow MakeBreakerRow(const DependencyState& dependency, Instant now) {
  const internal::BreakerPool& pool = *dependency.breaker;
  BreakerRow row;
  row.view = pool.view();
  row.opened_total = pool.opened_total();
  row.cool_off_left = pool.CoolOffLeft(now);
  row.evidence = pool.Evidence(now, &row.instances);
  row.last_change = dependency.breaker_change;
  if (pool.prober().has_value()) {
    row.prober = dependency.members.at(*pool.prober()).session->instance;
  }
  return row;
}

DependencyRow MakeDependencyRow(const DependencyState& dependency, Instant now) {
  DependencyRow row;
  row.policy = dependency.policy;
  row.policy.mode = dependency.configured_mode;
  row.made_from = dependency.made_from;
  row.mode = dependency.policy.mode;
  row.retired = dependency.retired;
  if (dependency.pin != Override{}) row.pinned = dependency.pin;
  row.reserved = dependency.ledger.Reserved();
  row.draining = std::min(dependency.excess.allowed, ExcessOf(dependency));
  row.wanted = dependency.wanted;
  row.windows_total = dependency.windows_total;
  row.shares_clamped_total = dependency.shares_clamped_total;
  row.limit_changes_total = dependency.limit_changes_total;
  AddRates(dependency, now, row);
  row.algorithm_limit = dependency.PoolLimit().value_or(0);
  AddJudgements(dependency.judgements, row);
  return row;
}

}  // namespace

Snapshot Core::Impl::TakeSnapshot(Instant now) const {
  Snapshot snapshot;
  snapshot.epoch = epoch_;
  snapshot.at = now;
  snapshot.started_at = started_at_;
  snapshot.store_ok = store_ok_;
  snapshot.observe_all = observe_all_;
  snapshot.learning = learning_;
  snapshot.learning_until = learning_until_;
  snapshot.store_lost_why = lost_why_;
  snapshot.syncs_total = syncs_total_;
  snapshot.instances_expired_total = expired_total_;
  snapshot.report_ages = report_ages_;
  snapshot.push_latencies = push_latencies_;
  snapshot.writes_total = writes_total_;
  snapshot.write_failures_total = write_failures_total_;
  const MembersByName members = AddInstances(snapshot, now);
  for (const auto& [name, dependency] : dependencies_) {
    if (dependency.retired && dependency.ledger.Reserved() == 0) continue;
    DependencyRow row = MakeDependencyRow(dependency, now);
    if (dependency.breaker != nullptr) row.breaker = MakeBreakerRow(dependency, now);
    for (const Member* const member : members.at(&dependency)) {
      const LimitRow& limit =
          snapshot.limits.emplace_back(MakeLimitRow(dependency, *member, *member->session, now));
      if (limit.age <= options_.lease) {
        ++row.instances;
        row.granted += limit.granted;
        row.in_flight += limit.in_flight;
        row.algorithm_limit += dependency.LimitOf(*member).value_or(0);
      } else {
        row.orphaned += limit.reserved;
      }
    }
    snapshot.dependencies.push_back(std::move(row));
  }
  return snapshot;
}

// Sorting thousands of rows would hold up the agents for longer than copying them does.
Core::Impl::MembersByName Core::Impl::AddInstances(Snapshot& snapshot, Instant now) const {
  MembersByName members;
  std::size_t pairs = 0;
  for (const auto& [name, dependency] : dependencies_) {
    members[&dependency].reserve(dependency.members.size());
    pairs += dependency.members.size();
  }
  snapshot.limits.reserve(pairs);
  snapshot.instances.reserve(sessions_.size());
  for (const auto& [name, ids] : by_name_) {
    for (const SessionId& id : ids) {
      const SessionState& session = sessions_.at(id);
      snapshot.instances.push_back(MakeInstanceRow(session, options_.lease, now));
      if (session.held.has_value()) ++snapshot.held_syncs;
      for (const Membership& joined : session.dependencies) {
        members[joined.dependency].push_back(joined.member);
      }
    }
  }
  return members;
}

}  // namespace plimsoll
