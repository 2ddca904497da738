#include "plimsoll/http/metrics_list.h"

#include <nlohmann/json.hpp>

#include "api/http/src/metrics_catalog.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using internal::MetricInfo;
using internal::MetricKind;
using internal::MetricLabel;

const char* TypeName(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return "untyped";
}

Json ViewOf(const MetricInfo& info) {
  Json labels = Json::object();
  for (const MetricLabel& label : info.labels) {
    labels[label.name] = label.values.empty() ? Json() : Json(label.values);
  }
  return {{"name", info.name},
          {"type", TypeName(info.kind)},
          {"unit", info.unit},
          {"labels", std::move(labels)},
          {"help", info.help}};
}

}  // namespace

std::string MetricsListJson() {
  Json list = Json::array();
  for (const MetricInfo& info : internal::MetricsCatalog()) list.push_back(ViewOf(info));
  return list.dump(2) + "\n";
}

}  // namespace plimsoll
