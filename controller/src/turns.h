#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What one claimant remembers of taking turns.
struct Turn {
  // What it is owed, in 2^-20 of a call times turns. Whole numbers: rounding would break ties, and
  // then some wait longer than others for ever.
  std::int64_t credit = 0;
  bool holds = false;
  // When it took or gave back its call last, or came.
  std::optional<Instant> since;
};

// When the claimants of one group took turns last.
struct Ring {
  std::optional<Instant> turned_at;
};

struct TurnTaker {
  Turn* turn;
  double share;  // of a call, above 0 and below 1
};

// Hands out `calls` single calls, at most one to each taker: sets `holds` of each. Every
// `interval` at most one call changes hands: from the holder with the least credit to the waiting
// one with the most, if that is more. Among equals, who has held or waited longest. Credit grows by
// the share and falls by what is held, so in the long run everybody holds a call for his share of
// the time, and of N equal ones sharing Q calls nobody waits for more than N - Q + 1 turns. More or
// fewer calls than before are handed out or taken back at once. O(n log n).
void TakeTurns(std::vector<TurnTaker> takers, Calls calls, absl::Duration interval, Instant now,
               Ring& ring);

}  // namespace plimsoll::internal
