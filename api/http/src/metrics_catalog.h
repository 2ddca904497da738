#pragma once

#include <string>
#include <vector>

namespace plimsoll::internal {

enum class MetricKind { kCounter, kGauge, kHistogram };

// What is known of a metric before it has a value.
struct MetricInfo {
  std::string name;
  MetricKind kind;
  std::string unit;
  std::vector<std::string> labels;
  std::string help;
};

// Every metric of the controller, declared once: the exporter can write no other, and documents,
// rules and dashboards are compared with this. Thread-safe.
const std::vector<MetricInfo>& MetricsCatalog();

}  // namespace plimsoll::internal
