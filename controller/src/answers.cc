// From offers to grants: what may be sent now, what must be durable before, and when.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::DependencyState;
using internal::Member;
using internal::Membership;
using internal::SessionState;

namespace {

// How many offers one acknowledgement may serve; the next tick serves the rest.
constexpr int kServedAtOnce = 32;

Steps MakeSteps(const Policy& policy, const internal::Member& member, Calls limit) {
  const Calls base = std::min(limit, member.base);
  return {limit, base, std::min(base, policy.outage.reserve)};
}

}  // namespace

void Core::Impl::Hold(SessionState& session, const SyncEvent& event) {
  // The jitter keeps a fleet from answering in step.
  const absl::Duration hold = std::min(event.message.hold, options_.hold_max);
  session.held = internal::HeldSync{event.request, event.message.n,
                                    now_,          now_ + hold * random_.Uniform(0.5, 1.0),
                                    now_ + hold,   exclusive_};
  by_held_request_[event.request] = &session;
  due_.emplace(session.held->until, event.request);
  if (!exclusive_) unconfirmed_[session.id] = event.message.n;
}

// Who waits for a write waits as long as the agent would: answered without its raises, it would be
// back for them at once, and there may be thousands of them.
void Core::Impl::Prolong(internal::HeldSync& held) {
  if (held.longest <= now_) return;
  due_.erase({held.until, held.request});
  held.until = held.longest;
  due_.emplace(held.until, held.request);
}

void Core::Impl::ForgetHeld(SessionState& session) {
  if (session.held.has_value()) {
    by_held_request_.erase(session.held->request);
    due_.erase({session.held->until, session.held->request});
  }
  session.held.reset();
  session.prepared.reset();
  unwritten_.Erase(session.id);
  unconfirmed_.erase(session.id);
}

// Who waits for a confirmation or a write is answered by that, or by a tick.
void Core::Impl::On(const HoldsEvent& /*event*/) {
  if (deposed_ || AwaitsNewReign()) return;
  while (!due_.empty() && due_.begin()->first <= now_) {
    const RequestId request = due_.begin()->second;
    due_.erase(due_.begin());
    Consider(*by_held_request_.at(request));
  }
}

std::optional<Instant> Core::Impl::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void Core::Impl::Supersede(SessionState& session) {
  if (session.held.has_value()) {
    SyncAnswer answer;
    answer.epoch = epoch_;
    answer.protocol = session.protocol;
    answer.superseded = true;
    Reply(session.held->request, std::move(answer));
  }
  ForgetHeld(session);
}

// Lower first, raise after: what is lowered is what the raises will spend.
void Core::Impl::ConsiderAll() {
  std::vector<SessionState*> others;
  for (auto& [id, session] : sessions_) {
    if (!session.held.has_value()) continue;
    if (IsLowered(session)) {
      Consider(session);
    } else {
      others.push_back(&session);
    }
  }
  for (SessionState* session : others) Consider(*session);
}

bool Core::Impl::IsLowered(const SessionState& session) const {
  return std::any_of(
      session.dependencies.begin(), session.dependencies.end(),
      [](const Membership& joined) { return joined.member->offer < joined.member->sent.limit; });
}

void Core::Impl::ConsiderHungry(DependencyState& dependency) {
  for (int served = 0; served < kServedAtOnce && !dependency.hungry.empty(); ++served) {
    if (dependency.ledger.Reserved() >= dependency.policy.quota_or_max()) return;
    const SessionId id = dependency.hungry.front();
    dependency.hungry.pop_front();
    if (SessionState* const session = sessions_.Find(id)) Consider(*session);
  }
}

void Core::Impl::Consider(SessionState& session) {
  if (!session.held.has_value() || !session.held->confirmed) return;
  const bool hold_over = now_ >= session.held->until;
  if (session.prepared.has_value()) {
    if (hold_over) AnswerWithoutRaises(session);
    return;
  }
  if (hold_over || HasNews(session)) Answer(session);
}

bool Core::Impl::HasNews(const SessionState& session) const {
  if (!session.untold.empty() || HasBreakerNews(session)) return true;
  return std::any_of(session.dependencies.begin(), session.dependencies.end(),
                     [&](const Membership& joined) {
                       const Member& member = *joined.member;
                       if (member.knee.asked) return true;
                       const Steps allowed = Allowed(*joined.dependency, member);
                       // An inherited session is told at once that this reign renews what it has.
                       if (member.sent_seq.value == 0)
                         return allowed.limit > 0 || member.sent.limit > 0;
                       const bool lost = member.installed != GrantStamp{epoch_, member.sent_seq};
                       return allowed != member.sent || lost;
                     });
}

