#include "api/http/src/history.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, kHistoryMetrics> kNames = {"in_flight",
                                                                  "in_flight_max",
                                                                  "enforced",
                                                                  "algorithm_limit",
                                                                  "quota_share",
                                                                  "admitted_rate",
                                                                  "rejected_rate",
                                                                  "error_rate",
                                                                  "wanted",
                                                                  "granted",
                                                                  "reserved",
                                                                  "latency_p50_seconds",
                                                                  "latency_p99_seconds",
                                                                  "baseline_latency_seconds"};

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

std::size_t Index(HistoryMetric metric) { return static_cast<std::size_t>(metric); }

template <typename Number>
float Value(Number number) {
  return static_cast<float>(number);
}

float Seconds(absl::Duration measured) {
  return measured > absl::ZeroDuration() ? Value(absl::ToDoubleSeconds(measured)) : kNothing;
}

// A total that is smaller than before belongs to another session: it began anew.
float Rate(std::int64_t before, std::int64_t after, absl::Duration time) {
  const std::int64_t difference = after >= before ? after - before : after;
  return Value(static_cast<double>(difference) / absl::ToDoubleSeconds(time));
}

LatencyHistogram Difference(const LatencyCounts& before, const LatencyCounts& after) {
  LatencyHistogram histogram;
  for (std::size_t i = 0; i < after.size(); ++i) histogram.Add(i, after[i] - before[i]);
  return histogram;
}

// The worst counts, where a mean would hide it.
bool IsPeak(HistoryMetric metric) {
  return metric == HistoryMetric::kInFlightMax || metric == HistoryMetric::kLatencyP99;
}

}  // namespace

std::string_view ToString(HistoryMetric metric) { return kNames[Index(metric)]; }

std::optional<HistoryMetric> HistoryMetricFromString(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<HistoryMetric>(found - kNames.begin());
}

bool IsCount(HistoryMetric metric) {
  const bool rate = metric == HistoryMetric::kAdmittedRate ||
                    metric == HistoryMetric::kRejectedRate || metric == HistoryMetric::kErrorRate;
  return !rate && Index(metric) < kInstanceMetrics;
}

History::History(absl::Duration step, absl::Duration keep) : step_(step), slots_(keep / step) {
  PLIMSOLL_CHECK(step > absl::ZeroDuration() && slots_ >= 1 && slots_ <= kStepsMax,
                 "the history needs a positive step and at most 1440 of them");
}

void History::Record(const Snapshot& snapshot) {
  newest_ = std::max(newest_, SlotOf(snapshot.at));
  const LimitRow* limit = snapshot.limits.data();
  const LimitRow* const end = limit + snapshot.limits.size();
  for (const DependencyRow& row : snapshot.dependencies) {
    std::vector<const LimitRow*> limits;
    for (; limit != end && limit->dependency == row.policy.name; ++limit) limits.push_back(limit);
    RecordDependency(row, limits, snapshot.at);
    for (const LimitRow* member : limits) {
      if (!member->fenced) RecordInstance(*member, row.policy.quota.has_value(), snapshot.at);
    }
  }
  const std::int64_t oldest = newest_ - slots_;
  std::erase_if(dependencies_, [&](const auto& entry) { return entry.second.newest <= oldest; });
  std::erase_if(pairs_, [&](const auto& entry) { return entry.second.newest <= oldest; });
}

void History::RecordDependency(const DependencyRow& row, const std::vector<const LimitRow*>& limits,
                               Instant at) {
  Series* const series = Find(dependencies_, row.policy.name.value, kHistoryMetrics);
  if (series == nullptr) return;
  std::int64_t in_flight_max = 0;
  std::int64_t enforced = 0;
  std::int64_t share = 0;
  for (const LimitRow* limit : limits) {
    in_flight_max += limit->in_flight_max;
    enforced += limit->mode == Mode::kEnforce ? limit->enforced : 0;
    share += limit->explanation.quota_share;
  }
  const LatencyHistogram latency = Difference(series->latencies, row.latencies);
  const bool measured = series->newest >= 0;
  const float quota_share = row.policy.quota.has_value() ? Value(share) : kNothing;
  series->latencies = row.latencies;
  Put(*series,
      {Value(row.in_flight), Value(in_flight_max), Value(enforced), Value(row.algorithm_limit),
       quota_share, kNothing, kNothing, kNothing, Value(row.wanted), Value(row.granted),
       Value(row.reserved), measured ? Seconds(latency.Quantile(0.5)) : kNothing,
       measured ? Seconds(latency.Quantile(0.99)) : kNothing, Seconds(row.baseline)},
      row.calls, at);
}

