// Replaces the global allocator of this program by one that counts.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "plimsoll/agent/breaker.h"
#include "tests/unit/agent/limiter_support.h"

namespace {

std::atomic<int> allocations{0};

void* CountedAllocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Not inlined: or the compiler sees one half of a pair and takes it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  return CountedAllocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new[](std::size_t size) {
  return CountedAllocate(size, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  return CountedAllocate(size, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace plimsoll {
namespace {

// Allocations during `calls` acquisitions at a limit of 3, one in four of which is refused.
int AllocationsOf(int calls) {
  const Clock& clock = RealClock();
  const LimiterPtr limiter = MakeLimiter(clock);
  limiter->Install(MakeFunction(1, 3, clock), clock.Now());
  const int before = allocations;
  for (int i = 0; i < calls; i += 4) {
    Admission first = limiter->TryAcquire();
    Admission second = limiter->TryAcquire();
    Admission third = limiter->TryAcquire();
    EXPECT_FALSE(limiter->TryAcquire());
    first->Succeed();
    second->Drop();
    third->Ignore();
  }
  return allocations - before;
}

TEST(AllocationTest, TheCounterCounts) {
  const int before = allocations;
  const LimiterPtr limiter = MakeLimiter(RealClock());
  EXPECT_GT(allocations, before);
}

TEST(AllocationTest, AcquireRefuseAndFinishAllocateNothing) { EXPECT_EQ(AllocationsOf(4000), 0); }

TEST(AllocationTest, ABreakerAllocatesNothingOpenOrClosed) {
  BreakerOptions options;
  options.consecutive_failures = 3;
  options.cool_off = std::chrono::milliseconds(10);
  options.cool_off_max = options.cool_off;
  const auto breaker = Breaker::Make(options);
  ASSERT_TRUE(breaker.ok());
  const int before = allocations;
  for (int i = 0; i < 1000; ++i) {
    if (BreakerEntry entry = (*breaker)->TryEnter(); entry) {
      entry->Finish(i % 10 < 4 ? Outcome::kError : Outcome::kSuccess);
    }
  }
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT((*breaker)->Snapshot().opened, 0);
}

}  // namespace
}  // namespace plimsoll
