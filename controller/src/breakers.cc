// Breakers of whole fleets: what sessions report of them, what they are told. The pool decides
// (breaker_pool.h); an opening and a closing answer all held syncs, which is the push.
#include <algorithm>
#include <memory>
#include <utility>

#include "controller/src/core_impl.h"
#include "controller/src/explain_breaker.h"

namespace plimsoll {

using internal::BreakerDecision;
using internal::BreakerPool;
using internal::DependencyState;
using internal::Member;

namespace {

// Beyond two holds, the next sync is late.
constexpr absl::Duration kLate = absl::Seconds(1);

}  // namespace

// The policy has come or has changed. An outage goes on under new settings.
void Core::Impl::FollowBreaker(DependencyState& dependency) {
  const Policy& policy = dependency.policy;
  if (!policy.breaker.has_value() || policy.mode != Mode::kEnforce || dependency.retired) {
    dependency.breaker = nullptr;
    dependency.breaker_change.reset();
    return;
  }
  if (dependency.breaker != nullptr) {
    dependency.breaker->SetSettings(*policy.breaker);
    return;
  }
  BreakerPool::Terms terms;
  terms.epoch = epoch_;
  terms.alone_after = options_.lease;
  terms.silent_after = 2 * options_.hold_max + kLate;
  terms.probe_wait = options_.hold_max + kLate;
  dependency.breaker = std::make_unique<BreakerPool>(*policy.breaker, terms, &last_breaker_order_,
                                                     law_seeds_.Next());
}

void Core::Impl::TakeBreakers(SessionState& session, const SyncRequest& request) {
  bool decided = false;
  for (const DependencyReport& report : request.dependencies) {
    const auto found = dependencies_.find(report.dependency);
    if (found == dependencies_.end() || found->second.breaker == nullptr) continue;
    DependencyState& dependency = found->second;
    if (!report.breaker.has_value() || session.leaving ||
        !dependency.members.contains(session.id)) {
      dependency.breaker->Leave(session.id);
      continue;
    }
    const std::optional<BreakerDecision> decision =
        dependency.breaker->Report(session.id, *report.breaker, now_);
    if (!decision.has_value()) continue;
    LogBreaker(dependency, *decision);
    decided = true;
  }
  if (decided) ConsiderAll();
}

void Core::Impl::AdvanceBreakers() {
  for (auto& [name, dependency] : dependencies_) {
    if (dependency.breaker != nullptr) dependency.breaker->Advance(now_);
  }
}

bool Core::Impl::HasBreakerNews(const SessionState& session) const {
  return std::any_of(session.dependencies.begin(), session.dependencies.end(),
                     [&](const Membership& joined) {
                       const auto& breaker = joined.dependency->breaker;
                       return breaker != nullptr && breaker->HasNews(session.id);
                     });
}

void Core::Impl::AddBreakers(const SessionState& session, SyncAnswer& answer) const {
  for (const Membership& joined : session.dependencies) {
    const auto& breaker = joined.dependency->breaker;
    if (breaker == nullptr) continue;
    std::optional<BreakerOrder> order = breaker->OrderFor(session.id, joined.name(), now_);
    if (order.has_value()) answer.breakers.push_back(*std::move(order));
  }
}

void Core::Impl::LogBreaker(DependencyState& dependency, const BreakerDecision& decision) {
  const SessionState* prober = nullptr;
  if (decision.prober.has_value()) {
    const Member* const member = dependency.members.Find(*decision.prober);
    if (member != nullptr) prober = member->session;
  }
  const bool closed = decision.kind == BreakerDecision::Kind::kClosed;
  dependency.breaker_change = {
      now_,
      internal::ExplainBreaker(dependency.policy.name, dependency.breaker->settings(), decision,
                               prober != nullptr ? prober->instance : InstanceId())};
  Log(closed ? EventType::kBreakerClosed : EventType::kBreakerOpened, prober,
      dependency.policy.name, dependency.breaker_change->message);
}

}  // namespace plimsoll
