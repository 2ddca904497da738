#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "api/http/src/controller_view.h"
#include "api/http/src/plane_metrics.h"
#include "api/http/src/process_facts.h"
#include "api/http/src/watch_hub.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/core/duration_histogram.h"

namespace plimsoll::internal {

// Of the configuration file.
struct LoadFacts {
  bool succeeded = true;  // the last time that it was read
  absl::Time last_success;
};

// What a scrape is made of.
struct MetricsInput {
  std::shared_ptr<const Snapshot> snapshot;
  bool leads = true;
  int shards_owned = 1;                            // led by this controller
  std::vector<ControllerView::ShardFacts> shards;  // empty if there is only one
  PlaneCounts api;
  PlaneCounts agent;
  DurationHistogram store_writes;
  WatchCounts watch;
  ProcessFacts process;
  std::string version;
  std::string revision;
  std::string config_hash;
  LoadFacts load;
  // Above this many pairs of dependency and instance there are no series of single instances.
  int pairs_max = 2000;
  // Dependencies beyond this many, by name, are told as one: __overflow__.
  std::size_t dependencies_max = 200;
};

// The page of /metrics, in text format 0.0.4. Built anew from the snapshot each time, so that no
// series outlives its dependency or instance. Thread-safe.
std::string ExportMetrics(const MetricsInput& input);

inline constexpr char kMetricsContentType[] = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace plimsoll::internal
