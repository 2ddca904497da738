#include "tests/simulation/mutants.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "controller/simulation/src/fleet.h"
#include "plimsoll/simulation/scenario.h"
#include "tests/simulation/etcd_mutants.h"

namespace plimsoll::internal {
namespace {

// All scenarios agree on these.
const Scenario& Settings() {
  static const Scenario* const settings = new Scenario;
  return *settings;
}

template <typename Change>
void ChangeGrants(Answer& answer, const Change& change) {
  if (auto* registered = std::get_if<RegisterAnswer>(&answer)) {
    for (Grant& grant : registered->grants) change(grant);
  }
  if (auto* synced = std::get_if<SyncAnswer>(&answer)) {
    for (Grant& grant : synced->grants) change(grant);
  }
}

class LeaseFromReceipt final : public Sabotage {
  void OnAnswer(Answer& answer, absl::Duration age) override {
    ChangeGrants(answer, [age](Grant& grant) {
      grant.lease += age;
      grant.base_lease += age;
    });
  }
};

class LocalFallback final : public Sabotage {
  absl::Duration OnInstall(StepFunction& function, Calls /*in_force*/) override {
    if (function.stamp == GrantStamp{}) return {};
    const Calls fair = Settings().quota / Settings().agents;
    function.steps.base = std::max(function.steps.base, fair);
    function.steps.reserve = function.steps.base;
    return {};
  }
};

class AcknowledgeFirst final : public Sabotage {
  absl::Duration OnInstall(StepFunction& function, Calls in_force) override {
    return function.steps.limit < in_force ? absl::Milliseconds(1500) : absl::ZeroDuration();
  }
};

class ReleaseEarly final : public Sabotage {
  void OnSend(AgentMessage& message) override {
    const auto* sync = std::get_if<SyncRequest>(&message);
    if (sync != nullptr && sync->leaving) message = ReleaseRequest{sync->session};
  }
};

class InFlightUnreported final : public Sabotage {
  void OnSend(AgentMessage& message) override {
    auto* sync = std::get_if<SyncRequest>(&message);
    if (sync == nullptr) return;
    for (DependencyReport& report : sync->dependencies) report.in_flight = 0;
  }
};

// Remembers which session each sync belongs to.
class SessionWatcher : public Sabotage {
 public:
  std::vector<Event> OnEvent(Epoch epoch, Event event) override {
    if (auto* sync = std::get_if<SyncEvent>(&event)) {
      asked_by_[sync->request] = sync->message.session;
      OnSync(epoch, sync->message);
    }
    return {std::move(event)};
  }
  void OnReply(ReplyAction& reply) override {
    const auto session = asked_by_.find(reply.request);
    if (session == asked_by_.end()) return;
    auto* answer = std::get_if<SyncAnswer>(&reply.body);
    if (answer != nullptr) OnSyncAnswer(session->second, *answer);
    asked_by_.erase(session);
  }

 private:
  virtual void OnSync(Epoch epoch, SyncRequest& message) = 0;
  virtual void OnSyncAnswer(const SessionId& session, SyncAnswer& answer) = 0;

  std::map<RequestId, SessionId> asked_by_;
};

class FreeOnSend final : public SessionWatcher {
  void OnSync(Epoch epoch, SyncRequest& message) override {
    const auto sent = sent_.find(message.session);
    if (sent == sent_.end() || sent->second.epoch != epoch) return;
    for (DependencyReport& report : message.dependencies) report.installed = sent->second;
  }
  void OnSyncAnswer(const SessionId& session, SyncAnswer& answer) override {
    for (const Grant& grant : answer.grants) sent_[session] = grant.stamp;
  }

