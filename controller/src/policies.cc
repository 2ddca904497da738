// What operators change while agents hold grants: the books go on, grants follow by the rules.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"
#include "controller/src/explain_words.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::DependencyState;
using internal::KneeRunner;
using internal::LawRunner;
using internal::Member;
using internal::WithNote;

namespace {

std::string QuotaOf(const Policy& policy) {
  return policy.quota.has_value() ? absl::StrCat(*policy.quota) : "none";
}

Policy InForce(const Policy& configured, const Override& pin, bool observe_all) {
  Policy policy = configured;
  policy.mode = pin.mode.value_or(configured.mode);
  if (observe_all && policy.mode == Mode::kEnforce) policy.mode = Mode::kObserve;
  return policy;
}

std::string ModeSentence(const std::string& name, Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return absl::StrCat("The limits of ", name, " are enforced from now on.");
    case Mode::kObserve:
      return absl::StrCat(name, " is only observed from now on: nobody is refused.");
    case Mode::kDisabled:
      return absl::StrCat(name, " is disabled from now on: nobody is refused, nothing is learned.");
  }
  return name;
}

// "the limit of each instance to 10 and the mode to OBSERVE".
std::string TextOf(const Override& pin) {
  std::vector<std::string> parts;
  if (pin.limit.has_value()) {
    parts.push_back(absl::StrCat("the limit of each instance to ", *pin.limit));
  }
  if (pin.mode.has_value()) {
    parts.push_back(absl::StrCat("the mode to ", std::string(ToString(*pin.mode))));
  }
  return absl::StrJoin(parts, " and ");
}

}  // namespace

void Core::Impl::On(const PolicyEvent& event) {
  const auto note_of = [&event](const DependencyId& name) {
    const auto note = event.notes.find(name);
    return note == event.notes.end() ? "" : note->second;
  };
  templates_ = event.templates;
  overrides_ = event.overrides;
  observe_all_ = event.observe_all;
  for (auto& [name, dependency] : dependencies_) {
    if (event.policies.contains(name)) continue;
    const TemplateSet::value_type* const made_from = FindTemplate(templates_, name);
    SetTemplate(dependency, made_from == nullptr ? "" : made_from->first);
    if (made_from == nullptr) {
      Retire(dependency, note_of(name));
    } else {
      Change(dependency, MadeFrom(made_from->second, name), PinOf(name), note_of(name));
    }
  }
  for (const auto& [name, policy] : event.policies) {
    const auto found = dependencies_.find(name);
    if (found == dependencies_.end()) {
      Create(policy, PinOf(name), note_of(name));
    } else {
      SetTemplate(found->second, "");
      Change(found->second, policy, PinOf(name), note_of(name));
    }
  }
  NoteLongestHold();
  hasty_until_ = now_ + longest_hold_;
  for (auto& [name, dependency] : dependencies_) {
    internal::Allocate(dependency, sessions_, now_);
    NoteExcess(dependency);
  }
  ConsiderAll();
}

Override Core::Impl::PinOf(const DependencyId& name) const {
  const auto pinned = overrides_.find(name);
  return pinned == overrides_.end() ? Override{} : pinned->second;
}

void Core::Impl::Create(const Policy& policy, const Override& pin, const std::string& note) {
  DependencyState& dependency = AddDependency(policy.name, InForce(policy, {}, observe_all_));
  dependency.configured_mode = policy.mode;
  Log(EventType::kDependencyCreated, nullptr, policy.name,
      WithNote(absl::StrCat(policy.name.value, " has a policy now: quota ", QuotaOf(policy), "."),
               note));
  TellSettings(policy.name);
  if (pin != Override{}) Change(dependency, policy, pin, note);
}

