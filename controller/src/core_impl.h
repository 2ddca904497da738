#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "controller/src/durable_bounds.h"
#include "controller/src/fifo_set.h"
#include "controller/src/state.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/random.h"

namespace plimsoll {

// The state machine: core.cc (events, ticks), sessions.cc (who is there), core_sync.cc (what a sync
// does), answers.cc (from offers to grants, rules C1, C4, C5, C8, C10), writes.cc (what must be
// durable), leadership.cc (C6, C7), learning.cc (a lost store, L1, L2), policies.cc (what operators
// change), templates_in_use.cc (what templates make), decisions.cc (what laws said), breakers.cc
// (of the whole fleet), core_snapshot.cc (read model).
class Core::Impl {
 public:
  Impl(const CoreOptions& options, PolicySet policies, const StoreState& inherited, Instant now,
       TemplateSet templates);
  // A new reign in learning mode, after one whose store was older than the agents. The log goes on.
  Impl(const Impl& former, Epoch epoch);

  std::vector<Action> Apply(const Event& event, Instant now);
  // The epoch of the reign that must follow this one now, if it is over.
  std::optional<Epoch> successor() const { return successor_; }
  Epoch epoch() const { return epoch_; }
  bool learning() const { return learning_; }
  std::optional<Instant> next_due() const;
  std::int64_t sessions() const { return static_cast<std::int64_t>(sessions_.size()); }
  // Rows by service, instance and session; limits by dependency first.
  Snapshot TakeSnapshot(Instant now) const;
  const EventLog& log() const { return log_; }
  absl::StatusOr<std::vector<TrialDecision>> Try(const DependencyId& dependency,
                                                 const SessionId& session,
                                                 const std::vector<TrialWindow>& windows) const;
  std::int64_t Reserved(const DependencyId& dependency) const;
  Calls Reserved(const DependencyId& dependency, const SessionId& session) const;

 private:
  using SessionState = internal::SessionState;
  using DependencyState = internal::DependencyState;
  using Member = internal::Member;
  using Membership = internal::Membership;

  // The members of each dependency in the order of their names.
  using MembersByName = absl::flat_hash_map<const DependencyState*, std::vector<const Member*>>;

  void Begin(const StoreState& inherited);
  MembersByName AddInstances(Snapshot& snapshot, Instant now) const;

  // Events: core.cc.
  void On(const RegisterEvent& event);
  void On(const SyncEvent& event);
  void On(const ReleaseEvent& event);
  void On(const AbandonEvent& event);
  void On(const WrittenEvent& event);
  void On(const ConfirmedEvent& event);
  void On(const PolicyEvent& event);
  void On(const ResetEvent& event);
  void On(const EvictEvent& event);
  void On(const NoteEvent& event);
  void On(const TickEvent& event);
  void On(const HoldsEvent& event);
  void On(const ShutdownEvent& event);

  DependencyState& AddDependency(const DependencyId& name, const Policy& policy);
  Member& AddMember(DependencyState& dependency, SessionState& session);
  void Inherit(const Bound& bound);
  DependencyState& Inherited(const Bound& bound);
  SessionState& Adopt(const Bound& bound);
  SessionState* FindByNonce(const RegisterRequest& request);
  SessionState& NewSession(const RegisterRequest& request);
  std::optional<Refusal> CheckProtocol(const ProtocolRange& agent) const;
  std::optional<Refusal> CheckReign() const;
  std::optional<Refusal> Check(const RegisterRequest& request);
  std::optional<Refusal> Check(const SyncRequest& request);
  std::optional<Refusal> CheckReports(const SyncRequest& request);
  std::optional<Refusal> CheckFence(SessionState& session);
  void Accept(const SyncEvent& event, SessionState& session);
  // `place` is where among the dependencies of the session it probably is.
  Membership* JoinDependency(SessionState& session, const DependencyId& name, std::size_t place);
  Membership* FindMembership(SessionState& session, const DependencyId& name, std::size_t place);
  bool TakeReport(SessionState& session, const Membership& joined, const DependencyReport& report);
  Calls Acknowledge(DependencyState& dependency, Member& member, const DependencyReport& report);
  bool KnowsToEnforce(const Member& member, const DependencyReport& report) const;
  void NoteUnbooked(DependencyState& dependency, Member& member, const DependencyReport& report);
  void ForgetUnbooked();
  void NotePush(const Member& member, const DependencyReport& report);
  void NoteReportAges();
  void NoteExcess(DependencyState& dependency);
  void GatherWindows(DependencyState& dependency, Member& member, const DependencyReport& report);
  bool IsStale(const DependencyState& dependency, const Member& member, const Window& window) const;
  void FenceOlder(const SessionState& session);
  void Remove(const SessionId& id, EventType why);
  void ForgetName(const SessionState& session);
  void ExpireAll();
  void AdvanceLaws(DependencyState& dependency);
  void AdvanceKnee(DependencyState& dependency);
  void FinishKneeEpoch(DependencyState& dependency);
  void ResumeKnees(const std::vector<Bound>& bounds);
  void AdvanceLaw(DependencyState& dependency, Member* member, Calls in_flight_max,
                  absl::Duration measured);
  // Decisions: decisions.cc.
  // Whatever a law has said about a window goes through here: the counts, the event kDecision if
  // the limit changed, the sentence, and the reason of the shares that follow. `member` is the
  // instance whose law it is, null for the pool's. Of the inputs, algorithm, algorithm_limit,
  // signal, percentile, quota and wanted are filled in.
  void RecordDecision(DependencyState& dependency, Member* member, internal::LawDecision decision);
  std::string LogDecision(const DependencyId& dependency, const SessionState* session,
                          const internal::LawDecision& decision, const std::string& message);
  DependencySettings SettingsOf(const DependencyId& name) const;
  void RefuseHeld(RefusalCode code, const std::string& detail);

