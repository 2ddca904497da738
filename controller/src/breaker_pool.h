#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "absl/time/time.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What the pool has decided, for the log.
struct BreakerDecision {
  enum class Kind { kOpened, kReopened, kClosed, kInherited };

  Kind kind = Kind::kOpened;
  std::optional<BreakerRule> rule;  // kOpened
  BreakerEvidence evidence;         // kOpened: of all together
  int instances = 0;                // kOpened: that have given evidence
  absl::Duration cool_off;          // of all but kClosed
  std::optional<SessionId> prober;  // kReopened, kClosed: whose probe it was
  absl::Duration open_for;          // kReopened, kClosed: since it opened, or this reign saw it
  int probes_failed = 0;            // kReopened, kClosed: in that time
};

// The breaker of one dependency as a whole fleet has it: pools what all instances have seen, opens
// for all, lets one of them probe, and closes for all.
//
//   closed ── enough evidence ──► open ── cool-off over, somebody there ──► probing
//     ▲                            ▲                                         │ │ ▲
//     └───── the probe passed ─────┼─────────────────────────────────────────┘ │ │ no word, no
//     call:
//                                  └────────── the probe failed ───────────────┘ └─ another
//                                  instance
//
// Everything that an instance is told has an id (epoch, seq); evidence counts only under the id
// that the instance was given last, so what was seen before an opening cannot open it again after
// the closing. A reign that begins knows nothing: it takes over that it is open from the first that
// says so by an order of an earlier reign.
//
// A pure state machine. Confined to the core's thread.
class BreakerPool {
 public:
  struct Terms {
    Epoch epoch;
    // Who has lost the controller goes on alone after so long, beyond the cool-off.
    absl::Duration alone_after;
    // Who has not reported for so long cannot be asked to probe, or to go on probing.
    absl::Duration silent_after;
    // How long an instance may take to find a call that probes.
    absl::Duration probe_wait;
  };

  // `last_id` is where ids come from, and outlives the pool: they are never reused in an epoch.
  BreakerPool(const BreakerSettings& settings, const Terms& terms, std::int64_t* last_id,
              std::uint64_t seed);

  // From now on; what is open stays open.
  void SetSettings(const BreakerSettings& settings) { settings_ = settings; }
  const BreakerSettings& settings() const { return settings_; }

  // Of a session. The decision to which it led, if any.
  std::optional<BreakerDecision> Report(const SessionId& session, const BreakerReport& report,
                                        Instant now);
  void Leave(const SessionId& session);
  // Time has passed: chooses who probes. True if there is news for somebody.
  bool Advance(Instant now);

  // The order of a session has not been obeyed yet.
  bool HasNews(const SessionId& session) const;
  // What to tell a session, if there is anything.
  std::optional<BreakerOrder> OrderFor(const SessionId& session, const DependencyId& dependency,
                                       Instant now) const;

  BreakerView view() const { return view_; }
  std::optional<SessionId> prober() const;
  std::int64_t opened_total() const { return opened_total_; }
  // Until the next probe is due; zero if one is, or if it is closed.
  absl::Duration CoolOffLeft(Instant now) const;
  // Of the fleet now, and how many instances have given it.
  BreakerEvidence Evidence(Instant now, int* instances) const;

 private:
  struct Participant {
    BreakerOrder order;  // that it has, or should
    BreakerReport report;
    Instant reported_at;
    Instant ordered_at;
    std::int64_t chosen = 0;  // when it last was, counted in probers; 0: never
  };

  Participant& Join(const SessionId& session, const BreakerReport& report, Instant now);
  std::optional<BreakerDecision> Judge(const Participant& from, const SessionId& session,
                                       Instant now);
  std::optional<BreakerDecision> JudgeEvidence(Instant now);
  BreakerDecision Open(BreakerDecision::Kind kind, Instant now);
  BreakerDecision Close(const SessionId& session, Instant now);
  void TellAll(BreakerCommand command, Instant now);
  void Tell(Participant& participant, BreakerOrderId id, BreakerCommand command, Instant now);
  BreakerOrderId NextId();
  bool HasLostTheProbe(const Participant& prober, Instant now) const;
  bool IsPresent(const Participant& participant, Instant now) const;
  bool ChooseProber(Instant now);

  BreakerSettings settings_;
  const Terms terms_;
  std::int64_t* const last_id_;
  Random random_;

  BreakerView view_ = BreakerView::kClosed;  // never kHalfOpen
  bool decided_ = false;                     // in this reign
  int attempts_ = 0;                         // probes that failed since it opened
  Instant opened_at_;                        // or taken over
  Instant until_;                            // the end of the cool-off
  BreakerOrderId open_id_;                   // of the last order to all to open
  std::optional<SessionId> prober_;
  std::int64_t probers_ = 0;
  std::int64_t opened_total_ = 0;
  std::map<SessionId, Participant> participants_;
};

}  // namespace plimsoll::internal
