#include "controller/src/census.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll::internal {
namespace {

// A tenth more than what was used, and one: room to notice that more is wanted.
constexpr double kHeadroom = 1.1;
// Who needed one call at once has nothing to do 22 s later.
constexpr double kNeedsNothing = 0.1;
// What a sync may take beside its hold before its agent counts as silent.
constexpr absl::Duration kAnswerTime = absl::Seconds(1);
// For so long an instance counts as new.
constexpr absl::Duration kNew = absl::Seconds(30);
// So many that fall silent while they are new, within so long, are a crash loop.
constexpr std::size_t kLoopLosses = 3;
constexpr absl::Duration kLoopSpan = absl::Minutes(1);
// One part in so many is what newcomers may lose.
constexpr Calls kNewcomersPart = 10;

// An agent has a sync under way all the time; what is offered to others would wait for the dead. A
// registration alone takes nothing: it may be a late copy from a process long dead.
bool Takes(const DependencyState& dependency, const Member& member, Instant now) {
  const SessionState& session = *member.session;
  if (session.fenced || session.evicted || !member.reported_at.has_value()) return false;
  return now - *member.reported_at < 2 * SyncMax(dependency) + kAnswerTime;
}

void NoteRaise(Member& member, Instant now) {
  if (member.seen_limit.has_value() && member.sent.limit > *member.seen_limit) {
    member.raised_at = now;
  }
  member.seen_limit = member.sent.limit;
}

void FindService(DependencyState& dependency, const Sessions& sessions, const SessionId& id,
                 Member& member) {
  if (member.service != nullptr) return;
  if (member.session == nullptr) member.session = &sessions.at(id);
  member.service = &dependency.services[member.session->service];
}

Calls AlgorithmTop(const DependencyState& dependency, const Member& member) {
  if (dependency.pin.limit.has_value()) return *dependency.pin.limit;
  const Calls ceiling = dependency.policy.algorithm.ceiling;
  return std::min(ceiling, dependency.LimitOf(member).value_or(ceiling));
}

Row MakeRow(const DependencyState& dependency, Member& member, Instant now) {
  Row row{&member, {}, false, 0};
  Claim& claim = row.claim;
  claim.holds = member.sent.limit;
  if (member.session->leaving) {
    claim.weight = 0;
    claim.low = claim.high = claim.top = std::min(member.in_flight, member.sent.limit);
    row.low_if_scarce = claim.low;
    return row;
  }
  const double need = member.demand.Need(now);
  const Calls top = AlgorithmTop(dependency, member);
  const double usable = std::floor(need * kHeadroom) + 1;
  claim.weight = std::clamp<double>(member.demand.Load(), 1, std::max(1, top));
  claim.top = top;
  // What is pinned is wanted, whether it is used or not.
  const bool all = dependency.pin.limit.has_value() || usable >= top;
  claim.high = all ? top : static_cast<Calls>(usable);
  claim.low = std::min(dependency.policy.algorithm.floor, claim.high);
  row.wants = need >= kNeedsNothing;
  row.low_if_scarce = row.wants ? claim.low : 0;
  return row;
}

Service& ServiceOf(Services& services, const DependencyState& dependency, const Member& member) {
  std::optional<std::size_t>& row = member.service->row;
  if (row.has_value()) return services[*row];
  row = services.size();
  Service service{&member.session->service, member.service, {}, {}, 0};
  const auto found = dependency.policy.services.find(member.session->service);
  if (found != dependency.policy.services.end()) service.settings = found->second;
  return services.emplace_back(std::move(service));
}

absl::Duration LifeOf(const SessionState& session) { return session.seen_at - session.joined_at; }

// A controller that was stopped itself cannot tell who is silent.
void NoteAttention(DependencyState& dependency, Instant now) {
  const bool gap =
      !dependency.allocated_at.has_value() || now - *dependency.allocated_at > dependency.lease / 4;
  if (gap) dependency.attentive_since = now;
  dependency.allocated_at = now;
}

bool IsLostEarly(const DependencyState& dependency, const SessionState& session, Instant now) {
  const Instant silent_since = std::max(session.seen_at, dependency.attentive_since);
  return session.spoken && !session.inherited && LifeOf(session) < kNew &&
         now - silent_since > dependency.lease / 2;
}

void NoteLoss(DependencyState& dependency, Member& member, Instant now) {
  if (std::exchange(member.lost_early, true)) return;
  dependency.early_losses.push_back({member.session->id, now, LifeOf(*member.session)});
}

// It was cut off, and is not lost.
void NoteReturn(DependencyState& dependency, Member& member) {
  if (!std::exchange(member.lost_early, false)) return;
  std::erase_if(dependency.early_losses,
                [&member](const EarlyLoss& loss) { return loss.session == member.session->id; });
}

// By which age the loop takes its processes. Who has lived twice as long is not in it.
absl::Duration Infancy(const std::deque<EarlyLoss>& losses) {
  std::vector<absl::Duration> lives;
  lives.reserve(losses.size());
  for (const EarlyLoss& loss : losses) lives.push_back(loss.life);
  std::nth_element(lives.begin(), lives.begin() + (kLoopLosses - 1), lives.end());
  return std::min(kNew, 2 * lives[kLoopLosses - 1] + kAnswerTime);
}

void CapAt(Row& row, Calls most) {
  Claim& claim = row.claim;
  claim.top = std::min(claim.top, std::max(most, row.member->sent.limit));
  claim.high = std::min(claim.high, claim.top);
  claim.low = std::min(claim.low, claim.high);
  row.low_if_scarce = std::min(row.low_if_scarce, claim.low);
}

void HoldBackNewcomers(DependencyState& dependency, Census& census, Instant now) {
  std::deque<EarlyLoss>& losses = dependency.early_losses;
  while (!losses.empty() && now - losses.front().at > kLoopSpan) losses.pop_front();
  if (losses.size() < kLoopLosses || !dependency.policy.quota.has_value()) return;
  const absl::Duration infancy = Infancy(losses);
  std::vector<Row*> newcomers;
  for (Service& service : census.services) {
    for (Row& row : service.rows) {
      const SessionState& session = *row.member->session;
      if (!session.inherited && now - session.joined_at < infancy) newcomers.push_back(&row);
    }
  }
  const Calls allowed = std::max(1, *dependency.policy.quota / kNewcomersPart);
  const auto left = static_cast<Calls>(std::max<std::int64_t>(0, allowed - census.lost_early));
  const auto count = static_cast<Calls>(newcomers.size());
  for (Calls i = 0; i < count; ++i) {
    CapAt(*newcomers[static_cast<std::size_t>(i)], left / count + (i < left % count ? 1 : 0));
  }
}

}  // namespace