  // Leadership: leadership.cc.
  void AskForConfirmation();
  void Confirm(const std::vector<std::pair<SessionId, SyncNumber>>& syncs);
  std::vector<std::pair<SessionId, SyncNumber>> AwaitConfirmation() const;
  void ConfirmByWrite();
  void AnswerUnconfirmed();
  void LowerUnconfirmed(SessionState& session);
  void Depose(const std::string& why);

  // Lost store: learning.cc.
  void BeginLearning(const std::string& why);
  void EndLearningIfOver();
  absl::Duration LongestHold() const;
  void NoteLongestHold();
  void BeginNewReign(Epoch epoch, const std::string& why);
  std::optional<Refusal> CheckUnknown(const SyncRequest& request);
  std::optional<Refusal> CheckEpoch(const SyncRequest& request);
  void AdoptClaims(const SyncRequest& request);
  void BookClaim(DependencyState& dependency, const SessionState& session,
                 const DependencyReport& report);
  bool AwaitsNewReign() const;
  Steps Renewed(const DependencyState& dependency, const Member& member) const;

  // Templates: templates_in_use.cc.
  // The dependency of this name; if there is none, it is made for the session if a template fits
  // and there may be more of them. Null if not.
  DependencyState* FindOrMake(const SessionState& session, const DependencyId& name);
  bool MayMake(const SessionState& session) const;
  // All changes of DependencyState::made_from go through here.
  void SetTemplate(DependencyState& dependency, const std::string& pattern);
  std::string WhyUnknown(const SessionState& session, const DependencyId& name) const;
  void ForgetUnused();

  // Policies: policies.cc.
  // One dependency, its policy, and what is pinned; each sentence of the log ends with the note.
  Override PinOf(const DependencyId& name) const;
  void Create(const Policy& policy, const Override& pin, const std::string& note);
  void Change(DependencyState& dependency, const Policy& policy, const Override& pin,
              const std::string& note);
  void ChangeOverride(DependencyState& dependency, const Override& pin, const std::string& note);
  void ChangePolicy(DependencyState& dependency, const Policy& policy, const std::string& note);
  void ChangeMode(DependencyState& dependency);
  void RebuildLaws(DependencyState& dependency, const Policy& before);
  void MakeLaws(DependencyState& dependency, bool go_on);
  void RebuildKnee(DependencyState& dependency, bool same);
  std::unique_ptr<internal::KneeRunner> MakeKnee(const DependencyState& dependency);
  void MakePool(DependencyState& dependency);
  std::unique_ptr<internal::LawRunner> MakeRunner(const DependencyState& dependency,
                                                  const internal::LawRunner* former);
  void Retire(DependencyState& dependency, const std::string& note);
  void TellSettings(const DependencyId& name);

  // Breakers: breakers.cc.
  void FollowBreaker(DependencyState& dependency);
  void TakeBreakers(SessionState& session, const SyncRequest& request);
  void AdvanceBreakers();
  bool HasBreakerNews(const SessionState& session) const;
  void AddBreakers(const SessionState& session, SyncAnswer& answer) const;
  void LogBreaker(DependencyState& dependency, const internal::BreakerDecision& decision);

