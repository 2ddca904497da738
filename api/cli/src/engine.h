#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll::cli {

// The simulator as this program uses it, handed in so that tests can supply their own. Each
// function may be called from several threads at once; see load_simulator.h for what they do.
struct Engine {
  std::function<absl::Status(const LoadScenario&)> validate;
  std::function<LoadRun(const LoadScenario&, const LawUnderTest&, const LoadOptions&)> simulate;
  std::function<Optimum(const LoadScenario&, std::size_t phase)> find_optimum;
  std::function<PhaseScore(const PhaseResult&, const std::vector<LoadSample>&, const Optimum&)>
      score;
  std::function<bool(const LoadScenario&, std::size_t phase)> is_overload;
  std::function<std::vector<LoadScenario>()> designed;
  std::function<std::vector<LoadScenario>(std::uint64_t seed, int count)> hold_out;
  std::function<std::vector<LawUnderTest>(const LoadScenario&)> suite_laws;
};

// The simulator of controller/simulation.
Engine RealEngine();

}  // namespace plimsoll::cli
