#include "plimsoll/controller/core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::DependencyState;
using internal::LawRunner;
using internal::LedgerTerms;
using internal::Member;
using internal::SessionState;

namespace {

AlgorithmConfig LawConfig(const Policy& policy) {
  AlgorithmConfig config = policy.algorithm;
  if (policy.scope == Scope::kFleet) {
    config.ceiling = policy.quota_or_max();
    config.initial = policy.initial.value_or(policy.quota.value_or(config.initial));
  } else {
    config.initial =
        policy.initial.value_or(std::clamp(config.initial, config.floor, config.ceiling));
  }
  return config;
}

// "5-1042": session ids are ordered by reign, then by registration.
std::pair<std::int64_t, std::int64_t> OrderOf(const SessionId& id) {
  const std::size_t dash = id.value.find('-');
  std::int64_t epoch = 0;
  std::int64_t counter = 0;
  const bool valid = dash != std::string::npos &&
                     absl::SimpleAtoi(id.value.substr(0, dash), &epoch) &&
                     absl::SimpleAtoi(id.value.substr(dash + 1), &counter);
  PLIMSOLL_CHECK(valid, "session ids are <epoch>-<counter>");
  return {epoch, counter};
}

}  // namespace

Core::Core(const CoreOptions& options, PolicySet policies, const StoreState& inherited, Instant now)
    : impl_(std::make_unique<Impl>(options, std::move(policies), inherited, now)) {}
Core::~Core() = default;
std::vector<Action> Core::Apply(const Event& event, Instant now) {
  return impl_->Apply(event, now);
}
Snapshot Core::TakeSnapshot(Instant now) const { return impl_->TakeSnapshot(now); }
const EventLog& Core::log() const { return impl_->log(); }
Calls Core::Reserved(const DependencyId& dependency, Instant /*now*/) const {
  return impl_->Reserved(dependency);
}
Calls Core::Reserved(const DependencyId& dependency, const SessionId& session,
                     Instant /*now*/) const {
  return impl_->Reserved(dependency, session);
}

Core::Impl::Impl(const CoreOptions& options, PolicySet policies, const StoreState& inherited,
                 Instant now)
    : options_(options),
      epoch_(inherited.epoch),
      started_at_(now),
      random_(options.seed),
      log_(inherited.epoch, options.events_keep),
      now_(now),
      durable_(inherited.bounds) {
  PLIMSOLL_CHECK(Validate(options).ok(), "the core needs valid options");
  for (const auto& [name, policy] : policies) AddDependency(name, policy);
  Log(EventType::kStarted, nullptr, DependencyId(),
      absl::StrCat("Reign ", epoch_.value, " began with ", inherited.bounds.size(),
                   " reservations of the reign before."));
  for (const Bound& bound : inherited.bounds) Inherit(bound);
  for (auto& [name, dependency] : dependencies_) internal::Allocate(dependency, sessions_, now_);
}

void Core::Impl::AddDependency(const DependencyId& name, const Policy& policy) {
  PLIMSOLL_CHECK(Validate(policy, options_.lease).ok(), "the core needs valid policies");
  DependencyState& state = dependencies_.try_emplace(name, policy, TermsOf(policy)).first->second;
  auto law = MakeAlgorithm(LawConfig(policy));
  PLIMSOLL_CHECK(law.ok(), "a valid policy has a valid algorithm");
  state.algorithm = *std::move(law);
  if (policy.scope == Scope::kFleet) {
    state.pool = std::make_unique<LawRunner>(*state.algorithm, policy.window, now_);
  }
}

Member& Core::Impl::AddMember(DependencyState& dependency, SessionState& session) {
  Member& member = dependency.members.try_emplace(session.id, now_).first->second;
  if (dependency.policy.scope == Scope::kInstance) {
    member.law = std::make_unique<LawRunner>(*dependency.algorithm, dependency.policy.window, now_);
  }
  session.dependencies.push_back(dependency.policy.name);
  return member;
}

// C9: what the reign before may have sent counts in full, for full holds from now.
void Core::Impl::Inherit(const Bound& bound) {
  const auto found = dependencies_.find(bound.key.dependency);
  if (found == dependencies_.end()) {
    // The dependency is no longer configured: nothing will be granted, so nothing is booked.
    durable_.Touch(bound.key, now_);
    return;
  }
  DependencyState& dependency = found->second;
  SessionState& session = Adopt(bound);
  dependency.ledger.Inherit(
      bound.key.session, bound.steps,
      {bound.lease, bound.base_lease, bound.call_deadline, options_.clock_rate_error}, now_);
  Member& member = AddMember(dependency, session);
  member.sent = bound.steps;
  member.demand.AssumeAtLeast(bound.steps.limit);
}

SessionState& Core::Impl::Adopt(const Bound& bound) {
  SessionState& session = sessions_[bound.key.session];
  session.id = bound.key.session;
  session.order = OrderOf(session.id);
  session.inherited = true;
  session.service = bound.service;
  session.instance = bound.instance;
  session.unique = bound.unique_instance;
  session.joined_at = session.seen_at = now_;
  by_name_[{session.service, session.instance}].insert(session.id);
  return session;
}

