#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "plimsoll/core/breaker.h"

namespace plimsoll::internal {

// Counts how calls ended, over a window that slides in slices, and which have begun long ago and
// not ended. A start and a success are one atomic addition each; nothing is ever waited for.
//
// A slice is a power of two of nanoseconds, between a sixteenth and an eighth of the window. Each
// has its own cache line in a ring, which is reused when a call finds an older slice in its place.
// What is counted during that moment may be lost or kept by one or two calls; failures never are,
// since their word carries the slice in itself.
//
// Thread-safe, except the constructor.
class BreakerWindow {
 public:
  // `hang_after_ns` 0: starts are not counted.
  BreakerWindow(std::int64_t window_ns, std::int64_t hang_after_ns);

  // A call begins. True for the first of a slice: it looks whether others hang, since if all do,
  // nobody else will.
  [[nodiscard]] bool Start(std::int64_t now_ns);

  // Exactly one of these for a call that has begun, at `started_ns`. Succeed() answers as Start().
  [[nodiscard]] bool Succeed(std::int64_t started_ns, std::int64_t now_ns);
  void Fail(std::int64_t started_ns, std::int64_t now_ns, bool slow);
  void Leave(std::int64_t started_ns);  // says nothing

  // A call that succeeded was slow.
  void AddSlow(std::int64_t now_ns) { AddBad(SliceAt(now_ns), 0, 1); }

  // Without failures_in_a_row, which is not a matter of windows.
  BreakerEvidence Read(std::int64_t now_ns) const;

  void Clear();

 private:
  struct alignas(64) Slot {
    std::atomic<std::int64_t> slice{-1};
    // Successes · 2^32 + calls that began here and have not ended. Read as a whole, so that the low
    // half may be negative for a moment.
    std::atomic<std::int64_t> flow{0};
    // 24 bits of the slice, 20 bits failed, 20 bits slow.
    std::atomic<std::uint64_t> bad{0};
  };

  std::int64_t SliceAt(std::int64_t ns) const { return ns >> slice_log2_; }
  Slot& SlotOf(std::int64_t slice) {
    return slots_[static_cast<std::size_t>(slice) & (slots_.size() - 1)];
  }
  const Slot& SlotOf(std::int64_t slice) const {
    return slots_[static_cast<std::size_t>(slice) & (slots_.size() - 1)];
  }
  bool Turn(Slot& slot, std::int64_t slice);
  bool AddFlow(std::int64_t slice, std::int64_t flow);
  void AddBad(std::int64_t slice, std::uint64_t failed, std::uint64_t slow);
  void ReadSlice(std::int64_t slice, BreakerEvidence& evidence) const;
  std::int64_t HangingIn(std::int64_t slice) const;

  const int slice_log2_;
  const std::int64_t slices_;  // that the window looks at
  const std::int64_t hang_after_ns_;
  std::vector<Slot> slots_;  // a power of two
};

}  // namespace plimsoll::internal
