#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/src/timers.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// What is to be done when: a binary heap whose entries know their place, so that a timer that is
// cancelled is gone at once. Memory is that of the most timers that ever stood at the same time.
// Knows no clock. Thread-compatible.
class TimerHeap {
 public:
  // O(log n).
  TimerId Schedule(Instant at, TimerCallback callback);
  // O(log n). The callback, so that the caller can destroy it where it likes; nothing if there is
  // no such timer.
  std::optional<TimerCallback> Cancel(TimerId timer);
  // O(log n). The callback of the next timer, if it is due at `now`.
  std::optional<TimerCallback> PopDue(Instant now);

  // When the next timer is due; kInfiniteFuture if there is none.
  Instant next() const { return heap_.empty() ? kInfiniteFuture : SlotAt(0).at; }
  std::size_t size() const { return heap_.size(); }

 private:
  // A place for one timer after the other. The id tells them apart by the generation.
  struct Slot {
    Instant at;
    std::uint64_t order = 0;  // of scheduling
    std::uint32_t generation = 1;
    std::size_t position = 0;  // in heap_, while the timer stands
    TimerCallback callback;
  };

  const Slot& SlotAt(std::size_t position) const { return slots_[heap_[position]]; }
  std::size_t TakeSlot();
  TimerCallback Remove(std::size_t position);
  bool Before(std::size_t position, std::size_t other) const;
  void Swap(std::size_t position, std::size_t other);
  void SiftUp(std::size_t position);
  void SiftDown(std::size_t position);

  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;  // slots without a timer
  std::vector<std::size_t> heap_;  // slots, the next timer first
  std::uint64_t scheduled_ = 0;
};

}  // namespace plimsoll::internal
