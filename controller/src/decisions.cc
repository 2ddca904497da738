// What the laws make of the windows, and how it is told.
#include <algorithm>
#include <utility>

#include "controller/src/core_impl.h"
#include "controller/src/explain.h"

namespace plimsoll {

using internal::DependencyState;
using internal::LawDecision;
using internal::LawRunner;
using internal::Member;

namespace {

LawDecision Describe(const LawRunner& law, const LawRunner::Outcome& outcome) {
  const Window& window = law.last_window();
  const double seconds = absl::ToDoubleSeconds(law.last_epoch());
  LawDecision said;
  said.outcome = outcome.window;
  said.before = said.after = outcome.before;
  DecisionInputs& inputs = said.inputs;
  inputs.in_flight_max = law.last_in_flight_max();
  inputs.samples = window.completed();
  inputs.failed = window.dropped;
  inputs.rejected = window.rejected_by(RejectReason::kLimit);
  inputs.length = law.last_epoch();
  if (seconds > 0) {
    inputs.in_flight_mean = absl::ToDoubleSeconds(window.in_flight) / seconds;
    inputs.throughput = static_cast<double>(window.completed()) / seconds;
  }
  if (!outcome.decision.has_value()) return said;
  said.after = outcome.decision->limit;
  said.reason = outcome.decision->reason;
  inputs.latency = law.last_latency();
  inputs.baseline = outcome.decision->baseline;
  inputs.gradient = outcome.decision->gradient;
  inputs.unclamped = outcome.decision->unclamped;
  return said;
}

// What every decision tells of the policy it was made under.
void AddTerms(const DependencyState& dependency, LawDecision& decision) {
  const Policy& policy = dependency.policy;
  DecisionInputs& inputs = decision.inputs;
  inputs.algorithm = std::string(ToString(policy.algorithm.kind));
  inputs.algorithm_limit = decision.after;
  inputs.signal = policy.window.latency;
  inputs.percentile = policy.window.percentile;
  inputs.quota = policy.quota.value_or(0);
  inputs.wanted = dependency.wanted;
}

Window MeasuredOf(const TrialWindow& trial) {
  Window window;
  window.length = trial.length;
  window.succeeded = trial.succeeded;
  window.dropped = trial.dropped;
  window.admitted = trial.succeeded + trial.dropped;
  window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = trial.rejected;
  window.in_flight_max = trial.in_flight_max;
  window.in_flight = trial.latency * window.completed();
  window.latency.Add(LatencyHistogram::BucketOf(absl::ToInt64Nanoseconds(trial.latency)),
                     static_cast<std::uint32_t>(window.completed()));
  return window;
}

// Does something for the one whose law has judged, or, if it is the pool's, for all.
template <typename Action>
void ForThoseOf(DependencyState& dependency, Member* member, const Action& action) {
  if (member != nullptr) return action(*member);
  for (auto& [id, other] : dependency.members) action(other);
}

}  // namespace

void Core::Impl::AdvanceLaws(DependencyState& dependency) {
  if (dependency.knee != nullptr) {
    AdvanceKnee(dependency);
    return;
  }
  if (dependency.pool != nullptr) {
    Calls in_flight_max = 0;
    absl::Duration measured;
    for (const auto& [id, member] : dependency.members) {
      in_flight_max = std::min(kCallsMax, in_flight_max + member.epoch_in_flight_max);
      measured = std::max(measured, member.epoch_measured);
    }
    AdvanceLaw(dependency, nullptr, in_flight_max, measured);
    return;
  }
  for (auto& [id, member] : dependency.members) {
    if (member.law == nullptr) continue;
    AdvanceLaw(dependency, &member, member.epoch_in_flight_max, member.epoch_measured);
  }
}

void Core::Impl::AdvanceLaw(DependencyState& dependency, Member* member, Calls in_flight_max,
                            absl::Duration measured) {
  LawRunner& law = member != nullptr ? *member->law : *dependency.pool;
  std::optional<LawRunner::Outcome> outcome;
  if (dependency.policy.mode == Mode::kDisabled) {
    if (!law.Pass(in_flight_max, now_)) return;
  } else {
    outcome = law.Advance(in_flight_max, measured, now_);
    if (!outcome.has_value()) return;
  }
  dependency.last_window = law.last_window();
  dependency.last_epoch = law.last_epoch();
  ForThoseOf(dependency, member, [](Member& judged) {
    judged.epoch_in_flight_max = 0;
    judged.epoch_measured = absl::ZeroDuration();
  });
  if (outcome.has_value()) RecordDecision(dependency, member, Describe(law, *outcome));
}

void Core::Impl::RecordDecision(DependencyState& dependency, Member* member, LawDecision decision) {
  const Policy& policy = dependency.policy;
  ++dependency.windows_total[static_cast<std::size_t>(decision.outcome)];
  AddTerms(dependency, decision);
  const internal::SessionState* const session = member != nullptr ? member->session : nullptr;
  LastDecision last;
  last.at = now_;
  last.outcome = decision.outcome;
  last.from = decision.before;
  last.to = decision.after;
  last.reason = decision.reason;
  last.message = internal::ExplainDecision(
      policy, session != nullptr ? session->instance : InstanceId(), decision);
  if (member != nullptr && member->judgements == nullptr) {
    member->judgements = std::make_unique<internal::Judgements>();
  }
  internal::Judgements& judgements =
      member != nullptr ? *member->judgements : dependency.judgements;
  if (decision.before != decision.after) {
    last.event_id = LogDecision(policy.name, session, decision, last.message);
    judgements.moved_by = last.event_id;
    judgements.moved_for = decision.reason;
    dependency.moved = decision.reason;
    ForThoseOf(dependency, member, [](Member& judged) { judged.by_operator.reset(); });
  }
  if (decision.outcome == WindowOutcome::kUsed) judgements.used = std::move(decision);
  judgements.last = std::move(last);
  if (member != nullptr) {
    dependency.judgements.used = judgements.used;
    dependency.judgements.last = judgements.last;
  }
}

absl::StatusOr<std::vector<TrialDecision>> Core::Impl::Try(
    const DependencyId& name, const SessionId& session,
    const std::vector<TrialWindow>& windows) const {
  const auto found = dependencies_.find(name);
  if (found == dependencies_.end() || !found->second.members.contains(session)) {
    return absl::NotFoundError("there is no such instance");
  }
  const DependencyState& dependency = found->second;
  const Member& member = dependency.members.at(session);
  const LawRunner* const running = member.law != nullptr ? member.law.get() : dependency.pool.get();
  if (running == nullptr) {
    return absl::FailedPreconditionError(
        "fleet_knee judges pairs of windows of all instances: single ones tell it nothing");
  }
  const bool pool = member.law == nullptr;
  Instant at = now_;
  LawRunner law(*dependency.algorithm, dependency.policy.window, /*seed=*/1, at);
  law.Continue(*running);
  std::vector<TrialDecision> decisions;
  for (const TrialWindow& window : windows) {
    law.Add(MeasuredOf(window));
    at = at + window.length;
    const auto outcome = law.Advance(window.in_flight_max, window.length, at);
    TrialDecision& told = decisions.emplace_back();
    told.from = told.to = law.limit();
    if (!outcome.has_value()) {
      told.message = "Too little to judge by: the window goes on.";
      continue;
    }
    LawDecision said = Describe(law, *outcome);
    AddTerms(dependency, said);
    told.outcome = said.outcome;
    told.from = said.before;
    if (said.outcome == WindowOutcome::kUsed) told.reason = said.reason;
    told.message = internal::ExplainDecision(dependency.policy,
                                             pool ? InstanceId() : member.session->instance, said);
  }
  return decisions;
}

std::string Core::Impl::LogDecision(const DependencyId& dependency, const SessionState* session,
                                    const LawDecision& decision, const std::string& message) {
  LogEvent event;
  event.type = EventType::kDecision;
  event.at = now_;
  event.dependency = dependency;
  if (session != nullptr) {
    event.service = session->service;
    event.instance = session->instance;
  }
  event.from = decision.before;
  event.to = decision.after;
  event.reason = decision.reason;
  event.inputs = decision.inputs;
  event.message = message;
  return log_.Append(std::move(event));
}

}  // namespace plimsoll
