#include "controller/src/allocation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "controller/src/apportion.h"
#include "controller/src/census.h"
#include "controller/src/offers.h"

namespace plimsoll::internal {
namespace {

// One part in so many may be under way from one session to another.
constexpr Calls kTransitPart = 10;
// A call is held for at least so long, before the next in line gets it.
constexpr absl::Duration kTurnMin = absl::Seconds(2);

absl::Duration TurnLength(const DependencyState& dependency) {
  return std::max({kTurnMin, 2 * SyncMax(dependency), dependency.last_window.MeanLatency()});
}

// What was raised is not lowered before calls that it let in could have ended; but never to wait
// longer than for a silent one.
absl::Duration Dwell(const DependencyState& dependency) {
  return std::max(3 * SyncMax(dependency),
                  std::min(dependency.policy.call_deadline, dependency.lease));
}

// Spreads the minimum of a service evenly over its instances by name: their bases, unless the
// policy sets one, and at least so much is their low.
void SpreadMinimum(const Policy& policy, Service& service) {
  if (service.settings.minimum == 0) return;
  std::vector<Row*> rows;
  for (Row& row : service.rows) {
    if (row.claim.weight > 0) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) {
    return a->member->session->instance < b->member->session->instance;
  });
  const auto count = static_cast<Calls>(rows.size());
  for (Calls i = 0; i < count; ++i) {
    Row& row = *rows[static_cast<std::size_t>(i)];
    const Calls minimum = service.settings.minimum;
    const Calls part = minimum / count + (i < minimum % count ? 1 : 0);
    if (!policy.outage.base.has_value())
      row.member->base = std::min(part, policy.algorithm.ceiling);
    row.claim.low = std::max(row.claim.low, std::min(part, row.claim.high));
    if (row.wants) row.low_if_scarce = row.claim.low;
  }
}

template <typename Number>
Calls AtMost(Number number, Calls most) {
  return number >= static_cast<Number>(most) ? most : static_cast<Calls>(number);
}

Claim MakeClaim(const Service& service, Calls capacity, double weights) {
  const ServiceShare& settings = service.settings;
  std::int64_t lows = 0;
  std::int64_t highs = 0;
  std::int64_t tops = 0;
  Claim claim;
  claim.weight = 0;
  for (const Row& row : service.rows) {
    lows += row.claim.low;
    highs += row.claim.high;
    tops += row.claim.top;
    claim.holds = AtMost<std::int64_t>(std::int64_t{claim.holds} + row.claim.holds, kCallsMax);
    if (row.claim.weight > 0) claim.weight = settings.weight;
  }
  const Calls most = settings.maximum.value_or(kCallsMax);
  claim.top = AtMost(tops, most);
  claim.high = AtMost(highs, claim.top);
  const Calls kept = AtMost((1 - settings.lend) * capacity * settings.weight / weights, claim.top);
  const Calls minimum = std::min(settings.minimum, claim.high);
  claim.low = std::max({kept, minimum, AtMost(lows, claim.high)});
  claim.high = std::max(claim.high, claim.low);
  claim.priority = settings.priority;
  return claim;
}

// Where there is not a call for everybody, those with nothing to do are the first to have none.
void YieldIdle(Service& service) {
  for (Row& row : service.rows) {
    row.claim.low = row.low_if_scarce;
    if (!row.wants && row.claim.weight > 0) row.claim.high = 0;
  }
}

std::int64_t SumOfLows(const std::vector<Claim>& claims) {
  std::int64_t lows = 0;
  for (const Claim& claim : claims) lows += claim.low;
  return lows;
}

// Who would get a whole call or none of it for good takes turns instead.
void ShareByTurns(const std::vector<double>& shares, const std::vector<Claim>& claims,
                  const std::vector<Turn*>& turns, absl::Duration length, Instant now, Ring& ring,
                  std::vector<Calls>& whole) {
  std::vector<TurnTaker> takers;
  std::vector<std::size_t> indexes;
  Calls calls = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    Turn& turn = *turns[i];
    if (!turn.since.has_value()) turn.holds = claims[i].holds > 0;
    if (shares[i] <= kShareNoise || shares[i] >= 1 - kShareNoise) {
      // Whoever shares again later comes new, with what it has.
      turn = Turn{0, whole[i] > 0, now};
      continue;
    }
    takers.push_back({&turn, shares[i]});
    indexes.push_back(i);
    calls += whole[i];
  }
  if (takers.empty()) return;
  TakeTurns(takers, calls, length, now, ring);
  for (std::size_t i : indexes) whole[i] = turns[i]->holds ? 1 : 0;
}

