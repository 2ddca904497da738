#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/time/time.h"
#include "agent/src/thread_stripe.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The request path counts time in units of 1024 ns of the lease clock, so that the words here and
// those of admission_words.h have room for it.
inline constexpr int kUnitLog2 = 10;
constexpr std::uint64_t UnitOf(Instant at) {
  return static_cast<std::uint64_t>(at.ns >> kUnitLog2);
}
inline absl::Duration FromUnits(std::int64_t units) {
  return absl::Nanoseconds(units * (std::int64_t{1} << kUnitLog2));
}

// The integral over time of the calls in flight. A sum of words, one for each thread that counts:
//
//   bits 0..21   C = units that entered - units that left
//   bits 22..63  A = sum of the times units left at - sum of the times they entered at, in units of
//                time, modulo 2^42, less the borrow of C
//
// Words are added as a whole, so a call may leave on another thread than it entered on: then C of a
// single word is negative, that of the sum is not. The integral up to a time t is A + C * t. Only
// the thread of a word changes it, which costs no atomic addition, and each word is right by itself
// at any moment; a reading while calls enter and leave is off by what happened during the reading,
// and the next one has it.
//
// The integral of one interval is read from a difference modulo 2^42 units; it is right up to 2^41
// units = 2.2 million call-seconds, and while fewer than 2^21 units are in flight. Thread-safe.
class TimeInFlight {
 public:
  void Enter(Instant at, Calls cost) { words_.Add(Delta(at, cost)); }
  void Leave(Instant at, Calls cost) { words_.Add(-Delta(at, cost)); }

  // In units modulo 2^42.
  std::uint64_t IntegralAt(Instant at) const {
    const auto sum = static_cast<std::int64_t>(words_.Read());
    const std::int64_t inside = (sum << (64 - kSumShift)) >> (64 - kSumShift);
    const auto times = static_cast<std::uint64_t>((sum - inside) >> kSumShift);
    return (times + static_cast<std::uint64_t>(inside) * UnitOf(at)) & kSumMask;
  }

  // The signed difference of two integrals.
  static constexpr std::int64_t Difference(std::uint64_t later, std::uint64_t earlier) {
    return static_cast<std::int64_t>((later - earlier) << kSumShift) >> kSumShift;
  }

 private:
  static constexpr int kSumShift = 22;
  static constexpr std::uint64_t kSumMask = (std::uint64_t{1} << (64 - kSumShift)) - 1;

  static constexpr std::uint64_t Delta(Instant at, Calls cost) {
    const auto units = static_cast<std::uint64_t>(cost);
    return units - ((units * UnitOf(at)) << kSumShift);
  }

  StripedSum words_;
};

}  // namespace plimsoll::internal
