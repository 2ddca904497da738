#include "api/http/src/change_routes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/change_views.h"
#include "api/http/src/replies.h"
#include "api/http/src/snapshot_rows.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

HttpResponse RefuseWith(const ChangePlan& plan) {
  Problem problem;
  problem.status = plan.status;
  problem.code = plan.code;
  problem.detail = plan.detail;
  problem.current_etag = plan.current_etag;
  for (const ChangeFault& fault : plan.faults) {
    problem.errors.push_back(
        {fault.pointer, fault.code, fault.detail, fault.file, fault.line, fault.column});
  }
  HttpResponse response = ProblemResponse(std::move(problem));
  if (plan.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse BadBody(const std::string& detail, std::vector<ChangeFault> faults) {
  ChangePlan plan;
  plan.status = 400;
  plan.code = "INVALID_ARGUMENT";
  plan.detail = detail;
  plan.faults = std::move(faults);
  return RefuseWith(plan);
}

std::string MediaType(const HttpRequest& request) {
  std::string type = request.content_type.substr(0, request.content_type.find(';'));
  absl::StripAsciiWhitespace(&type);
  absl::AsciiStrToLower(&type);
  return type;
}

// A body of JSON: there, declared as what it is, and well-formed. Replies and says false otherwise.
bool CheckBody(const HttpRequest& request, Exchange& exchange) {
  if (!request.has_length) {
    exchange.Reply(ProblemResponse(411, "LENGTH_REQUIRED", "send the body with Content-Length"));
    return false;
  }
  const std::string type = MediaType(request);
  const bool patch = request.method == "PATCH" && type == "application/merge-patch+json";
  if (type != "application/json" && !patch) {
    exchange.Reply(ProblemResponse(415, "UNSUPPORTED_MEDIA_TYPE",
                                   "send the body as Content-Type: application/json"));
    return false;
  }
  if (Json::accept(request.body)) return true;
  exchange.Reply(BadBody("the body is not JSON",
                         {{"", "BAD_FORMAT", "must be a JSON object, and nothing else"}}));
  return false;
}

// The strict reader takes JSON as the YAML that it is; only tabs between values are not.
std::string WithoutTabs(std::string json) {
  std::replace(json.begin(), json.end(), '\t', ' ');
  return json;
}

bool IsFlag(const RoutedRequest& routed, const char* name) {
  return routed.Has(name) && routed.Parameter(name) != "false";
}

// As GET finds it: of several sessions of one instance, the one that lives.
const LimitRow* LimitRowOf(const Snapshot& snapshot, const std::string& dependency,
                           const Operations::Question& name) {
  const LimitRow* best = nullptr;
  for (const LimitRow* row : LimitsOf(snapshot, dependency)) {
    const bool fits = row->instance.value == name.instance &&
                      (name.service.empty() || row->service.value == name.service);
    if (!fits) continue;
    if (best == nullptr || IsMoreAlive(*row, *best)) best = row;
  }
  return best;
}

// The sessions of the instance that is to be evicted, or how many use the dependency that is to be
// changed. False if the name stands for instances of several services.
bool FindUsers(const Snapshot& snapshot, const std::string& service, ChangeRequest& request) {
  if (const DependencyRow* row = FindDependency(snapshot, request.name)) {
    request.exists = true;
    request.instances = row->instances;
  }
  if (request.verb != ChangeVerb::kEvict) return true;
  std::set<std::string> services;
  for (const InstanceRow& row : snapshot.instances) {
    const bool fits = row.instance.value == request.name && !row.evicted &&
                      (service.empty() || row.service.value == service);
    if (!fits) continue;
    request.sessions.push_back(row.session);
    services.insert(row.service.value);
  }
  return services.size() <= 1;
}

}  // namespace

std::vector<Route> ChangeRoutes::Routes() {
  const std::vector<std::string> dry = {"validate_only"};
  const auto show = [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
    exchange->Reply(ShowOverride(routed.names[0]));
  };
  const auto explain = [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
    Explain(routed, exchange);
  };
  const auto validate = [this](const RoutedRequest& routed, const ExchangePtr& exchange) {
    Validate(routed, exchange);
  };
  const auto status = [this](const RoutedRequest& /*routed*/, const ExchangePtr& exchange) {
    exchange->Reply(JsonReply(200, ConfigStatusView(operations_.config())));
  };
  return {
      ChangeRoute("PUT", "/v1/dependencies/{d}", ChangeVerb::kPutDependency, dry, true),
      ChangeRoute("PATCH", "/v1/dependencies/{d}", ChangeVerb::kPatchDependency, dry, true),
      ChangeRoute("DELETE", "/v1/dependencies/{d}", ChangeVerb::kDeleteDependency,
                  {"force", "validate_only"}, false),
      ChangeRoute("PUT", "/v1/dependencies/{d}/quota", ChangeVerb::kPutQuota, dry, true),
      {"GET", "/v1/dependencies/{d}/override", {}, show},
      ChangeRoute("PUT", "/v1/dependencies/{d}/override", ChangeVerb::kPutOverride, dry, true),
      ChangeRoute("DELETE", "/v1/dependencies/{d}/override", ChangeVerb::kDeleteOverride, dry,
                  false),
      ChangeRoute("POST", "/v1/dependencies/{d}:reset", ChangeVerb::kReset, {}, false),
      {"POST", "/v1/dependencies/{d}:explain", {}, explain, Role::kViewer},
      ChangeRoute("DELETE", "/v1/instances/{id}", ChangeVerb::kEvict, {"service"}, false),
      ChangeRoute("POST", "/v1/config:reload", ChangeVerb::kReload, {}, false),
      ChangeRoute("POST", "/-/reload", ChangeVerb::kReload, {}, false),
      {"POST", "/v1/config:validate", {}, validate},
      {"GET", "/v1/config/status", {}, status},
  };
}

Route ChangeRoutes::ChangeRoute(const char* method, const char* pattern, ChangeVerb verb,
                                std::vector<std::string> parameters, bool has_body) {
  return {method, pattern, std::move(parameters),
          [this, verb, has_body](const RoutedRequest& routed, const ExchangePtr& exchange) {
            if (has_body && !CheckBody(routed.request, *exchange)) return;
            Change(routed, exchange, verb);
          }};
}

void ChangeRoutes::Change(const RoutedRequest& routed, const ExchangePtr& exchange,
                          ChangeVerb verb) {
  ChangeRequest request;
  request.verb = verb;
  if (!routed.names.empty()) request.name = routed.names[0];
  request.body = WithoutTabs(routed.request.body);
  request.who = routed.request.identity.name;
  request.request_id = routed.request.request_id;
  request.if_match = routed.request.if_match;
  request.validate_only = IsFlag(routed, "validate_only");
  request.force = IsFlag(routed, "force");
  const bool looks = verb == ChangeVerb::kDeleteDependency || verb == ChangeVerb::kEvict ||
                     verb == ChangeVerb::kPutOverride || verb == ChangeVerb::kReset;
  if (!looks) return Submit(std::move(request), exchange);
  // Who uses it now is asked anew. The request outlives the call: what is needed of it travels.
  queue_.Refresh([this, request, exchange, service = routed.Parameter("service")] {
    WithSnapshot(exchange, [this, request, exchange, service](const SnapshotPtr& snapshot) {
      ChangeRequest asked = request;
      if (FindUsers(*snapshot, service, asked)) return Submit(std::move(asked), exchange);
      exchange->Reply(BadBody(
          absl::StrCat("several services have an instance '", asked.name, "': say ?service="), {}));
    });
  });
}

void ChangeRoutes::Submit(ChangeRequest request, const ExchangePtr& exchange) {
  queue_.Submit(request, [this, request, exchange](const ChangePlan& plan) {
    Answer(request, plan, exchange);
  });
}

void ChangeRoutes::Answer(const ChangeRequest& request, const ChangePlan& plan,
                          const ExchangePtr& exchange) {
  if (plan.refused()) return exchange->Reply(RefuseWith(plan));
  if (plan.status == 204) {
    HttpResponse response;
    response.status = 204;
    return exchange->Reply(std::move(response));
  }
  if (request.verb == ChangeVerb::kReload) {
    return exchange->Reply(JsonReply(200, ConfigStatusView(operations_.config())));
  }
  WithSnapshot(exchange, [this, request, plan, exchange](const SnapshotPtr& snapshot) {
    exchange->Reply(Success(request, plan, *snapshot));
  });
}

// What GET would say now, or would say if it were done.
HttpResponse ChangeRoutes::Success(const ChangeRequest& request, const ChangePlan& plan,
                                   const Snapshot& snapshot) const {
  const DependencyId name(request.name);
  const std::optional<DependencyFacts> facts = operations_.Find(name);
  if (request.verb == ChangeVerb::kPutOverride && !request.validate_only && facts.has_value() &&
      facts->override_facts.has_value()) {
    HttpResponse response = JsonReply(plan.status, OverrideView(name, *facts->override_facts));
    response.headers.emplace_back(
        "ETag", absl::StrCat("\"overrides.", facts->override_facts->revision, "\""));
    return response;
  }
  DependencyRow row;
  if (const DependencyRow* found = FindDependency(snapshot, request.name)) row = *found;
  if (plan.preview.has_value()) {
    row.policy = *plan.preview;
    row.mode = row.policy.mode;
  }
  row.policy.name = name;
  const std::vector<const LimitRow*> limits = LimitsOf(snapshot, request.name);
  if (request.verb == ChangeVerb::kPutQuota) {
    Json view = QuotaView(row, limits);
    view["revision"] = absl::StrCat("quotas.", facts.has_value() ? facts->revision : 0);
    return JsonReply(200, view);
  }
  HttpResponse response =
      JsonReply(plan.status, DependencyView(row, limits, snapshot.learning, Time(), facts));
  if (facts.has_value() && !request.validate_only) {
    response.headers.emplace_back("ETag", absl::StrCat("\"dependencies.", facts->revision, "\""));
  }
  if (plan.status == 201) {
    response.headers.emplace_back("Location", absl::StrCat("/v1/dependencies/", request.name));
  }
  return response;
}

HttpResponse ChangeRoutes::ShowOverride(const std::string& name) const {
  const DependencyId dependency(name);
  const std::optional<DependencyFacts> facts = operations_.Find(dependency);
  if (!facts.has_value()) return NoSuch("dependency", name);
  if (!facts->override_facts.has_value()) return NoSuch("override of", name);
  return JsonReply(200, OverrideView(dependency, *facts->override_facts));
}

void ChangeRoutes::Explain(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!CheckBody(routed.request, *exchange)) return;
  std::vector<ChangeFault> faults;
  const Operations::Question question =
      operations_.ReadQuestion(WithoutTabs(routed.request.body), faults);
  if (!faults.empty()) {
    return exchange->Reply(BadBody("the body is faulty: errors lists what and where", faults));
  }
  WithSnapshot(
      exchange, [this, exchange, question, name = routed.names[0]](const SnapshotPtr& snapshot) {
        const DependencyRow* const row = FindDependency(*snapshot, name);
        if (row == nullptr) return exchange->Reply(NoSuch("dependency", name));
        const LimitRow* const limit = LimitRowOf(*snapshot, name, question);
        if (limit == nullptr) {
          return exchange->Reply(NoSuch("limit", absl::StrCat(name, "/", question.instance)));
        }
        Try(question, *limit, *row, exchange);
      });
}

