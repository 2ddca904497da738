#include "agent/examples/demonstrations/cascade_lane.h"

#include <chrono>
#include <memory>
#include <utility>

#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/thread_pool.h"

namespace plimsoll::demonstrations {
namespace {

constexpr double kCallsOfA = 60;
constexpr double kCallsOfB = 200;
constexpr DependencyModel kHealthy = {};
constexpr DependencyModel kBroken = {.capacity = 90,
                                     .failures = 0.4,
                                     .fastest = absl::Milliseconds(10),
                                     .slowest = absl::Milliseconds(30)};
constexpr int kEndless = 100'000;

// The same calls arrive in both lanes.
struct Dependencies {
  explicit Dependencies(std::uint64_t seed) : a(kHealthy, seed + 1), b(kBroken, seed + 2) {}
  Dependency a;
  Dependency b;
};

absl::StatusOr<std::unique_ptr<ThreadPool>> StartPool(const std::string& name, int threads,
                                                      int queue_capacity) {
  ThreadPoolOptions options;
  options.dependency = name;
  options.threads = threads;
  options.queue_capacity = queue_capacity;
  options.timeout = absl::ToChronoNanoseconds(kPatience);
  return ThreadPool::Start(std::move(options));
}

BreakerOptions OptionsOfBreaker() {
  BreakerOptions options;
  options.consecutive_failures = 5;
  options.cool_off = std::chrono::seconds(2);
  options.cool_off_max = options.cool_off;
  options.cool_off_growth = 1;
  options.cool_off_jitter = 0;
  return options;
}

CascadeLane RunRoutes(std::string name, const CascadeRun& run, const Route& a, const Route& b) {
  const Instant counted_from = run.begin + kWarmUp;
  const Instant end = run.begin + run.length;
  Caller caller_a(a, run.seed + 3, run.begin, counted_from, end);
  Caller caller_b(b, run.seed + 4, run.begin, counted_from, end);
  CascadeLane lane;
  lane.name = std::move(name);
  lane.a = caller_a.Finish();
  lane.b = caller_b.Finish();
  return lane;
}

}  // namespace

absl::StatusOr<CascadeLane> RunSharedPool(const CascadeRun& run) {
  Dependencies dependencies(run.seed);
  const auto pool = StartPool("a-and-b", kThreads, kEndless);
  if (!pool.ok()) return pool.status();
  return RunRoutes("shared", run, {&dependencies.a, pool->get(), nullptr, kCallsOfA},
                   {&dependencies.b, pool->get(), nullptr, kCallsOfB});
}

absl::StatusOr<CascadeLane> RunSplitPools(const CascadeRun& run) {
  Dependencies dependencies(run.seed);
  const auto breaker = Breaker::Make(OptionsOfBreaker());
  if (!breaker.ok()) return breaker.status();
  const auto pool_a = StartPool("a", kThreads / 2, kThreads / 2);
  if (!pool_a.ok()) return pool_a.status();
  const auto pool_b = StartPool("b", kThreads / 2, kThreads / 2);
  if (!pool_b.ok()) return pool_b.status();
  CascadeLane lane = RunRoutes("split", run, {&dependencies.a, pool_a->get(), nullptr, kCallsOfA},
                               {&dependencies.b, pool_b->get(), breaker->get(), kCallsOfB});
  const BreakerSnapshot seen = (*breaker)->Snapshot();
  lane.breaker_openings = seen.opened + seen.reopened;
  return lane;
}

}  // namespace plimsoll::demonstrations
