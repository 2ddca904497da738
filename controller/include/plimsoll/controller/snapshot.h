#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/duration_histogram.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/histogram.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// The read model of the controller: values only, so that it can leave the core's thread.

enum class LeaseStage { kLease, kBase, kReserve };
// "LEASE", "BASE", "RESERVE"; of static storage.
std::string_view ToString(LeaseStage stage);

// What agents have reported of calls, added up since this reign or the session began. Who reads it
// twice knows what happened in between.
struct CallTotals {
  std::int64_t admitted = 0;
  std::int64_t rejected = 0;  // for whatever reason; with kObserve, what would have been
  std::int64_t failed = 0;    // ended by overload
};

// How many calls ended with which latency, by bucket of LatencyHistogram. Counts wrap around, so
// differences of up to 2^32 calls are right.
using LatencyCounts = std::array<std::uint32_t, LatencyHistogram::kBuckets>;

// One instance at one dependency.
struct LimitRow {
  DependencyId dependency;
  ServiceId service;
  InstanceId instance;
  SessionId session;
  // What the instance does with its limits. With kObserve, they are what would be: it refuses
  // nobody, and more calls may be in flight than `granted` and `reserved` say. An instance whose
  // policy has been changed to enforce observes until it has acknowledged that.
  Mode mode = Mode::kEnforce;
  Calls enforced = 0;  // the limit the agent last reported to be in force
  Calls granted = 0;   // the newest limit sent to it
  Calls reserved = 0;  // the most it may have in flight, as the books must assume
  Calls wanted = 0;    // what it could use, before the quota
  Calls in_flight = 0;
  Calls in_flight_max = 0;
  CallTotals calls;
  Steps steps;  // of the newest grant
  Explanation explanation;
  LeaseStage stage = LeaseStage::kLease;  // as the books see it: which step the holds still cover
  absl::Duration age;                     // since the last report
  bool fenced = false;                    // a newer session of the same instance has spoken
  Instant changed_at;                     // when the granted limit last changed
  // Of its own law, with scope instance.
  std::optional<LastDecision> last_decision;
};

// One session: a registration of one agent.
struct InstanceRow {
  SessionId session;
  ServiceId service;
  InstanceId instance;
  std::string agent_version;
  std::string zone;
  bool connected = false;  // a sync is held, or the last one was recent
  bool leaving = false;
  bool fenced = false;
  bool evicted = false;  // an operator has ended it; what it holds runs out
  absl::Duration age;    // since the last report
  Instant joined_at;
  std::vector<DependencyId> dependencies;
};

// The breaker of a fleet.
struct BreakerRow {
  BreakerView view = BreakerView::kClosed;
  std::int64_t opened_total = 0;  // in this reign
  absl::Duration cool_off_left;   // until the next probe is due
  InstanceId prober;              // empty if nobody probes
  // What the fleet reports now, under the orders that it was given.
  BreakerEvidence evidence;
  int instances = 0;  // that have seen calls
  // Why it is as it is: the last opening or closing, as its event tells it. Nothing: in this reign
  // there was none, and it is closed.
  struct Change {
    Instant at;
    std::string message;
  };
  std::optional<Change> last_change;
};

struct DependencyRow {
  Policy policy;                   // as configured: without the override
  std::string made_from;           // the pattern of its template; empty: a policy of its own
  std::optional<Override> pinned;  // by an override
  Mode mode = Mode::kEnforce;      // in force
  bool retired = false;            // it has no policy any more, and what was granted is taken back
  int instances = 0;
  // Sums do not fit into Calls where there is no quota.
  std::int64_t granted = 0;  // sum of the newest limits
  // Sum of the reservations; <= quota but after a cut, or after a change from observe to enforce.
  std::int64_t reserved = 0;
  // The part of `reserved` above the quota that may be there: what an earlier, larger quota gave
  // and its holders have not given back yet. It only falls until the next cut.
  std::int64_t draining = 0;
  // Part of `reserved` held for sessions that are silent for longer than the lease.
  std::int64_t orphaned = 0;
  std::int64_t wanted = 0;
  std::int64_t in_flight = 0;  // sum of the last reports
  std::int64_t algorithm_limit =
      0;                          // of the pool with scope fleet, else the sum over the instances
  absl::Duration window_latency;  // what the last used window said
  absl::Duration baseline;        // zero if the law has none
  double gradient = 1;
  // Of the pool's law, or of whichever instance's law judged last.
  std::optional<LastDecision> last_decision;
  std::optional<BreakerRow> breaker;
  // Of all instances, over the last five seconds.
  double admitted_per_second = 0;
  double rejected_per_second = 0;  // for whatever reason
  absl::Duration latency_mean;     // of the calls that completed; likewise:
  absl::Duration latency_p50;
  absl::Duration latency_p99;
  CallTotals calls;
  LatencyCounts latencies{};
  std::array<std::int64_t, kWindowOutcomes> windows_total{};
  std::int64_t shares_clamped_total = 0;
  // [reason][0: down, 1: up]
  std::array<std::array<std::int64_t, 2>, kReasons> limit_changes_total{};
};

// Results of syncs, as a metric label.
enum class SyncResult { kOk, kUnknownSession, kRejected, kStale };
inline constexpr std::size_t kSyncResults = 4;

struct Snapshot {
  Epoch epoch;
  Instant at;
  Instant started_at;
  bool store_ok = true;
  bool observe_all = false;  // what is to be enforced is only observed: the emergency switch
  // Learning: the store was lost, so nothing is raised and newcomers get nothing until everything
  // granted before has run out; what agents prove to hold is renewed. Infinite: until an operator
  // ends it, because reserves never run out.
  bool learning = false;
  Instant learning_until;
  std::string store_lost_why;               // empty if the store was whole
  std::vector<DependencyRow> dependencies;  // by name
  std::vector<InstanceRow> instances;       // by service, instance, session
  std::vector<LimitRow> limits;             // by dependency, service, instance
  int held_syncs = 0;
  std::array<std::int64_t, kSyncResults> syncs_total{};
  std::int64_t instances_expired_total = 0;
  DurationHistogram report_ages;     // of connected instances, at every tick
  DurationHistogram push_latencies;  // from a new limit to the report that it is installed
  // What each event has cost, ticks included: filled in by whoever feeds the core.
  DurationHistogram event_times;
  std::int64_t writes_total = 0;
  std::int64_t write_failures_total = 0;
};

}  // namespace plimsoll
