#include "controller/src/breaker_pool.h"

#include <algorithm>
#include <tuple>

namespace plimsoll::internal {

BreakerPool::BreakerPool(const BreakerSettings& settings, const Terms& terms, std::int64_t* last_id,
                         std::uint64_t seed)
    : settings_(settings), terms_(terms), last_id_(last_id), random_(seed) {}

std::optional<BreakerDecision> BreakerPool::Report(const SessionId& session,
                                                   const BreakerReport& report, Instant now) {
  Participant& from = Join(session, report, now);
  from.report = report;
  from.reported_at = now;
  const bool follows_an_earlier_reign = report.order.epoch < terms_.epoch &&
                                        report.command != BreakerCommand::kClose &&
                                        report.view != BreakerView::kClosed;
  if (!decided_ && follows_an_earlier_reign) {
    return Open(BreakerDecision::Kind::kInherited, now);
  }
  // What was seen under an earlier order says nothing of the time after it.
  if (report.order != from.order.id) return std::nullopt;
  return Judge(from, session, now);
}

// Who comes while it is open is told so. While it is closed there is nothing to tell.
BreakerPool::Participant& BreakerPool::Join(const SessionId& session, const BreakerReport& report,
                                            Instant now) {
  const auto [place, is_new] = participants_.try_emplace(session);
  Participant& participant = place->second;
  if (!is_new) return participant;
  // Whatever it has obeyed in an earlier session of this reign, what it is told now comes after.
  if (report.order.epoch == terms_.epoch) {
    *last_id_ = std::max(*last_id_, report.order.seq.value);
  }
  if (view_ != BreakerView::kClosed) {
    Tell(participant, report.order < open_id_ ? open_id_ : NextId(), BreakerCommand::kOpen, now);
  } else if (report.command == BreakerCommand::kClose) {
    participant.order.id = report.order;
  } else if (decided_) {
    Tell(participant, NextId(), BreakerCommand::kClose, now);
  } else {
    // It was open in an earlier reign and has found its own way back since.
    participant.order.id = report.order;
  }
  return participant;
}

std::optional<BreakerDecision> BreakerPool::Judge(const Participant& from, const SessionId& session,
                                                  Instant now) {
  if (view_ == BreakerView::kClosed) return JudgeEvidence(now);
  // Closed although it was told to be open: its probes have passed, the fleet's or, if it had lost
  // the controller, its own.
  if (from.report.view == BreakerView::kClosed) return Close(session, now);
  const bool failed = prober_ == session && from.report.view == BreakerView::kOpen;
  if (!failed) return std::nullopt;
  ++attempts_;
  return Open(BreakerDecision::Kind::kReopened, now);
}

std::optional<BreakerDecision> BreakerPool::JudgeEvidence(Instant now) {
  int instances = 0;
  const BreakerEvidence evidence = Evidence(now, &instances);
  const std::optional<BreakerRule> rule = plimsoll::Judge(settings_.rules, evidence);
  if (!rule.has_value()) return std::nullopt;
  attempts_ = 0;
  ++opened_total_;
  BreakerDecision decision = Open(BreakerDecision::Kind::kOpened, now);
  decision.rule = rule;
  decision.evidence = evidence;
  decision.instances = instances;
  return decision;
}

BreakerEvidence BreakerPool::Evidence(Instant now, int* instances) const {
  BreakerEvidence sum;
  *instances = 0;
  for (const auto& [session, participant] : participants_) {
    const BreakerEvidence& seen = participant.report.evidence;
    if (participant.report.order != participant.order.id) continue;
    if (now - participant.reported_at >= settings_.window) continue;
    if (seen.total() == 0 && seen.failures_in_a_row == 0) continue;
    sum.succeeded += seen.succeeded;
    sum.failed += seen.failed;
    sum.slow += seen.slow;
    sum.hanging += seen.hanging;
    sum.failures_in_a_row += seen.failures_in_a_row;
    ++*instances;
  }
  // In a row over the fleet are failures with no success of anybody between them. Which came first
  // is not known, so any success in the window ends the row.
  if (sum.succeeded > 0) sum.failures_in_a_row = 0;
  return sum;
}

BreakerDecision BreakerPool::Open(BreakerDecision::Kind kind, Instant now) {
  BreakerDecision decision;
  decision.kind = kind;
  decision.prober = prober_;
  if (kind != BreakerDecision::Kind::kReopened) opened_at_ = now;
  decision.open_for = now - opened_at_;
  decision.probes_failed = attempts_;
  const double kept = 1 - settings_.cool_off_jitter * random_.Uniform();
  decision.cool_off = CoolOff(settings_, attempts_) * kept;
  until_ = now + decision.cool_off;
  decided_ = true;
  prober_.reset();
  view_ = BreakerView::kOpen;
  TellAll(BreakerCommand::kOpen, now);
  return decision;
}

BreakerDecision BreakerPool::Close(const SessionId& session, Instant now) {
  BreakerDecision decision;
  decision.kind = BreakerDecision::Kind::kClosed;
  decision.prober = session;
  decision.open_for = now - opened_at_;
  decision.probes_failed = attempts_;
  prober_.reset();
  attempts_ = 0;
  view_ = BreakerView::kClosed;
  TellAll(BreakerCommand::kClose, now);
  return decision;
}

void BreakerPool::TellAll(BreakerCommand command, Instant now) {
  open_id_ = NextId();
  for (auto& [session, participant] : participants_) Tell(participant, open_id_, command, now);
}

void BreakerPool::Tell(Participant& participant, BreakerOrderId id, BreakerCommand command,
                       Instant now) {
  participant.order.id = id;
  participant.order.command = command;
  participant.ordered_at = now;
}

BreakerOrderId BreakerPool::NextId() { return {terms_.epoch, Seq(++*last_id_)}; }

void BreakerPool::Leave(const SessionId& session) {
  participants_.erase(session);
  if (prober_ == session) {
    prober_.reset();
    view_ = BreakerView::kOpen;  // another one is chosen by the next Advance()
  }
}

bool BreakerPool::Advance(Instant now) {
  if (view_ == BreakerView::kClosed) return false;
  if (view_ == BreakerView::kOpen) return now >= until_ && ChooseProber(now);
  Participant& prober = participants_.at(*prober_);
  if (!HasLostTheProbe(prober, now)) return false;
  // Others keep the order that they have; this one must not go on.
  Tell(prober, NextId(), BreakerCommand::kOpen, now);
  prober_.reset();
  view_ = BreakerView::kOpen;
  ChooseProber(now);
  return true;
}

bool BreakerPool::HasLostTheProbe(const Participant& prober, Instant now) const {
  if (now - prober.reported_at > terms_.silent_after) return true;
  const absl::Duration age = now - prober.ordered_at;
  const bool obeyed = prober.report.order == prober.order.id;
  if (!obeyed) return age > terms_.silent_after;
  if (prober.report.view == BreakerView::kHalfOpen) return age > terms_.probe_wait;
  return age >
         terms_.probe_wait + (settings_.probe_deadline + terms_.silent_after) *
                                 (settings_.probes_to_close + settings_.probe_failures_to_open - 1);
}

bool BreakerPool::IsPresent(const Participant& participant, Instant now) const {
  return now - participant.reported_at <= terms_.silent_after &&
         participant.report.order == participant.order.id;
}

// Those with calls at the door first, then those whose turn was longest ago.
bool BreakerPool::ChooseProber(Instant now) {
  const auto rank = [](const Participant& one) {
    return std::tuple(one.report.refused == 0, one.chosen);
  };
  const SessionId* best = nullptr;
  for (const auto& [session, one] : participants_) {
    if (!IsPresent(one, now)) continue;
    if (best == nullptr || rank(one) < rank(participants_.at(*best))) best = &session;
  }
  if (best == nullptr) return false;
  prober_ = *best;
  view_ = BreakerView::kProbing;
  Participant& chosen = participants_.at(*best);
  chosen.chosen = ++probers_;
  Tell(chosen, NextId(), BreakerCommand::kProbe, now);
  return true;
}

bool BreakerPool::HasNews(const SessionId& session) const {
  const auto found = participants_.find(session);
  return found != participants_.end() && found->second.report.order < found->second.order.id;
}

std::optional<BreakerOrder> BreakerPool::OrderFor(const SessionId& session,
                                                  const DependencyId& dependency,
                                                  Instant now) const {
  const auto found = participants_.find(session);
  if (found == participants_.end()) return std::nullopt;
  BreakerOrder order = found->second.order;
  // Only to be open is said again and again: it holds for a time.
  if (!HasNews(session) && order.command != BreakerCommand::kOpen) return std::nullopt;
  order.dependency = dependency;
  if (order.command == BreakerCommand::kOpen) order.hold = CoolOffLeft(now) + terms_.alone_after;
  return order;
}

std::optional<SessionId> BreakerPool::prober() const { return prober_; }

absl::Duration BreakerPool::CoolOffLeft(Instant now) const {
  if (view_ != BreakerView::kOpen) return absl::ZeroDuration();
  return std::max(until_ - now, absl::ZeroDuration());
}

}  // namespace plimsoll::internal
