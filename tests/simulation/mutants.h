#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "controller/simulation/src/sabotage.h"
#include "plimsoll/simulation/fleet_simulator.h"

namespace plimsoll::internal {

// The protocol without one of its rules. The simulation must notice.
struct Mutant {
  std::string_view name;
  std::string_view rule;  // as numbered in controller/README.md, E… in that of controller/store
  std::string_view text;  // what is done instead
  std::string_view scenario;
  std::uint64_t seed;  // is tried first
  std::unique_ptr<Sabotage> (*make)();
};

const std::vector<Mutant>& Mutants();

// The first run in which an invariant breaks, up to that moment: of the mutant's own seed, then of
// the seeds 1 to `runs`. Nothing if none does.
std::optional<SimulationResult> Catch(const Mutant& mutant, std::uint64_t runs);

}  // namespace plimsoll::internal
