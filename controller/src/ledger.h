#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// How long what was sent may stay in force, and how wrong clocks may be.
struct LedgerTerms {
  absl::Duration lease;
  absl::Duration base_lease;
  absl::Duration call_deadline;
  double clock_rate_error = 0.01;
};

// The books of one dependency: for each session the reservation R, an upper bound of the limit it
// may have in force and of the calls it may have in flight, whatever was lost, late or silent:
//
//   R = max(limits sent and not superseded, calls in flight reported)   until the limit's hold ends
//   R = max(bases sent and not superseded)                              until the base's hold ends
//   R = max(reserves sent and not superseded)                           afterwards
//
// A hold runs for (lease + call deadline) * (1 + e) / (1 - e) from the last message of the session:
// a call admitted in the last moment of a step runs on for the call deadline. R falls only by an
// acknowledgement, a release, a fence or a hold running out, and rises only by Book(): so if the
// caller books no more than is free, the sum of all R never exceeds the quota. In observe mode R is
// what it would be; when it ends, Charge() books what really runs, and the sum may exceed the quota
// until those calls have ended. Rules C1 to C3 and
// C11 of controller/README.md. Pure. Thread-compatible.
class Ledger {
 public:
  explicit Ledger(const LedgerTerms& terms);

  bool Has(const SessionId& session) const { return entries_.contains(session); }
  std::size_t size() const { return entries_.size(); }

  // A session that has been sent nothing by this reign and holds nothing.
  void Join(const SessionId& session, Instant now);
  // A session of the reign before, with the bound that was durable and its terms (rule C9).
  void Inherit(const SessionId& session, const Steps& bound, const LedgerTerms& terms, Instant now);

  // Learning mode only: a session proves that it may have this in force, from a reign whose books
  // are lost. The only way, beside Book(), in which R rises.
  void Claim(const SessionId& session, const Steps& claim);
  // What is granted from now on may last this long. Holds go on covering what was granted before.
  void SetTerms(const LedgerTerms& terms, Instant now);

  // A message of the session arrived: what it holds may stay in force for another lease.
  // Requires Has(session), like all that follow.
  void ExtendHolds(const SessionId& session, Instant now);
  // The session reports `installed` of this epoch, and calls in flight. Everything sent before it
  // is superseded (C2). Returns how much R fell.
  Calls Acknowledge(const SessionId& session, Seq installed, Calls in_flight);
  // The session was not held to what it was sent, and reports more calls in flight: R rises to
  // them, and falls with them. Unlike Book(), it asks nobody whether so much is free.
  void Charge(const SessionId& session, Calls in_flight);
  // Books what is about to be sent, under the terms that hold now. `seq` must be larger than all
  // booked before in this dependency.
  void Book(const SessionId& session, Seq seq, const Steps& steps);
  void Release(const SessionId& session);

  // Ends what holds have ended for this session; what has ended stays ended if it comes back (C3).
  // Returns how much R fell.
  Calls Expire(const SessionId& session, Instant now);
  // The same for all, and fences.
  struct Expired {
    std::vector<SessionId> lowered;  // their R fell
    std::vector<SessionId> gone;     // their entries are gone
  };
  Expired ExpireAll(Instant now);

  // A newer process of the same name has spoken: R is dropped one call deadline later (C11).
  void Fence(const SessionId& session, Instant now);
  void CancelFence(const SessionId& session);
  bool IsFenced(const SessionId& session) const;

  Calls Reserved(const SessionId& session) const;
  // Of all: what is charged is not bounded by the quota, so the sum may not fit into Calls.
  std::int64_t Reserved() const { return total_; }
  // What a successor must assume: at least R and everything that may still be installed. Nothing of
  // a session that has no entry.
  std::optional<Steps> Bound(const SessionId& session) const;
  // How long what may be installed can last: this reign's terms, or longer ones inherited.
  LedgerTerms Terms() const { return Widest(); }
  // True while the limit's hold runs.
  bool LimitHeld(const SessionId& session, Instant now) const;
  bool BaseHeld(const SessionId& session, Instant now) const;

 private:
  struct Entry {
    std::vector<std::pair<Seq, Steps>> sent;  // ascending, from the last acknowledged one on
    Steps inherited;
    Calls in_flight = 0;
    Instant heard_at;  // the last message, from which grants count at the latest
    Instant limit_hold;
    Instant base_hold;
    bool limit_ended = false;  // the limit's hold has run out and the books were rewritten
    std::optional<Instant> fence_at;
  };

  static Steps Top(const Entry& entry);
  static Calls Reservation(const Entry& entry);
  static void MergeOldest(Entry& entry);
  static void EndLimits(Entry& entry);
  static void EndBases(Entry& entry);
  Calls Expire(Entry& entry, Instant now);
  void ExpireEntry(Entry& entry, Instant now);
  Entry& At(const SessionId& session);
  const Entry& At(const SessionId& session) const;
  absl::Duration Stretched(absl::Duration duration) const { return duration * stretch_; }
  LedgerTerms Widest() const;
  void Widen(const LedgerTerms& former, Instant now);
  void ExtendFrom(Entry& entry, Instant heard_at) const;
  Instant LimitHoldFrom(Instant now, const LedgerTerms& terms) const;
  Instant BaseHoldFrom(Instant now, const LedgerTerms& terms) const;

  LedgerTerms terms_;
  double stretch_;
  // Of grants made before SetTerms(), or by another reign, as long as they can last.
  std::optional<LedgerTerms> former_terms_;
  Instant former_until_;
  absl::flat_hash_map<SessionId, Entry> entries_;
  std::int64_t total_ = 0;
};

}  // namespace plimsoll::internal
