#include "plimsoll/simulation/load_scenario.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "controller/simulation/src/load_engine.h"
#include "plimsoll/controller/options.h"

namespace plimsoll {
namespace {

constexpr int kReplicasMax = 1000;
constexpr int kServersMax = 100'000;
constexpr absl::Duration kLongest = absl::Hours(24);
// Of one run, so that it ends within minutes: simulate makes many runs of one scenario.
constexpr double kCallsSimulatedMax = 1e8;
constexpr double kReplicaSecondsMax = 1e6;
// Of what happens again and again beside the calls.
constexpr absl::Duration kEveryMin = absl::Milliseconds(1);

// Gathers violations, each as "name = value: rule".
class Violations {
 public:
  template <typename Value>
  void Require(bool holds, const std::string& name, const Value& value, const std::string& rule) {
    if (!holds) found_.push_back(absl::StrCat(name, " = ", value, ": ", rule));
  }
  void Require(bool holds, const std::string& name, absl::Duration value, const std::string& rule) {
    Require(holds, name, absl::FormatDuration(value), rule);
  }
  void RequireIn(const std::string& name, int value, int low, int high) {
    Require(value >= low && value <= high, name, value,
            absl::StrCat("must be between ", low, " and ", high));
  }
  void RequireIn(const std::string& name, absl::Duration value, absl::Duration low,
                 absl::Duration high) {
    Require(value >= low && value <= high, name, value,
            absl::StrCat("must be between ", absl::FormatDuration(low), " and ",
                         absl::FormatDuration(high)));
  }
  void RequireShare(const std::string& name, double value) {
    Require(value >= 0 && value < 1, name, value, "must be at least 0 and below 1");
  }
  void Add(const absl::Status& status) {
    if (!status.ok()) found_.push_back(std::string(status.message()));
  }
  bool empty() const { return found_.empty(); }
  absl::Status ToStatus() const {
    if (found_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(found_, "; "));
  }