  std::map<SessionId, GrantStamp> sent_;
};

class OldSyncAccepted final : public SessionWatcher {
  void OnSync(Epoch /*epoch*/, SyncRequest& message) override {
    Renumbered& numbers = renumbered_[message.session];
    numbers.push_back(message.n);
    message.n = SyncNumber(static_cast<std::int64_t>(numbers.size()));
  }
  void OnSyncAnswer(const SessionId& session, SyncAnswer& answer) override {
    const Renumbered& numbers = renumbered_[session];
    for (Grant& grant : answer.grants) {
      grant.anchor = numbers.at(static_cast<std::size_t>(grant.anchor.value - 1));
    }
  }

  using Renumbered = std::vector<SyncNumber>;
  std::map<SessionId, Renumbered> renumbered_;
};

// What is known of another reign's grants is taken for known of this one's.
class ForeignAcknowledged final : public SessionWatcher {
  void OnSync(Epoch epoch, SyncRequest& message) override {
    for (DependencyReport& report : message.dependencies) {
      if (report.installed.epoch < epoch) report.installed = {epoch, Seq(0)};
    }
  }
  void OnSyncAnswer(const SessionId& /*session*/, SyncAnswer& /*answer*/) override {}
};

class RiseWhileOver final : public SessionWatcher {
  void OnSync(Epoch /*epoch*/, SyncRequest& message) override {
    for (DependencyReport& report : message.dependencies) report.in_force.limit = kCallsMax;
  }
  void OnSyncAnswer(const SessionId& /*session*/, SyncAnswer& /*answer*/) override {}
};

class UnconfirmedAnchor final : public SessionWatcher {
  void OnSync(Epoch /*epoch*/, SyncRequest& message) override {
    newest_[message.session] = message.n;
  }
  void OnSyncAnswer(const SessionId& session, SyncAnswer& answer) override {
    for (Grant& grant : answer.grants) grant.anchor = newest_[session];
  }

  std::map<SessionId, SyncNumber> newest_;
};

// Takes what was written for what the agent has installed, although the write may never land.
class UnconfirmedAboveInstalled final : public SessionWatcher {
  void OnCommit(WriteBatch& batch) override {
    for (const Bound& bound : batch.put) written_[bound.key.session] = bound.steps;
  }
  void OnSync(Epoch epoch, SyncRequest& message) override {
    const auto written = written_.find(message.session);
    if (written == written_.end()) return;
    for (DependencyReport& report : message.dependencies) {
      if (report.installed.epoch != epoch) continue;
      report.in_force = Highest(report.in_force, written->second);
    }
  }
  void OnSyncAnswer(const SessionId& /*session*/, SyncAnswer& /*answer*/) override {}

  std::map<SessionId, Steps> written_;
};

class Unconfirmed final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& found,
               Instant& /*now*/) override {
    found.exclusive = true;
  }
};

class LossUnnoticed final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& found,
               Instant& /*now*/) override {
    found.condition = StoreCondition::kWhole;
  }
};

class BaseUnlogged final : public Sabotage {
  void OnCommit(WriteBatch& batch) override {
    for (Bound& bound : batch.put) bound.steps.base = bound.steps.reserve = 0;
  }
};

// A lowered bound is what may still be installed, and not what is in flight above it.
class InFlightUnlogged final : public SessionWatcher {
  void OnCommit(WriteBatch& batch) override {
    for (Bound& bound : batch.put) {
      const Calls written = std::exchange(written_[bound.key.session], bound.steps.limit);
      const auto sent = sent_.find(bound.key.session);
      if (sent == sent_.end() || bound.steps.limit > written) continue;
      Calls top = 0;
      for (const auto& [stamp, limit] : sent->second) top = std::max(top, limit);
      bound.steps.limit = std::max(bound.steps.base, std::min(bound.steps.limit, top));
    }
  }
  void OnSync(Epoch epoch, SyncRequest& message) override {
    for (const DependencyReport& report : message.dependencies) {
      if (report.installed.epoch != epoch) continue;
      auto& sent = sent_[message.session];
      sent.erase(sent.begin(), sent.lower_bound(report.installed));
    }
  }
  void OnSyncAnswer(const SessionId& session, SyncAnswer& answer) override {
    for (const Grant& grant : answer.grants) sent_[session][grant.stamp] = grant.steps.limit;
  }