Steps Core::Impl::Allowed(const DependencyState& dependency, const Member& member) const {
  if (learning_) return Renewed(dependency, member);
  const Calls reserved = dependency.ledger.Reserved(member.session->id);
  const std::int64_t free =
      dependency.policy.quota_or_max() - dependency.ledger.Reserved() - dependency.unbooked;
  Calls limit = static_cast<Calls>(
      std::min<std::int64_t>(member.offer, reserved + std::max<std::int64_t>(0, free)));  // C1
  // C10: inherited reservations may be far above what is installed; renewing up to them would undo
  // a cut.
  if (free < 0) limit = std::min({limit, reserved, member.in_force.limit});
  return MakeSteps(dependency.policy, member, std::max(0, limit));
}

void Core::Impl::Answer(SessionState& session) {
  SyncAnswer answer;
  answer.epoch = epoch_;
  answer.protocol = session.protocol;
  AddSettings(session, answer);
  answer.grants.reserve(session.dependencies.size());
  for (const auto& [dependency, member] : session.dependencies) {
    member->knee.asked = false;
    const Steps steps = Allowed(*dependency, *member);
    NoteMode(*dependency, *member);
    const bool nothing = member->sent_seq.value == 0 && steps.limit == 0 && member->sent.limit == 0;
    if (nothing) continue;
    answer.grants.push_back(MakeGrant(*dependency, *member, steps));
  }
  AddBreakers(session, answer);
  session.prepared = internal::PreparedAnswer{session.held->request, std::move(answer), {}};
  if (IsDurable(session)) {
    SendPrepared(session);
  } else {
    unwritten_.Insert(session.id);
    Prolong(*session.held);
  }
}

// What was told may have been lost: it is told until a grant that went with it is acknowledged.
void Core::Impl::AddSettings(SessionState& session, SyncAnswer& answer) {
  for (const Membership& joined : session.dependencies) {
    const Member& member = *joined.member;
    const bool heard =
        member.sent_seq.value > 0 && member.installed == GrantStamp{epoch_, member.sent_seq};
    if (!heard) NoteUntold(session, joined.name());
  }
  for (const DependencyId& name : std::exchange(session.untold, {})) {
    answer.settings.push_back(SettingsOf(name));
  }
}

void Core::Impl::NoteUntold(SessionState& session, const DependencyId& name) {
  auto& untold = session.untold;
  if (std::find(untold.begin(), untold.end(), name) == untold.end()) untold.push_back(name);
}

// To be called when the settings are told, and before a grant is made to go with them.
void Core::Impl::NoteMode(const DependencyState& dependency, Member& member) const {
  if (dependency.policy.mode != Mode::kEnforce) {
    member.unbounded = true;
    member.mode_unknown = false;
    member.enforced_from.reset();
  } else if ((member.unbounded || member.mode_unknown) && !member.enforced_from.has_value()) {
    member.enforced_from = Seq(last_seq_ + 1);
  }
}

// The store is slow or failing: leases are renewed and limits lowered all the same, with nothing
// that a successor might not find.
void Core::Impl::AnswerWithoutRaises(SessionState& session) {
  SyncAnswer answer = std::move(session.prepared->answer);
  answer.grants.clear();
  for (const Membership& joined : session.dependencies) {
    const auto durable = durable_.Lowest({joined.name(), session.id});
    const Steps allowed = Allowed(*joined.dependency, *joined.member);
    // A claim that is not durable yet: better the lease that the agent has than a limit of 0.
    if (learning_ && !(durable.has_value() && FitsUnder(allowed, durable->steps))) continue;
    Grant grant = MakeGrant(*joined.dependency, *joined.member,
                            Lowest(allowed, durable ? durable->steps : Steps{}));
    if (durable.has_value()) {
      grant.lease = std::min(grant.lease, durable->lease);
      grant.base_lease = std::min(grant.base_lease, durable->base_lease);
      grant.call_deadline = std::min(grant.call_deadline, durable->call_deadline);
    }
    answer.grants.push_back(std::move(grant));
  }
  answer.breakers.clear();
  AddBreakers(session, answer);
  session.prepared->answer = std::move(answer);
  SendPrepared(session);
}

void Core::Impl::SendPrepared(SessionState& session) {
  Reply(session.held->request, std::move(session.prepared->answer));
  ForgetHeld(session);
}

