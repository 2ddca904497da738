#include <plimsoll/agent/agent.h>
#include <plimsoll/agent/prometheus.h>
#include <prometheus/metric_family.h>

// How many families the exporter for prometheus-cpp has.
std::size_t MetricFamilies(const plimsoll::Agent& agent) {
  return plimsoll::MakePrometheusCollectable(agent)->Collect().size();
}