  std::map<SessionId, std::map<GrantStamp, Calls>> sent_;
  std::map<SessionId, Calls> written_;
};

class NoBaseHold final : public Sabotage {
  void OnStart(CoreOptions& options, Policy& policy, StoreState& /*found*/,
               Instant& /*now*/) override {
    policy.outage.base_lease = options.lease;
  }
  void OnAnswer(Answer& answer, absl::Duration /*age*/) override {
    ChangeGrants(answer, [](Grant& grant) { grant.base_lease = Settings().base_lease; });
  }
};

class HoldWithoutDrift final : public Sabotage {
  void OnStart(CoreOptions& options, Policy& /*policy*/, StoreState& /*found*/,
               Instant& /*now*/) override {
    options.clock_rate_error = 0;
  }
};

class HoldWithoutDeadline final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& policy, StoreState& /*found*/,
               Instant& /*now*/) override {
    policy.call_deadline = absl::Milliseconds(1);
  }
  void OnAnswer(Answer& answer, absl::Duration /*age*/) override {
    ChangeGrants(answer, [](Grant& grant) { grant.call_deadline = Settings().call_deadline; });
  }
};

// Keeps books of what is durable.
class DiskWatcher : public Sabotage {
 public:
  void OnCommit(WriteBatch& batch) override {
    std::erase_if(batch.put, [this](const Bound& bound) { return !Keep(bound); });
    for (const Bound& bound : batch.put) durable_[bound.key] = bound.steps;
    if (!KeepErasures()) batch.erase.clear();
    for (const BoundKey& key : batch.erase) durable_.erase(key);
  }

  // What goes to the disk.
  virtual bool Keep(const Bound& bound) const = 0;
  virtual bool KeepErasures() const { return true; }

 protected:
  bool IsRaise(const Bound& bound) const {
    const auto durable = durable_.find(bound.key);
    return durable == durable_.end() || !FitsUnder(bound.steps, durable->second);
  }

 private:
  std::map<BoundKey, Steps> durable_;
};

class RaisesUnlogged final : public DiskWatcher {
  bool Keep(const Bound& bound) const override { return !IsRaise(bound); }
};

class OnlyRaisesLogged final : public DiskWatcher {
  bool Keep(const Bound& bound) const override { return IsRaise(bound); }
  bool KeepErasures() const override { return false; }
};

// Of many changes those wait for the next write that should go first.
class LoweringsLater final : public DiskWatcher {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& /*found*/,
               Instant& /*now*/) override {
    late_.clear();
  }
  void OnCommit(WriteBatch& batch) override {
    std::map<BoundKey, Bound> late = std::exchange(late_, {});
    for (const Bound& bound : batch.put) {
      late.erase(bound.key);
      if (!IsRaise(bound)) late_[bound.key] = bound;
    }
    for (const BoundKey& key : batch.erase) late.erase(key);
    DiskWatcher::OnCommit(batch);
    for (const auto& [key, bound] : late) batch.put.push_back(bound);
  }
  bool Keep(const Bound& bound) const override { return IsRaise(bound); }

  std::map<BoundKey, Bound> late_;
};

class NothingInherited final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& found,
               Instant& /*now*/) override {
    found.bounds.clear();
  }
};

class InheritedWithoutHold final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& /*found*/,
               Instant& now) override {
    now = now - absl::Minutes(1);
  }
};

// Knows which session of an instance is the newest.
class SuccessorWatcher : public Sabotage {
 public:
  std::vector<Event> OnEvent(Epoch epoch, Event event) override {
    if (auto* registration = std::get_if<RegisterEvent>(&event)) {
      registered_by_[registration->request] = registration->message.instance;
    }
    std::vector<Event> events = Before(epoch, event);
    events.push_back(std::move(event));
    return events;
  }
  void OnReply(ReplyAction& reply) override {
    const auto instance = registered_by_.find(reply.request);
    const auto* answer = std::get_if<RegisterAnswer>(&reply.body);
    if (instance == registered_by_.end()) return;
    if (answer != nullptr) OnRegistered(instance->second, answer->session);
    registered_by_.erase(instance);
  }