  // Answers: answers.cc.
  void Hold(SessionState& session, const SyncEvent& event);
  void Supersede(SessionState& session);
  void ConsiderAll();
  void ConsiderHungry(DependencyState& dependency);
  void Consider(SessionState& session);
  bool HasNews(const SessionState& session) const;
  bool IsLowered(const SessionState& session) const;
  void Answer(SessionState& session);
  void AddSettings(SessionState& session, SyncAnswer& answer);
  void NoteUntold(SessionState& session, const DependencyId& name);
  void NoteMode(const DependencyState& dependency, Member& member) const;
  void AnswerWithoutRaises(SessionState& session);
  void Prolong(internal::HeldSync& held);
  // The steps to send now: the offer as far as the books allow.
  Steps Allowed(const DependencyState& dependency, const Member& member) const;
  Grant MakeGrant(DependencyState& dependency, Member& member, const Steps& steps);
  Explanation Explain(const DependencyState& dependency, const Member& member) const;
  std::string LogChange(const DependencyState& dependency, const SessionState& session,
                        const Member& member, const Steps& steps, const Explanation& explanation);
  bool IsDurable(const SessionState& session) const;
  bool NeedsWrite(const Event& event) const;
  void StartWrite();
  void FinishExtra(bool ok);
  void SendPrepared(SessionState& session);
  void ForgetHeld(SessionState& session);
  std::optional<internal::BoundValue> WantedBound(const BoundKey& key) const;
  std::optional<internal::BoundValue> WantedBound(const DependencyState& dependency,
                                                  const SessionId& session) const;
  Bound Named(const BoundKey& key, const internal::BoundValue& value) const;
  void Touch(const DependencyId& dependency, const SessionId& session);
  template <typename Body>
  void Reply(RequestId request, Body body) {
    actions_.push_back(ReplyAction{request, std::move(body)});
  }

  void Log(EventType type, const SessionState* session, const DependencyId& dependency,
           std::string message);
  internal::LedgerTerms TermsOf(const Policy& policy) const;

  const CoreOptions options_;
  const Epoch epoch_;
  const bool exclusive_;
  const Instant started_at_;
  Random random_;
  Random law_seeds_;
  EventLog log_;
  Instant now_;
  std::vector<Action> actions_;

  std::map<DependencyId, DependencyState> dependencies_;
  TemplateSet templates_;
  OverrideSet overrides_;  // of dependencies that templates are yet to make, too
  int made_ = 0;           // dependencies that templates have made
  internal::Sessions sessions_;
  // Indexes over sessions_.
  absl::flat_hash_map<std::string, SessionId> by_nonce_;
  std::map<std::pair<ServiceId, InstanceId>, std::set<SessionId>> by_name_;
  absl::flat_hash_map<RequestId, SessionState*> by_held_request_;
  absl::btree_set<std::pair<Instant, RequestId>> due_;  // when holds are over
  // Sessions whose prepared answer no write covers yet, and those where it waits for the write
  // under way.
  internal::FifoSet<SessionId> unwritten_;
  std::vector<SessionId> covered_;
  // Names that were declared unique and are not: they fence nothing any more.
  std::set<std::pair<ServiceId, InstanceId>> shared_names_;
  internal::DurableBounds durable_;
  bool observe_all_ = false;  // see PolicyEvent
  std::int64_t last_seq_ = 0;
  std::int64_t last_breaker_order_ = 0;
  std::int64_t last_session_ = 0;
  WriteId last_write_;
  bool store_ok_ = true;
  bool writing_ = false;
  // Bounds may sum to more than a quota that was cut: until then lowered ones are written soon.
  Instant hasty_until_;
  bool shutting_down_ = false;
  bool deposed_ = false;

  // Syncs that wait for the next confirmation, and those that the one under way will confirm.
  std::map<SessionId, SyncNumber> unconfirmed_;
  std::vector<std::pair<SessionId, SyncNumber>> confirming_;
  // Those that had arrived when the write under way began.
  std::vector<std::pair<SessionId, SyncNumber>> write_confirms_;
  ConfirmId last_confirm_;
  bool confirm_failed_ = false;

  // Learning.
  bool new_store_ = false;  // made on purpose for a fleet that holds nothing
  bool learning_ = false;
  Instant learning_until_;
  std::string lost_why_;
  absl::Duration longest_hold_;  // of all that was ever granted
  absl::Duration durable_longest_hold_;
  // What the next write carries beside bounds, and what the one under way does.
  WriteBatch extra_;
  WriteBatch extra_under_way_;
  std::optional<Epoch> successor_;

  std::array<std::int64_t, kSyncResults> syncs_total_{};
  std::int64_t expired_total_ = 0;
  DurationHistogram report_ages_;
  DurationHistogram push_latencies_;
  std::int64_t writes_total_ = 0;
  std::int64_t write_failures_total_ = 0;
};

}  // namespace plimsoll
