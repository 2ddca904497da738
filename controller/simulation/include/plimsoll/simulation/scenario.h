#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// From where to where a random duration lies.
struct DurationRange {
  absl::Duration min;
  absl::Duration max;
};

// What is lost, late or doubled on the way between agents and controller, each way.
struct NetworkFaults {
  double loss = 0;       // share of messages that never arrive
  double duplicate = 0;  // share of messages that arrive twice
  double late = 0;       // share of messages that arrive later than usual
  DurationRange late_by = {absl::Milliseconds(200), absl::Seconds(20)};
};

// What a caller does that finds no room.
enum class Callers {
  kWait,   // as many as `demand` want to call all the time; they wait for room, and are reported
  kGoAway  // they come at random; who is refused is gone, and the controller has to infer demand
};

// How instances come and go because somebody wants it so.
enum class FleetPlan {
  kSteady,     // all are there all the time
  kRolling,    // every 6 s a new one joins under a new name, and 2 s later the oldest leaves
  kScale,      // from agents_at_start to all of them, one every 500 ms, and back
  kJobs,       // beside agents_at_start that stay, a thousand a minute come for 2 s; half crash
  kCrashLoop,  // two of them crash a second after every start
  kWaves,      // all come, and after some seconds all go, a tenth by a crash; then nobody is there
};

struct DiskFaults {
  DurationRange commit = {absl::Milliseconds(1), absl::Milliseconds(10)};
  double failure = 0;  // share of commits that fail; half of those are on the disk nevertheless
};

// What is done to controllers that share an etcd, and to that etcd.
enum class EtcdFault {
  kPause,     // a controller stops for a while and does not know it
  kCrash,     // and another process is started
  kStop,      // gives its lease back, and another process is started
  kCutOff,    // a controller reaches no member
  kIsolate,   // a controller and its member reach no other
  kElection,  // no quorum for a moment; whoever leads in etcd then extends all leases
  kOutage,    // no quorum for some seconds
  kSlow,      // takes up to some seconds for what it is asked
  kRevoke,    // somebody ends the lease of the leader
};

// How an etcd is used and what becomes of it.
struct EtcdDay {
  absl::Duration lease = absl::Seconds(2);  // of the leader key
  int ops_max = 128;                        // operations in a transaction
  std::int64_t page_max = 1000;             // keys in an answer
  // Each way between a controller and a member. Nothing is late by more than some leases.
  NetworkFaults network = {};
  DurationRange work = {absl::Milliseconds(1), absl::Milliseconds(20)};  // until it is done
  absl::Duration fault_every = absl::InfiniteDuration();
  std::vector<EtcdFault> faults = {};  // one of these each time; most often it meets the leader
  DurationRange pause = {absl::Milliseconds(500), absl::Seconds(9)};
  absl::Duration compact_every = absl::InfiniteDuration();
};

// One kind of day: a fleet, its load, and what happens to it. Times of the adversary are true
// times; everything else is measured on the clock of whoever measures.
struct Scenario {
  std::string name;
  absl::Duration length = absl::Seconds(150);

  // The fleet and its policy.
  int agents = 8;
  FleetPlan plan = FleetPlan::kSteady;
  std::optional<int> agents_at_start;  // by default all
  Calls quota = 50;
  Calls ceiling = 20;
  Calls base = 2;
  Calls reserve = 0;
  std::optional<Calls> join_reserve = 0;  // absent: the product's default
  absl::Duration lease = absl::Seconds(5);
  absl::Duration base_lease = absl::Seconds(14);
  absl::Duration call_deadline = absl::Seconds(3);
  absl::Duration hold_max = absl::Milliseconds(500);
  bool unique_instances = true;
  bool from_template = false;  // the policy is not of the dependency, but of one of two templates
  double clock_rate_error = 0.05;
  // The controller's clock as fast and the agents' as slow as allowed, and every call lasts its
  // whole deadline. Otherwise rates are drawn anew for each process.
  bool extreme_clocks = false;

  // Load: callers would keep `demand` calls in flight at each agent, if all were admitted; it is
  // between 0 and the ceiling, and changes.
  Callers callers = Callers::kWait;
  double calls_full_length = 0.1;  // share of calls that last their whole deadline
  absl::Duration call_mean = absl::Milliseconds(1200);  // cut at the call deadline
  absl::Duration demand_every = absl::Seconds(2);       // some agent's demand changes

  // Faults. Infinite means never.
  NetworkFaults network;
  DiskFaults disk;
  absl::Duration fault_every = absl::InfiniteDuration();  // crash, partition, pause, leaving
  DurationRange agent_down = {absl::Milliseconds(200), absl::Seconds(6)};
  DurationRange controller_up = {absl::InfiniteDuration(), absl::InfiniteDuration()};
  DurationRange controller_down = {absl::Milliseconds(100), absl::Seconds(4)};
  double store_lost = 0;  // share of controller starts that find the store lost
  DurationRange quota_every = {absl::InfiniteDuration(), absl::InfiniteDuration()};
  // An operator sets or clears an override, changes the quota, resets the law, evicts an instance,
  // or deletes the dependency and makes it again.
  DurationRange operator_every = {absl::InfiniteDuration(), absl::InfiniteDuration()};

  // Several controllers share a replicated store, and take over from each other while the former
  // one still runs.
  int controllers = 1;
  DurationRange failover_every = {absl::InfiniteDuration(), absl::InfiniteDuration()};
  // At a take-over half of the agents see only the former leader, which is cut off from the store.
  bool split = false;

  // `controllers` share an etcd, and elect who of them leads: instead of `disk`, `failover_every`,
  // `controller_up` and `split`.
  std::optional<EtcdDay> etcd;
};

// What kinds of days there are: see controller/simulation/README.md.
std::vector<Scenario> Scenarios();
std::optional<Scenario> FindScenario(std::string_view name);

}  // namespace plimsoll
