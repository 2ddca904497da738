#include "plimsoll/simulation/fleet_simulator.h"

#include <algorithm>

#include "controller/simulation/src/fleet.h"
#include "controller/simulation/src/sabotage.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, kInvariants> kInvariantNames = {"I1", "I2", "I3", "I4"};

}  // namespace

std::string_view ToString(Invariant invariant) {
  return kInvariantNames[static_cast<std::size_t>(invariant)];
}

EtcdCounts& EtcdCounts::operator+=(const EtcdCounts& other) {
  for (std::int64_t EtcdCounts::*const count :
       {&EtcdCounts::reigns, &EtcdCounts::takes_failed, &EtcdCounts::unknown_takes,
        &EtcdCounts::leases_ended, &EtcdCounts::pages, &EtcdCounts::compacted_pages,
        &EtcdCounts::writes, &EtcdCounts::split_batches, &EtcdCounts::unknown_landed,
        &EtcdCounts::unknown_open, &EtcdCounts::landed_late, &EtcdCounts::refused_late,
        &EtcdCounts::refused_again, &EtcdCounts::stale_writes, &EtcdCounts::stale_confirms,
        &EtcdCounts::stale_answers}) {
    this->*count += other.*count;
  }
  return *this;
}

TemplateCounts& TemplateCounts::operator+=(const TemplateCounts& other) {
  made += other.made;
  forgotten += other.forgotten;
  inherited += other.inherited;
  learning += other.learning;
  return *this;
}

bool SimulationResult::ok() const {
  return std::all_of(violations.begin(), violations.end(), [](std::int64_t n) { return n == 0; });
}

SimulationResult Simulate(const Scenario& scenario, std::uint64_t seed, bool traced) {
  internal::Sabotage none;
  return internal::Fleet(scenario, seed, traced, none).Run(/*until_broken=*/false);
}

}  // namespace plimsoll
