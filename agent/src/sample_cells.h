#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "agent/src/thread_stripe.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// What each thread has counted of the buckets that are common for it, so that most samples cost no
// atomic addition. A bucket can only be counted in the cell of its number modulo kCells: any 64
// neighbours, latencies within a factor of 16, have cells of their own. A cell belongs to the
// bucket that came to it twice in a row first, for good. So a count never moves, a reading never
// sees one twice or not at all, and a sample that comes only now and then takes no cell away.
// Whatever has no cell is for the caller to count. 16 KiB. Thread-safe.
//
// Orders: all are relaxed. A cell has one writer, the thread of the stripe; the next owner of the
// stripe goes on from its last store, as giving a stripe back releases and taking it acquires. For
// readers a cell only grows, so a count that one reading misses is in the next. What must be seen
// is released by the call's leaving: who reads the calls in flight without the call, with acquire,
// and the cells then, finds the sample. Fork copies whole words, those of all threads. A signal
// handler that counts could undo a count of the thread that it interrupts: it must not.
class SampleCells {
 public:
  // False if the bucket has no cell of this stripe, the calling thread's own.
  bool Count(int stripe, std::size_t bucket, Calls units) {
    std::atomic<std::uint64_t>& cell =
        stripes_[static_cast<std::size_t>(stripe)].cells[bucket % kCells];
    const std::uint64_t seen = cell.load(std::memory_order_relaxed);
    if (seen >> kCountBits == OwnerOf(bucket)) [[likely]] {
      cell.store(seen + static_cast<std::uint64_t>(units), std::memory_order_relaxed);
      return true;
    }
    if ((seen & kCountMask) == 0) Claim(stripe, cell, bucket);
    return false;
  }

  std::uint64_t count(std::size_t bucket) const {
    std::uint64_t sum = 0;
    for (std::uint32_t left = used_.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
      const auto stripe = static_cast<std::size_t>(std::countr_zero(left));
      const std::uint64_t seen =
          stripes_[stripe].cells[bucket % kCells].load(std::memory_order_relaxed);
      if (seen >> kCountBits == OwnerOf(bucket)) sum += seen & kCountMask;
    }
    return sum;
  }

 private:
  static constexpr std::size_t kCells = 64;
  // Above the count: which of the buckets that share the cell it belongs to, plus 1.
  static constexpr int kCountBits = 56;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

  struct alignas(64) Stripe {
    std::array<std::atomic<std::uint64_t>, kCells> cells{};
  };

  static constexpr std::uint64_t OwnerOf(std::size_t bucket) { return bucket / kCells + 1; }

  void Claim(int stripe, std::atomic<std::uint64_t>& cell, std::size_t bucket) {
    cell.store(OwnerOf(bucket) << kCountBits, std::memory_order_relaxed);
    used_.fetch_or(std::uint32_t{1} << stripe, std::memory_order_relaxed);
  }

  std::array<Stripe, kThreadStripes> stripes_{};
  std::atomic<std::uint32_t> used_{0};
  static_assert(kThreadStripes == 32);
};

}  // namespace plimsoll::internal