std::vector<Calls> Divide(Calls available, const std::vector<Claim>& claims,
                          const std::vector<Turn*>& turns, const DependencyState& dependency,
                          Instant now, Ring& ring) {
  const std::vector<double> shares = RealShares(available, claims);
  std::vector<Calls> whole = MakeWhole(shares, claims);
  // With nothing to divide, everybody's place in line is kept.
  if (available > 0) {
    ShareByTurns(shares, claims, turns, TurnLength(dependency), now, ring, whole);
  }
  return whole;
}

std::vector<Claim> MakeServiceClaims(const DependencyState& dependency, const Services& services) {
  double weights = 0;
  for (const Service& service : services) weights += service.settings.weight;
  const Calls nominal = dependency.policy.quota.has_value() ? dependency.Capacity() : 0;
  std::vector<Claim> claims;
  claims.reserve(services.size());
  for (const Service& service : services) claims.push_back(MakeClaim(service, nominal, weights));
  return claims;
}

void DivideAmongServices(DependencyState& dependency, Services& services, Calls available,
                         Instant now) {
  std::vector<Claim> claims = MakeServiceClaims(dependency, services);
  if (SumOfLows(claims) > available) {
    for (Service& service : services) YieldIdle(service);
    claims = MakeServiceClaims(dependency, services);
  }
  std::vector<Turn*> turns;
  turns.reserve(services.size());
  for (const Service& service : services) turns.push_back(&service.state->turn);
  const std::vector<Calls> shares =
      Divide(available, claims, turns, dependency, now, dependency.ring);
  for (std::size_t i = 0; i < services.size(); ++i) services[i].share = shares[i];
}

std::vector<Claim> MakeInstanceClaims(const Service& service) {
  std::vector<Claim> claims;
  claims.reserve(service.rows.size());
  for (const Row& row : service.rows) claims.push_back(row.claim);
  return claims;
}

void DivideAmongInstances(DependencyState& dependency, Service& service, Instant now) {
  std::vector<Claim> claims = MakeInstanceClaims(service);
  if (SumOfLows(claims) > service.share) {
    YieldIdle(service);
    claims = MakeInstanceClaims(service);
  }
  std::vector<Turn*> turns;
  turns.reserve(service.rows.size());
  for (const Row& row : service.rows) turns.push_back(&row.member->turn);
  const std::vector<Calls> shares =
      Divide(service.share, claims, turns, dependency, now, service.state->ring);
  for (std::size_t i = 0; i < service.rows.size(); ++i) {
    Member& member = *service.rows[i].member;
    member.share = shares[i];
    member.wanted = service.rows[i].claim.high;
    dependency.wanted += member.wanted;
    if (member.share < member.wanted) ++dependency.shares_clamped_total;
  }
}

OfferRow MakeOfferRow(const Row& row, absl::Duration dwell, Instant now) {
  const Member& member = *row.member;
  OfferRow offer;
  offer.current = std::min(member.sent.limit, row.claim.top);
  offer.share = member.share;
  offer.low = row.claim.low;
  offer.high = row.claim.high;
  offer.wants = row.wants;
  offer.settled = !member.raised_at.has_value() || now - *member.raised_at >= dwell;
  return offer;
}

// What is free may be offered to a service only up to its maximum.
void KeepMaximum(const Service& service, std::vector<OfferRow>& all, std::size_t first) {
  if (!service.settings.maximum.has_value()) return;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<OfferRow> rows(begin, begin + std::ssize(service.rows));
  std::int64_t sum = 0;
  for (const OfferRow& row : rows) sum += row.offer;
  const Calls most = *service.settings.maximum;
  if (sum <= most) return;
  MakeOffers(rows, {most, 0, std::max(1, most / kTransitPart), 0, false});
  std::copy(rows.begin(), rows.end(), begin);
}

void OfferShares(const DependencyState& dependency, Services& services, const OfferTerms& terms,
                 Instant now) {
  const absl::Duration dwell = Dwell(dependency);
  std::vector<OfferRow> offers;
  offers.reserve(dependency.members.size());
  for (const Service& service : services) {
    for (const Row& row : service.rows) offers.push_back(MakeOfferRow(row, dwell, now));
  }
  MakeOffers(offers, terms);
  std::size_t next = 0;
  for (Service& service : services) {
    KeepMaximum(service, offers, next);
    for (Row& row : service.rows) row.member->offer = offers[next++].offer;
  }
}

