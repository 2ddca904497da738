#include "agent/src/permit_watch.h"

#include <algorithm>

namespace plimsoll::internal {
namespace {

// Spreads times that differ little: the multiplier of Fibonacci hashing (Knuth, TAOCP 3, 6.4).
std::size_t FirstSlot(Instant at) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(at.ns) * 0x9e3779b97f4a7c15U) >> 32);
}

}  // namespace

std::uint32_t PermitWatch::Enter(Instant at, CallSite site) {
  const std::size_t first = FirstSlot(at);
  for (std::size_t i = 0; i < kProbes; ++i) {
    const std::size_t index = (first + i) % kSlots;
    Slot& slot = slots_[index];
    std::int64_t expected = kFree;
    if (slot.since_ns.load(std::memory_order_relaxed) != kFree ||
        !slot.since_ns.compare_exchange_strong(expected, kBeingWritten,
                                               std::memory_order_acquire)) {
      continue;
    }
    slot.file.store(site.file(), std::memory_order_release);
    slot.line.store(site.line(), std::memory_order_release);
    slot.since_ns.store(std::max(at.ns, kBeingWritten + 1), std::memory_order_release);
    return static_cast<std::uint32_t>(index + 1);
  }
  return 0;
}

std::vector<OverduePermit> PermitWatch::TakeOverdue(Instant now) {
  std::vector<OverduePermit> overdue;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot& slot = slots_[i];
    const std::int64_t since = slot.since_ns.load(std::memory_order_acquire);
    if (since <= kBeingWritten || now.ns - since <= age_max_ns_) continue;
    if (reported_since_ns_[i] == since) continue;
    const OverduePermit found = {slot.file.load(std::memory_order_acquire),
                                 slot.line.load(std::memory_order_acquire),
                                 absl::Nanoseconds(now.ns - since)};
    if (slot.since_ns.load(std::memory_order_relaxed) != since) continue;  // ended just now
    reported_since_ns_[i] = since;
    overdue.push_back(found);
  }
  reported_.fetch_add(static_cast<std::int64_t>(overdue.size()), std::memory_order_relaxed);
  return overdue;
}

}  // namespace plimsoll::internal
