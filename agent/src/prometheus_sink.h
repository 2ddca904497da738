#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "plimsoll/agent/metrics.h"

namespace plimsoll::internal {

// Builds the families of prometheus-cpp. Thread-compatible.
class PrometheusSink final : public MetricsSink {
 public:
  void Counter(const MetricInfo& info, Labels labels, double value) override;
  void Gauge(const MetricInfo& info, Labels labels, double value) override;
  void Histogram(const MetricInfo& info, Labels labels, const DurationCounts& value) override;
  void StateSet(const MetricInfo& info, Labels labels, std::span<const std::string_view> states,
                std::string_view active) override;

  // Those that have series, in the order of the visit.
  std::vector<prometheus::MetricFamily> TakeFamilies() { return std::move(families_); }

 private:
  prometheus::ClientMetric& AddSeries(const MetricInfo& info, Labels labels);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace plimsoll::internal
