#include "api/http/src/operator_plane.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/http/src/config_view.h"
#include "api/http/src/health.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/paging.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse JsonResponse(const Json& body) {
  HttpResponse response;
  // Whatever bytes an agent's texts held: the answer is JSON.
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

HttpResponse TextResponse(int status, std::string text, std::string type) {
  HttpResponse response;
  response.status = status;
  response.content_type = std::move(type);
  response.body = std::move(text);
  return response;
}

HttpResponse HealthResponse(HealthReport report) {
  return TextResponse(report.ok ? 200 : 503, std::move(report.text), "text/plain; charset=utf-8");
}

HttpResponse NotFound(const std::string& what, const std::string& name) {
  return ProblemResponse(404, "NOT_FOUND", absl::StrCat("there is no ", what, " '", name, "'"));
}

HttpResponse PageFault(const absl::Status& status) {
  return ProblemResponse(
      400, absl::IsFailedPrecondition(status) ? "PAGE_TOKEN_INVALID" : "INVALID_ARGUMENT",
      std::string(status.message()));
}

// Calls that come back from the core's thread have no caller who would answer for them.
template <typename Make>
void ReplyWith(Exchange& exchange, Make make) {
  try {
    exchange.Reply(make());
  } catch (const std::exception&) {
    exchange.Reply(ProblemResponse(500, "INTERNAL", "the server failed; see request_id"));
  }
}

bool Matches(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

// Keys sort as the lists do; the separator is smaller than any character of a name.
template <typename... Parts>
std::string Key(const Parts&... parts) {
  std::string key;
  (absl::StrAppend(&key, parts.value, "\x1f"), ...);
  return key;
}

template <typename Row, typename View>
HttpResponse ListResponse(const RoutedRequest& routed,
                          std::vector<std::pair<std::string, const Row*>> keyed, View view) {
  const absl::StatusOr<PageRequest> request = ReadPageRequest(routed);
  if (!request.ok()) return PageFault(request.status());
  const Page<const Row*> page = MakePage(std::move(keyed), *request);
  Json items = Json::array();
  for (const Row* row : page.rows) items.push_back(view(*row));
  return JsonResponse({{"items", items}, {"next_page_token", page.next_token}});
}

// `events` holds one more than the page if there is a next one.
HttpResponse EventsPage(const PageRequest& page, const std::vector<LogEvent>& events,
                        const TimeBase& time) {
  Json items = Json::array();
  const std::size_t count = std::min(events.size(), page.size);
  for (std::size_t i = 0; i < count; ++i) items.push_back(EventView(events[i], time));
  const bool more = events.size() > page.size;
  return JsonResponse(
      {{"items", items},
       {"next_page_token", more ? MakePageToken(page, events[count - 1].id) : std::string()}});
}

std::vector<const LimitRow*> LimitsOf(const Snapshot& snapshot, const DependencyId& dependency) {
  std::vector<const LimitRow*> rows;
  for (const LimitRow& row : snapshot.limits) {
    if (row.dependency == dependency) rows.push_back(&row);
  }
  return rows;
}

const DependencyRow* FindDependency(const Snapshot& snapshot, const std::string& name) {
  for (const DependencyRow& row : snapshot.dependencies) {
    if (row.policy.name.value == name) return &row;
  }
  return nullptr;
}

bool HasQuota(const Snapshot& snapshot, const DependencyId& dependency) {
  const DependencyRow* row = FindDependency(snapshot, dependency.value);
  return row != nullptr && row->policy.quota.has_value();
}

// Of several sessions of one instance, the one that lives: not fenced, heard of last.
template <typename Row>
bool IsMoreAlive(const Row& a, const Row& b) {
  return a.fenced != b.fenced ? b.fenced : a.age < b.age;
}

}  // namespace

OperatorPlane::OperatorPlane(ControllerView& controller, HostCheck hosts, ServerFacts facts,
                             const Clock& clock)
    : controller_(controller),
      hosts_(std::move(hosts)),
      facts_(std::move(facts)),
      clock_(clock),
      router_(Routes()) {}

