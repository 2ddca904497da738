// Sessions come, join dependencies, and go.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"
#include "controller/src/explain_words.h"

namespace plimsoll {

using internal::DependencyState;
using internal::Member;
using internal::Membership;
using internal::SessionState;

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
  answer.protocol = session.protocol;
  for (const DependencyId& name : event.message.dependencies) {
    JoinDependency(session, name, session.dependencies.size());
    answer.settings.push_back(SettingsOf(name));
  }
  session.untold.clear();
  Reply(event.request, std::move(answer));
}

std::optional<Refusal> Core::Impl::Check(const RegisterRequest& request) {
  if (std::optional<Refusal> refusal = CheckReign()) return refusal;
  if (std::optional<Refusal> refusal = CheckProtocol(request.protocol)) return refusal;
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

// What a controller does not speak it does not act on, and a grant that the agent would misread is
// never sent: both stand on the version that is agreed here.
std::optional<Refusal> Core::Impl::CheckProtocol(const ProtocolRange& agent) const {
  const ProtocolRange& ours = options_.protocol;
  if (Agree(ours, agent) != 0) return std::nullopt;
  const auto words = [](const ProtocolRange& range) {
    return range.min == range.max ? absl::StrCat(range.max)
                                  : absl::StrCat(range.min, " to ", range.max);
  };
  const bool agent_old = agent.max < ours.min;
  return Refusal{
      agent_old ? RefusalCode::kAgentTooOld : RefusalCode::kControllerTooOld,
      absl::StrCat(
          "the agent speaks protocol ", words(agent), ", this controller ", words(ours),
          agent_old ? ": upgrade the agent" : ": upgrade all controllers first, then agents"),
      epoch_};
}

std::optional<Refusal> Core::Impl::CheckReign() const {
  if (shutting_down_) return Refusal{RefusalCode::kNotReady, "shutting down", epoch_};
  if (deposed_) return Refusal{RefusalCode::kNotLeader, "another controller reigns", epoch_};
  if (AwaitsNewReign()) {
    return Refusal{RefusalCode::kNotReady, "a new reign begins, which will learn", epoch_};
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
  SessionState& session = sessions_.Emplace(id);
  session.id = id;
  session.order = {epoch_.value, last_session_};
  session.service = request.service;
  session.instance = request.instance;
  session.unique = request.unique_instance;
  session.zone = request.zone;
  session.agent_version = request.agent_version;
  session.protocol = Agree(options_.protocol, request.protocol);
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
  if (found == dependencies_.end() || found->second.retired) {
    return {name, false, absl::ZeroDuration(), absl::ZeroDuration()};
  }
  const Policy& policy = found->second.policy;
  const bool knee = found->second.knee != nullptr;
  return {name,
          true,
          policy.call_deadline,
          knee ? internal::KneeRunner::kWindow : policy.window.length,
          policy.mode != Mode::kEnforce,
          found->second.breaker != nullptr ? policy.breaker : std::nullopt};
}

Membership* Core::Impl::FindMembership(SessionState& session, const DependencyId& name,
                                       std::size_t place) {
  auto& all = session.dependencies;
  // Reports come in the order of joining, if nothing else happens.
  if (place < all.size() && all[place].name() == name) return &all[place];
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Membership& joined) { return joined.name() == name; });
  return found == all.end() ? nullptr : &*found;
}

// Null if the session cannot become a member.
Membership* Core::Impl::JoinDependency(SessionState& session, const DependencyId& name,
                                       std::size_t place) {
  if (Membership* const joined = FindMembership(session, name, place)) {
    internal::Ledger& ledger = joined->dependency->ledger;
    if (ledger.Expire(session.id, now_) > 0) Touch(name, session.id);
    ledger.ExtendHolds(session.id, now_);
    return joined;
  }
  DependencyState* const found = FindOrMake(session, name);
  if (found == nullptr || found->retired) {
    auto& unknown = session.unknown_dependencies;
    if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) {
      unknown.push_back(name);
      session.untold.push_back(name);
      Log(EventType::kUnknownDependency, &session, name,
          absl::StrCat(session.instance.value, " asked for ", name.value, ", ",
                       WhyUnknown(session, name), "; its calls are refused."));
    }
    return nullptr;
  }
  std::erase(session.unknown_dependencies, name);
  found->ledger.Join(session.id, now_);
  AddMember(*found, session);
  session.untold.push_back(name);
  return &session.dependencies.back();
}

void Core::Impl::On(const ReleaseEvent& event) {
  if (sessions_.contains(event.message.session)) {
    Remove(event.message.session, EventType::kInstanceLeft);
  }
  Reply(event.request, Released{});
}

// What it holds may be in force until it hears of it, and its calls run on: nothing is freed here.
void Core::Impl::On(const EvictEvent& event) {
  SessionState* const found = sessions_.Find(event.session);
  if (found == nullptr || found->evicted) return;
  SessionState& session = *found;
  session.evicted = true;
  if (session.held.has_value()) {
    Reply(session.held->request,
          Refusal{RefusalCode::kSessionUnknown,
                  "an operator has ended this session; register again", epoch_});
  }
  ForgetHeld(session);
  // A registration that is repeated must not find it.
  if (session.n.value == 0) by_nonce_.erase(std::exchange(session.nonce, ""));
  std::int64_t reserved = 0;
  for (const Membership& joined : session.dependencies) {
    reserved += joined.dependency->ledger.Reserved(session.id);
  }
  Log(EventType::kInstanceLeft, &session, DependencyId(),
      internal::WithNote(
          absl::StrCat(session.instance.value, " of ", session.service.value, " was evicted; ",
                       reserved, " stay reserved until its holds have run out."),
          event.note));
}

void Core::Impl::Remove(const SessionId& id, EventType why) {
  SessionState& session = sessions_.at(id);
  Supersede(session);
  std::vector<DependencyState*> freed;
  for (const Membership& joined : session.dependencies) {
    DependencyState& dependency = *joined.dependency;
    if (dependency.ledger.Has(id)) dependency.ledger.Release(id);
    dependency.Forget(id);
    Touch(dependency.policy.name, id);
    freed.push_back(&dependency);
  }
  Log(why, &session, DependencyId(),
      absl::StrCat(session.instance.value, " of ", session.service.value,
                   why == EventType::kInstanceLeft ? " left." : " was silent and has expired."));
  if (!session.nonce.empty()) by_nonce_.erase(session.nonce);
  ForgetName(session);
  unwritten_.Erase(id);
  sessions_.Erase(id);
  for (DependencyState* const dependency : freed) ConsiderHungry(*dependency);
}

void Core::Impl::ForgetName(const SessionState& session) {
  const std::pair name(session.service, session.instance);
  std::set<SessionId>& bearers = by_name_.at(name);
  bearers.erase(session.id);
  if (!bearers.empty()) return;
  by_name_.erase(name);
  shared_names_.erase(name);
}

void Core::Impl::ExpireAll() {
  for (auto& [name, dependency] : dependencies_) {
    const internal::Ledger::Expired expired = dependency.ledger.ExpireAll(now_);
    for (const SessionId& id : expired.lowered) Touch(name, id);
    for (const SessionId& id : expired.gone) {
      dependency.Forget(id);
      std::erase_if(sessions_.at(id).dependencies,
                    [&dependency_name = name](const Membership& joined) {
                      return joined.name() == dependency_name;
                    });
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

}  // namespace plimsoll
