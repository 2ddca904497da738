#include <string>

#include "benchmark/benchmark.h"
#include "controller/src/allocation.h"
#include "plimsoll/core/random.h"
#include "tests/support/allocation_fleet.h"

namespace plimsoll::internal {
namespace {

// One tick of one dependency whose instances want twice what there is, in `services` services.
void AllocationBench(benchmark::State& state) {
  const auto instances = static_cast<int>(state.range(0));
  const auto services = static_cast<std::uint64_t>(state.range(1));
  testing::AllocationFleet fleet(testing::AllocationFleet::Plain(10 * instances));
  Random random(1);
  for (int i = 0; i < instances; ++i) {
    fleet.Add("service-" + std::to_string(random.Below(services)), random.Uniform(1, 40));
  }
  for (int tick = 0; tick < 20; ++tick) {
    fleet.Allocate();
    fleet.Grant();
  }
  for (auto _ : state) {
    state.PauseTiming();
    fleet.SetDemand(static_cast<int>(random.Below(static_cast<std::uint64_t>(instances))),
                    random.Uniform(1, 40));
    state.ResumeTiming();
    fleet.AllocateOnly();
  }
}
BENCHMARK(AllocationBench)
    ->Args({100, 1})
    ->Args({1'000, 1})
    ->Args({10'000, 1})
    ->Args({10'000, 20})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plimsoll::internal
