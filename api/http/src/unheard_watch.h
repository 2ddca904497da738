#pragma once

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"
#include "plimsoll/http/hearing.h"

namespace plimsoll::internal {

// Finds out that agents cannot reach a controller that leads, though its store can.
//
// An agent always has a sync under way, and sends the next as soon as one is answered, which is
// after the hold at the latest. So if this controller owes nobody an answer and hears nothing for
// longer than an agent itself waits, either all have gone at once or the network has. It looks at
// all agents together: one of them may die, but if any is heard the network is not at fault. Only
// those count that have kept the rhythm for a while: who asks once a minute is no witness of
// silence. And time counts as silence only while this process and its store are at work.
//
// Time is handed in. Confined to the core's thread.
class UnheardWatch {
 public:
  // Must be called at least this often.
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(100);

  // `unheard_after`: how long it must be silent after the last answer; `hold_max`: how late an
  // answer is.
  UnheardWatch(absl::Duration unheard_after, absl::Duration hold_max);

  // An agent has asked something, and is owed an answer; it has got it, or does not wait any more.
  void Asked();
  void Settled();
  // An answer to a sync of this session, which there is; it was given back.
  void Synced(int shard, const SessionId& session);
  void Released(int shard, const SessionId& session);

  // What has changed since the last look, if anything. `leads`: any shard; `store_answers`: to what
  // was asked of it last. Says kUnheard once, and not again before somebody was heard.
  std::optional<Hearing> Look(Instant now, bool leads, bool store_answers);

 private:
  struct Rhythm {
    absl::Duration synced_at;  // of clock_
    int beats = 0;             // in time, one after the other
  };

  void Count(Instant now, bool store_answers);
  void DropSilent();
  bool HasWitness() const;
  std::optional<Hearing> Judge();

  const absl::Duration unheard_after_;
  const absl::Duration beat_max_;  // from one answer to the next
  absl::flat_hash_map<std::pair<int, SessionId>, Rhythm> sessions_;
  Instant looked_at_;
  absl::Duration clock_;  // the time that was looked at
  absl::Duration dropped_at_;
  absl::Duration silence_;
  int owed_ = 0;
  bool stirred_ = false;  // since the last look
  bool heard_ = false;    // likewise
  bool leads_ = false;
  bool unheard_ = false;  // it was said, and nobody was heard since
  bool doubted_ = false;  // that it leads all the same was said
};

}  // namespace plimsoll::internal
