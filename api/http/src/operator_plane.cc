#include "api/http/src/operator_plane.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/http/src/config_view.h"
#include "api/http/src/console_routes.h"
#include "api/http/src/health.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/openapi.h"
#include "api/http/src/paging.h"
#include "api/http/src/replies.h"
#include "api/http/src/shard_views.h"
#include "api/http/src/stand_by.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse TextResponse(int status, std::string text, std::string_view type) {
  HttpResponse response;
  response.status = status;
  response.content_type = type;
  response.body = std::move(text);
  return response;
}

HttpResponse HealthResponse(HealthReport report) {
  return TextResponse(report.ok ? 200 : 503, std::move(report.text), "text/plain; charset=utf-8");
}

// A document that changes with the program only, and is open to everybody.
Route DocumentRoute(const char* pattern, const std::string& collection, std::string text) {
  const std::string etag =
      absl::StrCat("\"", collection, ".", absl::Hex(FingerprintOf(text)), ".1\"");
  return {"GET",
          pattern,
          {},
          [etag, text = std::move(text)](const RoutedRequest& routed, const ExchangePtr& exchange) {
            HttpResponse response;
            response.headers.emplace_back("ETag", etag);
            if (MatchesETag(routed.request.if_none_match, etag)) {
              response.status = 304;
            } else {
              response.body = text;
            }
            exchange->Reply(std::move(response));
          },
          Role::kNone};
}

// Whoever watches health or scrapes is answered, whatever it says it accepts.
constexpr const char* kAnyMediaType = "";

}  // namespace

OperatorPlane::OperatorPlane(ControllerView& controller, HostCheck hosts, ServerFacts facts,
                             const Clock& clock, const MemoryOptions& memory,
                             const Console& console, Operations* operations,
                             std::vector<ChangeLanes::Lane> lanes)
    : controller_(controller),
      hosts_(std::move(hosts)),
      facts_(std::move(facts)),
      clock_(clock),
      history_(memory.history_step, memory.history_keep),
      watch_(controller, clock, memory.watchers_max),
      operations_(operations),
      changes_(operations == nullptr ? nullptr
                                     : std::make_unique<ChangeLanes>(std::move(lanes), clock)),
      change_routes_(operations == nullptr ? nullptr
                                           : std::make_unique<ChangeRoutes>(*operations, *changes_,
                                                                            controller, clock)),
      loads_{true, clock.WallTime()},
      told_hash_(config_hash()),
      router_(Routes(console)) {}

std::string OperatorPlane::config_hash() const {
  return operations_ == nullptr ? facts_.config_hash : operations_->config().hash;
}

void OperatorPlane::Reload(const std::string& who, std::function<void()> done) {
  if (changes_ == nullptr) {
    if (done) done();
    return;
  }
  ChangeRequest request;
  request.verb = ChangeVerb::kReload;
  request.who = who;
  changes_->Submit(std::move(request), [this, done = std::move(done)](const ChangePlan& /*plan*/) {
    TellConfig();
    if (done) done();
  });
}

std::optional<DependencyFacts> OperatorPlane::FactsOf(const DependencyId& name) const {
  return operations_ == nullptr ? std::nullopt : operations_->Find(name);
}

ServerFacts OperatorPlane::Facts() const {
  ServerFacts facts = facts_;
  facts.config_hash = config_hash();
  const ControllerView::Leading leading = controller_.leading();
  facts.leads = leading.self;
  facts.leader = leading.leader.value_or(Leader{}).api;
  return facts;
}

