#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What a load simulation runs: a fleet, its traffic, the dependency that it calls, and what
// happens to all of them. Values only. All times are virtual.

// How long a server works on a call.
enum class ServiceTime {
  kExponential,
  kFixed,
  kPareto,  // exponent 2: at least half the mean, at most 50 times it
};

// In which order servers work.
enum class Discipline {
  kFifo,     // one queue before c servers
  kSharing,  // all calls at once: each of m runs at the rate min(1, c / m)
};

// A dependency: a pure delay, then c servers. A model, with the three things that a limit can do
// wrong: idle servers, a queue, and work that makes other work slower.
struct Station {
  int servers = 8;  // c >= 1
  Discipline discipline = Discipline::kFifo;
  ServiceTime service_time = ServiceTime::kExponential;
  absl::Duration service = absl::Milliseconds(10);  // mean, > 0
  // Bimodal: this share of the calls takes `long_service` on average instead. [0, 1).
  double long_share = 0;
  absl::Duration long_service = absl::ZeroDuration();
  // Before the servers, without a queue: 0.7 of it fixed, the rest exponential. >= 0.
  absl::Duration delay = absl::ZeroDuration();
  // Retrograde throughput: work takes 1 + retrograde * max(0, calls - c) times as long. >= 0.
  double retrograde = 0;
};

// A stretch of the run. What is set changes the station of every replica, or the shared one, when
// the phase begins, and stays so until a later phase changes it.
struct LoadPhase {
  std::string name;
  absl::Duration start;
  // Offered calls per second, as a multiple of what the whole healthy dependency can do at its
  // nominal size (the station as the scenario gives it). >= 0.
  double load = 1;
  std::optional<int> servers;
  std::optional<absl::Duration> service;
  std::optional<absl::Duration> delay;
  std::optional<double> long_share;
  // How many replicas there are from now on (autoscaling); new ones start cold. With stations of
  // their own the load follows the nominal size of the fleet as the scenario gives it.
  std::optional<int> replicas;
};

// Replica `replica` ends without a word, holding the permits that it has; its calls run on. It is
// back after `down` under the same name.
struct Crash {
  absl::Duration at;
  int replica = 0;
  absl::Duration down = absl::Seconds(5);
};

struct LoadScenario {
  std::string name;  // one word: "A", "halved"
  std::string description;
  int replicas = 8;
  // The replicas are clients of one station; otherwise each replica is in front of its own.
  bool shared = false;
  Station station;
  std::vector<LoadPhase> phases;  // at least one; the first starts at 0; by start
  absl::Duration length = absl::Seconds(150);
  // A call is good if it ends so soon after its first arrival. It is not cut at it.
  absl::Duration deadline = absl::Milliseconds(100);

  // Calls that are refused are tried again so often, after backoff * U[0.5, 1.5), at a random
  // replica (at the same client, if the station is shared).
  int retries = 0;
  absl::Duration backoff = absl::Milliseconds(50);

  // Part of the traffic of each replica; empty: even. The rest is spread evenly.
  std::vector<double> traffic;
  // Replica 0 is weak: so many servers instead.
  std::optional<int> slow_replica_servers;
  // The station of replica 0 stops, so often, for so long.
  absl::Duration pause_every = absl::InfiniteDuration();
  absl::Duration pause = absl::ZeroDuration();
  // The delay toggles between itself and `noise_factor` times itself, after
  // noise_every * U[0.5, 1.5).
  absl::Duration noise_every = absl::InfiniteDuration();
  double noise_factor = 1;
  // This replica joins late.
  std::optional<int> late_replica;
  absl::Duration late_at = absl::ZeroDuration();
  std::vector<Crash> crashes;
  // The controller is away from here, for so long.
  absl::Duration controller_away_at = absl::InfiniteDuration();
  absl::Duration controller_away = absl::ZeroDuration();

  // The policy under which the fleet runs; its algorithm is what is tried, its quota, floor and
  // ceiling hold for every law. Empty quota: none. The call deadline is that of the quota protocol.
  Policy policy;
  // One way between agents and controller, half of it to twice of it.
  absl::Duration network_delay = absl::Milliseconds(1);
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const LoadScenario& scenario);

// The designed scenarios, A to Q and those that only a whole controller can live through: see
// controller/simulation/README.md.
std::vector<LoadScenario> DesignedLoadScenarios();

// `count` random ones, the same for the same seed: to see whether a law that was looked at with
// the designed ones works elsewhere.
std::vector<LoadScenario> HoldOutLoadScenarios(std::uint64_t seed, int count);

}  // namespace plimsoll
