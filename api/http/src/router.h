#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "api/http/src/http_message.h"
#include "api/http/src/url.h"

namespace plimsoll::internal {

// A request that a route matched.
struct RoutedRequest {
  const HttpRequest& request;
  absl::InlinedVector<std::string, 2> names;  // what stood for the {} of the pattern, in order
  QueryParameters query;

  bool Has(std::string_view name) const;
  // Empty if absent.
  std::string Parameter(std::string_view name) const;
};

// What most routes need: reading is for viewers, changing for operators.
constexpr Role UsualRole(std::string_view method) {
  return method == "GET" || method == "HEAD" ? Role::kViewer : Role::kOperator;
}
// Stands for "whatever the client sends" among the parameters of a route.
inline constexpr const char* kAnyParameter = "*";

struct Route {
  const char* method;  // GET serves HEAD as well
  // "/v1/limits/{d}/{instance_id}" or "/v1/dependencies/{d}:reset": also the label in metrics. What
  // stands for {} has no colon. "{rest*}", at the end, stands for all segments that are left, at
  // least one, be they empty; it is no name. Of two routes that match, the first counts.
  const char* pattern;
  // The query parameters it understands; another one is refused.
  std::vector<std::string> parameters;
  std::function<void(const RoutedRequest& request, const ExchangePtr& exchange)> handler;
  Role role = UsualRole(method);  // who may use it
  // What the answer is, refusals apart; empty: not asked about, so that probes and scrapers get
  // their answer whatever they say.
  const char* media_type = "application/json";
};

// Finds the route of a request by comparing segments: no pattern language, nothing that a long
// address could blow up. Thread-compatible.
class Router {
 public:
  explicit Router(std::vector<Route> routes);

  // Calls the handler, or answers 400, 401, 403, 404, 405 or 406 itself. Returns the label.
  const char* Dispatch(const HttpRequest& request, const ExchangePtr& exchange) const;

  // Calls `see` with the method, pattern and parameters of each route.
  void Visit(const std::function<void(const Route& route)>& see) const {
    for (const Entry& entry : entries_) see(entry.route);
  }

  // Method and pattern of each route, for metrics that must exist before the first request.
  std::vector<std::pair<const char*, const char*>> labels() const;

 private:
  struct Entry {
    Route route;
    PathSegments segments;
  };

  void Call(const Entry& entry, const PathSegments& segments, const HttpRequest& request,
            const ExchangePtr& exchange) const;

  std::vector<Entry> entries_;
};

}  // namespace plimsoll::internal
