#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

// What is remembered. The last three are known of a dependency as a whole only.
enum class HistoryMetric {
  kInFlight,
  kInFlightMax,
  kEnforced,
  kAlgorithmLimit,
  kQuotaShare,
  kAdmittedRate,
  kRejectedRate,
  kErrorRate,
  kWanted,
  kGranted,
  kReserved,
  kLatencyP50,
  kLatencyP99,
  kBaselineLatency,
};
inline constexpr std::size_t kHistoryMetrics = 14;
inline constexpr std::size_t kInstanceMetrics = 11;

// "in_flight" and so on, of static storage.
std::string_view ToString(HistoryMetric metric);
std::optional<HistoryMetric> HistoryMetricFromString(std::string_view name);
// Calls, and not something per second or in seconds.
bool IsCount(HistoryMetric metric);

// The numbers of the last hour, so that a console works without Prometheus: one value per metric
// and step. Rates and quantiles are of what was reported between two steps.
//
// Memory is bounded: kSeriesMax dependencies with 14 metrics and kSeriesMax pairs of dependency and
// instance with 11, of 4 bytes per step. With 720 steps, the default, that is 18 MB at most. Of
// more, the first ones are kept; who has gone makes room.
// Confined to the operator plane's thread.
class History {
 public:
  static constexpr std::size_t kSeriesMax = 256;
  static constexpr int kStepsMax = 1440;

  // 0 < step <= keep <= kStepsMax * step.
  History(absl::Duration step, absl::Duration keep);

  // Whether a new step has begun since the last Record().
  bool IsDue(Instant now) const { return SlotOf(now) > newest_; }
  void Record(const Snapshot& snapshot);

  struct Query {
    std::string dependency;
    std::string instance;  // empty: the dependency as a whole
    std::vector<HistoryMetric> metrics;
    std::optional<Instant> since;  // from the oldest step if absent
    int steps = 1;                 // how many become one value: > 0
  };
  struct Table {
    Instant start;  // of the first row; meaningless if there is none
    std::size_t rows = 0;
    // In the order of the query. Nothing where nothing was measured.
    std::vector<std::vector<std::optional<double>>> columns;
  };
  // Nothing if there are no records of it.
  std::optional<Table> Read(const Query& query) const;

  absl::Duration step() const { return step_; }
  absl::Duration keep() const { return step_ * static_cast<std::int64_t>(slots_); }

 private:
  using Sample = std::array<float, kHistoryMetrics>;

  struct Series {
    std::int64_t first = -1;  // slot
    std::int64_t newest = -1;
    std::vector<float> values;  // of slot s and metric m: [m * slots + s % slots]
    // As of the last record, for differences.
    CallTotals calls;
    LatencyCounts latencies{};
    Instant at;
  };
  using Pair = std::pair<std::string, std::string>;

  std::int64_t SlotOf(Instant at) const { return at.ns / absl::ToInt64Nanoseconds(step_); }
  template <typename Key>
  Series* Find(std::map<Key, Series>& all, const Key& key, std::size_t metrics);
  void Put(Series& series, const Sample& sample, const CallTotals& calls, Instant at);
  void RecordDependency(const DependencyRow& row, const std::vector<const LimitRow*>& limits,
                        Instant at);
  void RecordInstance(const LimitRow& row, bool has_quota, Instant at);
  std::vector<std::optional<double>> Column(const Series& series, HistoryMetric metric,
                                            std::int64_t begin, std::int64_t end, int steps) const;

  const absl::Duration step_;
  const std::int64_t slots_;
  std::int64_t newest_ = -1;
  std::map<std::string, Series> dependencies_;
  std::map<Pair, Series> pairs_;
};

}  // namespace plimsoll::internal
