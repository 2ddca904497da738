#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/src/breaker_pool.h"
#include "controller/src/call_rates.h"
#include "controller/src/explain.h"
#include "controller/src/indexed_map.h"
#include "controller/src/knee_runner.h"
#include "controller/src/ledger.h"
#include "controller/src/pool.h"
#include "controller/src/turns.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

struct SessionState;

// One service at one dependency.
struct ServiceState {
  Turn turn;  // among the services
  Ring ring;  // of its instances
  int members = 0;
  std::optional<std::size_t> row;  // in the census that is being taken
};

// What one law said.
struct Judgements {
  std::optional<LawDecision> used;   // the last one that had enough to judge by
  std::optional<LastDecision> last;  // the last one of all
  // The last one that moved the limit: its event and its reason.
  std::string moved_by;
  std::optional<Reason> moved_for;

  // The event of the decision from which a change for `reason` follows; empty if it follows from
  // none.
  std::string CauseOf(Reason reason) const { return moved_for == reason ? moved_by : ""; }
};

// One session at one dependency: what it was sent, what it reported, what it should have.
struct Member {
  explicit Member(Instant now) : demand(now), changed_at(now) {}

  // What it reported last.
  bool reported = false;
  std::optional<Instant> reported_at;
  GrantStamp installed;
  Steps in_force;
  Calls in_flight = 0;
  Calls in_flight_max = 0;
  CallTotals totals;
  // It was told to observe, and has not acknowledged yet that it was told to enforce: it may have
  // more calls in flight than any limit says.
  bool unbounded = false;
  // The reign before may have told it to observe, and it has not acknowledged yet either. What it
  // reports above its reservation may run, or be calls that hang with a caller and have ended at
  // the provider (C3): it is not booked, but nobody is raised by it.
  bool mode_unknown = false;
  Calls unbooked = 0;
  Instant unbooked_until;  // once it has acknowledged: when all that it let in before has ended
  std::optional<Seq> enforced_from;  // the first grant that was sent with that
  Demand demand;
  Calls epoch_in_flight_max = 0;           // since the epoch of its law, or the pool's, began
  absl::Duration epoch_measured;           // the lengths of its windows since then
  std::unique_ptr<LawRunner> law;          // scope instance only
  KneeMember knee;                         // for the pool law
  std::unique_ptr<Judgements> judgements;  // of that law; null before the first
  // Why an operator's change moves its limit, until its limit has followed or a law has spoken.
  std::optional<Reason> by_operator;

  // What it should have.
  Calls wanted = 0;                  // what it could use, before the quota
  Calls share = 0;                   // its part of the quota, by apportionment
  Calls offer = 0;                   // the limit to send as far as the books allow
  Calls base = 0;                    // the base to send with it, where the limit is not lower
  Reason reason = Reason::kInitial;  // why the offer differs from what was sent
  Turn turn;                         // among the instances of its service
  // Both outlive the member; the service is found by the first allocation.
  const SessionState* session = nullptr;
  ServiceState* service = nullptr;

  // What it was sent last.
  Steps sent;
  Seq sent_seq;     // 0: nothing yet
  Seq changed_seq;  // the first grant with this limit
  Instant changed_at;
  Explanation explanation;
  bool lost_early = false;           // it fell silent while it was new
  std::optional<Calls> seen_limit;   // what was sent, as of the last allocation
  std::optional<Instant> raised_at;  // when an allocation last saw it raised
};

// An instance fell silent while it was new.
struct EarlyLoss {
  SessionId session;
  Instant at;
  absl::Duration life;
};

// How far the reservations may be above the quota, because it was larger before.
struct Excess {
  std::int64_t allowed = 0;
  std::optional<Calls> quota;  // as of the last look
};

struct DependencyState {
  DependencyState(const Policy& its_policy, const LedgerTerms& terms)
      : policy(its_policy), lease(terms.lease), ledger(terms) {}