Grant Core::Impl::MakeGrant(DependencyState& dependency, Member& member, const Steps& steps) {
  const SessionState& session = *member.session;
  Grant grant;
  grant.dependency = dependency.policy.name;
  grant.stamp = {epoch_, Seq(++last_seq_)};  // C8: never reused, whether it is sent or not
  grant.anchor = session.held->n;
  grant.steps = steps;
  grant.lease = options_.lease;
  grant.base_lease = dependency.policy.outage.base_lease;
  grant.call_deadline = dependency.policy.call_deadline;
  if (learning_) grant.renews = member.installed;  // L2
  Explanation explanation = Explain(dependency, member);
  if (steps.limit != member.sent.limit) {
    explanation.reason = member.reason;
    if (steps.limit == member.share) member.by_operator.reset();
    explanation.event_id = LogChange(dependency, session, member, steps, explanation);
    member.changed_at = now_;
    member.changed_seq = grant.stamp.seq;
    ++dependency.limit_changes_total[static_cast<std::size_t>(member.reason)]
                                    [steps.limit > member.sent.limit ? 1 : 0];
  }
  dependency.ledger.Book(session.id, grant.stamp.seq, steps);
  Touch(grant.dependency, session.id);
  member.sent = steps;
  member.sent_seq = grant.stamp.seq;
  member.explanation = explanation;
  grant.explanation = std::move(explanation);
  return grant;
}

Explanation Core::Impl::Explain(const DependencyState& dependency, const Member& member) const {
  const AlgorithmConfig& bounds = dependency.policy.algorithm;
  Explanation explanation = member.explanation;  // keeps the reason of the last change
  explanation.floor = bounds.floor;
  explanation.ceiling = bounds.ceiling;
  explanation.quota_share = member.share;
  const std::optional<Calls> own = dependency.LimitOf(member);
  explanation.algorithm_limit = own.value_or(member.share);
  if (const std::optional<Calls> pinned = dependency.pin.limit) {
    // What is pinned says nothing of the law: with a pool, its part of the level.
    const auto members = static_cast<Calls>(dependency.members.size());
    explanation.algorithm_limit = own.value_or(
        std::clamp(dependency.PoolLimit().value_or(0) / members, bounds.floor, bounds.ceiling));
    explanation.binding =
        member.share < *pinned ? BindingConstraint::kQuota : BindingConstraint::kOverride;
    return explanation;
  }
  const bool pool_binds =
      dependency.PoolLimit().value_or(kCallsMax) < dependency.policy.quota_or_max();
  if (own.has_value() && member.share < std::min(bounds.ceiling, *own)) {
    explanation.binding = BindingConstraint::kQuota;
  } else if (member.share >= bounds.ceiling) {
    explanation.binding = BindingConstraint::kCeiling;
  } else if (!own.has_value() && !pool_binds) {
    explanation.binding = BindingConstraint::kQuota;
  } else if (explanation.algorithm_limit < bounds.floor && !dependency.FloorsFit()) {
    explanation.binding = BindingConstraint::kQuota;  // which wins over the floor
  } else if (explanation.algorithm_limit == bounds.floor) {
    explanation.binding = BindingConstraint::kFloor;
  } else {
    explanation.binding = BindingConstraint::kAlgorithm;
  }
  return explanation;
}

std::string Core::Impl::LogChange(const DependencyState& dependency, const SessionState& session,
                                  const Member& member, const Steps& steps,
                                  const Explanation& explanation) {
  const internal::Judgements none;
  const internal::Judgements& judgements = member.law == nullptr          ? dependency.judgements
                                           : member.judgements == nullptr ? none
                                                                          : *member.judgements;
  LogEvent event;
  event.type = EventType::kLimitChanged;
  event.at = now_;
  event.dependency = dependency.policy.name;
  event.service = session.service;
  event.instance = session.instance;
  event.from = member.sent.limit;
  event.to = steps.limit;
  event.reason = explanation.reason;
  event.binding = explanation.binding;
  event.inputs = judgements.used.has_value() ? judgements.used->inputs : DecisionInputs{};
  event.inputs->algorithm = std::string(ToString(dependency.policy.algorithm.kind));
  event.inputs->quota = dependency.policy.quota.value_or(0);
  event.inputs->wanted = dependency.wanted;
  event.message = internal::ExplainShare({session.instance, event.from, event.to, event.reason,
                                          member.wanted, dependency.wanted, dependency.Capacity(),
                                          judgements.CauseOf(event.reason)});
  return log_.Append(std::move(event));
}

}  // namespace plimsoll
