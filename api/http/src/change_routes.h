#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/http/src/change_lanes.h"
#include "api/http/src/controller_view.h"
#include "api/http/src/router.h"
#include "api/http/src/views.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/operations.h"

namespace plimsoll::internal {

// The routes by which operators change something, and those that show what they have set.
// Confined to the operator plane's thread.
class ChangeRoutes {
 public:
  // All must outlive the routes and the exchanges they have not answered.
  ChangeRoutes(Operations& operations, ChangeLanes& queue, ControllerView& controller,
               const Clock& clock)
      : operations_(operations), queue_(queue), controller_(controller), clock_(clock) {}

  std::vector<Route> Routes();

 private:
  using SnapshotPtr = std::shared_ptr<const Snapshot>;
  using Then = std::function<void(const SnapshotPtr& snapshot)>;

  Route ChangeRoute(const char* method, const char* pattern, ChangeVerb verb,
                    std::vector<std::string> parameters, bool has_body);
  void Change(const RoutedRequest& routed, const ExchangePtr& exchange, ChangeVerb verb);
  void Submit(ChangeRequest request, const ExchangePtr& exchange);
  void Answer(const ChangeRequest& request, const ChangePlan& plan, const ExchangePtr& exchange);
  HttpResponse Success(const ChangeRequest& request, const ChangePlan& plan,
                       const Snapshot& snapshot) const;
  void Explain(const RoutedRequest& routed, const ExchangePtr& exchange);
  // With what the law would make of the samples of the question, if it has any.
  void Try(const Operations::Question& question, const LimitRow& limit,
           const DependencyRow& dependency, const ExchangePtr& exchange);
  void Validate(const RoutedRequest& routed, const ExchangePtr& exchange);
  HttpResponse ShowOverride(const std::string& name) const;
  void WithSnapshot(const ExchangePtr& exchange, Then then);
  TimeBase Time() const { return {clock_.Now(), clock_.WallTime()}; }

  Operations& operations_;
  ChangeLanes& queue_;
  ControllerView& controller_;
  const Clock& clock_;
};

}  // namespace plimsoll::internal
