#include "agent/src/breaker_window.h"

#include <algorithm>
#include <bit>

namespace plimsoll::internal {
namespace {

constexpr std::int64_t kSucceeded = std::int64_t{1} << 32;
constexpr std::int64_t kBegun = 1;

constexpr int kBadBits = 20;
constexpr std::uint64_t kBadMax = (std::uint64_t{1} << kBadBits) - 1;

int SliceLog2(std::int64_t window_ns) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(window_ns / 8))) - 1;
}
std::int64_t CeilShift(std::int64_t ns, int log2) {
  return (ns + (std::int64_t{1} << log2) - 1) >> log2;
}

std::uint64_t TagOf(std::int64_t slice) {
  return static_cast<std::uint64_t>(slice) << (2 * kBadBits);
}
std::uint64_t FailedIn(std::uint64_t bad) { return (bad >> kBadBits) & kBadMax; }
std::uint64_t SlowIn(std::uint64_t bad) { return bad & kBadMax; }
bool BelongsTo(std::uint64_t bad, std::int64_t slice) {
  return (bad ^ TagOf(slice)) >> (2 * kBadBits) == 0;
}

std::int64_t InFlightIn(std::int64_t flow) { return static_cast<std::int32_t>(flow); }
std::int64_t SucceededIn(std::int64_t flow) { return (flow - InFlightIn(flow)) / kSucceeded; }

}  // namespace

BreakerWindow::BreakerWindow(std::int64_t window_ns, std::int64_t hang_after_ns)
    : slice_log2_(SliceLog2(window_ns)),
      slices_(CeilShift(window_ns, slice_log2_) + 1),  // the newest is not full yet
      hang_after_ns_(hang_after_ns),
      slots_(std::bit_ceil(
          static_cast<std::size_t>(slices_ + CeilShift(hang_after_ns, slice_log2_) + 2))) {}

bool BreakerWindow::Start(std::int64_t now_ns) {
  return hang_after_ns_ != 0 && AddFlow(SliceAt(now_ns), kBegun);
}

bool BreakerWindow::Succeed(std::int64_t started_ns, std::int64_t now_ns) {
  const std::int64_t begun = SliceAt(started_ns);
  const std::int64_t ended = SliceAt(now_ns);
  if (hang_after_ns_ == 0) return AddFlow(ended, kSucceeded);
  if (ended - begun < slices_ / 2) return AddFlow(begun, kSucceeded - kBegun);  // as usual
  Leave(started_ns);
  return AddFlow(ended, kSucceeded);
}

void BreakerWindow::Fail(std::int64_t started_ns, std::int64_t now_ns, bool slow) {
  Leave(started_ns);
  AddBad(SliceAt(now_ns), 1, slow ? 1 : 0);
}

void BreakerWindow::Leave(std::int64_t started_ns) {
  if (hang_after_ns_ == 0) return;
  const std::int64_t begun = SliceAt(started_ns);
  Slot& slot = SlotOf(begun);
  // Its slice may have left the ring: then it has been written off.
  if (slot.slice.load(std::memory_order_relaxed) != begun) return;
  slot.flow.fetch_sub(kBegun, std::memory_order_relaxed);
}

BreakerEvidence BreakerWindow::Read(std::int64_t now_ns) const {
  BreakerEvidence evidence;
  const std::int64_t newest = SliceAt(now_ns);
  for (std::int64_t i = 0; i < slices_; ++i) ReadSlice(newest - i, evidence);
  if (hang_after_ns_ == 0) return evidence;
  // All calls of a slice hang once its last one does.
  const std::int64_t hanging = SliceAt(now_ns - hang_after_ns_) - 1;
  for (std::int64_t i = 0; i + 1 < slices_; ++i) evidence.hanging += HangingIn(hanging - i);
  return evidence;
}

void BreakerWindow::Clear() {
  for (Slot& slot : slots_) {
    slot.slice.store(-1, std::memory_order_relaxed);
    slot.flow.store(0, std::memory_order_relaxed);
    slot.bad.store(0, std::memory_order_relaxed);
  }
}

// True if the slot was another slice's and is this one's now.
bool BreakerWindow::Turn(Slot& slot, std::int64_t slice) {
  std::int64_t before = slot.slice.load(std::memory_order_relaxed);
  if (before >= slice) [[likely]]
    return false;
  if (!slot.slice.compare_exchange_strong(before, slice, std::memory_order_relaxed)) return false;
  slot.flow.store(0, std::memory_order_relaxed);
  return true;
}

// True for the first of a slice.
bool BreakerWindow::AddFlow(std::int64_t slice, std::int64_t flow) {
  Slot& slot = SlotOf(slice);
  const bool first = Turn(slot, slice);
  slot.flow.fetch_add(flow, std::memory_order_relaxed);
  return first;
}

// The word changes its slice and its counts in one step, so no failure of the past is ever taken
// for one of now.
void BreakerWindow::AddBad(std::int64_t slice, std::uint64_t failed, std::uint64_t slow) {
  Slot& slot = SlotOf(slice);
  Turn(slot, slice);
  std::uint64_t before = slot.bad.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    const std::uint64_t kept = BelongsTo(before, slice) ? before : 0;
    after = TagOf(slice) | std::min(FailedIn(kept) + failed, kBadMax) << kBadBits |
            std::min(SlowIn(kept) + slow, kBadMax);
  } while (!slot.bad.compare_exchange_weak(before, after, std::memory_order_relaxed));
}

void BreakerWindow::ReadSlice(std::int64_t slice, BreakerEvidence& evidence) const {
  const Slot& slot = SlotOf(slice);
  if (slot.slice.load(std::memory_order_relaxed) != slice) return;
  evidence.succeeded +=
      std::max<std::int64_t>(0, SucceededIn(slot.flow.load(std::memory_order_relaxed)));
  const std::uint64_t bad = slot.bad.load(std::memory_order_relaxed);
  if (!BelongsTo(bad, slice)) return;
  evidence.failed += static_cast<std::int64_t>(FailedIn(bad));
  evidence.slow += static_cast<std::int64_t>(SlowIn(bad));
}

std::int64_t BreakerWindow::HangingIn(std::int64_t slice) const {
  const Slot& slot = SlotOf(slice);
  if (slot.slice.load(std::memory_order_relaxed) != slice) return 0;
  return std::max<std::int64_t>(0, InFlightIn(slot.flow.load(std::memory_order_relaxed)));
}

}  // namespace plimsoll::internal
