#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plimsoll::internal {

enum class MetricKind { kCounter, kGauge, kHistogram };

// A label, with the values that it can have where these are a closed list.
struct MetricLabel {
  // Not explicit, so that a list of labels reads as a list of names.
  MetricLabel(const char* its_name, std::vector<std::string> its_values = {})
      : name(its_name), values(std::move(its_values)) {}

  std::string name;
  std::vector<std::string> values;  // empty: open, such as names of dependencies
};

// What is known of a metric before it has a value.
struct MetricInfo {
  std::string name;
  MetricKind kind;
  std::string unit;
  std::vector<MetricLabel> labels;
  std::string help;
};

// Every metric of the controller, declared once: the exporter can write no other, and documents,
// rules and dashboards are compared with this. Thread-safe.
const std::vector<MetricInfo>& MetricsCatalog();

// The dependency that those beyond the cap are folded into.
inline constexpr char kOverflowDependency[] = "__overflow__";

}  // namespace plimsoll::internal
