#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/http/src/controller_view.h"
#include "api/http/src/host_check.h"
#include "api/http/src/router.h"
#include "api/http/src/views.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/config_facts.h"

namespace plimsoll::internal {

// The routes of operators: health, metrics, and views of the read model.
// Confined to the operator plane's thread.
class OperatorPlane final : public HttpService {
 public:
  // All three must outlive the plane and the exchanges it has not answered.
  OperatorPlane(ControllerView& controller, HostCheck hosts, ServerFacts facts, const Clock& clock);

  const char* Handle(const HttpRequest& request, const ExchangePtr& exchange) override;
  std::vector<const char*> patterns() const { return router_.patterns(); }

  // Of the configuration in force.
  const std::string& config_hash() const { return facts_.config_hash; }
  void set_config_hash(std::string hash) { facts_.config_hash = std::move(hash); }
  // What GET /v1/config tells.
  void set_config(ConfigFacts config) { config_ = std::move(config); }

 private:
  using SnapshotPtr = std::shared_ptr<const Snapshot>;
  // Makes the answer once the snapshot is there.
  using Render = std::function<HttpResponse(const SnapshotPtr& snapshot)>;

  std::vector<Route> Routes();
  Route SnapshotRoute(const char* pattern, std::vector<std::string> parameters,
                      HttpResponse (OperatorPlane::*render)(const RoutedRequest& routed,
                                                            const Snapshot& snapshot) const);

  void Ready(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Metrics(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Events(const RoutedRequest& routed, const ExchangePtr& exchange);
  void Event(const RoutedRequest& routed, const ExchangePtr& exchange);
  HttpResponse Version() const;
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

  ControllerView& controller_;
  const HostCheck hosts_;
  ServerFacts facts_;
  ConfigFacts config_;
  const Clock& clock_;
  const Router router_;
};

}  // namespace plimsoll::internal