 private:
  virtual std::vector<Event> Before(Epoch epoch, const Event& event) = 0;
  virtual void OnRegistered(const InstanceId& instance, const SessionId& session) = 0;

  std::map<RequestId, InstanceId> registered_by_;
};

// Nobody waits for the replies to what a mutant sends.
constexpr RequestId kNobody{-1};

class FencedAtOnce final : public SuccessorWatcher {
  void OnRegistered(const InstanceId& instance, const SessionId& session) override {
    const auto before = newest_.find(instance);
    if (before != newest_.end() && before->second != session) replaced_[session] = before->second;
    newest_[instance] = session;
  }
  std::vector<Event> Before(Epoch /*epoch*/, const Event& event) override {
    const auto* sync = std::get_if<SyncEvent>(&event);
    if (sync == nullptr) return {};
    const auto replaced = replaced_.find(sync->message.session);
    if (replaced == replaced_.end()) return {};
    const ReleaseEvent release{kNobody, {replaced->second}};
    replaced_.erase(replaced);
    return {release};
  }

  std::map<InstanceId, SessionId> newest_;
  std::map<SessionId, SessionId> replaced_;  // session to the one before it
};

class RegistrationFences final : public SuccessorWatcher {
  void OnRegistered(const InstanceId& /*instance*/, const SessionId& session) override {
    silent_.push_back(session);
  }
  // The registration counts as the first sync.
  std::vector<Event> Before(Epoch epoch, const Event& /*event*/) override {
    std::vector<Event> syncs;
    for (const SessionId& session : std::exchange(silent_, {})) {
      SyncRequest sync;
      sync.session = session;
      sync.n = SyncNumber(1);
      sync.epoch = epoch;
      syncs.push_back(SyncEvent{kNobody, std::move(sync)});
    }
    return syncs;
  }

  std::vector<SessionId> silent_;
};

// An override lifts the limit of each instance, whatever the quota says.
class OverrideAboveQuota final : public Sabotage {
  std::vector<Event> OnEvent(Epoch /*epoch*/, Event event) override {
    if (auto* change = std::get_if<PolicyEvent>(&event)) {
      for (const auto& [name, pin] : change->overrides) {
        const Calls wanted = pin.limit.value_or(0) * Settings().agents;
        Policy& policy = change->policies.at(name);
        policy.quota = std::max(policy.quota_or_max(), wanted);
      }
    }
    return {std::move(event)};
  }
};

class EvictionFreesAtOnce final : public Sabotage {
  std::vector<Event> OnEvent(Epoch /*epoch*/, Event event) override {
    if (const auto* eviction = std::get_if<EvictEvent>(&event)) {
      return {ReleaseEvent{kNobody, {eviction->session}}};
    }
    return {std::move(event)};
  }
};

// A dependency that is deleted is forgotten, with what its instances hold.
class DeletionFreesAtOnce final : public SessionWatcher {
 public:
  std::vector<Event> OnEvent(Epoch epoch, Event event) override {
    const auto* change = std::get_if<PolicyEvent>(&event);
    const bool deleted = change != nullptr && change->policies.empty();
    std::vector<Event> events = SessionWatcher::OnEvent(epoch, std::move(event));
    if (!deleted) return events;
    for (const SessionId& session : std::exchange(sessions_, {})) {
      events.push_back(ReleaseEvent{kNobody, {session}});
    }
    return events;
  }

 private:
  void OnSync(Epoch /*epoch*/, SyncRequest& message) override { sessions_.insert(message.session); }
  void OnSyncAnswer(const SessionId& /*session*/, SyncAnswer& /*answer*/) override {}

