#include "api/http/src/operator_plane.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/config_view.h"
#include "api/http/src/console_routes.h"
#include "api/http/src/health.h"
#include "api/http/src/metrics_exporter.h"
#include "api/http/src/openapi.h"
#include "api/http/src/paging.h"
#include "api/http/src/sizing_view.h"
#include "api/http/src/timeseries.h"

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
HttpResponse ListResponse(const RoutedRequest& routed, const std::string& revision,
                          std::vector<std::pair<std::string, const Row*>> keyed, View view) {
  const absl::StatusOr<PageRequest> request = ReadPageRequest(routed);
  if (!request.ok()) return PageFault(request.status());
  const Page<const Row*> page = MakePage(std::move(keyed), *request);
  Json items = Json::array();
  for (const Row* row : page.rows) items.push_back(view(*row));
  return JsonResponse(
      {{"items", items}, {"next_page_token", page.next_token}, {"revision", revision}});
}

// It changes with the program only.
HttpResponse OpenapiResponse(const HttpRequest& request) {
  static const std::string& etag = *new std::string(
      absl::StrCat("\"openapi.", absl::Hex(FingerprintOf(std::string(OpenapiJson()))), ".1\""));
  HttpResponse response;
  response.headers.emplace_back("ETag", etag);
  if (MatchesETag(request.if_none_match, etag)) {
    response.status = 304;
  } else {
    response.body = std::string(OpenapiJson());
  }
  return response;
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

// The parameters since and until of the log.
absl::Status ReadSpan(const RoutedRequest& routed, const TimeBase& time, EventLog::Filter& filter) {
  for (const char* name : {"since", "until"}) {
    if (!routed.Has(name)) continue;
    const absl::StatusOr<Instant> at = ReadTime(name, routed.Parameter(name), time);
    if (!at.ok()) return at.status();
    (std::string(name) == "since" ? filter.since : filter.until) = *at;
  }
  return absl::OkStatus();
}

// What a controller knows of itself, or of its configuration.
bool AnswersWhileStandingBy(const HttpRequest& request) {
  static constexpr std::string_view kOwn[] = {"/livez",           "/readyz",    "/metrics",
                                              "/v1/version",      "/v1/config", "/v1/config/status",
                                              "/v1/openapi.json", "/v1/status"};
  const bool reads = request.method == "GET" || request.method == "HEAD";
  return reads && std::find(std::begin(kOwn), std::end(kOwn), request.path) != std::end(kOwn);
}

HttpResponse SendToLeader(const HttpRequest& request, const std::string& leader) {
  Problem problem;
  problem.code = leader.empty() ? "NOT_READY" : "NOT_LEADER";
  problem.status = leader.empty() ? 503 : 307;
  problem.detail = leader.empty() ? "this controller stands by, and no other is known to lead yet"
                                  : absl::StrCat("this controller stands by: ask ", leader);
  problem.leader = leader;
  HttpResponse response = ProblemResponse(std::move(problem));
  if (leader.empty()) {
    response.headers.emplace_back("Retry-After", "1");
  } else {
    const std::string query = request.query.empty() ? "" : absl::StrCat("?", request.query);
    response.headers.emplace_back("Location", absl::StrCat(leader, request.path, query));
  }
  return response;
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
                             const Clock& clock, const MemoryOptions& memory,
                             const Console& console, Operations* operations, ChangeHost* host)
    : controller_(controller),
      hosts_(std::move(hosts)),
      facts_(std::move(facts)),
      clock_(clock),
      history_(memory.history_step, memory.history_keep),
      watch_(controller, clock, memory.watchers_max),
      operations_(operations),
      changes_(operations == nullptr ? nullptr
                                     : std::make_unique<ChangeQueue>(*operations, *host, clock)),
      change_routes_(operations == nullptr ? nullptr
                                           : std::make_unique<ChangeRoutes>(*operations, *changes_,
                                                                            controller, clock)),
      loads_{true, clock.WallTime()},
      told_hash_(config_hash()),
      router_(Routes(console)) {}

std::string OperatorPlane::config_hash() const {
  return operations_ == nullptr ? facts_.config_hash : operations_->config().hash;
}

void OperatorPlane::Reload(const std::string& who) {
  if (changes_ == nullptr) return;
  ChangeRequest request;
  request.verb = ChangeVerb::kReload;
  request.who = who;
  changes_->Submit(std::move(request), [this](const ChangePlan& /*plan*/) { TellConfig(); });
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
    exchange->Reply(JsonResponse(ConfigView(config_, config_hash())));
  };
  std::vector<Route> routes = {
      {"GET",
       "/v1/openapi.json",
       {},
       [](const RoutedRequest& routed, const ExchangePtr& exchange) {
         exchange->Reply(OpenapiResponse(routed.request));
       },
       Role::kNone},
      {"GET", "/livez", {"verbose", "exclude"}, livez, Role::kNone},
      {"GET", "/readyz", {"verbose", "exclude"}, bind(&OperatorPlane::Ready), Role::kNone},
      {"GET", "/metrics", {}, bind(&OperatorPlane::Metrics), Role::kNone},
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
       }},
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
  };
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

