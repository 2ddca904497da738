#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The request path counts time in units of 1024 ns of the lease clock, so that the words below
// have room for it.
inline constexpr int kUnitLog2 = 10;
constexpr std::uint64_t UnitOf(Instant at) {
  return static_cast<std::uint64_t>(at.ns >> kUnitLog2);
}
inline absl::Duration FromUnits(std::int64_t units) {
  return absl::Nanoseconds(units * (std::int64_t{1} << kUnitLog2));
}

// The calls in flight and the integral of that number over time, in one word:
//
//   bits 0..19   calls in flight
//   bit  20      orphaned: the owner is gone, the last call to end cleans up
//   bits 21..63  A = sum of the times calls ended at - sum of the times they entered at,
//                in units, modulo 2^43
//
// The integral up to a time t is then A + calls * t: one load tells it exactly, and entering and
// leaving are one atomic addition each. The low field neither carries nor borrows as long as
// 0 <= calls < 2^20. Callers that will be refused are in it for an instant, so it can exceed the
// limit by the number of threads that are between Enter() and their Leave(): with a limit of at
// most kCallsMax = 10^6, that leaves room for 48,575 of them at once.
//
// The integral of one interval is read from a difference modulo 2^43 units; it is right up to 2^42
// units = 4.5 million call-seconds. Thread-safe.
class InFlight {
 public:
  // One consistent reading.
  struct Reading {
    Calls calls = 0;
    bool orphaned = false;
    std::uint64_t sum = 0;  // A

    // The integral of calls over time up to `at`, in units modulo 2^43.
    std::uint64_t IntegralAt(Instant at) const {
      return (sum + static_cast<std::uint64_t>(calls) * UnitOf(at)) & kSumMask;
    }
  };

  // Proof that a call is counted. Only Enter() makes it.
  class Entered {
   public:
    Instant at() const { return at_; }
    Calls calls() const { return calls_; }  // in flight, this one included

   private:
    friend class InFlight;
    Entered(Instant at, Calls calls) : at_(at), calls_(calls) {}

    Instant at_;
    Calls calls_;
  };

  // Counts a call. Sequentially consistent: half of rule A3, whose other half is the load of the
  // admission word that must follow.
  Entered Enter(Instant at) {
    const std::uint64_t before =
        word_.fetch_add(1 - (UnitOf(at) << kSumShift), std::memory_order_seq_cst);
    return {at, CallsOf(before) + 1};
  }

  // Undoes Enter(at) to the last bit, or ends a call that entered earlier. Returns true if this was
  // the last call of an orphan: the caller must then delete the owner. Nobody else may touch the
  // owner after this call.
  [[nodiscard]] bool Leave(Instant at) {
    const std::uint64_t before =
        word_.fetch_add((UnitOf(at) << kSumShift) - 1, std::memory_order_acq_rel);
    return (before & (kOrphan | kCallsMask)) == (kOrphan | 1);
  }

  // Returns true if no call is in flight; else the last one to leave is told.
  [[nodiscard]] bool Orphan() {
    return CallsOf(word_.fetch_or(kOrphan, std::memory_order_acq_rel)) == 0;
  }

  // A recent value; no other memory is ordered by it.
  Calls calls() const { return CallsOf(word_.load(std::memory_order_relaxed)); }

  // Sequentially consistent: after an admission word was stored, every call that was admitted by
  // the word before it is counted here, or has ended.
  Reading Read() const {
    const std::uint64_t word = word_.load(std::memory_order_seq_cst);
    return {CallsOf(word), (word & kOrphan) != 0, word >> kSumShift};
  }

  // The signed difference of two integrals.
  static constexpr std::int64_t Difference(std::uint64_t later, std::uint64_t earlier) {
    return static_cast<std::int64_t>((later - earlier) << kSumShift) >> kSumShift;
  }

 private:
  static constexpr int kSumShift = 21;
  static constexpr std::uint64_t kSumMask = (std::uint64_t{1} << (64 - kSumShift)) - 1;
  static constexpr std::uint64_t kOrphan = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kCallsMask = kOrphan - 1;
  static_assert(kCallsMax < static_cast<Calls>(kCallsMask));

  static constexpr Calls CallsOf(std::uint64_t word) {
    return static_cast<Calls>(word & kCallsMask);
  }

  std::atomic<std::uint64_t> word_{0};
};

}  // namespace plimsoll::internal