  std::set<SessionId> sessions_;
};

// Templates count when the first policy is made from them: who has lost the store does not wait for
// what they made before.
class TemplatesFromFirstUse final : public Sabotage {
  void OnTemplates(TemplateSet& templates) override { set_.swap(templates); }
  std::vector<Event> OnEvent(Epoch /*epoch*/, Event event) override {
    if (set_.empty()) return {std::move(event)};
    PolicyEvent use;
    use.templates.swap(set_);
    return {std::move(use), std::move(event)};
  }

  TemplateSet set_;
};

// What is inherited is under whichever template fits: the one with the shortest pattern.
class OtherTemplateInherited final : public Sabotage {
  void OnStart(CoreOptions& /*options*/, Policy& /*policy*/, StoreState& found,
               Instant& /*now*/) override {
    inherits_ = !found.bounds.empty();
  }
  void OnTemplates(TemplateSet& templates) override {
    if (inherits_ && !templates.empty())
      templates.erase(std::next(templates.begin()), templates.end());
  }

  bool inherits_ = false;
};

// The policy goes with the last one that leaves, and with it what silent ones hold.
class ForgottenWithHolds final : public SessionWatcher {
 public:
  std::vector<Event> OnEvent(Epoch epoch, Event event) override {
    if (std::holds_alternative<TickEvent>(event)) ++ticks_;
    const auto* release = std::get_if<ReleaseEvent>(&event);
    const bool last = release != nullptr && IsLast(release->message.session);
    std::vector<Event> events = SessionWatcher::OnEvent(epoch, std::move(event));
    if (!last) return events;
    for (const auto& [session, heard] : std::exchange(heard_, {})) {
      events.push_back(ReleaseEvent{kNobody, {session}});
    }
    return events;
  }

 private:
  static constexpr int kSilent = 8;

  void OnSync(Epoch /*epoch*/, SyncRequest& message) override { heard_[message.session] = ticks_; }
  void OnSyncAnswer(const SessionId& /*session*/, SyncAnswer& /*answer*/) override {}
  bool IsLast(const SessionId& leaving) const {
    return std::all_of(heard_.begin(), heard_.end(), [&](const auto& one) {
      return one.first == leaving || one.second + kSilent < ticks_;
    });
  }

  std::map<SessionId, int> heard_;  // at which tick
  int ticks_ = 0;
};

template <typename T>
std::unique_ptr<Sabotage> Make() {
  return std::make_unique<T>();
}

