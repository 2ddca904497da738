// What a stranger without a controller writes: a bulkhead of one's own and its metrics.
#include <plimsoll/agent/local_bulkhead.h>
#include <plimsoll/agent/prometheus.h>
#include <prometheus/metric_family.h>

#include <iostream>

int main() {
  auto local = plimsoll::MakeLocalBulkhead({.dependency = "search"});
  if (!local.ok()) {
    std::cerr << "no bulkhead: " << local.status() << "\n";
    return 1;
  }
  const auto metrics = plimsoll::MakePrometheusCollectable([&local] {
    plimsoll::AgentSnapshot snapshot;
    snapshot.bulkheads = {(*local)->Snapshot()};
    return snapshot;
  });
  std::cout << metrics->Collect().size() << " families\n";
  return metrics->Collect().empty() ? 1 : 0;
}
