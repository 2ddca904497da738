#pragma once

#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Whose concurrency the algorithm sets.
enum class Scope {
  kFleet,     // one limit for the pool of all instances, then divided: they share the dependency
  kInstance,  // one limit for each instance by itself: each has its own copy of the dependency
};

// "FLEET", "INSTANCE"; of static storage.
std::string_view ToString(Scope scope);

// Whether the limits hold.
enum class Mode {
  kEnforce,
  // The controller runs, explains and publishes what it would do; agents count whom they would
  // refuse, and refuse nobody, whether they can reach a controller or not. The quota is not kept:
  // the books say what would be reserved if it were. Since its limits change nothing, a law sees an
  // overload go on, and goes on lowering them.
  //
  // When a policy changes to kEnforce, what runs is booked, above the quota if it is; nobody rises
  // until enough of it has ended. Each instance enforces from when it is told, and admits nothing
  // before what it has in flight fits under its limit. An instance that cannot be told goes on
  // observing.
  kObserve,
  // As kObserve, and the law is told nothing: its limit stays what it was. For calls that must not
  // teach it anything, such as a load test. Agents are told to observe: to them it is the same.
  kDisabled,
};

// "ENFORCE", "OBSERVE", "DISABLED"; of static storage.
std::string_view ToString(Mode mode);

// Which latency of a window the law is told.
enum class LatencySignal {
  kPercentile,  // of the calls that ended
  // In-flight time over calls that ended: calls that hang count while they hang. Ignored calls are
  // in both, unless they are more than one in twenty; then it is the mean of the others.
  kMean,
};

// What a window must hold to move a limit, and which number is read from it.
struct WindowConfig {
  absl::Duration length = absl::Seconds(1);  // [100 ms, 60 s]
  int samples_min = 20;                      // fewer ended calls move no limit. >= 1
  LatencySignal latency = LatencySignal::kPercentile;
  double percentile = 0.9;  // if the latency is a percentile, (0, 1]
  // A higher latency counts as overload, like drops, whatever the law thinks of it. > 0.
  absl::Duration latency_ceiling = absl::InfiniteDuration();
  double drop_tolerance = 0.05;  // a larger share of dropped calls counts as overload. [0, 1)

  friend bool operator==(const WindowConfig&, const WindowConfig&) = default;
};

// What holds while no controller can be reached. All inside the reservation, never on top of it.
struct OutageConfig {
  // The guaranteed minimum of an instance once its lease has run out; by default the floor. An
  // instance that vanishes without a word keeps this much reserved until its base lease has run
  // out, so base * instances that may vanish at once is capacity you can lose for that long.
  std::optional<Calls> base;
  absl::Duration base_lease = absl::Minutes(10);  // >= lease
  // What remains after the base lease, for ever. It is freed only by the instance itself or by its
  // successor of the same name, so leave it at 0 unless names are stable.
  Calls reserve = 0;  // <= base

  friend bool operator==(const OutageConfig&, const OutageConfig&) = default;
};

// How one service is treated when a dependency is divided: first among the services, then among
// the instances of each. A service without an entry has these defaults, so services that contend
// get equal parts, however many instances they have.
struct ServiceShare {
  // Beyond the minima, contending services of one class get capacity in proportion to it.
  double weight = 1;  // > 0, finite
  // Guaranteed as far as the service can use it; what it cannot use now is lent. Spread evenly over
  // its instances by name, it is their base during an outage, unless outage.base is set. The minima
  // of all services together are at most the quota.
  Calls minimum = 0;
  // Never more, all its instances together, headroom included.
  std::optional<Calls> maximum;  // >= minimum
  // Classes are served in ascending order, 0 first: what a class can use comes before what later
  // ones want beyond their minima and floors. A later class gives way by ordinary lowering.
  int priority = 0;  // [0, 7]
  // Which part of its nominal share others may use while it is idle: 1 all, 0 nothing. Nominal is
  // capacity * weight / sum of the weights of the services that are there.
  double lend = 1;  // [0, 1]

  friend bool operator==(const ServiceShare&, const ServiceShare&) = default;
};

// What the operator sets for one dependency.
struct Policy {
  DependencyId name;
  std::string description;
  // The most calls in flight, fleet-wide, ever. Absent: no quota, only the algorithm limits.
  std::optional<Calls> quota;  // >= 1
  Scope scope = Scope::kFleet;
  Mode mode = Mode::kEnforce;
  // floor and ceiling are per instance. With scope fleet, the law itself runs between the floor and
  // the quota, starting from `initial`, by default the quota.
  AlgorithmConfig algorithm;
  std::optional<Calls> initial;
  WindowConfig window;
  // Every call is cut at this age, by the provider's own deadline or by the caller. It is part of
  // each reservation: a call outlives its grant by at most this.
  absl::Duration call_deadline = absl::Seconds(30);  // > 0
  OutageConfig outage;
  std::map<ServiceId, ServiceShare> services;
  // Kept free for newcomers, so that they need not wait until others have given back. By default
  // 2 % of the quota, rounded up, and nothing of a quota below 50 or where there is none.
  std::optional<Calls> join_reserve;  // >= 0 and below the quota
  // The circuit breaker that all instances share; none by default. In mode observe there is none.
  std::optional<BreakerSettings> breaker;
  // How many instances the operator expects, to check floors against the quota. 0: unknown.
  int instances_expected = 0;

  Calls base() const { return outage.base.value_or(algorithm.floor); }
  // What the ledger works with: the quota, or the largest number there is.
  Calls quota_or_max() const { return quota.value_or(kCallsMax); }
  Calls join_reserve_or_default() const;
};

// Lists every violation as name, value and rule. OK if there is none. `lease` is the lease of
// limits, which all dependencies share.
absl::Status Validate(const Policy& policy, absl::Duration lease);

// All settings are the same.
bool operator==(const Policy& a, const Policy& b);
// The quota, its services and its join reserve are the same.
bool SameQuota(const Policy& a, const Policy& b);

// By name.
using PolicySet = std::map<DependencyId, Policy>;

// What an operator pins for a while, beside the policy. It ends when whoever set it says so: this
// is no timer.
struct Override {
  // Of each instance, in place of what the law, the floor and the ceiling say. The quota still
  // binds: where it does not suffice for all, they get their shares of it. >= 0; 0 stops all calls.
  std::optional<Calls> limit;
  // In place of the policy's.
  std::optional<Mode> mode;

  friend bool operator==(const Override&, const Override&) = default;
};
using OverrideSet = std::map<DependencyId, Override>;

}  // namespace plimsoll
