#include "agent/src/prometheus_sink.h"

#include <prometheus/collectable.h>

#include <limits>
#include <string>
#include <utility>

#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/prometheus.h"

namespace plimsoll {
namespace internal {
namespace {

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
    case MetricType::kStateSet:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

}  // namespace

void PrometheusSink::Counter(const MetricInfo& info, Labels labels, double value) {
  AddSeries(info, labels).counter.value = value;
}

void PrometheusSink::Gauge(const MetricInfo& info, Labels labels, double value) {
  AddSeries(info, labels).gauge.value = value;
}

void PrometheusSink::Histogram(const MetricInfo& info, Labels labels, const DurationCounts& value) {
  prometheus::ClientMetric::Histogram& histogram = AddSeries(info, labels).histogram;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < value.counts.size(); ++i) {
    seen += value.counts[i];
    const bool last = i == DurationCounts::kEnds.size();
    const double end = last ? std::numeric_limits<double>::infinity() : DurationCounts::kEnds[i];
    histogram.bucket.push_back({seen, end});
  }
  histogram.sample_count = seen;
  histogram.sample_sum = value.sum_seconds;
}

void PrometheusSink::StateSet(const MetricInfo& info, Labels labels,
                              std::span<const std::string_view> states, std::string_view active) {
  for (const std::string_view state : states) {
    prometheus::ClientMetric& series = AddSeries(info, labels);
    series.label.push_back({std::string(info.labels.back()), std::string(state)});
    series.gauge.value = state == active ? 1 : 0;
  }
}

prometheus::ClientMetric& PrometheusSink::AddSeries(const MetricInfo& info, Labels labels) {
  if (families_.empty() || families_.back().name != info.name) {
    prometheus::MetricFamily& family = families_.emplace_back();
    family.name = info.name;
    family.help = info.help;
    family.type = TypeOf(info.type);
  }
  prometheus::ClientMetric& series = families_.back().metric.emplace_back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    series.label.push_back({std::string(info.labels[i]), std::string(labels[i])});
  }
  return series;
}

namespace {

class SnapshotCollectable final : public prometheus::Collectable {
 public:
  explicit SnapshotCollectable(std::function<AgentSnapshot()> snapshot)
      : snapshot_(std::move(snapshot)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    PrometheusSink sink;
    VisitMetrics(snapshot_(), sink);
    return sink.TakeFamilies();
  }

 private:
  const std::function<AgentSnapshot()> snapshot_;
};

}  // namespace
}  // namespace internal

std::shared_ptr<prometheus::Collectable> MakePrometheusCollectable(
    std::function<AgentSnapshot()> snapshot) {
  return std::make_shared<internal::SnapshotCollectable>(std::move(snapshot));
}

std::shared_ptr<prometheus::Collectable> MakePrometheusCollectable(const Agent& agent) {
  return MakePrometheusCollectable([&agent] { return agent.Snapshot(); });
}

}  // namespace plimsoll
