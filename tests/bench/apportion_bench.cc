#include <cstddef>
#include <vector>

#include "benchmark/benchmark.h"
#include "controller/src/apportion.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {
namespace {

std::vector<Claim> RandomClaims(std::size_t count) {
  Random random(1);
  std::vector<Claim> claims(count);
  for (Claim& claim : claims) {
    claim.weight = random.Uniform(0.5, 3);
    claim.low = 1;
    claim.high = 1 + static_cast<Calls>(random.Below(40));
    claim.top = 64;
    claim.holds = static_cast<Calls>(random.Below(20));
  }
  return claims;
}

// One pass over all instances of one dependency, with half of what they demand.
void ApportionBench(benchmark::State& state) {
  const std::vector<Claim> claims = RandomClaims(static_cast<std::size_t>(state.range(0)));
  const auto available = static_cast<Calls>(10 * state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Apportion(available, claims));
}
BENCHMARK(ApportionBench)->Arg(8)->Arg(100)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace plimsoll::internal