  Policy policy;                       // with the mode that is in force
  Mode configured_mode = policy.mode;  // without the override
  Override pin;                        // nothing is pinned by default
  std::string made_from;               // the pattern of its template; empty: a policy of its own
  absl::Duration lease;                // of limits
  // The policy is gone: nothing is granted any more, and what is granted is taken back.
  bool retired = false;
  std::unique_ptr<LimitAlgorithm> algorithm;
  std::unique_ptr<LawRunner> pool;       // scope fleet only
  std::unique_ptr<KneeRunner> knee;      // instead of algorithm and runners: the pool law
  std::unique_ptr<BreakerPool> breaker;  // if the policy has one and enforces
  std::optional<BreakerRow::Change> breaker_change;  // the last one of that
  Ledger ledger;
  IndexedMap<SessionId, Member> members;
  Excess excess;
  std::int64_t unbooked = 0;  // sum over the members; to be changed by SetUnbooked() only
  std::map<ServiceId, ServiceState> services;  // that have members
  Ring ring;                                   // of the services
  std::deque<EarlyLoss> early_losses;
  // The last allocation, and since when there was one often enough to tell who is silent.
  std::optional<Instant> allocated_at;
  Instant attentive_since;

  // Of the pool's law, or of whichever instance's law judged last.
  Judgements judgements;
  // Why the capacity to divide changed last, until the shares have followed.
  std::optional<Reason> moved;
  Window last_window;  // of the last epoch, all instances together
  absl::Duration last_epoch;
  CallTotals totals;  // of all instances that ever were
  LatencyCounts latencies{};
  CallRates rates;
  std::int64_t wanted = 0;       // by all together
  std::deque<SessionId> hungry;  // offered more than they were sent, as of the last allocation
  std::array<std::int64_t, kWindowOutcomes> windows_total{};
  std::int64_t shares_clamped_total = 0;
  std::array<std::array<std::int64_t, 2>, kReasons> limit_changes_total{};

  void SetUnbooked(Member& member, Calls calls);
  // Does nothing for who is no member.
  void Forget(const SessionId& session);
  // The limit that the law sets for the pool, or for one instance; nothing with the other scope.
  std::optional<Calls> PoolLimit() const;
  std::optional<Calls> LimitOf(const Member& member) const;
  // The quota is enough for the floor of every member.
  bool FloorsFit() const;
  // Every member is told why, until its limit has followed.
  void Move(Reason reason);
  // What may be divided now, before what silent sessions still hold and newcomers are due.
  Calls Capacity() const;
};

// The sync whose answer is being held.
struct HeldSync {
  RequestId request;
  SyncNumber n;
  Instant since;
  Instant until;           // when it is answered, with news or without
  Instant longest;         // as long as the agent would wait
  bool confirmed = false;  // this reign stood after the sync had arrived (C6)
};

// An answer that waits until its grants are durable.
struct PreparedAnswer {
  RequestId request;
  SyncAnswer answer;
  std::optional<WriteId> write;  // the write that covers it, once it is under way
};

// That a session is a member of a dependency. Both outlive it.
struct Membership {
  DependencyState* dependency;
  Member* member;

  const DependencyId& name() const { return dependency->policy.name; }
};

struct SessionState {
  SessionId id;
  std::pair<std::int64_t, std::int64_t> order;  // of registration: (epoch, counter)
  ServiceId service;
  InstanceId instance;
  bool unique = false;
  std::string zone;
  std::string agent_version;
  int protocol = kProtocolVersionMin;  // of its last message, so of the answers to it
  std::string nonce;                   // empty if inherited from the reign before
  SyncNumber n{-1};                    // newest accepted; 0 after the registration
  SyncNumber confirmed_n{-1};          // newest confirmed
  bool inherited = false;              // known from the store only, until it speaks
  bool adopted = false;                // known only by its own claim: the store was lost
  bool spoken = false;                 // a sync was accepted in this reign
  bool leaving = false;
  bool fenced = false;
  bool evicted = false;
  Instant joined_at;
  Instant seen_at;
  std::vector<Membership> dependencies;            // in the order of joining
  std::vector<DependencyId> unknown_dependencies;  // named without a policy
  std::vector<DependencyId> untold;                // whose settings the next answer carries
  std::optional<HeldSync> held;
  std::optional<PreparedAnswer> prepared;
};

using Sessions = IndexedMap<SessionId, SessionState>;

// How far the reservations are above the quota; 0 without one.
std::int64_t ExcessOf(const DependencyState& dependency);

// The law of a policy, which must be valid; nothing for the pool law.
std::unique_ptr<LimitAlgorithm> MakeLaw(const Policy& policy);

// "5-1042": session ids are ordered by reign, then by registration. Nothing for what is none.
std::optional<std::pair<std::int64_t, std::int64_t>> OrderOf(const SessionId& id);

}  // namespace plimsoll::internal