Reason ReasonOf(const DependencyState& dependency, const Member& member) {
  if (member.sent_seq.value == 0 && member.sent.limit == 0) return Reason::kInitial;
  const bool by_operator =
      dependency.moved == Reason::kQuotaChanged || dependency.moved == Reason::kConfigReloaded;
  if (by_operator) return *dependency.moved;
  if (member.by_operator.has_value()) return *member.by_operator;
  const std::optional<Calls> own = dependency.LimitOf(member);
  if (own.has_value() && member.share < member.wanted) return Reason::kQuotaRebalanced;
  if (own.has_value() && dependency.knee != nullptr) {
    return member.offer == *own ? dependency.knee->reason() : Reason::kQuotaRebalanced;
  }
  if (member.law != nullptr && member.law->last_decision().has_value()) {
    return member.law->last_decision()->reason;
  }
  return dependency.moved.value_or(Reason::kQuotaRebalanced);
}

// Who has nothing and wants something comes first.
void NoteHungry(DependencyState& dependency, const Services& services) {
  dependency.hungry.clear();
  for (const Service& service : services) {
    for (const Row& row : service.rows) {
      Member& member = *row.member;
      const bool followed = member.offer == member.sent.limit && member.sent.limit == member.share;
      if (followed) member.by_operator.reset();
      member.reason = ReasonOf(dependency, member);
      if (member.offer <= member.sent.limit) continue;
      if (row.wants && member.sent.limit == 0) {
        dependency.hungry.push_front(member.session->id);
      } else {
        dependency.hungry.push_back(member.session->id);
      }
    }
  }
}

}  // namespace

Calls DependencyState::Capacity() const {
  if (retired) return 0;
  const Calls quota = policy.quota_or_max();
  if (pin.limit.has_value()) return quota;
  return std::min(quota, PoolLimit().value_or(quota));
}

std::int64_t ExcessOf(const DependencyState& dependency) {
  if (!dependency.policy.quota.has_value()) return 0;
  return std::max<std::int64_t>(0, dependency.ledger.Reserved() - *dependency.policy.quota);
}

void DependencyState::Move(Reason reason) {
  moved = reason;
  for (auto& [id, member] : members) member.by_operator = reason;
}

void DependencyState::SetUnbooked(Member& member, Calls calls) {
  unbooked += calls - member.unbooked;
  member.unbooked = calls;
}

void DependencyState::Forget(const SessionId& session) {
  Member* const member = members.Find(session);
  if (member == nullptr) return;
  SetUnbooked(*member, 0);
  if (knee != nullptr) knee->Leave(*member);
  if (breaker != nullptr) breaker->Leave(session);
  members.Erase(session);
}

std::optional<Calls> DependencyState::PoolLimit() const {
  if (pool != nullptr) return pool->limit();
  if (knee != nullptr && knee->shared()) return knee->total();
  return std::nullopt;
}

std::optional<Calls> DependencyState::LimitOf(const Member& member) const {
  if (member.law != nullptr) return member.law->limit();
  if (knee != nullptr && !knee->shared()) return knee->LimitOf(member);
  return std::nullopt;
}

bool DependencyState::FloorsFit() const {
  const auto floors = static_cast<std::int64_t>(members.size()) * policy.algorithm.floor;
  return floors <= policy.quota_or_max();
}

void Allocate(DependencyState& dependency, const Sessions& sessions, Instant now) {
  Census census = TakeCensus(dependency, sessions, now);
  const Policy& policy = dependency.policy;
  OfferTerms terms;
  terms.join_reserve = policy.join_reserve_or_default();
  const Calls most = std::min(dependency.Capacity(), policy.quota_or_max() - terms.join_reserve);
  terms.available = static_cast<Calls>(std::max<std::int64_t>(0, most - census.silent));
  terms.transit_max = std::max(1, policy.quota_or_max() / kTransitPart);
  terms.in_transit =
      std::max<std::int64_t>(0, dependency.ledger.Reserved() - census.silent - census.sent);
  terms.overbooked = dependency.ledger.Reserved() > policy.quota_or_max();
  for (Service& service : census.services) SpreadMinimum(policy, service);
  dependency.wanted = 0;
  DivideAmongServices(dependency, census.services, terms.available, now);
  for (Service& service : census.services) DivideAmongInstances(dependency, service, now);
  OfferShares(dependency, census.services, terms, now);
  NoteHungry(dependency, census.services);
  dependency.moved.reset();
}

}  // namespace plimsoll::internal
