#include "plimsoll/agent/metrics.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "agent/src/metrics_overflow.h"
#include "plimsoll/core/check.h"

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 6> kConstraints = {"algorithm", "quota",    "floor",
                                                          "ceiling",   "override", "fallback"};
constexpr std::array<std::string_view, 2> kModes = {"enforce", "observe"};
constexpr std::array<std::string_view, 4> kStages = {"lease", "base", "reserve", "none"};
constexpr std::array<std::string_view, 5> kBreakerStates = {"closed", "open", "half_open",
                                                            "forced_open", "disabled"};
// Those that count as errors, with the word of the label.
constexpr std::array<Outcome, 4> kErrorKinds = {Outcome::kError, Outcome::kOverload,
                                                Outcome::kTimeout, Outcome::kCancelled};

double Seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

// The series of one metric.
class Series {
 public:
  Series(const MetricInfo& info, MetricsSink& sink) : info_(info), sink_(sink) {}

  // Comes first in what is told from here on.
  void SetDependency(std::string_view dependency) {
    labels_[0] = dependency;
    fixed_ = 1;
  }

  template <typename... Label>
  void Counter(std::int64_t value, Label... labels) {
    sink_.Counter(info_, With(labels...), static_cast<double>(value));
  }
  template <typename... Label>
  void Gauge(double value, Label... labels) {
    sink_.Gauge(info_, With(labels...), value);
  }
  void Histogram(const DurationCounts& value) { sink_.Histogram(info_, With(), value); }
  void States(std::span<const std::string_view> states, std::string_view active) {
    sink_.StateSet(info_, With(), states, active);
  }

 private:
  template <typename... Label>
  MetricsSink::Labels With(Label... labels) {
    std::size_t used = fixed_;
    ((labels_[used++] = labels), ...);
    return MetricsSink::Labels(labels_.data(), used);
  }

  const MetricInfo& info_;
  MetricsSink& sink_;
  std::array<std::string_view, 3> labels_;
  std::size_t fixed_ = 0;
};

using Row = BulkheadSnapshot;

template <typename Counts>
void TellByRejection(Series& series, const Counts& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    series.Counter(counts[i], ToString(static_cast<Rejection>(i)));
  }
}

void TellRejectedByClass(Series& series, const Row& row) {
  for (const ClassStats& one : row.stats.classes) {
    for (std::size_t i = 0; i < one.refused.size(); ++i) {
      series.Counter(one.refused[i], std::string_view(one.name),
                     ToString(static_cast<Rejection>(i)));
    }
  }
}

void TellOffered(Series& series, const Row& row) {
  for (const ClassStats& one : row.stats.classes) {
    series.Counter(one.offered(), std::string_view(one.name));
  }
}

void TellErrors(Series& series, const Row& row) {
  for (const Outcome kind : kErrorKinds) {
    series.Counter(row.stats.ended_by(kind), ToString(kind));
  }
}

void TellChanges(Series& series, const Row& row) {
  for (const LimitChanges& change : row.changes) {
    series.Counter(change.count, change.direction, change.reason);
  }
}

// How each metric of a dependency is read from its row; nothing is told of what is not known.
struct DependencyMetric {
  std::string_view name;
  void (*tell)(Series& series, const Row& row);
};