void Core::Impl::Change(DependencyState& dependency, const Policy& policy, const Override& pin,
                        const std::string& note) {
  Policy before = dependency.policy;
  before.mode = dependency.configured_mode;
  const bool same = before == policy && !dependency.retired;
  const bool same_pin = dependency.pin == pin;
  const Policy in_force = InForce(policy, pin, observe_all_);
  if (same && same_pin && in_force.mode == dependency.policy.mode) return;
  ChangePolicy(dependency, in_force, same ? "" : note);
  dependency.configured_mode = policy.mode;
  if (!same_pin) ChangeOverride(dependency, pin, note);
}

void Core::Impl::ChangeOverride(DependencyState& dependency, const Override& pin,
                                const std::string& note) {
  const bool cleared = pin == Override{};
  dependency.pin = pin;
  dependency.Move(cleared ? Reason::kOverrideCleared : Reason::kOverrideSet);
  const std::string& name = dependency.policy.name.value;
  Log(cleared ? EventType::kOverrideCleared : EventType::kOverrideSet, nullptr,
      dependency.policy.name,
      WithNote(cleared ? absl::StrCat("The override of ", name, " has ended.")
                       : absl::StrCat("The override of ", name, " pins ", TextOf(pin), "."),
               note));
}

void Core::Impl::ChangePolicy(DependencyState& dependency, const Policy& policy,
                              const std::string& note) {
  PLIMSOLL_CHECK(Validate(policy, options_.lease).ok(), "the core needs valid policies");
  const Policy before = std::exchange(dependency.policy, policy);
  const bool was_retired = std::exchange(dependency.retired, false);
  if (before == policy && !was_retired) return;
  dependency.ledger.SetTerms(TermsOf(policy), now_);
  RebuildLaws(dependency, before);
  FollowBreaker(dependency);
  dependency.Move(SameQuota(before, policy) ? Reason::kConfigReloaded : Reason::kQuotaChanged);
  TellSettings(policy.name);
  if (before.mode != policy.mode) ChangeMode(dependency);
  if (before.quota == policy.quota && !was_retired) {
    Policy in_mode = before;
    in_mode.mode = policy.mode;
    // A change of the mode alone has been told.
    if (in_mode == policy) return;
    Log(EventType::kDependencyUpdated, nullptr, policy.name,
        WithNote(absl::StrCat("The settings of ", policy.name.value, " have changed."), note));
    return;
  }
  Log(was_retired ? EventType::kDependencyCreated : EventType::kQuotaChanged, nullptr, policy.name,
      WithNote(absl::StrCat("The quota of ", policy.name.value, " was ",
                            was_retired ? "none" : QuotaOf(before), " and is ", QuotaOf(policy),
                            "; ", dependency.ledger.Reserved(), " are reserved."),
               note));
}

// A law that has found nothing yet has its initial limit; shares follow by the rules.
void Core::Impl::On(const ResetEvent& event) {
  const auto found = dependencies_.find(event.dependency);
  if (found == dependencies_.end() || found->second.retired) return;
  DependencyState& dependency = found->second;
  MakeLaws(dependency, /*go_on=*/false);
  dependency.judgements = {};
  for (auto& [id, member] : dependency.members) member.judgements = nullptr;
  dependency.Move(Reason::kReset);
  Log(EventType::kDependencyUpdated, nullptr, event.dependency,
      WithNote(absl::StrCat("The law of ", event.dependency.value,
                            " has forgotten what it found, and starts from its initial limit."),
               event.note));
  internal::Allocate(dependency, sessions_, now_);
  ConsiderAll();
}

void Core::Impl::On(const NoteEvent& event) {
  Log(event.type, nullptr, DependencyId(), event.message);
}

// What runs above the limits of those that were only observed is in the books from now on: nobody
// rises before it has ended.
void Core::Impl::ChangeMode(DependencyState& dependency) {
  const Policy& policy = dependency.policy;
  Log(EventType::kDependencyUpdated, nullptr, policy.name,
      ModeSentence(policy.name.value, policy.mode));
  if (policy.mode != Mode::kEnforce) return;
  for (const auto& [id, member] : dependency.members) {
    if (!member.unbounded || !dependency.ledger.LimitHeld(id, now_)) continue;
    dependency.ledger.Charge(id, member.in_flight);
    Touch(policy.name, id);
  }
}