Census TakeCensus(DependencyState& dependency, const Sessions& sessions, Instant now) {
  Census census;
  NoteAttention(dependency, now);
  for (auto& [name, service] : dependency.services) {
    service.members = 0;
    service.row.reset();
  }
  for (auto& [id, member] : dependency.members) {
    FindService(dependency, sessions, id, member);
    ++member.service->members;
    NoteRaise(member, now);
    member.wanted = member.share = member.offer = 0;
    member.base = dependency.policy.base();
    if (Takes(dependency, member, now)) {
      NoteReturn(dependency, member);
      Service& service = ServiceOf(census.services, dependency, member);
      service.rows.push_back(MakeRow(dependency, member, now));
      census.sent += member.sent.limit;
    } else {
      const Calls reserved = dependency.ledger.Reserved(id);
      census.silent += reserved;
      // Should it speak again, it keeps what is reserved for it.
      member.offer = std::min(member.sent.limit, reserved);
      if (IsLostEarly(dependency, *member.session, now)) {
        NoteLoss(dependency, member, now);
        census.lost_early += reserved;
      }
    }
  }
  std::erase_if(dependency.services, [](const auto& entry) { return entry.second.members == 0; });
  std::sort(census.services.begin(), census.services.end(),
            [](const Service& a, const Service& b) { return *a.name < *b.name; });
  HoldBackNewcomers(dependency, census, now);
  return census;
}

}  // namespace plimsoll::internal
