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

// A sum modulo 2^64 of what very many threads add very often, exact. Thread-safe.
class StripedSum {
 public:
  void Add(std::uint64_t amount) {
    const int stripe = ThreadStripe();
    if (stripe == kNoStripe) [[unlikely]] {
      shared_.fetch_add(amount, std::memory_order_relaxed);
      return;
    }
    std::atomic<std::uint64_t>& own = stripes_[static_cast<std::size_t>(stripe)].sum;
    own.store(own.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t Read() const {
    std::uint64_t sum = shared_.load(std::memory_order_relaxed);
    for (const Stripe& stripe : stripes_) sum += stripe.sum.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct alignas(64) Stripe {
    std::atomic<std::uint64_t> sum{0};
  };

  std::array<Stripe, kThreadStripes> stripes_{};
  std::atomic<std::uint64_t> shared_{0};
};

}  // namespace plimsoll::internal
