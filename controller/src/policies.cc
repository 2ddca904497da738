// What operators change while agents hold grants: the books go on, grants follow by the rules.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::DependencyState;
using internal::KneeRunner;
using internal::LawRunner;
using internal::Member;

namespace {

std::string QuotaOf(const Policy& policy) {
  return policy.quota.has_value() ? absl::StrCat(*policy.quota) : "none";
}

}  // namespace

void Core::Impl::On(const PolicyEvent& event) {
  for (auto& [name, dependency] : dependencies_) {
    if (!event.policies.contains(name)) Retire(dependency);
  }
  for (const auto& [name, policy] : event.policies) {
    const auto found = dependencies_.find(name);
    if (found != dependencies_.end()) {
      ChangePolicy(found->second, policy);
      continue;
    }
    AddDependency(name, policy);
    Log(EventType::kPoliciesChanged, nullptr, name,
        absl::StrCat(name.value, " has a policy now: quota ", QuotaOf(policy), "."));
    TellSettings(name);
  }
  NoteLongestHold();
  hasty_until_ = now_ + longest_hold_;
  for (auto& [name, dependency] : dependencies_) {
    internal::Allocate(dependency, sessions_, now_);
    NoteExcess(dependency);
  }
  ConsiderAll();
}

void Core::Impl::ChangePolicy(DependencyState& dependency, const Policy& policy) {
  PLIMSOLL_CHECK(Validate(policy, options_.lease).ok(), "the core needs valid policies");
  const Policy before = std::exchange(dependency.policy, policy);
  const bool was_retired = std::exchange(dependency.retired, false);
  dependency.ledger.SetTerms(TermsOf(policy), now_);
  RebuildLaws(dependency, before);
  FollowBreaker(dependency);
  dependency.moved = before.quota != policy.quota ? Reason::kQuotaChanged : Reason::kConfigReloaded;
  TellSettings(policy.name);
  if (before.mode != policy.mode) ChangeMode(dependency);
  if (before.quota == policy.quota && !was_retired) return;
  Log(EventType::kPoliciesChanged, nullptr, policy.name,
      absl::StrCat("The quota of ", policy.name.value, " was ",
                   was_retired ? "none" : QuotaOf(before), " and is ", QuotaOf(policy), "; ",
                   dependency.ledger.Reserved(), " are reserved."));
}

// What runs above the limits of those that were only observed is in the books from now on: nobody
// rises before it has ended.
void Core::Impl::ChangeMode(DependencyState& dependency) {
  const Policy& policy = dependency.policy;
  Log(EventType::kPoliciesChanged, nullptr, policy.name,
      policy.mode == Mode::kObserve
          ? absl::StrCat(policy.name.value, " is only observed from now on: nobody is refused.")
          : absl::StrCat("The limits of ", policy.name.value, " are enforced from now on."));
  if (policy.mode == Mode::kObserve) return;
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
  // The former runners refer to it until they are replaced.
  const std::unique_ptr<LimitAlgorithm> former =
      std::exchange(dependency.algorithm, internal::MakeLaw(policy));
  RebuildKnee(dependency, same);
  if (dependency.knee != nullptr) return;
  dependency.pool = policy.scope == Scope::kFleet
                        ? MakeRunner(dependency, same ? dependency.pool.get() : nullptr)
                        : nullptr;
  for (auto& [id, member] : dependency.members) {
    member.law = policy.scope == Scope::kInstance
                     ? MakeRunner(dependency, same ? member.law.get() : nullptr)
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
    if (!same) dependency.knee->Join(member);
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
void Core::Impl::Retire(DependencyState& dependency) {
  if (std::exchange(dependency.retired, true)) return;
  dependency.moved = Reason::kConfigReloaded;
  dependency.breaker = nullptr;  // whoever is open finds its way back by itself
  TellSettings(dependency.policy.name);
  Log(EventType::kPoliciesChanged, nullptr, dependency.policy.name,
      absl::StrCat(dependency.policy.name.value, " has no policy any more; ",
                   dependency.ledger.Reserved(), " are reserved and will be taken back."));
}

void Core::Impl::ForgetRetired() {
  std::erase_if(dependencies_, [](const auto& entry) {
    return entry.second.retired && entry.second.members.empty();
  });
}

void Core::Impl::TellSettings(const DependencyId& name) {
  for (auto& [id, session] : sessions_) {
    const auto& joined = session.dependencies;
    if (std::find(joined.begin(), joined.end(), name) == joined.end()) continue;
    auto& untold = session.untold;
    if (std::find(untold.begin(), untold.end(), name) == untold.end()) untold.push_back(name);
  }
}

}  // namespace plimsoll
