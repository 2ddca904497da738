#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/core/types.h"
#include "plimsoll/simulation/scenario.h"

namespace plimsoll {

// What must hold after every event of a run.
enum class Invariant {
  kLimits,       // I1: the limits in force sum to at most the quota
  kInFlight,     // I2: calls in flight at the provider, those of dead agents included, do too
  kCovered,      // I3: each reservation covers the limit in force and the calls in flight
  kReservation,  // I4: the reservations sum to at most the largest quota there was
};
inline constexpr std::size_t kInvariants = 4;

// "I1" to "I4"; of static storage.
std::string_view ToString(Invariant invariant);

// What happened on a day on which controllers share an etcd: a day without it proves nothing of it.
struct EtcdCounts {
  std::int64_t reigns = 0;
  std::int64_t takes_failed = 0;   // another was faster, or etcd did not answer
  std::int64_t unknown_takes = 0;  // of which nobody knew whether they had landed
  std::int64_t leases_ended = 0;   // without being given back
  std::int64_t pages = 0;          // asked for at take-overs
  std::int64_t compacted_pages = 0;
  std::int64_t writes = 0;          // that landed
  std::int64_t split_batches = 0;   // that took more than one transaction
  std::int64_t unknown_landed = 0;  // writes without an answer that had landed when given up
  std::int64_t unknown_open = 0;    // and that had not
  std::int64_t landed_late = 0;     // that landed after they had been given up
  std::int64_t refused_late = 0;    // that were refused then
  std::int64_t refused_again = 0;   // doubled or sent again, of a reign that stands
  std::int64_t stale_writes = 0;    // asked for by a reign that was over
  std::int64_t stale_confirms = 0;
  std::int64_t stale_answers = 0;  // from a member that had not heard of everything

  EtcdCounts& operator+=(const EtcdCounts& other);
};

// What templates did on a day on which the policy is made from one of them.
struct TemplateCounts {
  std::int64_t made = 0;       // when somebody asked for the dependency
  std::int64_t forgotten = 0;  // with the last one that used it
  std::int64_t inherited = 0;  // starts that found reservations, and the template for them
  std::int64_t learning = 0;   // starts that found the store lost, and no policy but templates

  TemplateCounts& operator+=(const TemplateCounts& other);
};

struct SimulationResult {
  std::uint64_t seed = 0;
  // After how many events each invariant did not hold.
  std::array<std::int64_t, kInvariants> violations{};
  std::string first_violation;    // what and when; empty if there was none
  Calls limits_max = 0;           // the largest sum of limits in force
  Calls in_flight_max = 0;        // the most calls in flight at the provider
  std::int64_t reserved_max = 0;  // the largest sum of reservations
  // Sum of min(limit in force, demand) over sum of min(quota, demand), sampled; 1 is ideal.
  double usable_share = 0;
  // The longest time for which a connected instance with demand had no limit at all, sampled.
  absl::Duration starved_max;
  std::int64_t sessions_max = 0;  // the most sessions the controller knew, sampled

  std::int64_t events = 0;
  std::int64_t calls_admitted = 0;
  std::int64_t calls_refused = 0;
  std::int64_t controller_starts = 0;
  std::int64_t agent_starts = 0;
  std::int64_t messages = 0;
  EtcdCounts etcd;
  TemplateCounts templates;
  // Of everything that happened: two runs with equal hashes were the same run.
  std::uint64_t trace_hash = 0;
  std::vector<std::string> trace;  // one line for each message and fault, if asked for

  bool ok() const;
  std::int64_t count(Invariant invariant) const {
    return violations[static_cast<std::size_t>(invariant)];
  }
};

// Lives one day of a fleet: the real controller core, the real session and limiter of the agents,
// in one thread, on virtual clocks, a hostile network and a virtual disk. The same scenario and
// seed give the same result. `traced` fills SimulationResult::trace, up to the first violation.
SimulationResult Simulate(const Scenario& scenario, std::uint64_t seed, bool traced = false);

}  // namespace plimsoll