Route OperatorPlane::CollectionRoute(Collection collection, const char* pattern,
                                     std::vector<std::string> parameters, SnapshotRender render) {
  return {"GET", pattern, std::move(parameters),
          [this, collection, render](const RoutedRequest& routed, const ExchangePtr& exchange) {
            auto request = std::make_shared<const HttpRequest>(routed.request);
            WithSnapshot(exchange, [this, collection, render, request, names = routed.names,
                                    query = routed.query](const SnapshotPtr& snapshot) {
              return RenderCollection(collection, {*request, names, query}, snapshot, render);
            });
          }};
}

// What operators set has revisions of its own: those of a single dependency are what If-Match looks
// at, and a list changes with the newest of its rows.
std::string OperatorPlane::ETagOf(Collection collection, const RoutedRequest& routed,
                                  const Snapshot& snapshot) const {
  const std::string counted = revisions_.ETag(collection);
  const bool settable =
      collection == Collection::kDependencies || collection == Collection::kQuotas;
  if (operations_ == nullptr || !settable) return counted;
  const auto newest = [this](const DependencyId& name) -> std::int64_t {
    const std::optional<DependencyFacts> facts = FactsOf(name);
    if (!facts) return 0;
    return std::max(facts->revision, facts->override_facts ? facts->override_facts->revision : 0);
  };
  const std::string counts = counted.substr(1, counted.size() - 2);
  if (routed.names.empty()) {
    std::int64_t last = 0;
    for (const DependencyRow& row : snapshot.dependencies) {
      last = std::max(last, newest(row.policy.name));
    }
    return absl::StrCat("\"", counts, "-", last, "\"");
  }
  const DependencyId name(routed.names[0]);
  const std::optional<DependencyFacts> facts = FactsOf(name);
  if (!facts) return counted;
  const std::size_t dot = counts.find('.');
  std::string generation = absl::StrCat(counts.substr(dot + 1), "-", newest(name));
  std::replace(generation.begin(), generation.end(), '.', '-');
  return absl::StrCat("\"", counts.substr(0, dot), ".", facts->revision, ".", generation, "\"");
}

HttpResponse OperatorPlane::RenderCollection(Collection collection, const RoutedRequest& routed,
                                             const SnapshotPtr& snapshot, SnapshotRender render) {
  revisions_.Note(snapshot);
  const std::string etag = ETagOf(collection, routed, *snapshot);
  HttpResponse response;
  if (MatchesETag(routed.request.if_none_match, etag)) {
    response.status = 304;
  } else {
    response = (this->*render)(routed, *snapshot);
  }
  if (response.status == 200 || response.status == 304) response.headers.emplace_back("ETag", etag);
  return response;
}

