// Replaces the global allocator of this program by one that counts.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/local_bulkhead.h"
#include "tests/unit/agent/limiter_support.h"

namespace {

std::atomic<int> allocations{0};

void* CountedAllocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}

// Not inlined: the compiler would see a free() of what came from operator new, and warn.
[[gnu::noinline]] void CountedFree(void* memory) { std::free(memory); }

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
void operator delete(void* memory) noexcept { CountedFree(memory); }
void operator delete[](void* memory) noexcept { CountedFree(memory); }
void operator delete(void* memory, std::size_t) noexcept { CountedFree(memory); }
void operator delete[](void* memory, std::size_t) noexcept { CountedFree(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { CountedFree(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { CountedFree(memory); }

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

// Every wish a call can have, and every kind of ending.
int AllocationsOfWishes(int calls) {
  BulkheadOptions options;
  options.classes = {{"first", 1.0}, {"second", 0.5}};
  options.tenants.share = 0.5;
  options.permit_age_max = std::chrono::hours(1);
  const Clock& clock = RealClock();
  const LimiterPtr limiter = MakeLimiter(clock, options);
  limiter->Install(MakeFunction(1, 4, clock), clock.Now());
  const int before = allocations;
  for (int i = 0; i < calls; ++i) {
    const DeadlineScope scope(Deadline::In(std::chrono::hours(1)));
    CallOptions wishes = {.cost = 1 + i % 3, .priority = i % 2, .tenant = "acme"};
    Admission first = limiter->TryAcquire(wishes);
    Admission second = limiter->TryAcquire(wishes);
    wishes.deadline = Deadline::In(std::chrono::nanoseconds(0));
    EXPECT_FALSE(limiter->TryAcquire(wishes));
    if (first) first->Finish(static_cast<Outcome>(i % kOutcomes));
  }
  return allocations - before;
}

TEST(AllocationTest, WishesAndEndingsAllocateNothing) { EXPECT_EQ(AllocationsOfWishes(4000), 0); }

TEST(AllocationTest, AcquireRefuseAndFinishAllocateNothing) { EXPECT_EQ(AllocationsOf(4000), 0); }

TEST(AllocationTest, AGuardWithAllLayersAllocatesNothingWhenItSucceedsOrIsRefused) {
  const Clock& clock = RealClock();
  internal::Limiter* const limiter = internal::Limiter::Make(clock);
  limiter->Install(MakeFunction(1, 1, clock), clock.Now());
  const auto bulkhead = BulkheadFactory::Make("payments-api", limiter);
  const auto breaker = Breaker::Make(BreakerOptions());
  ASSERT_TRUE(breaker.ok());
  RetryBudget budget;
  Guard guard({breaker->get(), bulkhead.get(), &budget},
              {.attempt_timeout = std::chrono::seconds(1)});
  const int before = allocations;
  for (int i = 0; i < 1000; ++i) {
    const auto outer = guard.Call([&](const Attempt&) {
      return std::pair(Outcome::kSuccess,
                       guard.Call([](const Attempt&) { return Outcome::kSuccess; }).refused());
    });
    EXPECT_TRUE(outer.ok() && *outer.value);
  }
  EXPECT_EQ(allocations - before, 0);
}

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

TEST(AllocationTest, ALocalBulkheadAllocatesNothingBetweenTheEndsOfWindows) {
  LocalBulkheadOptions options;
  options.dependency = "payments-api";
  options.window = std::chrono::minutes(1);
  const auto local = *MakeLocalBulkhead(options);
  const int before = allocations;
  for (int i = 0; i < 4000; ++i) local->bulkhead().TryAcquire()->Succeed();
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace plimsoll
