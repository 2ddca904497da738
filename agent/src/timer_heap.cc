#include "agent/src/timer_heap.h"

#include <tuple>
#include <utility>

namespace plimsoll::internal {
namespace {

constexpr int kGenerationShift = 32;

}  // namespace

TimerId TimerHeap::Schedule(Instant at, TimerCallback callback) {
  const std::size_t index = TakeSlot();
  Slot& slot = slots_[index];
  slot.at = at;
  slot.order = scheduled_++;
  slot.callback = std::move(callback);
  slot.position = heap_.size();
  heap_.push_back(index);
  SiftUp(slot.position);
  return (static_cast<TimerId>(slot.generation) << kGenerationShift) | index;
}

std::size_t TimerHeap::TakeSlot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return slots_.size() - 1;
  }
  const std::size_t index = free_.back();
  free_.pop_back();
  return index;
}

std::optional<TimerCallback> TimerHeap::Cancel(TimerId timer) {
  const auto index = static_cast<std::size_t>(static_cast<std::uint32_t>(timer));
  if (index >= slots_.size()) return std::nullopt;
  const Slot& slot = slots_[index];
  const bool stands = slot.position < heap_.size() && heap_[slot.position] == index;
  if (!stands || slot.generation != timer >> kGenerationShift) return std::nullopt;
  return Remove(slot.position);
}

std::optional<TimerCallback> TimerHeap::PopDue(Instant now) {
  if (heap_.empty() || SlotAt(0).at > now) return std::nullopt;
  return Remove(0);
}

TimerCallback TimerHeap::Remove(std::size_t position) {
  const std::size_t index = heap_[position];
  const std::size_t last = heap_.size() - 1;
  if (position != last) Swap(position, last);
  heap_.pop_back();
  if (position < heap_.size()) {
    SiftUp(position);
    SiftDown(position);
  }
  Slot& slot = slots_[index];
  if (++slot.generation == 0) slot.generation = 1;  // 0 would make an id of kNoTimer
  free_.push_back(index);
  return std::exchange(slot.callback, nullptr);
}

bool TimerHeap::Before(std::size_t position, std::size_t other) const {
  const Slot& a = SlotAt(position);
  const Slot& b = SlotAt(other);
  return std::tie(a.at, a.order) < std::tie(b.at, b.order);
}

void TimerHeap::Swap(std::size_t position, std::size_t other) {
  std::swap(heap_[position], heap_[other]);
  slots_[heap_[position]].position = position;
  slots_[heap_[other]].position = other;
}

void TimerHeap::SiftUp(std::size_t position) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (!Before(position, parent)) return;
    Swap(position, parent);
    position = parent;
  }
}

void TimerHeap::SiftDown(std::size_t position) {
  for (;;) {
    std::size_t first = position;
    for (const std::size_t child : {2 * position + 1, 2 * position + 2}) {
      if (child < heap_.size() && Before(child, first)) first = child;
    }
    if (first == position) return;
    Swap(position, first);
    position = first;
  }
}

}  // namespace plimsoll::internal
