#include "agent/src/thread_stripe.h"

#include <pthread.h>

#include <bit>
#include <cstdint>

namespace plimsoll::internal {

thread_local constinit int thread_stripe = kStripeUnknown;

namespace {

static_assert(kThreadStripes == 32);
std::atomic<std::uint32_t> taken{0};

void GiveBack(int stripe) {
  taken.fetch_and(~(std::uint32_t{1} << stripe), std::memory_order_release);
}

// Who has the stripe next goes on from the last count of this thread. What this thread still
// counts while it ends goes to nobody's stripe.
void AtThreadExit(void* value) {
  thread_stripe = kNoStripe;
  GiveBack(static_cast<int>(reinterpret_cast<std::intptr_t>(value)) - 1);
}

// Unlike the destructor of a thread_local, that of a key allocates nothing for each thread.
struct ExitKey {
  ExitKey() : valid(pthread_key_create(&key, &AtThreadExit) == 0) {}

  pthread_key_t key{};
  bool valid;
};

bool GiveBackAtExit(int stripe) {
  static const ExitKey exit_key;
  return exit_key.valid &&
         pthread_setspecific(exit_key.key,
                             reinterpret_cast<void*>(static_cast<std::intptr_t>(stripe + 1))) == 0;
}

}  // namespace

int ClaimThreadStripe() {
  thread_stripe = kNoStripe;
  std::uint32_t seen = taken.load(std::memory_order_relaxed);
  while (~seen != 0) {
    const int free = std::countr_one(seen);
    if (!taken.compare_exchange_weak(seen, seen | (std::uint32_t{1} << free),
                                     std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    if (GiveBackAtExit(free)) {
      thread_stripe = free;
    } else {
      GiveBack(free);
    }
    break;
  }
  return thread_stripe;
}

}  // namespace plimsoll::internal
