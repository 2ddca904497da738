#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "agent/src/grant_port.h"
#include "agent/src/in_flight.h"
#include "agent/src/time_in_flight.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// A step function in three words, one per step, each of which says by itself what it allows and
// until when:
//
//   bits 63..44  limit     bits 43..0  end, in units modulo 2^44, rounded down
//
// The end is compared by its signed distance from now, which is right within 104 days; later steps
// lie in later words, and the last never ends. A reader takes the first word that has not ended.
//
// Readers may see words of two grants, since three words cannot be stored at once. It does no harm.
// What a reader uses is one word, and that word obeys rule A3: either its store came after the
// reader had been counted, so that the acknowledgement includes the reader, or the reader sees the
// newer word. Nor can a mix allow too much: words are stored from the last to the first, so it is
// ended words of an older grant followed by words of a newer one, and a later word is at most what
// the newer grant has in force now, because limit >= base >= reserve.
//
// Stored from one thread at a time; loads are thread-safe.
class AdmissionWords {
 public:
  // An upper bound of LimitAt() for one atomic load and no clock: steps only go down.
  Calls Highest() const { return LimitOf(words_[0].load(std::memory_order_relaxed)); }

  // The limit for a call. It must be counted before the words are loaded (rule A3), so this takes
  // the proof of it.
  Calls LimitFor(const InFlight::Entered& call) const { return LimitAt(call.at()); }

  Calls LimitAt(Instant at) const {
    const std::uint64_t first = words_[0].load(std::memory_order_seq_cst);
    if (!HasEnded(first, at)) [[likely]]
      return LimitOf(first);
    const std::uint64_t second = words_[1].load(std::memory_order_seq_cst);
    if (!HasEnded(second, at)) return LimitOf(second);
    return LimitOf(words_[2].load(std::memory_order_seq_cst));
  }

  // What of `function` can still be in force at `now` or later. Ended steps are never stored, or
  // they would come back into force when the distance wraps.
  void Store(const StepFunction& function, Instant now) {
    const Steps steps = function.Remaining(now);
    StoreWord(2, Encode(steps.reserve, now, now));
    StoreWord(1, Encode(steps.base, function.base_end, now));
    StoreWord(0, Encode(steps.limit,
                        now < function.limit_end ? function.limit_end : function.base_end, now));
  }

  void StoreZero() {
    for (const int word : {2, 1, 0}) StoreWord(word, 0);
  }

 private:
  static constexpr int kEndBits = 44;
  static constexpr std::uint64_t kEndMask = (std::uint64_t{1} << kEndBits) - 1;
  // A word may not name an end further away: the distance must not wrap while it is in use. The
  // agent's thread stores the words anew long before.
  static constexpr absl::Duration kFarthest = absl::Hours(24 * 50);
  static_assert(kCallsMax < (Calls{1} << (64 - kEndBits)));

  static std::uint64_t Encode(Calls limit, Instant end, Instant now) {
    const Instant kept = std::clamp(end, now, now + kFarthest);
    return (static_cast<std::uint64_t>(limit) << kEndBits) | (UnitOf(kept) & kEndMask);
  }
  static constexpr Calls LimitOf(std::uint64_t word) {
    return static_cast<Calls>(word >> kEndBits);
  }
  static constexpr bool HasEnded(std::uint64_t word, Instant at) {
    // The shift drops the limit and moves the sign of the distance to the top.
    return static_cast<std::int64_t>((word - UnitOf(at)) << (64 - kEndBits)) <= 0;
  }

  void StoreWord(int word, std::uint64_t value) {
    words_[word].store(value, std::memory_order_seq_cst);
  }

  std::atomic<std::uint64_t> words_[3] = {0, 0, 0};
};

}  // namespace plimsoll::internal