std::vector<Route> OperatorPlane::Routes(const Console& console) {
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
    exchange->Reply(JsonReply(200, ConfigView(config_, config_hash())));
  };
  std::vector<Route> routes = {
      DocumentRoute("/v1/openapi.json", "openapi", std::string(OpenapiJson())),
      {"GET", "/livez", {"verbose", "exclude"}, livez, Role::kNone, kAnyMediaType},
      {"GET",
       "/readyz",
       {"verbose", "exclude"},
       bind(&OperatorPlane::Ready),
       Role::kNone,
       kAnyMediaType},
      {"GET", "/metrics", {}, bind(&OperatorPlane::Metrics), Role::kNone, kAnyMediaType},
      {"GET", "/v1/version", {}, version},
      {"GET", "/v1/config", {}, config, Role::kOperator},
      SnapshotRoute("/v1/status", {}, &OperatorPlane::Status),
      CollectionRoute(Collection::kDependencies, "/v1/dependencies",
                      {"mode", "origin", "page_size", "page_token"}, &OperatorPlane::Dependencies),
      CollectionRoute(Collection::kDependencies, "/v1/dependencies/{d}", {},
                      &OperatorPlane::Dependency),
      CollectionRoute(Collection::kQuotas, "/v1/dependencies/{d}/quota", {}, &OperatorPlane::Quota),
      CollectionRoute(Collection::kLimits, "/v1/limits",
                      {"dependency", "service", "instance_id", "page_size", "page_token"},
                      &OperatorPlane::Limits),
      CollectionRoute(Collection::kLimits, "/v1/limits/{d}/{instance_id}", {"service"},
                      &OperatorPlane::Limit),
      CollectionRoute(Collection::kInstances, "/v1/instances",
                      {"service", "page_size", "page_token"}, &OperatorPlane::Instances),
      CollectionRoute(Collection::kInstances, "/v1/instances/{id}", {"service"},
                      &OperatorPlane::Instance),
      {"GET",
       "/v1/watch",
       {"topics", "dependency"},
       [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
         watch_.Open(routed, exchange);
       },
       Role::kViewer,
       "text/event-stream"},
      {"GET",
       "/v1/events",
       {"dependency", "instance_id", "type", "reason", "since", "until", "page_size", "page_token"},
       bind(&OperatorPlane::Events)},
      {"GET",
       "/v1/sizing",
       {"dependency"},
       [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
         exchange->Reply(Sizing(routed));
       }},
      SnapshotRoute("/v1/timeseries", {"dependency", "instance_id", "metric", "since", "step"},
                    &OperatorPlane::Timeseries),
      {"GET", "/v1/events/{id}", {}, bind(&OperatorPlane::Event)},
      {"GET",
       "/v1/audit",
       {"page_size", "page_token"},
       bind(&OperatorPlane::Audit),
       Role::kOperator},
  };
  if (!facts_.config_schema.empty()) {
    routes.push_back(DocumentRoute("/v1/schema/config.json", "schema", facts_.config_schema));
  }
  if (change_routes_ != nullptr) {
    for (Route& route : change_routes_->Routes()) routes.push_back(std::move(route));
  }
  for (Route& route : ConsoleRoutes(console)) routes.push_back(std::move(route));
  return routes;
}

Route OperatorPlane::SnapshotRoute(const char* pattern, std::vector<std::string> parameters,
                                   SnapshotRender render) {
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
  exchange->AddHeaders(cors_.Headers(request));
  const bool probe = request.path == "/livez" || request.path == "/readyz";
  if (!probe && !CheckRate(request, *exchange)) return kNoRoute;
  if (!probe && !hosts_.IsOurs(request.host, request.local_address)) {
    exchange->Reply(ProblemResponse(
        403, "PERMISSION_DENIED",
        absl::StrCat("the Host header '", request.host,
                     "' is not a name of this server; add it to api.hosts if it should be")));
    return kNoRoute;
  }
  if (cors_.AnswerPreflight(request, *exchange)) return kNoRoute;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && !hosts_.IsOwnOrigin(request.origin, request.local_address)) {
    exchange->Reply(ProblemResponse(403, "PERMISSION_DENIED",
                                    "pages of other sites must not change anything here"));
    return kNoRoute;
  }
  const std::vector<ControllerView::ShardFacts> shards = controller_.shards();
  if (!shards.empty()) return HandleSharded(shards, request, exchange);
  const ControllerView::Leading leading = controller_.leading();
  if (leading.self) return router_.Dispatch(request, exchange);
  return StandBy(request, leading.leader.value_or(Leader{}).api, exchange);
}

