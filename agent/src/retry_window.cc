#include "agent/src/retry_window.h"

namespace plimsoll::internal {
namespace {

constexpr int kCallsBits = 24;
constexpr int kRetriesBits = 20;
constexpr int kNumberBits = 20;

// Fields stop growing here, which leaves room for as many threads that have looked and not added.
constexpr std::uint64_t kRoom = 1 << 16;

constexpr std::uint64_t Mask(int bits) { return (std::uint64_t{1} << bits) - 1; }
constexpr std::uint64_t CallsOf(std::uint64_t word) { return word & Mask(kCallsBits); }
constexpr std::uint64_t RetriesOf(std::uint64_t word) {
  return (word >> kCallsBits) & Mask(kRetriesBits);
}
constexpr bool Full(std::uint64_t word) {
  return CallsOf(word) > Mask(kCallsBits) - kRoom || RetriesOf(word) > Mask(kRetriesBits) - kRoom;
}

// By how many slices the word is older than `number`; negative if it is newer. Modulo 2^20: what
// was forgotten half of that ago seems to lie far ahead, see IsRecent().
constexpr std::int64_t AgeOf(std::uint64_t word, std::uint64_t number) {
  constexpr int kUnused = 64 - kNumberBits;
  const std::uint64_t its = word >> (kCallsBits + kRetriesBits);
  return static_cast<std::int64_t>((number - its) << kUnused) >> kUnused;
}

// Of the `slices` up to `number`, or of the next few, where other threads are already.
constexpr bool IsRecent(std::uint64_t word, std::uint64_t number, int slices) {
  const std::int64_t age = AgeOf(word, number);
  return age > -slices && age < slices;
}

}  // namespace

RetryWindow::RetryWindow(const RetryBudgetOptions& options, const Clock& clock)
    : clock_(clock),
      slice_ns_(options.window.count() / (kSlices - 1)),
      ratio_(options.ratio),
      floor_(options.min_per_second * std::chrono::duration<double>(options.window).count()) {
  static_assert(kRetriesShift == kCallsBits && kNumberShift == kCallsBits + kRetriesBits);
}

std::uint64_t RetryWindow::NumberNow() const {
  return static_cast<std::uint64_t>(clock_.Now().ns / slice_ns_);
}

void RetryWindow::CountCall() { Add(NumberNow(), 1); }

// Counts itself first and looks then, so that of two threads that ask at once at least one sees the
// other.
bool RetryWindow::TryTake() {
  const std::uint64_t number = NumberNow();
  Add(number, std::uint64_t{1} << kRetriesShift);
  const Sums sums = Sum(number);
  const double most = ratio_ * static_cast<double>(sums.calls) + floor_;
  if (static_cast<double>(sums.retries) <= most) {
    retries_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  TakeBack(number);
  denied_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

// A thread that was held up for long adds to the slice that has taken the place of its own: counted
// late, but counted.
void RetryWindow::Add(std::uint64_t number, std::uint64_t delta) {
  Word& slice = SliceOf(number);
  std::uint64_t word = slice.load(std::memory_order_seq_cst);
  while (AgeOf(word, number) > 0 || !IsRecent(word, number, kSlices)) {
    const std::uint64_t fresh = ((number & Mask(kNumberBits)) << kNumberShift) + delta;
    if (slice.compare_exchange_weak(word, fresh, std::memory_order_seq_cst)) {
      calls_before_.fetch_add(static_cast<std::int64_t>(CallsOf(word)), std::memory_order_relaxed);
      return;
    }
  }
  if (!Full(word)) slice.fetch_add(delta, std::memory_order_seq_cst);
}

// Not by a subtraction: the slice may be a newer one by now.
void RetryWindow::TakeBack(std::uint64_t number) {
  Word& slice = SliceOf(number);
  std::uint64_t word = slice.load(std::memory_order_seq_cst);
  while (AgeOf(word, number) == 0 && RetriesOf(word) > 0) {
    const std::uint64_t less = word - (std::uint64_t{1} << kRetriesShift);
    if (slice.compare_exchange_weak(word, less, std::memory_order_seq_cst)) return;
  }
}

RetryWindow::Sums RetryWindow::Sum(std::uint64_t number) const {
  Sums sums;
  for (const Word& slice : slices_) {
    const std::uint64_t word = slice.load(std::memory_order_seq_cst);
    if (!IsRecent(word, number, kSlices)) continue;
    sums.retries += static_cast<std::int64_t>(RetriesOf(word));
    if (IsRecent(word, number, kSlices - 1)) sums.calls += static_cast<std::int64_t>(CallsOf(word));
  }
  return sums;
}

RetryBudgetStats RetryWindow::Stats() const {
  RetryBudgetStats stats;
  stats.calls = calls_before_.load(std::memory_order_relaxed);
  for (const Word& slice : slices_) {
    stats.calls += static_cast<std::int64_t>(CallsOf(slice.load(std::memory_order_relaxed)));
  }
  stats.retries = retries_.load(std::memory_order_relaxed);
  stats.denied = denied_.load(std::memory_order_relaxed);
  return stats;
}

}  // namespace plimsoll::internal
