#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/http/src/change_lanes.h"
#include "api/http/src/change_routes.h"
#include "api/http/src/controller_view.h"
#include "api/http/src/cors.h"
#include "api/http/src/history.h"
#include "api/http/src/host_check.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/rate_limiter.h"
#include "api/http/src/revisions.h"
#include "api/http/src/router.h"
#include "api/http/src/views.h"
#include "api/http/src/watch_feed.h"
#include "plimsoll/controller/sizing.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/config_facts.h"
#include "plimsoll/http/console.h"

namespace plimsoll::internal {

// How much the operator plane remembers.
struct MemoryOptions {
  absl::Duration history_step = absl::Seconds(5);
  absl::Duration history_keep = absl::Hours(1);
  int watchers_max = 256;
};

// The routes of operators: health, metrics, views of the read model, and the console.
// Confined to the operator plane's thread.
class OperatorPlane final : public HttpService {
 public:
  // All must outlive the plane and the exchanges it has not answered.
  // With `operations`, operators may change something; `lanes`, one for each shard, make it so.
  OperatorPlane(ControllerView& controller, HostCheck hosts, ServerFacts facts, const Clock& clock,
                const MemoryOptions& memory = {}, const Console& console = {},
                Operations* operations = nullptr, std::vector<ChangeLanes::Lane> lanes = {});

  const char* Handle(const HttpRequest& request, const ExchangePtr& exchange) override;
  std::vector<std::pair<const char*, const char*>> labels() const { return router_.labels(); }
  const Router& router() const { return router_; }

  // Looks at the controller if something is due. To be called every kPollPeriod.
  void Poll();
  // Ends the streams; no others begin.
  void Shutdown() { watch_.Shutdown(); }
  // A reign over this shard has begun or ended: streams end, and a change under way is refused.
  void Restart(int shard) {
    watch_.Restart();
    if (changes_ != nullptr) changes_->Restart(shard);
  }
  static constexpr absl::Duration kPollPeriod = absl::Milliseconds(500);

  // Of the configuration in force.
  // What GET /v1/config tells.
  void set_config(ConfigSettings config) { config_ = std::move(config); }
  std::string config_hash() const;
  // How the configuration was read last.
  LoadFacts load_facts();

  // What the configuration file says now is to hold. Calls `done`, which may be null, when it does
  // or was refused; without operations, at once.
  void Reload(const std::string& who, std::function<void()> done = nullptr);
  // Ends what has expired.
  void TickChanges() {
    if (changes_ != nullptr) changes_->Tick();
  }
  const WatchCounts& watch_counts() const { return watch_.counts(); }
  // How fast one caller may ask, health apart.
  void set_rate_limit(const RateLimit& limit) { limiter_.set_limit(limit); }
  // Which pages of other origins may read; see Cors.
  void set_cors_origins(std::vector<std::string> origins) { cors_ = Cors(std::move(origins)); }
  // What /metrics needs.
  void set_metrics_role(Role role) { metrics_role_ = role; }

 private:
  using SnapshotRender = HttpResponse (OperatorPlane::*)(const RoutedRequest& routed,
                                                         const Snapshot& snapshot) const;
  using SnapshotPtr = std::shared_ptr<const Snapshot>;
  // Makes the answer once the snapshot is there.
  using Render = std::function<HttpResponse(const SnapshotPtr& snapshot)>;

  const char* StandBy(const HttpRequest& request, const std::string& leader,
                      const ExchangePtr& exchange);
  // One of several controllers that share the shards.
  const char* HandleSharded(const std::vector<ControllerView::ShardFacts>& shards,
                            const HttpRequest& request, const ExchangePtr& exchange);
  // False if the caller is too fast; then it is answered.
  bool CheckRate(const HttpRequest& request, Exchange& exchange);
  std::vector<Route> Routes(const Console& console);
  Route SnapshotRoute(const char* pattern, std::vector<std::string> parameters,
                      SnapshotRender render);
  // Of a collection that has revisions: with ETag, and 304 for who knows it already.
  Route CollectionRoute(Collection collection, const char* pattern,
                        std::vector<std::string> parameters, SnapshotRender render);
  std::string ETagOf(Collection collection, const RoutedRequest& routed,
                     const Snapshot& snapshot) const;
  HttpResponse RenderCollection(Collection collection, const RoutedRequest& routed,
                                const SnapshotPtr& snapshot, SnapshotRender render);

  void Ready(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Metrics(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Events(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Event(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Audit(const RoutedRequest& routed, const ExchangePtr& exchange);
  HttpResponse Timeseries(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Version() const;
  HttpResponse Sizing(const RoutedRequest& routed) const;
  HttpResponse Status(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Dependencies(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Dependency(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Quota(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Limits(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Limit(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Instances(const RoutedRequest& routed, const Snapshot& snapshot) const;
  HttpResponse Instance(const RoutedRequest& routed, const Snapshot& snapshot) const;

  void WithSnapshot(const ExchangePtr& exchange, Render render);
  TimeBase Time() const { return {clock_.Now(), clock_.WallTime()}; }

  std::optional<DependencyFacts> FactsOf(const DependencyId& name) const;
  ServerFacts Facts() const;
  void TellConfig();

  ControllerView& controller_;
  const HostCheck hosts_;
  const ServerFacts facts_;
  ConfigSettings config_;
  const Clock& clock_;
  History history_;
  SizingAdvisor sizing_;  // of the last hour with steps of five seconds
  WatchFeed watch_;
  Revisions revisions_;
  RateLimiter limiter_{RateLimit{}};
  Cors cors_{{}};
  Role metrics_role_ = Role::kNone;
  Operations* const operations_;
  const std::unique_ptr<ChangeLanes> changes_;  // null without operations
  const std::unique_ptr<ChangeRoutes> change_routes_;
  LoadFacts loads_;
  std::string told_hash_;
  const Router router_;
};

}  // namespace plimsoll::internal