// Laws of the same kind go on with what they have found. A fixed limit has found nothing.
void Core::Impl::RebuildLaws(DependencyState& dependency, const Policy& before) {
  const Policy& policy = dependency.policy;
  const bool same = before.scope == policy.scope &&
                    before.algorithm.kind == policy.algorithm.kind &&
                    policy.algorithm.kind != AlgorithmKind::kFixed;
  MakeLaws(dependency, same);
}

void Core::Impl::MakeLaws(DependencyState& dependency, bool go_on) {
  const Policy& policy = dependency.policy;
  // The former runners refer to it until they are replaced.
  const std::unique_ptr<LimitAlgorithm> former =
      std::exchange(dependency.algorithm, internal::MakeLaw(policy));
  RebuildKnee(dependency, go_on);
  if (dependency.knee != nullptr) return;
  dependency.pool = policy.scope == Scope::kFleet
                        ? MakeRunner(dependency, go_on ? dependency.pool.get() : nullptr)
                        : nullptr;
  for (auto& [id, member] : dependency.members) {
    member.law = policy.scope == Scope::kInstance
                     ? MakeRunner(dependency, go_on ? member.law.get() : nullptr)
                     : nullptr;
  }
}

// Members keep their places in a law that goes on; into a new one they all come anew.
void Core::Impl::RebuildKnee(DependencyState& dependency, bool same) {
  const std::unique_ptr<KneeRunner> former = std::exchange(dependency.knee, nullptr);
  if (dependency.policy.algorithm.kind != AlgorithmKind::kFleetKnee) return;
  dependency.pool = nullptr;
  dependency.knee = MakeKnee(dependency);
  if (same) dependency.knee->Continue(*former);
  for (auto& [id, member] : dependency.members) {
    member.law = nullptr;
    if (same) continue;
    member.knee = {};
    dependency.knee->Join(member);
  }
}

void Core::Impl::MakePool(DependencyState& dependency) {
  if (dependency.policy.algorithm.kind == AlgorithmKind::kFleetKnee) {
    dependency.knee = MakeKnee(dependency);
  } else if (dependency.policy.scope == Scope::kFleet) {
    dependency.pool = MakeRunner(dependency, nullptr);
  }
}

std::unique_ptr<KneeRunner> Core::Impl::MakeKnee(const DependencyState& dependency) {
  return std::make_unique<KneeRunner>(dependency.policy, epoch_, law_seeds_.Next(), now_);
}

std::unique_ptr<LawRunner> Core::Impl::MakeRunner(const DependencyState& dependency,
                                                  const LawRunner* former) {
  auto runner = std::make_unique<LawRunner>(*dependency.algorithm, dependency.policy.window,
                                            law_seeds_.Next(), now_);
  if (former != nullptr) runner->Continue(*former);
  return runner;
}

// Nothing is granted any more; what is granted stays in the books until it has been given back.
void Core::Impl::Retire(DependencyState& dependency, const std::string& note) {
  if (std::exchange(dependency.retired, true)) return;
  dependency.pin = {};
  dependency.Move(Reason::kConfigReloaded);
  dependency.breaker = nullptr;  // whoever is open finds its way back by itself
  TellSettings(dependency.policy.name);
  Log(EventType::kDependencyDeleted, nullptr, dependency.policy.name,
      WithNote(absl::StrCat(dependency.policy.name.value, " has no policy any more; ",
                            dependency.ledger.Reserved(), " are reserved and will be taken back."),
               note));
}

void Core::Impl::TellSettings(const DependencyId& name) {
  for (auto& [id, session] : sessions_) {
    const bool joined =
        std::any_of(session.dependencies.begin(), session.dependencies.end(),
                    [&](const internal::Membership& one) { return one.name() == name; });
    if (joined) NoteUntold(session, name);
  }
}

}  // namespace plimsoll
