// What a call pays: acquire and finish, with the sample recorded, against the usual ways to count
// calls in flight, and against the two clock reads that a latency costs anyway.

#include <benchmark/benchmark.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <semaphore>
#include <thread>

#include "agent/src/bulkhead_factory.h"
#include "agent/src/limiter.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/thread_pool.h"
#include "plimsoll/core/clock.h"

namespace {

std::atomic<std::int64_t> allocations{0};

void* CountedAllocate(std::size_t size, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
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

constexpr Calls kPlenty = 1000;
constexpr std::chrono::hours kLong(1);

// The clock goes by the processor's counter, where it can, from its third look on.
const Clock& WarmClock() {
  const Instant start = RealClock().Now();
  while (RealClock().Now() - start < absl::Milliseconds(150)) RealClock().Refresh();
  return RealClock();
}

internal::Limiter& MakeLimiter(Calls limit, const BulkheadOptions& options = {}) {
  const Clock& clock = WarmClock();
  internal::Limiter* limiter = internal::Limiter::Make(clock, options);
  internal::StepFunction function;
  function.stamp = {Epoch(1), Seq(1)};
  function.steps = {limit, 0, 0};
  function.limit_end = clock.Now() + absl::Hours(1);
  function.base_end = function.limit_end;
  function.call_deadline = absl::Seconds(30);
  limiter->Install(function, clock.Now());
  return *limiter;
}

Bulkhead& MakeBulkhead(Calls limit, const BulkheadOptions& options = {}) {
  internal::Limiter& limiter = MakeLimiter(limit, options);
  return *BulkheadFactory::Make("payments-api", &limiter).release();  // kept until the end
}

BulkheadOptions WithEverything() {
  BulkheadOptions options;
  options.classes = {{"first", 1.0}, {"second", 0.9}};
  options.tenants.share = 0.9;
  return options;
}

BulkheadOptions WithPermitAge() {
  BulkheadOptions options;
  options.permit_age_max = std::chrono::hours(1);
  return options;
}

// Made before any thread runs, so that the threads of one benchmark share them.
Bulkhead& wide_bulkhead = MakeBulkhead(kPlenty);
Bulkhead& rich_bulkhead = MakeBulkhead(kPlenty, WithEverything());
Bulkhead& watched_bulkhead = MakeBulkhead(kPlenty, WithPermitAge());
Bulkhead& closed_bulkhead = MakeBulkhead(0);

BulkheadOptions WithQueue() {
  BulkheadOptions options;
  options.queue.capacity = 16;
  return options;
}
Bulkhead& wide_queue = MakeBulkhead(kPlenty, WithQueue());
internal::Limiter& narrow_queue = MakeLimiter(1, WithQueue());

void BM_TwoClockReads(benchmark::State& state) {
  const Clock& clock = RealClock();
  for (auto _ : state) {
    benchmark::DoNotOptimize(clock.Now());
    benchmark::DoNotOptimize(clock.Now());
  }
}
BENCHMARK(BM_TwoClockReads);

// What the request path does.
void BM_TwoGlances(benchmark::State& state) {
  const Clock& clock = RealClock();
  for (auto _ : state) {
    benchmark::DoNotOptimize(clock.Glance());
    benchmark::DoNotOptimize(clock.Glance());
  }
}
BENCHMARK(BM_TwoGlances)->ThreadRange(1, 2)->UseRealTime();

void BM_TwoSystemClockReads(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < 2; ++i) {
      timespec now{};
      clock_gettime(CLOCK_MONOTONIC_RAW, &now);
      benchmark::DoNotOptimize(now);
    }
  }
}
BENCHMARK(BM_TwoSystemClockReads);

// What the machine allows, to compare with in the same run. On one thread nobody can do with less
// than the last of them who tells the calls in flight exactly, and how long each took.
std::uint64_t ReadCounter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_nsec);
#endif
}
struct alignas(64) LonelyWord {
  std::atomic<std::uint64_t> value{0};
};
LonelyWord lonely_word;

void BM_FloorTwoCounterReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadCounter());
    benchmark::DoNotOptimize(ReadCounter());
  }
}
BENCHMARK(BM_FloorTwoCounterReads);

void BM_FloorAtomicAddition(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(lonely_word.value.fetch_add(1));
}
BENCHMARK(BM_FloorAtomicAddition)->ThreadRange(1, 2)->UseRealTime();

void BM_FloorOfAcquireAndFinish(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ReadCounter());
    benchmark::DoNotOptimize(lonely_word.value.fetch_add(1));
    benchmark::DoNotOptimize(ReadCounter());
    benchmark::DoNotOptimize(lonely_word.value.fetch_sub(1));
  }
}
BENCHMARK(BM_FloorOfAcquireAndFinish)->ThreadRange(1, 2)->UseRealTime();