constexpr DependencyMetric kDependencyMetrics[] = {
    {"dependency_bulkhead_active", [](Series& s, const Row& r) { s.Gauge(r.stats.in_flight); }},
    {"dependency_bulkhead_capacity", [](Series& s, const Row& r) { s.Gauge(r.stats.limit); }},
    {"dependency_bulkhead_rejected_total",
     [](Series& s, const Row& r) { TellByRejection(s, r.stats.refused); }},
    {"dependency_request_duration_seconds",
     [](Series& s, const Row& r) { s.Histogram(r.duration); }},
    {"dependency_request_errors_total", TellErrors},
    {"plimsoll_agent_offered_total", TellOffered},
    {"plimsoll_agent_admitted_total", [](Series& s, const Row& r) { s.Counter(r.stats.admitted); }},
    {"plimsoll_agent_rejected_total", TellRejectedByClass},
    {"plimsoll_agent_would_reject_total",
     [](Series& s, const Row& r) { TellByRejection(s, r.stats.would_refuse); }},
    {"plimsoll_agent_completed_total",
     [](Series& s, const Row& r) { s.Counter(r.stats.succeeded + r.stats.dropped); }},
    {"plimsoll_agent_unsampled_total",
     [](Series& s, const Row& r) { s.Counter(r.stats.ignored, std::string_view("ignored")); }},
    {"plimsoll_agent_in_flight_max",
     [](Series& s, const Row& r) { s.Gauge(r.stats.in_flight_max); }},
    {"plimsoll_agent_waiting",
     [](Series& s, const Row& r) { s.Gauge(static_cast<double>(r.stats.waiting)); }},
    {"plimsoll_agent_oldest_wait_seconds",
     [](Series& s, const Row& r) { s.Gauge(Seconds(r.stats.oldest_wait)); }},
    {"plimsoll_agent_queue_wait_seconds",
     [](Series& s, const Row& r) {
       if (r.queue_wait.has_value()) s.Histogram(*r.queue_wait);
     }},
    {"plimsoll_agent_algorithm_limit",
     [](Series& s, const Row& r) {
       if (r.limits.has_value()) s.Gauge(r.limits->algorithm_limit);
     }},
    {"plimsoll_agent_quota_share",
     [](Series& s, const Row& r) {
       if (r.limits.has_value() && r.limits->quota_share) s.Gauge(*r.limits->quota_share);
     }},
    {"plimsoll_agent_floor",
     [](Series& s, const Row& r) {
       if (r.limits.has_value()) s.Gauge(r.limits->floor);
     }},
    {"plimsoll_agent_ceiling",
     [](Series& s, const Row& r) {
       if (r.limits.has_value()) s.Gauge(r.limits->ceiling);
     }},
    {"plimsoll_agent_binding_constraint",
     [](Series& s, const Row& r) {
       if (!r.binding.empty()) s.States(kConstraints, r.binding);
     }},
    {"plimsoll_agent_mode",
     [](Series& s, const Row& r) {
       if (!r.binding.empty()) s.States(kModes, r.stats.observing ? "observe" : "enforce");
     }},
    {"plimsoll_agent_lease_stage",
     [](Series& s, const Row& r) {
       if (!r.binding.empty() && !r.local) s.States(kStages, ToString(r.stats.stage));
     }},
    {"plimsoll_agent_breaker_state",
     [](Series& s, const Row& r) {
       if (r.breaker.has_value()) s.States(kBreakerStates, r.breaker->state);
     }},
    {"plimsoll_agent_breaker_opened_total",
     [](Series& s, const Row& r) {
       if (r.breaker.has_value()) s.Counter(r.breaker->opened);
     }},
    {"plimsoll_agent_retries_denied_total",
     [](Series& s, const Row& r) {
       if (r.retries_denied.has_value()) s.Counter(*r.retries_denied);
     }},
    {"plimsoll_agent_limit_changes_total", TellChanges},
    {"plimsoll_agent_limit_age_seconds",
     [](Series& s, const Row& r) {
       if (r.limit_age.has_value()) s.Gauge(Seconds(*r.limit_age));
     }},
    {"plimsoll_agent_permits_leaked_total",
     [](Series& s, const Row& r) { s.Counter(r.stats.leaked); }},
};

// The same of the process.
struct ProcessMetric {
  std::string_view name;
  void (*tell)(Series& series, const AgentSnapshot& snapshot);
};

std::int64_t Overflow(const AgentSnapshot& snapshot) {
  const std::size_t count = snapshot.bulkheads.size();
  return count > kDependenciesMax ? static_cast<std::int64_t>(count - kDependenciesMax) : 0;
}

void TellSyncs(Series& series, const AgentSnapshot& snapshot) {
  if (!snapshot.has_controller) return;
  series.Counter(snapshot.syncs.ok, std::string_view("ok"));
  series.Counter(snapshot.syncs.error, std::string_view("error"));
  series.Counter(snapshot.syncs.timeout, std::string_view("timeout"));
}

constexpr ProcessMetric kProcessMetrics[] = {
    {"plimsoll_agent_controller_connected",
     [](Series& s, const AgentSnapshot& a) {
       if (a.has_controller) s.Gauge(a.connected ? 1 : 0);
     }},
    {"plimsoll_agent_syncs_total", TellSyncs},
    {"plimsoll_agent_metrics_overflow_total",
     [](Series& s, const AgentSnapshot& a) { s.Counter(Overflow(a)); }},
    {"plimsoll_agent_build_info",
     [](Series& s, const AgentSnapshot& a) {
       s.Gauge(1, std::string_view(a.version), std::string_view(a.revision));
     }},
};

template <typename Metric, std::size_t N>
const Metric* Find(const Metric (&metrics)[N], std::string_view name) {
  const Metric* const found = std::find_if(std::begin(metrics), std::end(metrics),
                                           [&](const Metric& m) { return m.name == name; });
  return found == std::end(metrics) ? nullptr : found;
}

}  // namespace

std::uint64_t DurationCounts::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void VisitMetrics(const AgentSnapshot& snapshot, MetricsSink& sink) {
  std::vector<const Row*> rows;
  for (const Row& row : snapshot.bulkheads) rows.push_back(&row);
  Row rest;
  if (rows.size() > kDependenciesMax) {
    rest = internal::Fold({rows.begin() + kDependenciesMax, rows.end()});
    rows.resize(kDependenciesMax);
    rows.push_back(&rest);
  }
  for (const MetricInfo& info : AgentMetrics()) {
    Series series(info, sink);
    if (const ProcessMetric* const of_process = Find(kProcessMetrics, info.name)) {
      of_process->tell(series, snapshot);
      continue;
    }
    const DependencyMetric* const metric = Find(kDependencyMetrics, info.name);
    PLIMSOLL_CHECK(metric != nullptr, "every metric of the catalogue can be told");
    for (const Row* const row : rows) {
      series.SetDependency(row->dependency);
      metric->tell(series, *row);
    }
  }
}

}  // namespace plimsoll
