// What the pool law must do, as properties, and deliberately broken laws, each of which must break
// one of them. A mutant tampers with what was learnt, after every epoch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "tests/unit/algorithms/knee_plant.h"

namespace plimsoll {
namespace {

struct Property {
  std::string name;
  std::function<bool(const Tamper& tamper, std::uint64_t seed)> holds;
};

double Capacity(const Plant& plant) { return plant.servers / plant.service; }
Plant Remote() { return {.servers = 4, .service = 0.005, .delay = 0.040}; }

KneeFleet MakeFleet(KneeMode mode, const Plant& plant, double load, const Tamper& tamper,
                    std::uint64_t seed) {
  AlgorithmConfig config = KneeFleet::Config();
  const bool shared = mode == KneeMode::kShared;
  if (shared) config.initial = 160;
  KneeFleet fleet(*MakeFleetKnee(config, mode), std::vector<Plant>(8, plant),
                  load * Capacity(plant) / (shared ? 8 : 1), seed);
  fleet.TamperWith(tamper);
  return fleet;
}

bool IsAtKnee(double level, const Plant& plant) {
  return level >= 0.8 * plant.Knee() && level <= 1.7 * plant.Knee();
}

bool LowersToTheKnee(const Tamper& tamper, std::uint64_t seed) {
  const Plant plant;
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, plant, 0.4, tamper, seed);
  fleet.Run(6);
  fleet.Offer(2 * Capacity(plant));
  fleet.Run(30);
  return IsAtKnee(fleet.state().level, plant);
}

bool LowersFromACold(const Tamper& tamper, std::uint64_t seed) {
  const Plant plant;
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, plant, 2, tamper, seed);
  fleet.state().level = 80;
  fleet.Run(60);
  return IsAtKnee(fleet.state().level, plant);
}

bool RaisesWhenTheNetworkSlows(const Tamper& tamper, std::uint64_t seed) {
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, Remote(), 2, tamper, seed);
  fleet.Run(30);
  Plant slower = Remote();
  slower.delay *= 3;
  fleet.ChangeAll(slower);
  fleet.Run(24);
  return IsAtKnee(fleet.state().level, slower);
}

bool LowersWhenCapacityHalves(const Tamper& tamper, std::uint64_t seed) {
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, Remote(), 2, tamper, seed);
  fleet.Run(60);
  Plant halved = Remote();
  halved.servers /= 2;
  fleet.ChangeAll(halved);
  fleet.Run(8);
  return IsAtKnee(fleet.state().level, halved);
}

bool StaysAtTheKnee(const Tamper& tamper, std::uint64_t seed) {
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, Remote(), 2, tamper, seed);
  fleet.Run(40);
  for (int i = 0; i < 200; ++i) {
    fleet.Run();
    if (!IsAtKnee(fleet.state().level, Remote())) return false;
  }
  return true;
}

bool HoldsWhileIdle(const Tamper& tamper, std::uint64_t seed) {
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, Remote(), 2, tamper, seed);
  fleet.Run(40);
  const double before = fleet.state().level;
  fleet.Offer(0.05 * Capacity(Remote()));
  fleet.Run(300);
  return fleet.state().level == before;
}

bool MovesATotal(const Tamper& tamper, std::uint64_t seed) {
  const Plant plant{.servers = 32, .service = 0.010, .delay = 0.005};
  KneeFleet fleet = MakeFleet(KneeMode::kShared, plant, 2, tamper, seed);
  fleet.Run(160);
  return IsAtKnee(fleet.state().level, plant);
}

bool SharesByCapacity(const Tamper& tamper, std::uint64_t seed) {
  const Plant plant;
  KneeFleet fleet = MakeFleet(KneeMode::kPerReplica, plant, 2, tamper, seed);
  fleet.plant(0).servers = 3;
  fleet.Run(80);
  return fleet.limit(0) < 0.8 * fleet.limit(1);
}

const std::vector<Property>& Properties() {
  static const auto& properties = *new std::vector<Property>{
      {"lowers to the knee", LowersToTheKnee},
      {"lowers from a cold start far above it", LowersFromACold},
      {"raises when the network slows", RaisesWhenTheNetworkSlows},
      {"lowers when capacity halves", LowersWhenCapacityHalves},
      {"stays at the knee", StaysAtTheKnee},
      {"holds while idle", HoldsWhileIdle},
      {"finds the knee of a shared dependency", MovesATotal},
      {"a weak replica gets less", SharesByCapacity},
  };
  return properties;
}

struct Mutant {
  std::string name;
  Tamper tamper;
};

const std::vector<Mutant>& Mutants() {
  static const auto& mutants = *new std::vector<Mutant>{
      {"BaselineLearntUnderLoad", [](KneeState& state) { state.baseline = state.latency; }},
      {"BaselineNeverLearnt", [](KneeState& state) { state.baseline = 0.0001; }},
      {"ElasticityReadBackwards",
       [](KneeState& state) {
         for (KneeReplica& replica : state.replicas) replica.base_code *= -1;
         state.base_sign *= -1;
       }},
      {"AllCodesAlike",
       [](KneeState& state) {
         for (KneeReplica& replica : state.replicas) replica.base_code = state.base_sign;
       }},
      {"NoDither", [](KneeState& state) { state.dithering = false; }},
      {"NothingForgotten",
       [](KneeState& state) {
         if (state.sums.count > 0) state.sums.Scale(std::max(1.0, 40 / state.sums.count));
       }},
      {"NothingRemembered", [](KneeState& state) { state.sums = ElasticitySums(); }},
      {"InflatesWhileIdle",
       [](KneeState& state) {
         if (!state.dithering) state.level += 1;
       }},
      {"DecaysWhileIdle",
       [](KneeState& state) {
         if (!state.dithering) state.level = std::max(1.0, state.level * 0.99);
       }},
      {"WeightsNeverMove",
       [](KneeState& state) {
         for (KneeReplica& replica : state.replicas) replica.weight = 1;
       }},
      {"OnlyFirstHalves", [](KneeState& state) { state.second_of_pair = false; }},
      {"FirstHalfMixedUp",
       [](KneeState& state) {
         for (std::size_t i = 1; i < state.replicas.size(); ++i) {
           std::swap(state.replicas[i - 1].first_x, state.replicas[i].first_x);
           state.replicas[i].first_x *= 0.9;
         }
       }},
      {"RaisesAfterEveryChange",
       [](KneeState& state) {
         if (state.loud == 5) state.level *= 1.5;
       }},
  };
  return mutants;
}

// "" if all properties hold on all seeds.
std::string FirstBroken(const Tamper& tamper, int seeds) {
  for (const Property& property : Properties()) {
    for (int seed = 1; seed <= seeds; ++seed) {
      if (!property.holds(tamper, static_cast<std::uint64_t>(seed))) return property.name;
    }
  }
  return "";
}

TEST(FleetKneeMutantsTest, TheLawItselfHasAllProperties) { EXPECT_EQ(FirstBroken({}, 20), ""); }

TEST(FleetKneeMutantsTest, EachMutantIsCaught) {
  for (const Mutant& mutant : Mutants()) {
    const std::string broken = FirstBroken(mutant.tamper, 20);
    EXPECT_NE(broken, "") << mutant.name << " is not caught";
    std::cout << mutant.name << ": " << broken << '\n';
  }
}

}  // namespace
}  // namespace plimsoll