// Two loads, a comparison, a count of one's own.
void BM_FloorOfRefused(benchmark::State& state) {
  static LonelyWord words[3];
  for (auto _ : state) {
    const auto full = words[0].value.load(std::memory_order_relaxed) >=
                      words[1].value.load(std::memory_order_relaxed);
    if (full) {
      words[2].value.store(words[2].value.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
    }
    benchmark::DoNotOptimize(full);
  }
}
BENCHMARK(BM_FloorOfRefused);

// Reports what the loop before it has allocated.
void TellAllocations(benchmark::State& state, std::int64_t before) {
  if (state.thread_index() != 0) return;
  state.counters["allocations"] =
      static_cast<double>(allocations.load(std::memory_order_relaxed) - before);
}

void BM_AcquireAndFinish(benchmark::State& state) {
  const std::int64_t before = allocations.load(std::memory_order_relaxed);
  for (auto _ : state) {
    Admission admission = wide_bulkhead.TryAcquire();
    admission->Succeed();
  }
  TellAllocations(state, before);
}
BENCHMARK(BM_AcquireAndFinish)->ThreadRange(1, 2)->UseRealTime();

// The same with one wish more.
void BM_With(benchmark::State& state, Bulkhead& bulkhead, const CallOptions& options,
             Outcome outcome) {
  const std::int64_t before = allocations.load(std::memory_order_relaxed);
  for (auto _ : state) {
    Admission admission = bulkhead.TryAcquire(options);
    admission->Finish(outcome);
  }
  TellAllocations(state, before);
}
constexpr Outcome kGood = Outcome::kSuccess;
BENCHMARK_CAPTURE(BM_With, options, wide_bulkhead, CallOptions(), kGood);
BENCHMARK_CAPTURE(BM_With, error, wide_bulkhead, CallOptions(), Outcome::kError);
BENCHMARK_CAPTURE(BM_With, deadline, wide_bulkhead, {.deadline = Deadline::In(kLong)}, kGood);
BENCHMARK_CAPTURE(BM_With, cost, wide_bulkhead, {.cost = 2}, kGood);
BENCHMARK_CAPTURE(BM_With, priority, rich_bulkhead, {.priority = 1}, kGood);
BENCHMARK_CAPTURE(BM_With, tenant, rich_bulkhead, {.tenant = "acme"}, kGood);
BENCHMARK_CAPTURE(BM_With, permit_age, watched_bulkhead, CallOptions(), kGood);

// Whoever may wait, but finds room.
void BM_AcquireWithRoom(benchmark::State& state) {
  CallOptions options;
  options.wait = std::chrono::seconds(1);
  for (auto _ : state) {
    Admission admission = wide_queue.Acquire(options);
    admission->Succeed();
  }
}
BENCHMARK(BM_AcquireWithRoom)->ThreadRange(1, 2)->UseRealTime();

// A limit of 1 and two threads: each ends its call when the other one waits for that.
void BM_HandOver(benchmark::State& state) {
  static std::atomic<bool> other_is_done{false};
  other_is_done = false;
  CallOptions options;
  options.wait = std::chrono::hours(1);
  benchmark::IterationCount left = state.max_iterations;
  for (auto _ : state) {
    Admission admission = narrow_queue.Acquire(options, CallSite::Here());
    while (!narrow_queue.queue()->Blocks(0) && !other_is_done) std::this_thread::yield();
    if (--left == 0) other_is_done = true;
    admission->Succeed();
  }
}
BENCHMARK(BM_HandOver)->Threads(2)->UseRealTime();

// The same without threads: a callback waits, and runs in the ending of the call before it.
void BM_HandOverToCallback(benchmark::State& state) {
  static Bulkhead& bulkhead = MakeBulkhead(1, WithQueue());
  CallOptions options;
  options.wait = std::chrono::nanoseconds::max();
  std::optional<Permit> held = *bulkhead.TryAcquire();
  for (auto _ : state) {
    std::optional<Permit> next;
    bulkhead.AcquireAsync(options,
                          [&next](Admission admission) { next.emplace(*std::move(admission)); });
    held->Succeed();
    held.emplace(*std::move(next));
  }
  held->Succeed();
}
BENCHMARK(BM_HandOverToCallback)->UseRealTime();

void BM_Refused(benchmark::State& state) {
  for (auto _ : state) {
    Admission admission = closed_bulkhead.TryAcquire();
    benchmark::DoNotOptimize(admission);
  }
}
BENCHMARK(BM_Refused)->ThreadRange(1, 2)->UseRealTime();

std::unique_ptr<Breaker> MakeBreaker() {
  BreakerOptions options;
  options.failure_rate = 0.5;
  return *Breaker::Make(options);
}
Breaker& working_breaker = *MakeBreaker().release();
Breaker& open_breaker = *MakeBreaker().release();

// With the time handed in, as a bulkhead does, which has read it already.
void BM_BreakerClosed(benchmark::State& state) {
  const std::int64_t now_ns = RealClock().Now().ns;
  const std::int64_t before = allocations.load(std::memory_order_relaxed);
  for (auto _ : state) {
    BreakerEntry entry = working_breaker.TryEnterAt(now_ns);
    entry->Finish(Outcome::kSuccess, std::chrono::nanoseconds(1000));
  }
  if (state.thread_index() == 0) {
    state.counters["allocations"] =
        static_cast<double>(allocations.load(std::memory_order_relaxed) - before);
  }
}
BENCHMARK(BM_BreakerClosed)->ThreadRange(1, 2)->UseRealTime();

void BM_BreakerOpen(benchmark::State& state) {
  open_breaker.Force(BreakerState::kForcedOpen);
  const std::int64_t now_ns = RealClock().Now().ns;
  for (auto _ : state) {
    BreakerEntry entry = open_breaker.TryEnterAt(now_ns);
    benchmark::DoNotOptimize(entry);
  }
}
BENCHMARK(BM_BreakerOpen)->ThreadRange(1, 2)->UseRealTime();

// What each layer of a guard adds. The function does nothing.
GuardLayers LayersUpTo(int layers) {
  static Breaker& breaker = *std::move(Breaker::Make(BreakerOptions()))->release();
  static RetryBudget& budget = *new RetryBudget;
  GuardLayers chosen;
  if (layers >= 1) chosen.bulkhead = &wide_bulkhead;
  if (layers >= 2) chosen.breaker = &breaker;
  if (layers >= 3) chosen.retry_budget = &budget;
  return chosen;
}

void CallThroughGuard(benchmark::State& state, Guard& guard) {
  const std::int64_t before = allocations.load(std::memory_order_relaxed);
  for (auto _ : state) {
    benchmark::DoNotOptimize(guard.Call([](const Attempt&) { return Outcome::kSuccess; }));
  }
  if (state.thread_index() == 0) {
    state.counters["allocations"] =
        static_cast<double>(allocations.load(std::memory_order_relaxed) - before);
  }
}

void BM_GuardBare(benchmark::State& state) {
  static Guard& guard = *new Guard({}, {.retry = kNoRetries});
  CallThroughGuard(state, guard);
}
BENCHMARK(BM_GuardBare)->ThreadRange(1, 2)->UseRealTime();

void BM_GuardBulkhead(benchmark::State& state) {
  static Guard& guard = *new Guard(LayersUpTo(1), {.retry = kNoRetries});
  CallThroughGuard(state, guard);
}
BENCHMARK(BM_GuardBulkhead)->ThreadRange(1, 2)->UseRealTime();

void BM_GuardBreakerBulkhead(benchmark::State& state) {
  static Guard& guard = *new Guard(LayersUpTo(2), {.retry = kNoRetries});
  CallThroughGuard(state, guard);
}
BENCHMARK(BM_GuardBreakerBulkhead)->ThreadRange(1, 2)->UseRealTime();

void BM_GuardBreakerBulkheadRetry(benchmark::State& state) {
  static Guard& guard = *new Guard(LayersUpTo(3));
  CallThroughGuard(state, guard);
}
BENCHMARK(BM_GuardBreakerBulkheadRetry)->ThreadRange(1, 2)->UseRealTime();

void BM_GuardAllWithAttemptTimeout(benchmark::State& state) {
  static Guard& guard = *new Guard(LayersUpTo(3), {.attempt_timeout = std::chrono::seconds(1)});
  CallThroughGuard(state, guard);
}
BENCHMARK(BM_GuardAllWithAttemptTimeout)->ThreadRange(1, 2)->UseRealTime();

// A thread and back, with the timer of its deadline.
void BM_ThreadPoolRoundTrip(benchmark::State& state) {
  static ThreadPool& pool =
      *std::move(ThreadPool::Start({.dependency = "payments-api", .threads = 2}))->release();
  for (auto _ : state) benchmark::DoNotOptimize(pool.Submit([] { return 1; }).Get());
}
BENCHMARK(BM_ThreadPoolRoundTrip)->UseRealTime();

// The rest only count. They neither measure anything nor let go of a limit when its time is over.
void BM_CountingSemaphore(benchmark::State& state) {
  static std::counting_semaphore<> semaphore(kPlenty);
  for (auto _ : state) {
    const bool admitted = semaphore.try_acquire();
    benchmark::DoNotOptimize(admitted);
    if (admitted) semaphore.release();
  }
}
BENCHMARK(BM_CountingSemaphore)->ThreadRange(1, 2)->UseRealTime();

void BM_MutexAndCounter(benchmark::State& state) {
  static std::mutex mutex;
  static Calls in_flight = 0;
  for (auto _ : state) {
    bool admitted = false;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (in_flight < kPlenty) {
        ++in_flight;
        admitted = true;
      }
    }
    benchmark::DoNotOptimize(admitted);
    const std::lock_guard<std::mutex> lock(mutex);
    --in_flight;
  }
}
BENCHMARK(BM_MutexAndCounter)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace plimsoll
