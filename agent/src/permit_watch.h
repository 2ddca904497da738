#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/grant_port.h"
#include "plimsoll/agent/call_options.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// Remembers when and where permits were taken, to find those that are never given back. A table of
// kSlots; a permit looks at kProbes of them for a free one and goes unwatched if there is none. So
// memory and time are bounded, and what leaks while the table is full is not seen, but then 1024
// leaks were reported. Enter() and Leave() are thread-safe and lock-free; the rest is confined to
// the agent's thread.
class PermitWatch {
 public:
  static constexpr std::size_t kSlots = 1024;
  static constexpr std::size_t kProbes = 8;

  explicit PermitWatch(absl::Duration age_max) : age_max_ns_(absl::ToInt64Nanoseconds(age_max)) {}

  // Watches a permit taken at this time and place. Returns its slot, or 0 if there is none.
  std::uint32_t Enter(Instant at, CallSite site);
  // Frees what Enter() returned, which must not be 0.
  void Leave(std::uint32_t slot) { Of(slot).since_ns.store(kFree, std::memory_order_release); }

  // Those that have been held for longer than the maximum and were not returned before.
  std::vector<OverduePermit> TakeOverdue(Instant now);

  // How many were, since the beginning. Thread-safe.
  std::int64_t reported() const { return reported_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kFree = 0;
  static constexpr std::int64_t kBeingWritten = 1;

  // The time comes last, and goes first: who sees it unchanged has seen the place that belongs to
  // it.
  struct Slot {
    std::atomic<std::int64_t> since_ns{kFree};
    std::atomic<const char*> file{nullptr};
    std::atomic<int> line{0};
  };

  Slot& Of(std::uint32_t slot) { return slots_[slot - 1]; }

  const std::int64_t age_max_ns_;
  std::array<Slot, kSlots> slots_;
  std::array<std::int64_t, kSlots> reported_since_ns_{};  // of the permit that was
  std::atomic<std::int64_t> reported_{0};
};

}  // namespace plimsoll::internal
