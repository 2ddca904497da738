#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "api/http/src/metrics_catalog.h"
#include "plimsoll/core/duration_histogram.h"

namespace plimsoll::internal {

// The series of one metric of the catalogue. Thread-compatible.
class MetricFamilyBuilder {
 public:
  explicit MetricFamilyBuilder(const MetricInfo& info);

  // Label values in the catalogue's order.
  void Add(const std::vector<std::string>& labels, double value);
  void Add(const std::vector<std::string>& labels, const DurationHistogram& value);

  const prometheus::MetricFamily& family() const { return family_; }

 private:
  prometheus::ClientMetric& AddSeries(const std::vector<std::string>& labels);

  const MetricInfo* info_;
  prometheus::MetricFamily family_;
};

// All families, in the catalogue's order. Thread-compatible.
class MetricFamilies {
 public:
  MetricFamilies();

  // Aborts for a name that is not in the catalogue.
  MetricFamilyBuilder& operator[](const std::string& name);
  // Families without series are left out.
  std::string Serialize() const;

 private:
  std::vector<MetricFamilyBuilder> builders_;
};

}  // namespace plimsoll::internal