void History::RecordInstance(const LimitRow& row, bool has_quota, Instant at) {
  Series* const series =
      Find(pairs_, Pair(row.dependency.value, row.instance.value), kInstanceMetrics);
  // Of two sessions that share a name, one is shown.
  if (series == nullptr || (series->newest >= 0 && series->at == at)) return;
  const bool enforces = row.mode == Mode::kEnforce;
  Put(*series,
      {Value(row.in_flight), Value(row.in_flight_max), enforces ? Value(row.enforced) : kNothing,
       Value(row.explanation.algorithm_limit),
       has_quota ? Value(row.explanation.quota_share) : kNothing, kNothing, kNothing, kNothing,
       Value(row.wanted), Value(row.granted), Value(row.reserved), kNothing, kNothing, kNothing},
      row.calls, at);
}

template <typename Key>
History::Series* History::Find(std::map<Key, Series>& all, const Key& key, std::size_t metrics) {
  const auto found = all.find(key);
  if (found != all.end()) return &found->second;
  if (all.size() >= kSeriesMax) {
    const auto oldest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.second.newest < b.second.newest;
    });
    if (oldest->second.newest >= newest_ - 1) return nullptr;
    all.erase(oldest);
  }
  Series& series = all[key];
  series.values.assign(metrics * static_cast<std::size_t>(slots_), kNothing);
  return &series;
}

void History::Put(Series& series, const Sample& sample, const CallTotals& calls, Instant at) {
  const std::size_t metrics = series.values.size() / static_cast<std::size_t>(slots_);
  const auto cell = [&](std::size_t metric, std::int64_t slot) -> float& {
    return series.values[metric * static_cast<std::size_t>(slots_) +
                         static_cast<std::size_t>(slot % slots_)];
  };
  for (std::size_t metric = 0; metric < metrics; ++metric) {
    // What was missed, and what the ring held there before.
    const std::int64_t after = std::max(series.newest, newest_ - slots_) + 1;
    for (std::int64_t slot = after; slot < newest_; ++slot) cell(metric, slot) = kNothing;
    cell(metric, newest_) = sample[metric];
  }
  const absl::Duration time = at - series.at;
  if (series.newest >= 0 && time > absl::ZeroDuration()) {
    const auto set = [&](HistoryMetric metric, std::int64_t before, std::int64_t after) {
      cell(Index(metric), newest_) = Rate(before, after, time);
    };
    set(HistoryMetric::kAdmittedRate, series.calls.admitted, calls.admitted);
    set(HistoryMetric::kRejectedRate, series.calls.rejected, calls.rejected);
    set(HistoryMetric::kErrorRate, series.calls.failed, calls.failed);
  }
  if (series.first < 0) series.first = newest_;
  series.newest = newest_;
  series.calls = calls;
  series.at = at;
}

std::optional<History::Table> History::Read(const Query& query) const {
  const Series* series = nullptr;
  if (query.instance.empty()) {
    const auto found = dependencies_.find(query.dependency);
    if (found != dependencies_.end()) series = &found->second;
  } else {
    const auto found = pairs_.find(Pair(query.dependency, query.instance));
    if (found != pairs_.end()) series = &found->second;
  }
  if (series == nullptr) return std::nullopt;
  std::int64_t begin = std::max(newest_ - slots_ + 1, series->first);
  if (query.since.has_value()) begin = std::max(begin, SlotOf(*query.since));
  Table table;
  table.start = Instant{begin / query.steps * query.steps * absl::ToInt64Nanoseconds(step_)};
  for (const HistoryMetric metric : query.metrics) {
    table.columns.push_back(Column(*series, metric, begin, newest_ + 1, query.steps));
    table.rows = table.columns.back().size();
  }
  return table;
}

std::vector<std::optional<double>> History::Column(const Series& series, HistoryMetric metric,
                                                   std::int64_t begin, std::int64_t end,
                                                   int steps) const {
  const std::size_t row = Index(metric) * static_cast<std::size_t>(slots_);
  std::vector<std::optional<double>> column;
  for (std::int64_t slot = begin; slot < end;) {
    const std::int64_t next = std::min(end, (slot / steps + 1) * steps);
    double sum = 0;
    double peak = 0;
    int count = 0;
    for (; slot < next; ++slot) {
      const bool known = row < series.values.size() && slot <= series.newest;
      const float value =
          known ? series.values[row + static_cast<std::size_t>(slot % slots_)] : kNothing;
      if (std::isnan(value)) continue;
      sum += value;
      peak = std::max(peak, double{value});
      ++count;
    }
    column.emplace_back();
    if (count > 0) column.back() = IsPeak(metric) ? peak : sum / count;
  }
  return column;
}

}  // namespace plimsoll::internal