std::vector<Route> OperatorPlane::Routes() {
  const auto bind =
      [this](void (OperatorPlane::*handler)(const RoutedRequest&, const ExchangePtr&)) {
        return [this, handler](const RoutedRequest& routed, const ExchangePtr& exchange) {
          (this->*handler)(routed, exchange);
        };
      };
  const auto livez = [](const RoutedRequest& routed, const ExchangePtr& exchange) {
    exchange->Reply(HealthResponse(CheckLive(routed.Has("verbose"))));
  };
  const auto version = [this](const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
    exchange->Reply(Version());
  };
  const auto config = [this](const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
    exchange->Reply(JsonResponse(ConfigView(config_, config_hash())));
  };
  return {
      {"GET", "/livez", {"verbose", "exclude"}, livez},
      {"GET", "/readyz", {"verbose", "exclude"}, bind(&OperatorPlane::Ready)},
      {"GET", "/metrics", {}, bind(&OperatorPlane::Metrics)},
      {"GET", "/v1/version", {}, version},
      {"GET", "/v1/config", {}, config},
      SnapshotRoute("/v1/status", {}, &OperatorPlane::Status),
      SnapshotRoute("/v1/dependencies", {"page_size", "page_token"}, &OperatorPlane::Dependencies),
      SnapshotRoute("/v1/dependencies/{d}", {}, &OperatorPlane::Dependency),
      SnapshotRoute("/v1/dependencies/{d}/quota", {}, &OperatorPlane::Quota),
      SnapshotRoute("/v1/limits",
                    {"dependency", "service", "instance_id", "page_size", "page_token"},
                    &OperatorPlane::Limits),
      SnapshotRoute("/v1/limits/{d}/{instance_id}", {"service"}, &OperatorPlane::Limit),
      SnapshotRoute("/v1/instances", {"service", "page_size", "page_token"},
                    &OperatorPlane::Instances),
      SnapshotRoute("/v1/instances/{id}", {"service"}, &OperatorPlane::Instance),
      {"GET",
       "/v1/events",
       {"dependency", "instance_id", "type", "reason", "page_size", "page_token"},
       bind(&OperatorPlane::Events)},
      {"GET", "/v1/events/{id}", {}, bind(&OperatorPlane::Event)},
  };
}

Route OperatorPlane::SnapshotRoute(const char* pattern, std::vector<std::string> parameters,
                                   HttpResponse (OperatorPlane::*render)(const RoutedRequest&,
                                                                         const Snapshot&) const) {
  return {"GET", pattern, std::move(parameters),
          [this, render](const RoutedRequest& routed, const ExchangePtr& exchange) {
            // The request outlives the call: a copy travels with the question.
            auto request = std::make_shared<const HttpRequest>(routed.request);
            WithSnapshot(exchange, [this, render, request, names = routed.names,
                                    query = routed.query](const SnapshotPtr& snapshot) {
              return (this->*render)({*request, names, query}, *snapshot);
            });
          }};
}

const char* OperatorPlane::Handle(const HttpRequest& request, const ExchangePtr& exchange) {
  const bool probe = request.path == "/livez" || request.path == "/readyz";
  if (!probe && !hosts_.IsOurs(request.host, request.local_address)) {
    exchange->Reply(ProblemResponse(
        403, "PERMISSION_DENIED",
        absl::StrCat("the Host header '", request.host,
                     "' is not a name of this server; add it to api.hosts if it should be")));
    return kNoRoute;
  }
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !hosts_.IsOwnOrigin(request.origin, request.local_address)) {
    exchange->Reply(ProblemResponse(403, "PERMISSION_DENIED",
                                    "pages of other sites must not change anything here"));
    return kNoRoute;
  }
  return router_.Dispatch(request, exchange);
}

void OperatorPlane::WithSnapshot(const ExchangePtr& exchange, Render render) {
  controller_.GetSnapshot([exchange, render = std::move(render)](const SnapshotPtr& snapshot) {
    ReplyWith(*exchange, [&] { return render(snapshot); });
  });
}

void OperatorPlane::Ready(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const bool verbose = routed.Has("verbose");
  const std::string exclude = routed.Parameter("exclude");
  if (controller_.shutting_down()) {
    // The core may have ended: it is not asked.
    exchange->Reply(HealthResponse(CheckReady({.shutting_down = true}, verbose, exclude)));
    return;
  }
  WithSnapshot(exchange, [this, verbose, exclude](const SnapshotPtr& snapshot) {
    const HealthInput input{.store_ok = snapshot->store_ok,
                            .learning = LearningText(*snapshot, clock_.Now())};
    return HealthResponse(CheckReady(input, verbose, exclude));
  });
}

void OperatorPlane::Metrics(const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
  WithSnapshot(exchange, [this](const SnapshotPtr& snapshot) {
    return TextResponse(200, controller_.Metrics(snapshot), kMetricsContentType);
  });
}

HttpResponse OperatorPlane::Version() const {
  return JsonResponse({{"version", facts_.version}, {"api", "v1"}});
}

HttpResponse OperatorPlane::Status(const RoutedRequest& /*routed*/,
                                   const Snapshot& snapshot) const {
  return JsonResponse(StatusView(snapshot, facts_, Time()));
}

HttpResponse OperatorPlane::Dependencies(const RoutedRequest& routed,
                                         const Snapshot& snapshot) const {
  std::vector<std::pair<std::string, const DependencyRow*>> keyed;
  for (const DependencyRow& row : snapshot.dependencies) {
    keyed.emplace_back(Key(row.policy.name), &row);
  }
  return ListResponse(routed, std::move(keyed), [this, &snapshot](const DependencyRow& row) {
    return DependencyView(row, LimitsOf(snapshot, row.policy.name), snapshot.learning, Time());
  });
}