void ChangeRoutes::Try(const Operations::Question& question, const LimitRow& limit,
                       const DependencyRow& dependency, const ExchangePtr& exchange) {
  const std::optional<DependencyFacts> facts = operations_.Find(limit.dependency);
  Json view = ExplainView(limit, dependency, facts ? facts->override_facts : std::nullopt);
  if (question.samples.empty()) return exchange->Reply(JsonReply(200, view));
  controller_.Try(limit.dependency, limit.session, question.samples,
                  [exchange, view](const absl::StatusOr<std::vector<TrialDecision>>& decisions) {
                    ReplyWith(*exchange, [&] {
                      if (decisions.ok()) {
                        Json whole = view;
                        whole["trial"] = TrialView(*decisions);
                        return JsonReply(200, whole);
                      }
                      const std::string why(decisions.status().message());
                      if (absl::IsNotFound(decisions.status()))
                        return ProblemResponse(404, "NOT_FOUND", why);
                      return ProblemResponse(400, "INVALID_ARGUMENT",
                                             absl::StrCat("samples: ", why));
                    });
                  });
}

void ChangeRoutes::Validate(const RoutedRequest& routed, const ExchangePtr& exchange) {
  if (!routed.request.has_length) {
    return exchange->Reply(
        ProblemResponse(411, "LENGTH_REQUIRED", "send the configuration with Content-Length"));
  }
  ChangePlan plan;
  plan.faults = operations_.Validate(routed.request.body);
  if (plan.faults.empty()) return exchange->Reply(JsonReply(200, {{"valid", true}}));
  plan.status = 400;
  plan.code = "CONFIG_INVALID";
  plan.detail = "the configuration would not be taken: errors lists what and where";
  exchange->Reply(RefuseWith(plan));
}

void ChangeRoutes::WithSnapshot(const ExchangePtr& exchange, Then then) {
  controller_.GetSnapshot([exchange, then = std::move(then)](const SnapshotPtr& snapshot) {
    // There is no caller on this thread who would answer for it.
    try {
      then(snapshot);
    } catch (const std::exception&) {
      exchange->Reply(ProblemResponse(500, "INTERNAL", "the server failed; see request_id"));
    }
  });
}

}  // namespace plimsoll::internal