std::vector<Mutant> ProtocolMutants() {
  return {
      {"LeaseFromReceipt", "A1", "the lease counts from the receipt of the answer", "extreme", 32,
       Make<LeaseFromReceipt>},
      {"LocalFallback", "A4", "after the lease the agent admits quota / agents on its own", "harsh",
       1, Make<LocalFallback>},
      {"AcknowledgeFirst", "A5", "a lowered limit is reported 1.5 s before it works", "harsh", 1,
       Make<AcknowledgeFirst>},
      {"ReleaseEarly", "A8", "a leaving agent releases while calls run", "harsh", 1,
       Make<ReleaseEarly>},
      {"FreeOnSend", "C1", "a lowering frees capacity when it is sent", "harsh", 1,
       Make<FreeOnSend>},
      {"InFlightUnreported", "C1", "calls in flight are no part of the reservation", "harsh", 1,
       Make<InFlightUnreported>},
      {"NoBaseHold", "C1", "the base is not reserved after the limit's hold", "harsh", 2,
       Make<NoBaseHold>},
      {"OldSyncAccepted", "C2", "a late older sync counts as the newest", "churn", 192,
       Make<OldSyncAccepted>},
      {"ForeignAcknowledged", "C2", "a report of an older epoch clears what was inherited", "harsh",
       1, Make<ForeignAcknowledged>},
      {"HoldWithoutDrift", "C3", "holds do not allow for wrong clock rates", "extreme", 1,
       Make<HoldWithoutDrift>},
      {"HoldWithoutDeadline", "C3", "holds do not cover the last calls of a step", "harsh", 2,
       Make<HoldWithoutDeadline>},
      {"RaisesUnlogged", "C4", "raises are sent without a durable bound", "harsh", 1,
       Make<RaisesUnlogged>},
      {"BaseUnlogged", "C4", "the durable bound leaves out the base", "split", 1,
       Make<BaseUnlogged>},
      {"InFlightUnlogged", "C4", "the durable bound leaves out calls in flight", "split", 1,
       Make<InFlightUnlogged>},
      {"OnlyRaisesLogged", "C5", "raises are written without the lowerings they spend", "harsh", 1,
       Make<OnlyRaisesLogged>},
      {"LoweringsLater", "C5", "of many changes the lowerings are written last", "harsh", 1,
       Make<LoweringsLater>},
      {"Unconfirmed", "C6", "a deposed controller extends leases", "split", 1, Make<Unconfirmed>},
      {"UnconfirmedAnchor", "C7", "an unconfirmed answer extends leases", "split", 7,
       Make<UnconfirmedAnchor>},
      {"UnconfirmedAboveInstalled", "C7", "an unconfirmed answer may carry a raise never committed",
       "split", 58, Make<UnconfirmedAboveInstalled>},
      {"NothingInherited", "C9", "a new reign starts with empty books", "harsh", 1,
       Make<NothingInherited>},
      {"InheritedWithoutHold", "C9", "inherited bounds count without a hold", "harsh", 1,
       Make<InheritedWithoutHold>},
      {"RiseWhileOver", "C10",
       "agents rise up to their reservation while the sum is above the quota", "cuts", 1257,
       Make<RiseWhileOver>},
      {"FencedAtOnce", "C11", "a successor frees the share of its predecessor at once", "churn", 1,
       Make<FencedAtOnce>},
      {"RegistrationFences", "C11", "a registration fences, not the first sync", "churn", 12,
       Make<RegistrationFences>},
      {"OverrideAboveQuota", "C12", "an override lifts limits above the quota", "operator", 1,
       Make<OverrideAboveQuota>},
      {"EvictionFreesAtOnce", "C12", "an eviction frees the share at once", "operator", 1,
       Make<EvictionFreesAtOnce>},
      {"DeletionFreesAtOnce", "C12", "a deletion frees all shares at once", "operator", 1,
       Make<DeletionFreesAtOnce>},
      {"LossUnnoticed", "L1", "a lost store counts as whole", "lost", 1, Make<LossUnnoticed>},
      {"TemplatesFromFirstUse", "L1", "a lost store does not wait for what templates made",
       "template", 1, Make<TemplatesFromFirstUse>},
      {"OtherTemplateInherited", "C9", "what is inherited gets another template that fits",
       "template", 1, Make<OtherTemplateInherited>},
      {"ForgottenWithHolds", "C2", "a policy is forgotten with what silent instances hold",
       "template", 54, Make<ForgottenWithHolds>},
  };
}

}  // namespace

const std::vector<Mutant>& Mutants() {
  static const auto* const mutants = [] {
    auto* const all = new std::vector<Mutant>(ProtocolMutants());
    for (Mutant& mutant : EtcdMutants()) all->push_back(mutant);
    return all;
  }();
  return *mutants;
}

std::optional<SimulationResult> Catch(const Mutant& mutant, std::uint64_t runs) {
  for (std::uint64_t i = 0; i <= runs; ++i) {
    const std::uint64_t seed = i == 0 ? mutant.seed : i;
    const std::unique_ptr<Sabotage> sabotage = mutant.make();
    SimulationResult result = SimulateUntilBroken(*FindScenario(mutant.scenario), seed, *sabotage);
    if (!result.ok()) return result;
  }
  return std::nullopt;
}

}  // namespace plimsoll::internal