HttpResponse OperatorPlane::Dependency(const RoutedRequest& routed,
                                       const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NotFound("dependency", routed.names[0]);
  return JsonResponse(
      DependencyView(*row, LimitsOf(snapshot, row->policy.name), snapshot.learning, Time()));
}

HttpResponse OperatorPlane::Quota(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NotFound("dependency", routed.names[0]);
  return JsonResponse(QuotaView(*row, LimitsOf(snapshot, row->policy.name)));
}

HttpResponse OperatorPlane::Limits(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string dependency = routed.Parameter("dependency");
  const std::string service = routed.Parameter("service");
  const std::string instance = routed.Parameter("instance_id");
  std::vector<std::pair<std::string, const LimitRow*>> keyed;
  for (const LimitRow& row : snapshot.limits) {
    if (!Matches(dependency, row.dependency.value) || !Matches(service, row.service.value) ||
        !Matches(instance, row.instance.value)) {
      continue;
    }
    keyed.emplace_back(Key(row.dependency, row.service, row.instance, row.session), &row);
  }
  const TimeBase time = Time();
  return ListResponse(routed, std::move(keyed), [&snapshot, &time](const LimitRow& row) {
    return LimitView(row, HasQuota(snapshot, row.dependency), time);
  });
}

HttpResponse OperatorPlane::Limit(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string service = routed.Parameter("service");
  const LimitRow* best = nullptr;
  for (const LimitRow& row : snapshot.limits) {
    if (row.dependency.value != routed.names[0] || row.instance.value != routed.names[1] ||
        !Matches(service, row.service.value)) {
      continue;
    }
    if (best == nullptr || IsMoreAlive(row, *best)) best = &row;
  }
  if (best == nullptr) {
    return NotFound("limit", absl::StrCat(routed.names[0], "/", routed.names[1]));
  }
  return JsonResponse(LimitView(*best, HasQuota(snapshot, best->dependency), Time()));
}

HttpResponse OperatorPlane::Instances(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string service = routed.Parameter("service");
  std::vector<std::pair<std::string, const InstanceRow*>> keyed;
  for (const InstanceRow& row : snapshot.instances) {
    if (!Matches(service, row.service.value)) continue;
    keyed.emplace_back(Key(row.service, row.instance, row.session), &row);
  }
  const TimeBase time = Time();
  return ListResponse(routed, std::move(keyed),
                      [&time](const InstanceRow& row) { return InstanceView(row, time); });
}

HttpResponse OperatorPlane::Instance(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string service = routed.Parameter("service");
  const InstanceRow* best = nullptr;
  Json fencing = Json::array();
  for (const InstanceRow& row : snapshot.instances) {
    if (row.instance.value != routed.names[0] || !Matches(service, row.service.value)) continue;
    if (row.fenced) fencing.push_back(row.session.value);
    if (best == nullptr || IsMoreAlive(row, *best)) best = &row;
  }
  if (best == nullptr) return NotFound("instance", routed.names[0]);
  Json view = InstanceView(*best, Time());
  if (!best->fenced && !fencing.empty()) view["fencing"] = fencing;
  return JsonResponse(view);
}

void OperatorPlane::Events(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const absl::StatusOr<PageRequest> page = ReadPageRequest(routed);
  if (!page.ok()) return exchange->Reply(PageFault(page.status()));
  EventLog::Filter filter;
  filter.dependency.value = routed.Parameter("dependency");
  filter.instance.value = routed.Parameter("instance_id");
  filter.before = page->after;
  const std::string type = routed.Parameter("type");
  const std::string reason = routed.Parameter("reason");
  if (!type.empty()) filter.type = EventTypeFromString(type);
  if (!reason.empty()) filter.reason = ReasonFromString(reason);
  if ((!type.empty() && !filter.type) || (!reason.empty() && !filter.reason)) {
    return exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT", "type or reason is not a word of its list"));
  }
  // One more than asked for tells whether there is a next page.
  const int limit = static_cast<int>(page->size) + 1;
  controller_.FindEvents(std::move(filter), limit,
                         [this, exchange, page = *page](std::vector<LogEvent> events) {
                           ReplyWith(*exchange, [&] { return EventsPage(page, events, Time()); });
                         });
}

void OperatorPlane::Event(const RoutedRequest& routed, const ExchangePtr& exchange) {
  const std::string id = routed.names[0];
  controller_.GetEvent(id, [this, exchange, id](const std::optional<LogEvent>& event) {
    ReplyWith(*exchange, [&] {
      return event ? JsonResponse(EventView(*event, Time())) : NotFound("event", id);
    });
  });
}

}  // namespace plimsoll::internal