const char* OperatorPlane::Handle(const HttpRequest& request, const ExchangePtr& exchange) {
  const bool probe = request.path == "/livez" || request.path == "/readyz";
  if (!probe && !CheckRate(request, *exchange)) return kNoRoute;
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

HttpResponse OperatorPlane::Sizing(const RoutedRequest& routed) const {
  const std::string dependency = routed.Parameter("dependency");
  std::vector<SizingAdvice> advice = sizing_.Advise();
  std::erase_if(advice, [&dependency](const SizingAdvice& one) {
    return !Matches(dependency, one.dependency.value);
  });
  return JsonResponse(SizingView(advice));
}

HttpResponse OperatorPlane::Version() const {
  return JsonResponse({{"version", facts_.version}, {"api", "v1"}});
}

HttpResponse OperatorPlane::Status(const RoutedRequest& /*routed*/,
                                   const Snapshot& snapshot) const {
  Json view = StatusView(snapshot, Facts(), Time());
  const WatchCounts& watch = watch_.counts();
  view["watchers"] = {{"open", watch.open},
                      {"max", watch_.watchers_max()},
                      {"refused_total", watch.refused_total},
                      {"closed_slow_total", watch.closed_slow_total}};
  return JsonResponse(view);
}

HttpResponse OperatorPlane::Dependencies(const RoutedRequest& routed,
                                         const Snapshot& snapshot) const {
  const std::string mode = absl::AsciiStrToUpper(routed.Parameter("mode"));
  const std::string origin = absl::AsciiStrToUpper(routed.Parameter("origin"));
  std::vector<std::pair<std::string, const DependencyRow*>> keyed;
  for (const DependencyRow& row : snapshot.dependencies) {
    const bool fits = Matches(mode, std::string(ToString(row.mode))) &&
                      Matches(origin, OriginOf(FactsOf(row.policy.name)));
    if (!fits) continue;
    keyed.emplace_back(Key(row.policy.name), &row);
  }
  return ListResponse(routed, revisions_.Revision(Collection::kDependencies), std::move(keyed),
                      [this, &snapshot](const DependencyRow& row) {
                        return DependencyView(row, LimitsOf(snapshot, row.policy.name),
                                              snapshot.learning, Time(), FactsOf(row.policy.name));
                      });
}

HttpResponse OperatorPlane::Dependency(const RoutedRequest& routed,
                                       const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NotFound("dependency", routed.names[0]);
  Json view = DependencyView(*row, LimitsOf(snapshot, row->policy.name), snapshot.learning, Time(),
                             FactsOf(row->policy.name));
  if (!view.contains("revision")) view["revision"] = revisions_.Revision(Collection::kDependencies);
  return JsonResponse(view);
}

HttpResponse OperatorPlane::Quota(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NotFound("dependency", routed.names[0]);
  Json view = QuotaView(*row, LimitsOf(snapshot, row->policy.name));
  const std::optional<DependencyFacts> facts = FactsOf(row->policy.name);
  view["revision"] =
      facts ? absl::StrCat("quotas.", facts->revision) : revisions_.Revision(Collection::kQuotas);
  return JsonResponse(view);
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
  return ListResponse(routed, revisions_.Revision(Collection::kLimits), std::move(keyed),
                      [&snapshot, &time](const LimitRow& row) {
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
  return ListResponse(routed, revisions_.Revision(Collection::kInstances), std::move(keyed),
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

HttpResponse OperatorPlane::Timeseries(const RoutedRequest& routed,
                                       const Snapshot& snapshot) const {
  const TimeBase time = Time();
  const auto query = ReadHistoryQuery(routed, history_, time);
  if (!query.ok()) {
    return ProblemResponse(400, "INVALID_ARGUMENT", std::string(query.status().message()));
  }
  if (const auto table = history_.Read(*query)) {
    return TimeseriesResponse(*query, *table, history_, time);
  }
  if (query->instance.empty() && FindDependency(snapshot, query->dependency) != nullptr) {
    History::Table nothing_yet;
    nothing_yet.columns.resize(query->metrics.size());
    return TimeseriesResponse(*query, nothing_yet, history_, time);
  }
  return ProblemResponse(
      404, "NOT_FOUND",
      absl::StrCat("there is no history of '", query->dependency,
                   query->instance.empty() ? "" : absl::StrCat("' at '", query->instance),
                   "'; it is kept of ", History::kSeriesMax, " dependencies and pairs at most"));
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
  if (const auto fault = ReadSpan(routed, Time(), filter); !fault.ok()) {
    return exchange->Reply(ProblemResponse(400, "INVALID_ARGUMENT", std::string(fault.message())));
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
