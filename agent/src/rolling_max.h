#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The highest of the numbers noted during the last 15 to 16 seconds, in cells of a second.
// Thread-safe; readings change nothing, so it does not matter who reads how often.
class RollingMax {
 public:
  // Requires 0 <= calls < 2^21. Numbers noted 16 seconds late may be lost.
  void Note(Instant at, Calls calls) {
    // The second stands above the number, so the larger word is that of a later second or the
    // higher number of the same.
    const std::uint64_t second = SecondOf(at);
    const std::uint64_t word = (second << kCallsBits) | static_cast<std::uint64_t>(calls);
    std::atomic<std::uint64_t>& cell = cells_[second % kCells];
    std::uint64_t seen = cell.load(std::memory_order_relaxed);
    while (word > seen && !cell.compare_exchange_weak(seen, word, std::memory_order_relaxed)) {
    }
  }

  // 0 if nothing was noted.
  Calls At(Instant now) const {
    const std::uint64_t second = SecondOf(now);
    Calls highest = 0;
    for (const std::atomic<std::uint64_t>& cell : cells_) {
      const std::uint64_t word = cell.load(std::memory_order_relaxed);
      if ((word >> kCallsBits) + kSeconds >= second) highest = std::max(highest, CallsOf(word));
    }
    return highest;
  }

 private:
  static constexpr std::uint64_t kSeconds = 15;
  static constexpr std::size_t kCells = kSeconds + 1;
  static constexpr int kCallsBits = 21;
  static_assert(kCallsMax < (Calls{1} << kCallsBits));

  static std::uint64_t SecondOf(Instant at) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, at.ns)) / 1'000'000'000;
  }
  static Calls CallsOf(std::uint64_t word) {
    return static_cast<Calls>(word & ((std::uint64_t{1} << kCallsBits) - 1));
  }

  std::array<std::atomic<std::uint64_t>, kCells> cells_{};
};

}  // namespace plimsoll::internal
