#include "api/http/src/shard_views.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/shard_merge.h"
#include "api/http/src/url.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json ShardsView(const std::vector<ControllerView::ShardFacts>& shards, const Snapshot& snapshot) {
  std::vector<int> dependencies(shards.size());
  for (const DependencyRow& row : snapshot.dependencies) {
    const int shard = ShardOf(row.policy.name, static_cast<int>(shards.size()));
    ++dependencies[static_cast<std::size_t>(shard)];
  }
  Json view = Json::array();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const ControllerView::ShardFacts& facts = shards[i];
    Json one = {{"shard", i},
                {"owner", facts.leader.api},
                {"role", facts.self ? "LEADER" : "STANDBY"},
                {"epoch", nullptr},
                {"dependencies", nullptr}};
    // Only who leads it knows.
    if (facts.self) {
      one["epoch"] = facts.epoch.value;
      one["dependencies"] = dependencies[i];
    }
    view.push_back(std::move(one));
  }
  return view;
}

std::optional<std::string> DependencyOf(const HttpRequest& request) {
  const absl::StatusOr<PathSegments> path = SplitPath(request.path);
  if (!path.ok() || path->size() < 2 || path->front() != "v1") return std::nullopt;
  const std::string& collection = (*path)[1];
  if (path->size() > 2 && (collection == "dependencies" || collection == "limits")) {
    // "payments:reset"
    const std::string& name = (*path)[2];
    return name.substr(0, name.find(':'));
  }
  const absl::StatusOr<QueryParameters> query = SplitQuery(request.query);
  if (!query.ok()) return std::nullopt;
  for (const auto& [name, value] : *query) {
    if (name == "dependency" && !value.empty()) return value;
  }
  return std::nullopt;
}

std::optional<int> ShardAskedFor(const HttpRequest& request, int shards) {
  if (const std::optional<std::string> name = DependencyOf(request)) {
    return ShardOf(DependencyId(*name), shards);
  }
  const absl::StatusOr<PathSegments> path = SplitPath(request.path);
  if (!path.ok() || path->size() != 3 || path->front() != "v1" || (*path)[1] != "events") {
    return std::nullopt;
  }
  const auto id = SplitShardedId((*path)[2]);
  if (!id.has_value() || id->first < 0 || id->first >= shards) return std::nullopt;
  return id->first;
}

bool IsPartial(const HttpRequest& request) {
  const bool reads = request.method == "GET";
  if (absl::StartsWith(request.path, "/v1/instances/")) return reads || request.method == "DELETE";
  static constexpr std::string_view kLists[] = {"/v1/dependencies", "/v1/limits", "/v1/instances",
                                                "/v1/events",       "/v1/audit",  "/v1/sizing"};
  return reads && std::find(std::begin(kLists), std::end(kLists), request.path) != std::end(kLists);
}

std::string ElsewhereMembers(const std::vector<ControllerView::ShardFacts>& shards) {
  Json elsewhere = Json::array();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (!shards[i].self) elsewhere.push_back({{"shard", i}, {"api", shards[i].leader.api}});
  }
  if (elsewhere.empty()) return "";
  return absl::StrCat("\"partial\":true,\"elsewhere\":", elsewhere.dump());
}

void AddElsewhere(const std::vector<ControllerView::ShardFacts>& shards, const HttpRequest& request,
                  HttpResponse& response) {
  const std::string members = ElsewhereMembers(shards);
  if (members.empty()) return;
  if (response.status == 204) {
    response.status = 200;
    response.content_type = "application/json";
    response.body = absl::StrCat("{", members, "}");
    return;
  }
  const bool missed = response.status == 404 && response.problem.has_value();
  if (missed) {
    RenderProblem(request, response);
    response.problem.reset();
  }
  const bool found = response.status == 200 && response.content_type == "application/json";
  const bool object = response.body.size() > 2 && response.body.back() == '}';
  if (!(found || missed) || !object) return;
  response.body.pop_back();
  absl::StrAppend(&response.body, ",", members, "}");
}

}  // namespace plimsoll::internal
