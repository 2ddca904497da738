#include "controller/src/ledger.h"

#include <algorithm>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

double Stretch(double rate_error) { return (1 + rate_error) / (1 - rate_error); }

// So many grants that were not acknowledged are kept apart.
constexpr std::size_t kSentMax = 64;

LedgerTerms WidestOf(const LedgerTerms& a, const LedgerTerms& b) {
  return {std::max(a.lease, b.lease), std::max(a.base_lease, b.base_lease),
          std::max(a.call_deadline, b.call_deadline),
          std::max(a.clock_rate_error, b.clock_rate_error)};
}

// Keeps limit >= base >= reserve.
Steps WithoutLimit(const Steps& steps) { return {steps.base, steps.base, steps.reserve}; }
Steps WithoutBase(const Steps& steps) { return {steps.reserve, steps.reserve, steps.reserve}; }

}  // namespace

Ledger::Ledger(const LedgerTerms& terms)
    : terms_(terms), stretch_(Stretch(terms.clock_rate_error)) {}

void Ledger::Join(const SessionId& session, Instant now) {
  const bool added = entries_.try_emplace(session).second;
  PLIMSOLL_CHECK(added, "a session joins a ledger once");
  ExtendHolds(session, now);
}

void Ledger::Inherit(const SessionId& session, const Steps& bound, const LedgerTerms& terms,
                     Instant now) {
  // What the reign before sent may last longer than what this one would send.
  Widen(terms, now);
  Join(session, now);
  Entry& entry = At(session);
  entry.inherited = bound;
  total_ += Reservation(entry);
}

void Ledger::Claim(const SessionId& session, const Steps& claim) {
  Entry& entry = At(session);
  const Calls before = Reservation(entry);
  entry.inherited = Highest(entry.inherited, claim);
  total_ += Reservation(entry) - before;
}

void Ledger::SetTerms(const LedgerTerms& terms, Instant now) {
  Widen(terms_, now);
  terms_ = terms;
}

void Ledger::Widen(const LedgerTerms& former, Instant now) {
  former_terms_ = WidestOf(former, former_terms_.value_or(former));
  former_until_ = std::max(former_until_, BaseHoldFrom(now, *former_terms_));
}

LedgerTerms Ledger::Widest() const { return WidestOf(terms_, former_terms_.value_or(terms_)); }

void Ledger::ExtendHolds(const SessionId& session, Instant now) {
  if (former_terms_.has_value() && now >= former_until_) former_terms_.reset();
  Entry& entry = At(session);
  entry.heard_at = now;
  ExtendFrom(entry, now);
}

void Ledger::ExtendFrom(Entry& entry, Instant heard_at) const {
  entry.limit_hold = std::max(entry.limit_hold, LimitHoldFrom(heard_at, Widest()));
  entry.base_hold = std::max(entry.base_hold, BaseHoldFrom(heard_at, Widest()));
  entry.limit_ended = false;
}

Calls Ledger::Acknowledge(const SessionId& session, Seq installed, Calls in_flight) {
  Entry& entry = At(session);
  const Calls before = Reservation(entry);
  std::erase_if(entry.sent, [installed](const auto& grant) { return grant.first < installed; });
  entry.inherited = Steps{};
  entry.in_flight = std::min(in_flight, before);
  const Calls after = Reservation(entry);
  PLIMSOLL_CHECK(after <= before, "a report never raises a reservation");
  total_ -= before - after;
  return before - after;
}

void Ledger::Charge(const SessionId& session, Calls in_flight) {
  Entry& entry = At(session);
  const Calls before = Reservation(entry);
  entry.in_flight = std::max(entry.in_flight, in_flight);
  total_ += Reservation(entry) - before;
}

void Ledger::Book(const SessionId& session, Seq seq, const Steps& steps) {
  Entry& entry = At(session);
  PLIMSOLL_CHECK(entry.sent.empty() || entry.sent.back().first < seq, "grants are booked in order");
  const Calls before = Reservation(entry);
  // The terms may have become longer since the message that this answers.
  ExtendFrom(entry, entry.heard_at);
  entry.sent.emplace_back(seq, steps);
  if (entry.sent.size() > kSentMax) MergeOldest(entry);
  total_ += Reservation(entry) - before;
}

void Ledger::Release(const SessionId& session) {
  total_ -= Reservation(At(session));
  entries_.erase(session);
}

