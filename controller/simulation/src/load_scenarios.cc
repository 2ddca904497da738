#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "controller/simulation/src/load_station.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll {
namespace {

using absl::Milliseconds;
using absl::Seconds;

Station Fifo(int servers, absl::Duration service, absl::Duration delay = absl::ZeroDuration()) {
  Station station;
  station.servers = servers;
  station.service = service;
  station.delay = delay;
  return station;
}

Station Sharing(int servers, absl::Duration service, absl::Duration delay) {
  Station station = Fifo(servers, service, delay);
  station.discipline = Discipline::kSharing;
  return station;
}

// The stations that most scenarios have.
Station Plain() { return Fifo(8, Milliseconds(10)); }
Station Waiting() { return Sharing(4, Milliseconds(5), Milliseconds(40)); }

LoadPhase Phase(int start, double load, std::string name) {
  LoadPhase phase;
  phase.name = std::move(name);
  phase.start = Seconds(start);
  phase.load = load;
  return phase;
}

LoadPhase WithServers(LoadPhase phase, int servers) {
  phase.servers = servers;
  return phase;
}

LoadPhase WithDelay(LoadPhase phase, absl::Duration delay) {
  phase.delay = delay;
  return phase;
}

LoadPhase WithReplicas(LoadPhase phase, int replicas) {
  phase.replicas = replicas;
  return phase;
}

LoadPhase Warm() { return Phase(0, 0.6, "warm"); }
LoadPhase Over() { return Phase(30, 2, "over"); }

LoadScenario Make(std::string name, std::string description, const Station& station, int deadline,
                  int length, std::vector<LoadPhase> phases) {
  LoadScenario scenario;
  scenario.name = std::move(name);
  scenario.description = std::move(description);
  scenario.station = station;
  scenario.deadline = Milliseconds(deadline);
  scenario.length = Seconds(length);
  scenario.phases = std::move(phases);
  scenario.policy.name = DependencyId("dependency");
  scenario.policy.algorithm.floor = 1;
  scenario.policy.algorithm.ceiling = 1000;
  scenario.policy.algorithm.initial = 20;
  return scenario;
}

LoadScenario WithQuota(LoadScenario scenario, Calls quota) {
  scenario.policy.quota = quota;
  // No call lives so long: the limits are small.
  scenario.policy.call_deadline = Seconds(2);
  return scenario;
}

LoadScenario A() {
  return Make("A", "capacity halves and comes back", Plain(), 60, 180,
              {Warm(), Over(), WithServers(Phase(80, 2, "halved"), 4),
               WithServers(Phase(130, 2, "restored"), 8)});
}

LoadScenario B() {
  return Make("B", "capacity halves and comes back, most of the time is spent waiting", Waiting(),
              150, 180,
              {Warm(), Over(), WithServers(Phase(80, 2, "halved"), 2),
               WithServers(Phase(130, 2, "restored"), 4)});
}

LoadScenario C() {
  return Make("C", "the dependency's own latency triples and comes back", Waiting(), 300, 180,
              {Warm(), Over(), WithDelay(Phase(80, 2, "slower"), Milliseconds(120)),
               WithDelay(Phase(130, 2, "restored"), Milliseconds(40))});
}

LoadScenario D() {
  Station station = Fifo(16, Milliseconds(5));
  station.long_share = 0.1;
  station.long_service = Milliseconds(100);
  LoadPhase shifted = Phase(80, 2, "shifted");
  shifted.long_share = 0.3;
  return Make("D", "short and long calls, more of them long later", station, 500, 130,
              {Warm(), Over(), shifted});
}

LoadScenario E() {
  LoadScenario scenario =
      Make("E", "replica 0 pauses 300 ms every 5 s", Plain(), 60, 90, {Warm(), Over()});
  scenario.pause_every = Seconds(5);
  scenario.pause = Milliseconds(300);
  return scenario;
}

LoadScenario F() {
  return Make("F", "next to nothing, then a cold burst", Waiting(), 150, 110,
              {Phase(0, 0.004, "idle"), Phase(60, 2, "burst")});
}

LoadScenario G() {
  Station station = Plain();
  station.retrograde = 0.01;
  LoadScenario scenario = Make("G", "three retries, work that slows work", station, 80, 90,
                               {Warm(), Phase(30, 1.5, "over")});
  scenario.retries = 3;
  return scenario;
}

LoadScenario H() {
  LoadScenario scenario = Make("H", "eight clients of one dependency, one of which joins late",
                               Fifo(32, Milliseconds(10), Milliseconds(5)), 80, 140,
                               {Warm(), Over(), Phase(80, 2, "joined")});
  scenario.shared = true;
  scenario.late_replica = 7;
  scenario.late_at = Seconds(80);
  return scenario;
}

LoadScenario I() {
  LoadScenario scenario = Make("I", "replica 0 has half of the others' capacity", Plain(), 60, 90,
                               {Phase(0, 0.4, "warm"), Over()});
  scenario.slow_replica_servers = 4;
  return scenario;
}

LoadScenario J() {
  return Make("J", "cold start in overload", Plain(), 60, 90, {Phase(0, 2, "cold")});
}

LoadScenario K() {
  LoadScenario scenario = Make("K", "the dependency's own latency goes up and down", Waiting(), 150,
                               100, {Warm(), Over()});
  scenario.noise_every = Seconds(3);
  scenario.noise_factor = 1.6;
  return scenario;
}

LoadScenario L() {
  Station station = Fifo(8, Milliseconds(10), Milliseconds(10));
  station.service_time = ServiceTime::kFixed;
  return Make("L", "every call takes as long as every other", station, 80, 130,
              {Warm(), Over(), WithServers(Phase(80, 2, "halved"), 4)});
}

LoadScenario M() {
  return Make("M", "few and slow calls: 16 a second per replica", Fifo(4, Milliseconds(250)), 1500,
              420, {Warm(), Phase(60, 2, "over"), WithServers(Phase(240, 2, "halved"), 2)});
}

LoadScenario O() {
  Station station = Plain();
  station.service_time = ServiceTime::kPareto;
  return Make("O", "a few calls take very long", station, 80, 100, {Warm(), Over()});
}

LoadScenario P() {
  return Make("P", "load just at capacity, then just above it", Plain(), 60, 130,
              {Warm(), Phase(30, 1.0, "critical"), Phase(80, 1.1, "above")});
}

LoadScenario Q() {
  LoadScenario scenario = Make("Q", "replica 0 gets 40 % of all calls", Plain(), 60, 90,
                               {Phase(0, 0.2, "warm"), Phase(30, 0.8, "hot")});
  scenario.traffic = {0.4};
  return scenario;
}

LoadScenario R() {
  LoadScenario scenario = Make("R", "4 replicas, then 16, then 4 again", Plain(), 60, 150,
                               {Warm(), Phase(30, 2, "over"), WithReplicas(Phase(50, 6, "out"), 16),
                                WithReplicas(Phase(100, 2, "in"), 4)});
  scenario.replicas = 4;
  return scenario;
}

LoadScenario S() {
  LoadScenario scenario =
      WithQuota(Make("S", "two of eight clients crash, holding permits; they are back after 20 s",
                     Fifo(32, Milliseconds(10), Milliseconds(5)), 80, 130,
                     {Warm(), Over(), Phase(60, 2, "crashed"), Phase(80, 2, "back")}),
                80);
  scenario.shared = true;
  for (const int replica : {2, 3}) scenario.crashes.push_back({Seconds(60), replica, Seconds(20)});
  return scenario;
}

LoadScenario T() {
  LoadScenario scenario =
      Make("T", "the controller is away for 30 s, with a base of 10 for each replica", Plain(), 60,
           120, {Warm(), Over(), Phase(50, 2, "away"), Phase(80, 2, "back")});
  scenario.controller_away_at = Seconds(50);
  scenario.controller_away = Seconds(30);
  scenario.policy.outage.base = 10;
  return scenario;
}

LoadScenario U() {
  std::vector<LoadPhase> phases;
  for (int tenths : {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 16, 12, 8, 4}) {
    phases.push_back(Phase(static_cast<int>(phases.size()) * 10, tenths / 10.0,
                           absl::StrFormat("%.1f-%d", tenths / 10.0, phases.size())));
  }
  return Make("U", "the load climbs to twice the capacity and falls again", Plain(), 60, 140,
              std::move(phases));
}

LoadScenario V() {
  return WithQuota(Make("V", "a quota that is smaller than what the replicas could use", Plain(),
                        60, 90, {Warm(), Over()}),
                   56);
}

LoadScenario W() {
  LoadScenario scenario = WithQuota(
      Make("W", "24 clients share a quota of 12", Fifo(8, Milliseconds(10), Milliseconds(5)), 80,
           110, {Phase(0, 0.3, "warm"), Phase(30, 1.2, "above"), Phase(70, 2, "over")}),
      12);
  scenario.shared = true;
  scenario.replicas = 24;
  return scenario;
}

LoadScenario X() {
  LoadScenario scenario = Make("X", "32 replicas, capacity halves", Plain(), 60, 110,
                               {Warm(), Over(), WithServers(Phase(70, 2, "halved"), 4)});
  scenario.replicas = 32;
  return scenario;
}

LoadScenario Y() {
  LoadScenario scenario = Make("Y", "a single replica, capacity halves", Plain(), 60, 180,
                               {Warm(), Over(), WithServers(Phase(100, 2, "halved"), 4)});
  scenario.replicas = 1;
  return scenario;
}

// The draws of one random scenario, in this order: replicas, servers, service, delay, discipline,
// kind of service time, retrograde, load, what changes, deadline, retries.
LoadScenario Draw(Random& random, int index) {
  const int replicas = 4 + static_cast<int>(9 * random.Uniform());
  Station station;
  station.servers = 2 + static_cast<int>(15 * random.Uniform());
  station.service = Milliseconds(4 * std::pow(15, random.Uniform()));
  if (!random.Chance(0.3)) station.delay = station.service * std::pow(12, random.Uniform());
  if (random.Chance(0.5)) station.discipline = Discipline::kSharing;
  const double kind = random.Uniform();
  if (kind < 0.2) {
    station.service_time = ServiceTime::kFixed;
  } else if (kind < 0.4) {
    station.service_time = ServiceTime::kPareto;
  } else if (kind < 0.6) {
    station.long_share = 0.1;
    station.long_service = 10 * station.service;
  }
  if (random.Chance(0.3)) station.retrograde = 0.005;
  const double load = 1.2 + 1.8 * random.Uniform();
  const bool capacity_changes = random.Chance(0.5) || station.delay == absl::ZeroDuration();
  const double factor =
      capacity_changes ? 0.4 + 0.5 * random.Uniform() : 1.5 + 1.5 * random.Uniform();
  const absl::Duration delay_after = station.delay * (capacity_changes ? 1 : factor);
  const absl::Duration latency =
      Seconds(internal::MeanService(station)) + std::max(station.delay, delay_after);
  const bool retried = random.Chance(0.3);

  LoadPhase changed = Phase(80, load, "changed");
  if (capacity_changes) {
    changed.servers = std::max(1, static_cast<int>(std::round(station.servers * factor)));
  } else {
    changed.delay = delay_after;
  }
  LoadScenario scenario = Make(absl::StrFormat("r%02d", index),
                               absl::StrFormat("%d replicas, load %.1f, %s x %.1f", replicas, load,
                                               capacity_changes ? "capacity" : "delay", factor),
                               station, 0, 130, {Warm(), Phase(30, load, "over"), changed});
  scenario.replicas = replicas;
  scenario.deadline = 5 * latency;
  if (retried) scenario.retries = 2;
  return scenario;
}

}  // namespace

std::vector<LoadScenario> DesignedLoadScenarios() {
  return {A(), B(), C(), D(), E(), F(), G(), H(), I(), J(), K(), L(),
          M(), O(), P(), Q(), R(), S(), T(), U(), V(), W(), X(), Y()};
}

std::vector<LoadScenario> HoldOutLoadScenarios(std::uint64_t seed, int count) {
  Random random(seed);
  std::vector<LoadScenario> scenarios;
  for (int i = 0; i < count; ++i) scenarios.push_back(Draw(random, i));
  return scenarios;
}

}  // namespace plimsoll
