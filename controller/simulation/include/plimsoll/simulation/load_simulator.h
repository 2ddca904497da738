#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/core/types.h"
#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll {

// The options of the core in a load simulation. Windows reach a controller with syncs, so these are
// shorter than an operator would need: laws are not to starve. Windows of 100 ms come one by one.
inline constexpr absl::Duration kLoadHoldMax = absl::Milliseconds(150);
inline constexpr absl::Duration kLoadTick = absl::Milliseconds(50);

// One look at the fleet, each half second.
struct LoadSample {
  absl::Duration at;
  int replicas = 0;             // that are there
  double limit = 0;             // mean over the replicas of the limit in force
  Calls limits = 0;             // sum of the limits in force
  Calls in_flight = 0;          // at the dependency, calls of dead replicas included
  double offered = 0;           // per second, since the sample before; first arrivals only
  double completed = 0;         // per second
  double good = 0;              // per second, within the deadline
  double rejected = 0;          // per second
  absl::Duration latency_mean;  // of calls that ended, from admission; zero if none ended
  absl::Duration latency_p99;
};

// What a phase came to.
struct PhaseResult {
  std::string name;
  absl::Duration start;
  absl::Duration length;
  double offered = 0;   // per second
  double good = 0;      // per second, within the deadline of the first arrival
  double rejected = 0;  // per second
  absl::Duration latency_mean;
  absl::Duration latency_p50;
  absl::Duration latency_p99;
  double limit_mean = 0;       // mean limit of a replica in the second half
  double limit_deviation = 0;  // its standard deviation over time
  double limit_max = 0;
  double fairness = 1;  // Jain's index of completions per replica, of those there at the end
};

struct LoadRun {
  std::string law;
  std::uint64_t seed = 0;
  std::vector<PhaseResult> phases;
  std::vector<LoadSample> samples;
  std::vector<LogEvent> decisions;    // limits that changed and why, oldest first, the last 20,000
  std::int64_t quota_violations = 0;  // events after which more was in flight than the quota
  Calls in_flight_max = 0;
  std::int64_t calls = 0;     // first arrivals: the sum of the next five
  std::int64_t good = 0;      // within the deadline
  std::int64_t late = 0;      // the other ones that ended
  std::int64_t rejected = 0;  // refused, after all retries
  std::int64_t lost = 0;      // that ended after their replica had crashed
  std::int64_t open = 0;      // in flight, or to be tried again, when the run ended
  std::int64_t refusals = 0;  // each attempt that was refused
  std::int64_t messages = 0;  // between agents and controller
  std::int64_t grants = 0;    // that changed a limit
};

// A law under test. `static_limit`: each replica keeps this limit, without a controller: the
// yardstick. Otherwise the real controller core and real agents run the scenario's policy with
// `algorithm` in it; scope instance if each replica has its own station, fleet if it is shared,
// unless `scope` says otherwise.
struct LawUnderTest {
  std::string name;
  std::optional<Calls> static_limit;
  AlgorithmConfig algorithm;
  std::optional<WindowConfig> window;
  std::optional<Scope> scope;
};

struct LoadOptions {
  std::uint64_t seed = 1000;
  // Called now and then with the share of the run that is done, in [0, 1]. May be empty.
  std::function<void(double)> progress;
};

// Lives the scenario with the real core, session and limiter in virtual time. The scenario must be
// valid. The same arguments give the same result. Stays in the caller's thread, so several can run
// side by side.
LoadRun SimulateLoad(const LoadScenario& scenario, const LawUnderTest& law,
                     const LoadOptions& options);

// What the best static limit reaches in one phase, found by trying limits; by no law's objective.
struct Optimum {
  Calls limit = 0;  // the smallest limit within 1 % of the best goodput
  double good = 0;  // per second
  absl::Duration latency_p99;
};
// With all changes up to that phase applied, even load, and every replica there; if there is a
// quota, within it.
Optimum FindOptimum(const LoadScenario& scenario, std::size_t phase);

// A phase of a run against its optimum.
struct PhaseScore {
  double goodput = 0;    // good / optimum
  double p99 = 0;        // p99 / optimum's p99
  absl::Duration to_90;  // until 90 % of the optimum was held for 3 s; the phase length: never
  bool converged = false;
  double limit = 0;        // mean limit of the second half / optimum's limit
  double overshoot = 0;    // largest mean limit / optimum's limit, inherited limits included
  double oscillation = 0;  // standard deviation of the limit / its mean, second half
  double fairness = 1;
  double probe_cost = 0;  // share of the offered calls refused though the optimum's limit had room
};
PhaseScore Score(const PhaseResult& phase, const std::vector<LoadSample>& samples,
                 const Optimum& optimum);

// Whether a phase offers more than the dependency can do then: only such phases are compared.
bool IsOverload(const LoadScenario& scenario, std::size_t phase);

// The laws that the suite compares, each with the windows that suit it; AIMD takes the deadline of
// the scenario as its latency threshold. Without a scenario: the default deadline. Kinds that
// MakeAlgorithm() does not know are left out.
std::vector<LawUnderTest> SuiteLaws(const LoadScenario& scenario);
std::vector<LawUnderTest> SuiteLaws();

}  // namespace plimsoll