std::vector<Action> Core::Impl::Apply(const Event& event, Instant now) {
  PLIMSOLL_CHECK(now >= now_, "time does not go back in the core");
  now_ = now;
  std::visit([this](const auto& what) { On(what); }, event);
  if (NeedsWrite(event)) StartWrite();
  return std::exchange(actions_, {});
}

void Core::Impl::On(const RegisterEvent& event) {
  if (std::optional<Refusal> refusal = Check(event.message)) {
    Reply(event.request, *std::move(refusal));
    return;
  }
  SessionState* known = FindByNonce(event.message);
  if (known != nullptr && known->n.value > 0) {
    Reply(event.request,
          Refusal{RefusalCode::kStaleSync, "this registration is in use; it arrived late", epoch_});
    return;
  }
  SessionState& session = known != nullptr ? *known : NewSession(event.message);
  session.seen_at = now_;
  RegisterAnswer answer;
  answer.session = session.id;
  answer.epoch = epoch_;
  answer.hold_max = options_.hold_max;
  answer.sync_min = options_.sync_min;
  for (const DependencyId& name : event.message.dependencies) {
    JoinDependency(session, name);
    answer.settings.push_back(SettingsOf(name));
  }
  session.untold.clear();
  Reply(event.request, std::move(answer));
}

std::optional<Refusal> Core::Impl::Check(const RegisterRequest& request) {
  if (shutting_down_) return Refusal{RefusalCode::kNotReady, "shutting down", epoch_};
  if (request.protocol != kProtocolVersion) {
    return Refusal{RefusalCode::kAgentTooOld,
                   absl::StrCat("protocol ", request.protocol,
                                " is not spoken here; this controller "
                                "speaks ",
                                kProtocolVersion),
                   epoch_};
  }
  if (static_cast<int>(request.dependencies.size()) > options_.dependencies_max) {
    return Refusal{RefusalCode::kRateLimited,
                   absl::StrCat("more than ", options_.dependencies_max, " dependencies"), epoch_};
  }
  if (FindByNonce(request) == nullptr &&
      static_cast<int>(sessions_.size()) >= options_.sessions_max) {
    return Refusal{RefusalCode::kRateLimited,
                   absl::StrCat("there are ", options_.sessions_max,
                                " sessions already; raise agents.sessions_max"),
                   epoch_};
  }
  return std::nullopt;
}

SessionState* Core::Impl::FindByNonce(const RegisterRequest& request) {
  const auto found = by_nonce_.find(request.nonce);
  if (found == by_nonce_.end()) return nullptr;
  SessionState& session = sessions_.at(found->second);
  const bool same = session.service == request.service && session.instance == request.instance;
  return same ? &session : nullptr;
}

SessionState& Core::Impl::NewSession(const RegisterRequest& request) {
  const SessionId id(absl::StrCat(epoch_.value, "-", ++last_session_));
  SessionState& session = sessions_[id];
  session.id = id;
  session.order = OrderOf(id);
  session.service = request.service;
  session.instance = request.instance;
  session.unique = request.unique_instance;
  session.zone = request.zone;
  session.agent_version = request.agent_version;
  session.nonce = request.nonce;
  session.n = SyncNumber(0);
  session.joined_at = now_;
  by_nonce_[session.nonce] = id;
  by_name_[{session.service, session.instance}].insert(id);
  Log(EventType::kInstanceJoined, &session, DependencyId(),
      absl::StrCat(request.instance.value, " of ", request.service.value, " joined."));
  return session;
}

DependencySettings Core::Impl::SettingsOf(const DependencyId& name) const {
  const auto found = dependencies_.find(name);
  if (found == dependencies_.end())
    return {name, false, absl::ZeroDuration(), absl::ZeroDuration()};
  return {name, true, found->second.policy.call_deadline, found->second.policy.window.length};
}

// True if the session is a member from now on.
bool Core::Impl::JoinDependency(SessionState& session, const DependencyId& name) {
  const auto found = dependencies_.find(name);
  if (found == dependencies_.end()) {
    auto& unknown = session.unknown_dependencies;
    if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) {
      unknown.push_back(name);
      session.untold.push_back(name);
      Log(EventType::kUnknownDependency, &session, name,
          absl::StrCat(session.instance.value, " asked for ", name.value,
                       ", which has no policy; its calls are refused."));
    }
    return false;
  }
  DependencyState& dependency = found->second;
  if (dependency.ledger.Has(session.id)) {
    if (dependency.ledger.Expire(session.id, now_) > 0) Touch(name, session.id);
    dependency.ledger.ExtendHolds(session.id, now_);
    return true;
  }
  dependency.ledger.Join(session.id, now_);
  AddMember(dependency, session);
  session.untold.push_back(name);
  return true;
}

void Core::Impl::On(const ReleaseEvent& event) {
  if (sessions_.contains(event.message.session)) {
    Remove(event.message.session, EventType::kInstanceLeft);
  }
  Reply(event.request, Released{});
}

