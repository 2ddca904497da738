#include "controller/src/allocation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "controller/src/apportion.h"

namespace plimsoll::internal {
namespace {

// A tenth more than what was used, and one: room to notice that more is wanted.
constexpr double kHeadroom = 1.1;
// A raise that takes from others must be at least this large, and a tenth of what is held.
constexpr Calls kWorthTaking = 2;

struct Row {
  SessionId session;
  Member* member;
  Claim claim;
};

// A registration alone takes nothing: it may be a late copy from a process long dead.
bool Takes(const SessionState& session, const Ledger& ledger, Instant now) {
  const bool speaks = session.spoken || session.inherited;
  return speaks && !session.fenced && ledger.LimitHeld(session.id, now);
}

Calls AlgorithmTop(const DependencyState& dependency, const Member& member) {
  const Calls ceiling = dependency.policy.algorithm.ceiling;
  return member.law == nullptr ? ceiling : std::min(ceiling, member.law->limit());
}

Claim MakeClaim(const DependencyState& dependency, const Member& member,
                const SessionState& session, Instant now) {
  Claim claim;
  claim.holds = member.sent.limit;
  if (session.leaving) {
    claim.weight = 0;
    claim.low = claim.high = claim.top = std::min(member.in_flight, member.sent.limit);
    return claim;
  }
  const double demand = member.demand.At(now);
  const Calls top = AlgorithmTop(dependency, member);
  const double usable = std::floor(demand * kHeadroom) + 1;
  claim.weight = std::max(1.0, demand);
  claim.top = top;
  claim.high = usable >= top ? top : static_cast<Calls>(usable);
  claim.low = std::min(dependency.policy.algorithm.floor, claim.high);
  return claim;
}

// What the silent and the fenced still hold is not there to be divided.
Calls HeldBySilent(const DependencyState& dependency,
                   const std::map<SessionId, SessionState>& sessions, Instant now) {
  Calls held = 0;
  for (const auto& [id, member] : dependency.members) {
    if (!Takes(sessions.at(id), dependency.ledger, now)) held += dependency.ledger.Reserved(id);
  }
  return held;
}

std::vector<Row> MakeRows(DependencyState& dependency,
                          const std::map<SessionId, SessionState>& sessions, Instant now) {
  std::vector<Row> rows;
  rows.reserve(dependency.members.size());
  for (auto& [id, member] : dependency.members) {
    const SessionState& session = sessions.at(id);
    member.wanted = member.share = member.offer = 0;
    if (!Takes(session, dependency.ledger, now)) continue;
    rows.push_back({id, &member, MakeClaim(dependency, member, session, now)});
  }
  return rows;
}

bool IsFreeRaise(const Row& row) { return row.member->share > row.member->sent.limit; }

// A raise for which others should be lowered.
bool IsWorthTaking(const Row& row) {
  const Calls held = row.member->sent.limit;
  const Calls gain = row.member->share - held;
  if (gain <= 0) return false;
  if (held < row.claim.low) return true;
  return gain >= std::max(kWorthTaking, held / 10);
}

// Where the offers start: what is held, but never above what the law or the ceiling allows now.
Calls OfferWhatIsHeld(std::vector<Row>& rows) {
  Calls granted = 0;
  for (Row& row : rows) {
    row.member->offer = std::min(row.member->sent.limit, row.claim.top);
    granted += row.member->offer;
  }
  return granted;
}

// Raises for which there is room, without taking from anybody.
Calls OfferFreeRaises(std::vector<Row>& rows, Calls free) {
  for (Row& row : rows) {
    if (free <= 0) break;
    if (!IsFreeRaise(row)) continue;
    const Calls gain = std::min(free, row.member->share - row.member->offer);
    row.member->offer += gain;
    free -= gain;
  }
  return free;
}

Calls OfferWorthwhileRaises(std::vector<Row>& rows) {
  Calls missing = 0;
  for (Row& row : rows) {
    if (!IsWorthTaking(row)) continue;
    missing += row.member->share - row.member->offer;
    row.member->offer = row.member->share;
  }
  return missing;
}

Calls Excess(const Row* row) { return row->member->offer - row->member->share; }

// The largest excess first, until `missing` is found.
void OfferLowerings(std::vector<Row>& rows, Calls missing) {
  std::vector<Row*> above;
  for (Row& row : rows) {
    if (Excess(&row) > 0) above.push_back(&row);
  }
  std::stable_sort(above.begin(), above.end(),
                   [](const Row* a, const Row* b) { return Excess(a) > Excess(b); });
  for (Row* row : above) {
    if (missing <= 0) break;
    const Calls cut = std::min(missing, Excess(row));
    row->member->offer -= cut;
    missing -= cut;
  }
}

void MakeOffers(std::vector<Row>& rows, Calls available) {
  const Calls left = OfferFreeRaises(rows, available - OfferWhatIsHeld(rows));
  const Calls missing = OfferWorthwhileRaises(rows) + std::max(0, -left);
  OfferLowerings(rows, missing);
}

Reason ReasonOf(const DependencyState& dependency, const Member& member) {
  if (member.sent_seq.value == 0 && member.sent.limit == 0) return Reason::kInitial;
  if (member.law != nullptr && member.share < member.wanted) return Reason::kQuotaRebalanced;
  if (member.law != nullptr && member.law->last_decision().has_value()) {
    return member.law->last_decision()->reason;
  }
  return dependency.moved.value_or(Reason::kQuotaRebalanced);
}

}  // namespace

Calls DependencyState::Capacity() const {
  if (retired) return 0;
  const Calls quota = policy.quota_or_max();
  return pool == nullptr ? quota : std::min(quota, pool->limit());
}

void Allocate(DependencyState& dependency, const std::map<SessionId, SessionState>& sessions,
              Instant now) {
  std::vector<Row> rows = MakeRows(dependency, sessions, now);
  const Calls capacity = dependency.Capacity();
  const Calls silent = HeldBySilent(dependency, sessions, now);
  const Calls available = std::max(0, capacity - silent);
  std::vector<Claim> claims;
  claims.reserve(rows.size());
  for (const Row& row : rows) claims.push_back(row.claim);
  const std::vector<Calls> shares = Apportion(available, claims);
  dependency.wanted = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Member& member = *rows[i].member;
    member.share = shares[i];
    member.wanted = rows[i].claim.high;
    dependency.wanted += member.wanted;
    if (member.share < member.wanted) ++dependency.shares_clamped_total;
  }
  MakeOffers(rows, available);
  dependency.hungry.clear();
  for (const Row& row : rows) {
    Member& member = *row.member;
    member.reason = ReasonOf(dependency, member);
    if (member.offer > member.sent.limit) dependency.hungry.push_back(row.session);
  }
  dependency.moved.reset();
}

}  // namespace plimsoll::internal