// What only the leader knows or does is asked of the leader.
const char* OperatorPlane::StandBy(const HttpRequest& request, const std::string& leader,
                                   const ExchangePtr& exchange) {
  const auto inner = std::make_shared<Exchange>();
  inner->OnReply([answered = inner.get(), exchange, leader] {
    HttpResponse response = answered->TakeResponse();
    response.headers.emplace_back("X-Plimsoll-Leader", leader.empty() ? "unknown" : leader);
    exchange->Reply(std::move(response));
  });
  if (AnswersWhileStandingBy(request)) return router_.Dispatch(request, inner);
  inner->Reply(SendToLeader(request, leader));
  return kNoRoute;
}

bool OperatorPlane::CheckRate(const HttpRequest& request, Exchange& exchange) {
  const bool known = request.identity.name != kAnonymous;
  // Names and addresses must not meet.
  const std::string caller = known ? absl::StrCat("name ", request.identity.name)
                                   : absl::StrCat("address ", request.remote_address);
  const absl::Duration wait = limiter_.Take(caller, clock_.Now());
  if (wait <= absl::ZeroDuration()) return true;
  HttpResponse response =
      ProblemResponse(429, "RATE_LIMITED",
                      "too many requests from you: wait as long as Retry-After says; "
                      "api.rate_limit of the controller's configuration sets how many");
  response.headers.emplace_back(
      "Retry-After", absl::StrCat(absl::ToInt64Seconds(absl::Ceil(wait, absl::Seconds(1)))));
  exchange.Reply(std::move(response));
  return false;
}

void OperatorPlane::WithSnapshot(const ExchangePtr& exchange, Render render) {
  controller_.GetSnapshot([exchange, render = std::move(render)](const SnapshotPtr& snapshot) {
    ReplyWith(*exchange, [&] { return render(snapshot); });
  });
}

LoadFacts OperatorPlane::load_facts() {
  if (operations_ == nullptr) return loads_;
  const ConfigFacts config = operations_->config();
  loads_.succeeded = config.last_load_ok;
  if (config.last_load_ok) loads_.last_success = config.last_load_time;
  return loads_;
}

void OperatorPlane::TellConfig() {
  load_facts();
  const std::string hash = config_hash();
  if (std::exchange(told_hash_, hash) != hash) watch_.TellConfig(hash);
}

void OperatorPlane::Poll() {
  TellConfig();
  watch_.Poll();
  if (!history_.IsDue(clock_.Now())) return;
  controller_.GetSnapshot([this](const SnapshotPtr& snapshot) {
    if (!history_.IsDue(snapshot->at)) return;
    history_.Record(*snapshot);
    sizing_.Observe(*snapshot);
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
                            .leader_known = controller_.leading().known(),
                            .learning = LearningText(*snapshot, clock_.Now())};
    return HealthResponse(CheckReady(input, verbose, exclude));
  });
}

void OperatorPlane::Metrics(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!Includes(routed.request.identity.role, metrics_role_)) {
    return exchange->Reply(AccessRefusal(routed.request, metrics_role_));
  }
  WithSnapshot(exchange, [this](const SnapshotPtr& snapshot) {
    return TextResponse(200, controller_.Metrics(snapshot), kMetricsContentType);
  });
}

HttpResponse OperatorPlane::Version() const {
  return JsonReply(200, {{"version", facts_.version},
                         {"revision", facts_.revision.empty() ? "unknown" : facts_.revision},
                         {"api", "v1"}});
}

HttpResponse OperatorPlane::Status(const RoutedRequest& /*routed*/,
                                   const Snapshot& snapshot) const {
  Json view = StatusView(snapshot, Facts(), Time());
  if (const auto shards = controller_.shards(); !shards.empty()) {
    view["shards"] = ShardsView(shards, snapshot);
  }
  const WatchCounts& watch = watch_.counts();
  view["watchers"] = {{"open", watch.open},
                      {"max", watch_.watchers_max()},
                      {"refused_total", watch.refused_total},
                      {"closed_slow_total", watch.closed_slow_total}};
  return JsonReply(200, view);
}

}  // namespace plimsoll::internal
