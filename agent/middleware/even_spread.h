#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace plimsoll::internal {

// Delays of min to max, in whole `Unit`s, for those who are sent away, so that they do not come
// back together: they cover the range evenly, in an order without runs, being the fractional parts
// of multiples of the golden ratio (Weyl). Any few in a row lie apart, which random ones do not.
// Thread-safe.
template <class Unit>
class EvenSpread {
 public:
  EvenSpread(Unit min, Unit max) : min_(min), max_(max) {}

  Unit Next() {
    const std::uint64_t fraction = next_.fetch_add(kGolden, std::memory_order_relaxed);
    const auto values = static_cast<std::uint64_t>((max_ - min_).count()) + 1;
    return min_ + Unit(fraction * values >> 32);
  }

 private:
  static constexpr std::uint32_t kGolden = 2'654'435'769;  // 2^32 / golden ratio

  const Unit min_;
  const Unit max_;
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace plimsoll::internal
