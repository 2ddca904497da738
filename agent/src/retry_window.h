#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "plimsoll/agent/retry_budget.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::internal {

// Calls and retries of the last window, in slices of a tenth of it, and the decision whether one
// more retry fits. Eleven slices are kept, the last of them under way: together they are at least a
// window, and without the oldest at most one. Retries are counted over the former and calls over
// the latter, so the bound holds for every window and not only for those that begin with a slice.
//
// A slice is one word, so that counting is one atomic addition:
//
//   bits 0..23   calls, at most about 16.7 million
//   bits 24..43  retries, at most about a million
//   bits 44..63  the number of the slice, modulo 2^20
//
// Thread-safe; waits for nothing and allocates nothing.
class RetryWindow {
 public:
  // `clock` must outlive it.
  RetryWindow(const RetryBudgetOptions& options, const Clock& clock);

  void CountCall();
  bool TryTake();
  RetryBudgetStats Stats() const;

 private:
  static constexpr int kSlices = 11;
  static constexpr int kRetriesShift = 24;
  static constexpr int kNumberShift = 44;
  using Word = std::atomic<std::uint64_t>;

  struct Sums {
    std::int64_t calls = 0;
    std::int64_t retries = 0;
  };

  std::uint64_t NumberNow() const;
  Word& SliceOf(std::uint64_t number) { return slices_[number % kSlices]; }
  // Adds to the slice of this number, which is emptied first if it holds an older one.
  void Add(std::uint64_t number, std::uint64_t delta);
  void TakeBack(std::uint64_t number);
  Sums Sum(std::uint64_t number) const;

  const Clock& clock_;
  const std::int64_t slice_ns_;
  const double ratio_;
  const double floor_;

  alignas(64) std::array<Word, kSlices> slices_{};
  std::atomic<std::int64_t> calls_before_{0};  // of slices that were emptied
  std::atomic<std::int64_t> retries_{0};
  std::atomic<std::int64_t> denied_{0};
};

}  // namespace plimsoll::internal
