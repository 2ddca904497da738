#pragma once

#include <memory>
#include <string>

#include "api/http/src/duration_histogram.h"
#include "api/http/src/plane_metrics.h"
#include "api/http/src/process_facts.h"
#include "api/http/src/watch_hub.h"
#include "plimsoll/controller/snapshot.h"

namespace plimsoll::internal {

// What a scrape is made of.
struct MetricsInput {
  std::shared_ptr<const Snapshot> snapshot;
  PlaneCounts api;
  PlaneCounts agent;
  DurationHistogram store_writes;
  WatchCounts watch;
  ProcessFacts process;
  std::string version;
  std::string config_hash;
  // Above this many pairs of dependency and instance there are no series of single instances.
  int pairs_max = 2000;
};

// The page of /metrics, in text format 0.0.4. Built anew from the snapshot each time, so that no
// series outlives its dependency or instance. Thread-safe.
std::string ExportMetrics(const MetricsInput& input);

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace plimsoll::internal
