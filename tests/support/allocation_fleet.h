#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/src/allocation.h"
#include "controller/src/state.h"

namespace plimsoll::testing {

// A dependency and its sessions, without the state machine around them: demands are set, offers are
// granted by hand. Thread-compatible.
class AllocationFleet {
 public:
  using Member = internal::Member;

  explicit AllocationFleet(const Policy& policy)
      : dependency_(policy, {kLease, policy.outage.base_lease, policy.call_deadline, 0.01}) {}

  static constexpr absl::Duration kLease = absl::Seconds(10);

  // A policy whose floors are as small as they can be.
  static Policy Plain(Calls quota) {
    Policy policy;
    policy.name = DependencyId("db");
    policy.quota = quota;
    policy.join_reserve = 0;
    policy.algorithm.floor = 1;
    policy.algorithm.ceiling = 20;
    policy.call_deadline = absl::Seconds(3);
    return policy;
  }

  // Instances are counted from 0, in the order in which they are added. A demand of 0 is that of an
  // instance that has had nothing to do for long.
  int Add(const std::string& service, double demand, Calls holds = 0) {
    const int index = static_cast<int>(ids_.size());
    const SessionId id(absl::StrCat("7-", 100'000 + index));
    internal::SessionState& session = sessions_.Emplace(id);
    session.id = id;
    session.service = ServiceId(service);
    session.instance = InstanceId(absl::StrCat("i", 100'000 + index));
    session.spoken = true;
    dependency_.ledger.Join(id, now_);
    dependency_.members.Emplace(id, now_);
    ids_.push_back(id);
    SetDemand(index, demand);
    member(index).sent.limit = holds;
    if (holds > 0) dependency_.ledger.Book(id, Seq(++seq_), {holds, 0, 0});
    return index;
  }
  void AddMany(const std::string& service, const std::vector<double>& demands) {
    for (double demand : demands) Add(service, demand);
  }

  void SetDemand(int index, double demand) {
    internal::Demand fresh(demand > 0 ? now_ : now_ - absl::Minutes(10));
    if (demand > 0) fresh.AssumeAtLeast(demand);
    member(index).demand = fresh;
    demands_[index] = demand;
  }

  void Allocate() {
    for (const SessionId& id : ids_) {
      dependency_.ledger.ExtendHolds(id, now_);
      internal::Member* const member = dependency_.members.Find(id);
      if (member != nullptr) member->reported_at = now_;
    }
    AllocateOnly();
  }
  void AllocateOnly() { internal::Allocate(dependency_, sessions_, now_); }
  void Pass(absl::Duration duration) {
    now_ = now_ + duration;
    for (int i = 0; i < size(); ++i) SetDemand(i, demands_.at(i));
  }

  // Grants what is offered as far as the books allow, acknowledged at once. Returns how many limits
  // changed.
  int Grant() {
    int changes = 0;
    for (const bool raises : {false, true}) {
      for (std::size_t i = 0; i < ids_.size(); ++i) changes += GrantOne(ids_[i], raises);
    }
    return changes;
  }

  std::vector<Calls> Shares() {
    return Of([](const Member& m) { return m.share; });
  }
  std::vector<Calls> Limits() {
    return Of([](const Member& m) { return m.sent.limit; });
  }
  std::vector<Calls> Bases() {
    return Of([](const Member& m) { return m.base; });
  }
  std::int64_t Reserved() const { return dependency_.ledger.Reserved(); }

  Member& member(int index) {
    return dependency_.members.at(ids_[static_cast<std::size_t>(index)]);
  }
  internal::SessionState& session(int index) {
    return sessions_.at(ids_[static_cast<std::size_t>(index)]);
  }
  internal::DependencyState& dependency() { return dependency_; }
  int size() const { return static_cast<int>(ids_.size()); }
  Instant now() const { return now_; }

 private:
  template <typename Get>
  std::vector<Calls> Of(Get get) {
    std::vector<Calls> values;
    for (int i = 0; i < size(); ++i) values.push_back(get(member(i)));
    return values;
  }

  int GrantOne(const SessionId& id, bool raises) {
    Member& member = dependency_.members.at(id);
    if ((member.offer > member.sent.limit) != raises) return 0;
    const auto free =
        static_cast<Calls>(dependency_.policy.quota_or_max() - dependency_.ledger.Reserved());
    const Calls limit = std::min(member.offer, dependency_.ledger.Reserved(id) + std::max(0, free));
    if (limit == member.sent.limit) return 0;
    member.sent.limit = limit;
    dependency_.ledger.Book(id, Seq(++seq_), {limit, 0, 0});
    dependency_.ledger.Acknowledge(id, Seq(seq_), 0);
    return 1;
  }

  Instant now_{1'000'000'000'000};
  internal::DependencyState dependency_;
  internal::Sessions sessions_;
  std::vector<SessionId> ids_;
  std::map<int, double> demands_;
  std::int64_t seq_ = 0;
};

}  // namespace plimsoll::testing
