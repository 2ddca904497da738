#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/agent/bulkhead.h"

namespace plimsoll {

// Durations, counted in buckets.
struct DurationCounts {
  // The ends of the buckets in seconds, included; one more has no end.
  static constexpr std::array<double, 13> kEnds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                   0.25,  0.5,    1,     2.5,  5,     10};
  std::array<std::uint64_t, kEnds.size() + 1> counts{};
  double sum_seconds = 0;

  std::uint64_t total() const;
};

// How often the limit in force has changed. The words are those of the controller's events, in
// lower case, and of static storage.
struct LimitChanges {
  std::string_view direction;  // "up", "down"
  std::string_view reason;     // "latency_rose", …
  std::int64_t count = 0;
};

// Why the limit is what it is. Comes with a grant; a local bulkhead knows it by itself.
struct LimitFacts {
  int algorithm_limit = 0;         // what the algorithm wants for this instance
  std::optional<int> quota_share;  // what the quota leaves for it; none if there is no controller
  int floor = 0;
  int ceiling = 0;
};

// Of a circuit breaker, if the dependency has one.
struct BreakerFacts {
  std::string_view state;  // "closed", "open", "half_open", "forced_open", "disabled"
  std::int64_t opened = 0;
};

// What metrics tell of one bulkhead. A value; counts are since it was made.
struct BulkheadSnapshot {
  std::string dependency;
  bool local = false;  // no controller: no lease, no share, no age of the grant
  BulkheadStats stats;
  DurationCounts duration;  // of calls that came back or were dropped
  std::optional<DurationCounts>
      queue_wait;                    // of callers admitted after a wait; none without a queue
  std::optional<LimitFacts> limits;  // none before the first grant
  // "algorithm", "quota", "floor", "ceiling", "override", "fallback"; of static storage.
  std::string_view binding;
  std::optional<std::chrono::nanoseconds> limit_age;  // since a lease was last granted
  std::vector<LimitChanges> changes;                  // every direction and reason that can occur
  std::optional<BreakerFacts> breaker;
  std::optional<std::int64_t> retries_denied;  // none without a retry budget
};

// Syncs that have ended, by how.
struct SyncCounts {
  std::int64_t ok = 0;
  std::int64_t error = 0;    // refused, or no controller there
  std::int64_t timeout = 0;  // no answer in time
};

// What metrics tell of a process. Bulkheads in the order in which they were made: those beyond
// kDependenciesMax are told as one, so that labels stay bounded.
struct AgentSnapshot {
  bool has_controller = false;  // else only local bulkheads: the next two do not exist
  bool connected = false;       // the last sync succeeded
  SyncCounts syncs;
  std::string version;
  std::string revision;  // of the source; may be empty
  std::vector<BulkheadSnapshot> bulkheads;
};
inline constexpr std::size_t kDependenciesMax = 200;
// The dependency that the rest is folded into.
inline constexpr std::string_view kOverflowDependency = "__overflow__";

enum class MetricType {
  kCounter,
  kGauge,
  kHistogram,
  kStateSet,  // a gauge with one series per state, exactly one of which is 1
};

// What is known of a metric before it has a value. Of static storage.
struct MetricInfo {
  std::string_view name;
  MetricType type;
  std::string_view unit;
  std::vector<std::string_view> labels;  // of a state set, the last one names the state
  std::string_view help;
};

// Every metric of the agent, declared once. Thread-safe.
const std::vector<MetricInfo>& AgentMetrics();

// Takes metrics into some library. The series of one metric come one after the other. `labels` are
// the values for info.labels; they and `info` may be kept for the time of the visit only.
class MetricsSink {
 public:
  using Labels = std::span<const std::string_view>;

  virtual ~MetricsSink() = default;
  virtual void Counter(const MetricInfo& info, Labels labels, double value) = 0;
  virtual void Gauge(const MetricInfo& info, Labels labels, double value) = 0;
  virtual void Histogram(const MetricInfo& info, Labels labels, const DurationCounts& value) = 0;
  // `labels` without that of the state; `active` is one of `states`.
  virtual void StateSet(const MetricInfo& info, Labels labels,
                        std::span<const std::string_view> states, std::string_view active) = 0;
};

// Tells the sink every series of the snapshot, those that are 0 included. Thread-safe.
void VisitMetrics(const AgentSnapshot& snapshot, MetricsSink& sink);

}  // namespace plimsoll