void Core::Impl::Remove(const SessionId& id, EventType why) {
  SessionState& session = sessions_.at(id);
  Supersede(session);
  for (const DependencyId& name : session.dependencies) {
    DependencyState& dependency = dependencies_.at(name);
    if (dependency.ledger.Has(id)) dependency.ledger.Release(id);
    dependency.members.erase(id);
    Touch(name, id);
  }
  const std::vector<DependencyId> freed = session.dependencies;
  Log(why, &session, DependencyId(),
      absl::StrCat(session.instance.value, " of ", session.service.value,
                   why == EventType::kInstanceLeft ? " left." : " was silent and has expired."));
  if (!session.nonce.empty()) by_nonce_.erase(session.nonce);
  by_name_[{session.service, session.instance}].erase(id);
  unwritten_.erase(id);
  sessions_.erase(id);
  for (const DependencyId& name : freed) ConsiderHungry(name);
}

void Core::Impl::On(const AbandonEvent& event) {
  const auto found = by_held_request_.find(event.request);
  if (found != by_held_request_.end()) ForgetHeld(sessions_.at(found->second));
}

void Core::Impl::On(const ConfirmedEvent& /*event*/) {}
void Core::Impl::On(const PolicyEvent& /*event*/) {}

void Core::Impl::On(const TickEvent& /*event*/) {
  ExpireAll();
  for (auto& [name, dependency] : dependencies_) {
    AdvanceLaws(dependency);
    internal::Allocate(dependency, sessions_, now_);
  }
  ConsiderAll();
}

void Core::Impl::ExpireAll() {
  for (auto& [name, dependency] : dependencies_) {
    const internal::Ledger::Expired expired = dependency.ledger.ExpireAll(now_);
    for (const SessionId& id : expired.lowered) Touch(name, id);
    for (const SessionId& id : expired.gone) {
      dependency.members.erase(id);
      std::erase(sessions_.at(id).dependencies, name);
      Touch(name, id);
    }
  }
  std::vector<SessionId> gone;
  for (const auto& [id, session] : sessions_) {
    const bool silent = now_ - session.seen_at > options_.lease;
    if (session.dependencies.empty() && silent) gone.push_back(id);
  }
  for (const SessionId& id : gone) {
    ++expired_total_;
    Remove(id, EventType::kInstanceExpired);
  }
}

void Core::Impl::AdvanceLaws(DependencyState& dependency) {
  if (dependency.pool != nullptr) {
    Calls in_flight_max = 0;
    for (const auto& [id, member] : dependency.members) in_flight_max += member.epoch_in_flight_max;
    AdvanceLaw(dependency, *dependency.pool, in_flight_max);
    return;
  }
  for (auto& [id, member] : dependency.members) {
    if (member.law != nullptr) AdvanceLaw(dependency, *member.law, member.epoch_in_flight_max);
  }
}

void Core::Impl::AdvanceLaw(DependencyState& dependency, LawRunner& law, Calls in_flight_max) {
  const std::optional<LawRunner::Outcome> outcome = law.Advance(in_flight_max, now_);
  if (!outcome.has_value()) return;
  ++dependency.windows_total[static_cast<std::size_t>(outcome->window)];
  dependency.last_window = law.last_window();
  dependency.last_epoch = law.last_epoch();
  for (auto& [id, member] : dependency.members) {
    if (dependency.pool != nullptr || member.law.get() == &law) member.epoch_in_flight_max = 0;
  }
  if (outcome->decision.has_value() && outcome->decision->limit != outcome->before) {
    dependency.moved = outcome->decision->reason;
  }
}

void Core::Impl::On(const ShutdownEvent& /*event*/) {
  shutting_down_ = true;
  for (auto& [id, session] : sessions_) {
    if (!session.held.has_value()) continue;
    Reply(session.held->request, Refusal{RefusalCode::kNotReady, "shutting down", epoch_});
    ForgetHeld(session);
  }
}

void Core::Impl::Log(EventType type, const SessionState* session, const DependencyId& dependency,
                     std::string message) {
  LogEvent event;
  event.type = type;
  event.at = now_;
  event.dependency = dependency;
  if (session != nullptr) {
    event.service = session->service;
    event.instance = session->instance;
  }
  event.message = std::move(message);
  log_.Append(std::move(event));
}

LedgerTerms Core::Impl::TermsOf(const Policy& policy) const {
  return {options_.lease, policy.outage.base_lease, policy.call_deadline,
          options_.clock_rate_error};
}

Calls Core::Impl::Reserved(const DependencyId& dependency) const {
  const auto found = dependencies_.find(dependency);
  return found == dependencies_.end() ? 0 : found->second.ledger.Reserved();
}

Calls Core::Impl::Reserved(const DependencyId& dependency, const SessionId& session) const {
  const auto found = dependencies_.find(dependency);
  return found == dependencies_.end() ? 0 : found->second.ledger.Reserved(session);
}

}  // namespace plimsoll
