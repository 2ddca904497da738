#pragma once

#include <prometheus/collectable.h>

#include <functional>
#include <memory>

#include "plimsoll/agent/metrics.h"

namespace plimsoll {

class Agent;

// The metrics of an agent, for the registry or the exposer of prometheus-cpp:
//
//   const auto metrics = plimsoll::MakePrometheusCollectable(*agent);
//   exposer.RegisterCollectable(metrics);  // a weak pointer: keep `metrics`
//
// Every scrape takes a snapshot and builds the families from it, so nothing is written twice, no
// series is stale, and what nobody scrapes costs nothing. Collect() is thread-safe; it waits for
// nothing but Agent::bulkhead(), and never holds up a call. `agent` must outlive the collectable.
std::shared_ptr<prometheus::Collectable> MakePrometheusCollectable(const Agent& agent);

// The same of any snapshot, such as one of local bulkheads:
//
//   MakePrometheusCollectable([&] { return AgentSnapshot{.bulkheads = {local->Snapshot()}}; });
//
// `snapshot` is called from scraping threads, from several at once.
std::shared_ptr<prometheus::Collectable> MakePrometheusCollectable(
    std::function<AgentSnapshot()> snapshot);

}  // namespace plimsoll