 private:
  std::vector<std::string> found_;
};

void CheckStation(const Station& station, Violations& violations) {
  violations.RequireIn("station.servers", station.servers, 1, kServersMax);
  violations.RequireIn("station.service", station.service, absl::Nanoseconds(1), kLongest);
  violations.RequireShare("station.long_share", station.long_share);
  violations.Require(station.long_share <= 0 || station.long_service > absl::ZeroDuration(),
                     "station.long_service", station.long_service,
                     "must be above 0 if there is a long_share");
  violations.RequireIn("station.delay", station.delay, absl::ZeroDuration(), kLongest);
  violations.Require(station.retrograde >= 0 && std::isfinite(station.retrograde),
                     "station.retrograde", station.retrograde, "must be a number of at least 0");
}

void CheckPhase(const LoadScenario& scenario, std::size_t index, Violations& violations) {
  const LoadPhase& phase = scenario.phases[index];
  const std::string prefix = absl::StrCat("phases[", index, "].");
  const absl::Duration earliest =
      index == 0 ? absl::ZeroDuration() : scenario.phases[index - 1].start + absl::Nanoseconds(1);
  violations.Require(index > 0 ? phase.start >= earliest : phase.start == earliest,
                     prefix + "start", phase.start,
                     "the first phase must start at 0, each later one after the one before");
  violations.Require(
      phase.start < scenario.length, prefix + "start", phase.start,
      absl::StrCat("must lie before the end of the run, ", absl::FormatDuration(scenario.length)));
  violations.Require(phase.load >= 0 && phase.load <= 1000, prefix + "load", phase.load,
                     "must be between 0 and 1000 times the capacity");
  if (phase.servers) violations.RequireIn(prefix + "servers", *phase.servers, 1, kServersMax);
  if (phase.service) {
    violations.RequireIn(prefix + "service", *phase.service, absl::Nanoseconds(1), kLongest);
  }
  if (phase.delay) {
    violations.RequireIn(prefix + "delay", *phase.delay, absl::ZeroDuration(), kLongest);
  }
  if (phase.long_share) {
    violations.RequireShare(prefix + "long_share", *phase.long_share);
    violations.Require(
        *phase.long_share <= 0 || scenario.station.long_service > absl::ZeroDuration(),
        prefix + "long_share", *phase.long_share, "must be 0 if the station has no long_service");
  }
  if (phase.replicas) violations.RequireIn(prefix + "replicas", *phase.replicas, 1, kReplicasMax);
}

void CheckTraffic(const LoadScenario& scenario, Violations& violations) {
  const auto most = static_cast<std::size_t>(internal::ReplicasMax(scenario));
  violations.Require(scenario.traffic.size() <= most, "traffic", scenario.traffic.size(),
                     absl::StrCat("there are only ", most, " replicas"));
  double sum = 0;
  for (std::size_t i = 0; i < scenario.traffic.size(); ++i) {
    const double part = scenario.traffic[i];
    violations.Require(part >= 0 && part <= 1, absl::StrCat("traffic[", i, "]"), part,
                       "must be between 0 and 1");
    sum += part;
  }
  violations.Require(sum <= 1 + 1e-9, "traffic", sum, "the parts must not add up to more than 1");
}

void CheckFaults(const LoadScenario& scenario, Violations& violations) {
  const int last = internal::ReplicasMax(scenario) - 1;
  if (scenario.slow_replica_servers) {
    violations.RequireIn("slow_replica_servers", *scenario.slow_replica_servers, 1, kServersMax);
  }
  violations.Require(scenario.pause_every > scenario.pause, "pause", scenario.pause,
                     "must be shorter than pause_every");
  violations.Require(scenario.pause >= absl::ZeroDuration(), "pause", scenario.pause,
                     "must be at least 0");
  violations.RequireIn("noise_every", scenario.noise_every, kEveryMin, absl::InfiniteDuration());
  violations.RequireIn("pause_every", scenario.pause_every, kEveryMin, absl::InfiniteDuration());
  violations.Require(scenario.noise_factor >= 0 && scenario.noise_factor <= 1000, "noise_factor",
                     scenario.noise_factor, "must be between 0 and 1000");
  if (scenario.late_replica) {
    violations.RequireIn("late_replica", *scenario.late_replica, 0, last);
    violations.RequireIn("late_at", scenario.late_at, absl::ZeroDuration(), kLongest);
  }
  for (std::size_t i = 0; i < scenario.crashes.size(); ++i) {
    const Crash& crash = scenario.crashes[i];
    const std::string prefix = absl::StrCat("crashes[", i, "].");
    violations.RequireIn(prefix + "replica", crash.replica, 0, last);
    violations.RequireIn(prefix + "at", crash.at, absl::ZeroDuration(), kLongest);
    violations.RequireIn(prefix + "down", crash.down, absl::ZeroDuration(), kLongest);
  }
  violations.Require(scenario.controller_away_at >= absl::ZeroDuration(), "controller_away_at",
                     scenario.controller_away_at, "must be at least 0");
  violations.RequireIn("controller_away", scenario.controller_away, absl::ZeroDuration(), kLongest);
}

absl::Duration LengthOf(const LoadScenario& scenario, std::size_t phase) {
  const bool last = phase + 1 == scenario.phases.size();
  return (last ? scenario.length : scenario.phases[phase + 1].start) - scenario.phases[phase].start;
}

// At worst each call is refused as often as it may be.
double AttemptsAtMost(const LoadScenario& scenario) {
  double calls = 0;
  for (std::size_t i = 0; i < scenario.phases.size(); ++i) {
    calls += scenario.phases[i].load * absl::ToDoubleSeconds(LengthOf(scenario, i));
  }
  return calls * internal::NominalCapacity(scenario) * (1 + scenario.retries);
}

// Requires a scenario that is fine otherwise.
void CheckWork(const LoadScenario& scenario, Violations& violations) {
  const double attempts = AttemptsAtMost(scenario);
  violations.Require(
      attempts <= kCallsSimulatedMax, "length", scenario.length,
      absl::StrFormat("%.0f calls and retries would be simulated, at most %.0f are: shorten the "
                      "length, or lower the load of the phases, the capacity of the station "
                      "(fewer replicas or servers, a longer service) or the retries",
                      attempts, kCallsSimulatedMax));
  const double seconds = internal::ReplicasMax(scenario) * absl::ToDoubleSeconds(scenario.length);
  violations.Require(seconds <= kReplicaSecondsMax, "length", scenario.length,
                     absl::StrFormat("replicas times seconds are %.0f, and may be %.0f: shorten "
                                     "the length, or take fewer replicas",
                                     seconds, kReplicaSecondsMax));
}

}  // namespace

absl::Status Validate(const LoadScenario& scenario) {
  Violations violations;
  violations.Require(IsValidName(scenario.name), "name", scenario.name,
                     "must be 1 to 63 letters, digits, '.', '_', '~' or '-'");
  violations.RequireIn("replicas", scenario.replicas, 1, kReplicasMax);
  CheckStation(scenario.station, violations);
  violations.RequireIn("length", scenario.length, absl::Seconds(1), kLongest);
  violations.Require(!scenario.phases.empty(), "phases", scenario.phases.size(),
                     "there must be at least one");
  for (std::size_t i = 0; i < scenario.phases.size(); ++i) CheckPhase(scenario, i, violations);
  violations.RequireIn("deadline", scenario.deadline, absl::Nanoseconds(1), kLongest);
  violations.RequireIn("retries", scenario.retries, 0, 100);
  violations.RequireIn("backoff", scenario.backoff, absl::ZeroDuration(), kLongest);
  CheckTraffic(scenario, violations);
  CheckFaults(scenario, violations);
  violations.RequireIn("network_delay", scenario.network_delay, absl::ZeroDuration(),
                       absl::Minutes(1));
  Policy policy = scenario.policy;
  policy.algorithm.initial = std::clamp(policy.algorithm.initial, policy.algorithm.floor,
                                        std::max(policy.algorithm.floor, policy.algorithm.ceiling));
  violations.Add(Validate(policy, CoreOptions().lease));
  if (violations.empty()) CheckWork(scenario, violations);
  return violations.ToStatus();
}

}  // namespace plimsoll
