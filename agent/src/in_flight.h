#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The calls in flight, in one word:
//
//   bits 0..19   calls in flight
//   bit  20      orphaned: the owner is gone, the last call to end cleans up
//   bit  21      waiting: callers wait for a place, so whoever leaves must look after them
//
// A call of cost c counts as c calls. Entering and leaving are one atomic addition each, of a
// constant: an operand that depended on the time would make the addition, for which the processor
// stops, wait for the clock's arithmetic. Time is counted apart (time_in_flight.h).
//
// The low field neither carries nor borrows as long as 0 <= calls < 2^20. Callers that will be
// refused are in it for an instant, so it can exceed the limit by the number of threads that are
// between Enter() and their Leave(): with a limit of at most kCallsMax = 10^6, that leaves room for
// 48,575 of them at once. Costs above 1 enter by TryEnter(), which does not go beyond the limit
// even for an instant. Thread-safe.
class InFlight {
 public:
  // One consistent reading.
  struct Reading {
    Calls calls = 0;
    bool orphaned = false;
    bool waiting = false;
  };

  // Proof that a call is counted. Only Enter() and TryEnter() make it.
  class Entered {
   public:
    Instant at() const { return at_; }
    Calls calls() const { return calls_; }  // in flight, this one included
    bool waiting() const { return waiting_; }

   private:
    friend class InFlight;
    Entered(Instant at, Calls calls, bool waiting) : at_(at), calls_(calls), waiting_(waiting) {}

    Instant at_;
    Calls calls_;
    bool waiting_;
  };

  // What the word said when a call left it.
  struct Left {
    // This was the last call of an orphan: the caller must delete the owner. If false, nobody may
    // touch the owner after the call that returned this.
    bool last_of_orphan = false;
    bool waiting = false;  // somebody may wait for the place that became free
  };

  // Counts a call. Sequentially consistent: half of rule A3, whose other half is the load of the
  // admission word that must follow.
  Entered Enter(Instant at) {
    return Enter([at] { return at; });
  }
  // The same; `at` is asked for the moment afterwards.
  template <typename At>
  Entered Enter(const At& at) {
    const std::uint64_t before = word_.fetch_add(1, std::memory_order_seq_cst);
    return {at(), CallsOf(before) + 1, (before & kWaiting) != 0};
  }

  // As Enter() for a call of this cost, unless more than `most` would be in flight with it.
  std::optional<Entered> TryEnter(Instant at, Calls cost, Calls most) {
    std::uint64_t before = word_.load(std::memory_order_relaxed);
    do {
      if (CallsOf(before) > most - cost) return std::nullopt;
    } while (!word_.compare_exchange_weak(before, before + Units(cost), std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return Entered(at, CallsOf(before) + cost, (before & kWaiting) != 0);
  }

  [[nodiscard]] Left Leave(Calls cost = 1) {
    const std::uint64_t before = word_.fetch_sub(Units(cost), std::memory_order_acq_rel);
    return {(before & kOrphan) != 0 && CallsOf(before) == cost, (before & kWaiting) != 0};
  }

  // From here on whoever leaves is told that somebody waits. In the reading returned are all calls
  // that have not been told, so whoever finds room in it must not wait.
  Reading SetWaiting() { return Parse(word_.fetch_or(kWaiting, std::memory_order_seq_cst)); }
  void ClearWaiting() { word_.fetch_and(~kWaiting, std::memory_order_seq_cst); }

  // Returns true if no call is in flight; else the last one to leave is told.
  [[nodiscard]] bool Orphan() {
    return CallsOf(word_.fetch_or(kOrphan, std::memory_order_acq_rel)) == 0;
  }

  // A recent value; no other memory is ordered by it.
  Calls calls() const { return CallsOf(word_.load(std::memory_order_relaxed)); }

  // Sequentially consistent: after an admission word was stored, every call that was admitted by
  // the word before it is counted here, or has ended.
  Reading Read() const { return Parse(word_.load(std::memory_order_seq_cst)); }

 private:
  static constexpr std::uint64_t kOrphan = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kWaiting = std::uint64_t{1} << 21;
  static constexpr std::uint64_t kCallsMask = kOrphan - 1;
  static_assert(kCallsMax < static_cast<Calls>(kCallsMask));

  static constexpr Calls CallsOf(std::uint64_t word) {
    return static_cast<Calls>(word & kCallsMask);
  }
  static constexpr Reading Parse(std::uint64_t word) {
    return {CallsOf(word), (word & kOrphan) != 0, (word & kWaiting) != 0};
  }
  static constexpr std::uint64_t Units(Calls cost) { return static_cast<std::uint64_t>(cost); }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace plimsoll::internal
