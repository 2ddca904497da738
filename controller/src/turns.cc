#include "controller/src/turns.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

constexpr std::int64_t kCreditOfOne = 1 << 20;

bool IsDue(const Ring& ring, absl::Duration interval, Instant now) {
  return !ring.turned_at.has_value() || now - *ring.turned_at >= interval;
}

void Settle(const std::vector<TurnTaker>& takers, Calls calls) {
  double sum = 0;
  for (const TurnTaker& taker : takers) sum += taker.share;
  for (const TurnTaker& taker : takers) {
    const double earned = taker.share * calls / sum * static_cast<double>(kCreditOfOne);
    taker.turn->credit += std::llround(earned) - (taker.turn->holds ? kCreditOfOne : 0);
  }
}

// The first holders are the first to give, the first of the others the first to take.
std::size_t SortHoldersFirst(std::vector<TurnTaker>& takers) {
  const auto waiting = std::stable_partition(takers.begin(), takers.end(),
                                             [](const TurnTaker& t) { return t.turn->holds; });
  std::stable_sort(takers.begin(), waiting, [](const TurnTaker& a, const TurnTaker& b) {
    if (a.turn->credit != b.turn->credit) return a.turn->credit < b.turn->credit;
    return a.turn->since < b.turn->since;
  });
  std::stable_sort(waiting, takers.end(), [](const TurnTaker& a, const TurnTaker& b) {
    if (a.turn->credit != b.turn->credit) return a.turn->credit > b.turn->credit;
    return a.turn->since < b.turn->since;
  });
  return static_cast<std::size_t>(waiting - takers.begin());
}

void Set(Turn& turn, bool holds, Instant now) {
  turn.holds = holds;
  turn.since = now;
}

}  // namespace

void TakeTurns(std::vector<TurnTaker> takers, Calls calls, absl::Duration interval, Instant now,
               Ring& ring) {
  const auto wanted = static_cast<std::size_t>(std::max(0, calls));
  PLIMSOLL_CHECK(wanted <= takers.size(), "at most one call for each");
  for (const TurnTaker& taker : takers) taker.turn->since = taker.turn->since.value_or(now);
  const bool due = IsDue(ring, interval, now);
  if (due) {
    ring.turned_at = now;
    Settle(takers, calls);
  }
  const std::size_t holders = SortHoldersFirst(takers);
  for (std::size_t i = 0; i + wanted < holders; ++i) Set(*takers[i].turn, false, now);
  for (std::size_t i = holders; i < wanted; ++i) Set(*takers[i].turn, true, now);
  if (!due || holders != wanted || wanted == 0 || wanted == takers.size()) return;
  Turn& out = *takers.front().turn;
  Turn& in = *takers[holders].turn;
  if (in.credit <= out.credit) return;
  Set(out, false, now);
  Set(in, true, now);
}

}  // namespace plimsoll::internal
