#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// The highest of the numbers noted during the last 15 to 16 seconds, in cells of a second. Noted by
// one thread at a time; readings are thread-safe and change nothing, so it does not matter who
// reads how often.
class RollingMax {
 public:
  void Note(Instant at, Calls calls) {
    const std::int64_t second = SecondOf(at);
    std::atomic<std::uint64_t>& cell = cells_[static_cast<std::size_t>(second) % kCells];
    const std::uint64_t before = cell.load(std::memory_order_relaxed);
    const Calls highest = CellSecond(before) == second ? std::max(CellCalls(before), calls) : calls;
    cell.store(
        (static_cast<std::uint64_t>(second) << kCallsBits) | static_cast<std::uint64_t>(highest),
        std::memory_order_relaxed);
  }

  // 0 if nothing was noted.
  Calls At(Instant now) const {
    const std::int64_t second = SecondOf(now);
    Calls highest = 0;
    for (const std::atomic<std::uint64_t>& cell : cells_) {
      const std::uint64_t value = cell.load(std::memory_order_relaxed);
      if (CellSecond(value) + kSeconds >= second) highest = std::max(highest, CellCalls(value));
    }
    return highest;
  }

 private:
  static constexpr std::int64_t kSeconds = 15;
  static constexpr std::size_t kCells = kSeconds + 1;
  static constexpr int kCallsBits = 21;
  static_assert(kCallsMax < (Calls{1} << kCallsBits));

  static std::int64_t SecondOf(Instant at) { return at.ns / 1'000'000'000; }
  static std::int64_t CellSecond(std::uint64_t cell) {
    return static_cast<std::int64_t>(cell >> kCallsBits);
  }
  static Calls CellCalls(std::uint64_t cell) {
    return static_cast<Calls>(cell & ((std::uint64_t{1} << kCallsBits) - 1));
  }

  std::array<std::atomic<std::uint64_t>, kCells> cells_{};
};

}  // namespace plimsoll::internal