Calls Ledger::Expire(const SessionId& session, Instant now) { return Expire(At(session), now); }

Calls Ledger::Expire(Entry& entry, Instant now) {
  if (now < entry.limit_hold && now < entry.base_hold) return 0;
  const Calls before = Reservation(entry);
  ExpireEntry(entry, now);
  const Calls after = Reservation(entry);
  total_ -= before - after;
  return before - after;
}

Ledger::Expired Ledger::ExpireAll(Instant now) {
  Expired expired;
  for (auto& [session, entry] : entries_) {
    if (Expire(entry, now) > 0) expired.lowered.push_back(session);
    const bool fence_over = entry.fence_at.has_value() && now >= *entry.fence_at;
    const bool nothing_left = now >= entry.limit_hold && Reservation(entry) == 0;
    if (fence_over || nothing_left) expired.gone.push_back(session);
  }
  for (const SessionId& session : expired.gone) Release(session);
  std::sort(expired.lowered.begin(), expired.lowered.end());
  std::sort(expired.gone.begin(), expired.gone.end());
  return expired;
}

void Ledger::Fence(const SessionId& session, Instant now) {
  Entry& entry = At(session);
  if (!entry.fence_at.has_value()) entry.fence_at = now + Stretched(Widest().call_deadline);
}

void Ledger::CancelFence(const SessionId& session) { At(session).fence_at.reset(); }

bool Ledger::IsFenced(const SessionId& session) const { return At(session).fence_at.has_value(); }

Calls Ledger::Reserved(const SessionId& session) const {
  const auto found = entries_.find(session);
  return found == entries_.end() ? 0 : Reservation(found->second);
}

std::optional<Steps> Ledger::Bound(const SessionId& session) const {
  const auto found = entries_.find(session);
  if (found == entries_.end()) return std::nullopt;
  Steps bound = Top(found->second);
  bound.limit = std::max(bound.limit, found->second.in_flight);
  return bound;
}

Instant Ledger::LimitHoldFrom(Instant now, const LedgerTerms& terms) const {
  return now + Stretched(terms.lease + terms.call_deadline);
}

Instant Ledger::BaseHoldFrom(Instant now, const LedgerTerms& terms) const {
  return now + Stretched(terms.base_lease + terms.call_deadline);
}

bool Ledger::LimitHeld(const SessionId& session, Instant now) const {
  return now < At(session).limit_hold;
}

bool Ledger::BaseHeld(const SessionId& session, Instant now) const {
  return now < At(session).base_hold;
}

Steps Ledger::Top(const Entry& entry) {
  Steps top = entry.inherited;
  for (const auto& [seq, steps] : entry.sent) top = Highest(top, steps);
  return top;
}

Calls Ledger::Reservation(const Entry& entry) {
  return std::max(Top(entry).limit, entry.in_flight);
}

// As one, they say no less than before, and are gone when the newer one is acknowledged.
void Ledger::MergeOldest(Entry& entry) {
  entry.sent[1].second = Highest(entry.sent[0].second, entry.sent[1].second);
  entry.sent.erase(entry.sent.begin());
}

void Ledger::EndLimits(Entry& entry) {
  for (auto& [seq, steps] : entry.sent) steps = WithoutLimit(steps);
  entry.inherited = WithoutLimit(entry.inherited);
  entry.in_flight = std::min(entry.in_flight, Top(entry).limit);
  entry.limit_ended = true;
}

void Ledger::EndBases(Entry& entry) {
  for (auto& [seq, steps] : entry.sent) steps = WithoutBase(steps);
  entry.inherited = WithoutBase(entry.inherited);
  entry.in_flight = std::min(entry.in_flight, Top(entry).limit);
}

void Ledger::ExpireEntry(Entry& entry, Instant now) {
  if (now >= entry.base_hold) {
    EndBases(entry);
  } else if (now >= entry.limit_hold && !entry.limit_ended) {
    EndLimits(entry);
  }
}

Ledger::Entry& Ledger::At(const SessionId& session) {
  const auto found = entries_.find(session);
  PLIMSOLL_CHECK(found != entries_.end(), "the session has no entry in this ledger");
  return found->second;
}

const Ledger::Entry& Ledger::At(const SessionId& session) const {
  const auto found = entries_.find(session);
  PLIMSOLL_CHECK(found != entries_.end(), "the session has no entry in this ledger");
  return found->second;
}

}  // namespace plimsoll::internal
