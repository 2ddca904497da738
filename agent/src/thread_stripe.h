#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plimsoll::internal {

// Threads that count for themselves need no atomic addition, which costs several times as much as
// everything else that a refusal does. So many threads at once have a stripe of their own, until
// they end; the others have none.
inline constexpr int kThreadStripes = 32;

inline constexpr int kNoStripe = -1;
inline constexpr int kStripeUnknown = -2;

// Not for use but by ThreadStripe().
extern thread_local constinit int thread_stripe;
int ClaimThreadStripe();

// The number of the stripe that nobody but this thread writes, or kNoStripe. Allocates nothing.
inline int ThreadStripe() {
  const int stripe = thread_stripe;
  return stripe != kStripeUnknown ? stripe : ClaimThreadStripe();
}

// A count that only grows, exact, of things that happen very often. Thread-safe.
class StripedCounter {
 public:
  void Increment() {
    const int stripe = ThreadStripe();
    if (stripe == kNoStripe) [[unlikely]] {
      shared_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    std::atomic<std::int64_t>& own = stripes_[static_cast<std::size_t>(stripe)].count;
    own.store(own.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  std::int64_t Read() const {
    std::int64_t sum = shared_.load(std::memory_order_relaxed);
    for (const Stripe& stripe : stripes_) sum += stripe.count.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Stripe {
    std::atomic<std::int64_t> count{0};
  };

  std::array<Stripe, kThreadStripes> stripes_{};
  std::atomic<std::int64_t> shared_{0};
};

}  // namespace plimsoll::internal
