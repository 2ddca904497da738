// What there is: dependencies, quotas, limits and instances, as of a snapshot.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/http/src/operator_plane.h"
#include "api/http/src/paging.h"
#include "api/http/src/replies.h"
#include "api/http/src/snapshot_rows.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

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
  return JsonReply(
      200, {{"items", items}, {"next_page_token", page.next_token}, {"revision", revision}});
}

bool HasQuota(const Snapshot& snapshot, const DependencyId& dependency) {
  const DependencyRow* row = FindDependency(snapshot, dependency.value);
  return row != nullptr && row->policy.quota.has_value();
}

}  // namespace

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

HttpResponse OperatorPlane::Dependencies(const RoutedRequest& routed,
                                         const Snapshot& snapshot) const {
  const std::string mode = absl::AsciiStrToUpper(routed.Parameter("mode"));
  const std::string origin = absl::AsciiStrToUpper(routed.Parameter("origin"));
  std::vector<std::pair<std::string, const DependencyRow*>> keyed;
  for (const DependencyRow& row : snapshot.dependencies) {
    const bool fits = PassesFilter(mode, std::string(ToString(row.mode))) &&
                      PassesFilter(origin, OriginOf(FactsOf(row.policy.name)));
    if (!fits) continue;
    keyed.emplace_back(Key(row.policy.name), &row);
  }
  return ListResponse(routed, revisions_.Revision(Collection::kDependencies), std::move(keyed),
                      [this, &snapshot](const DependencyRow& row) {
                        return DependencyView(row, LimitsOf(snapshot, row.policy.name.value),
                                              snapshot.learning, Time(), FactsOf(row.policy.name));
                      });
}

HttpResponse OperatorPlane::Dependency(const RoutedRequest& routed,
                                       const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NoSuch("dependency", routed.names[0]);
  Json view = DependencyView(*row, LimitsOf(snapshot, row->policy.name.value), snapshot.learning,
                             Time(), FactsOf(row->policy.name));
  if (!view.contains("revision")) view["revision"] = revisions_.Revision(Collection::kDependencies);
  return JsonReply(200, view);
}

HttpResponse OperatorPlane::Quota(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const DependencyRow* row = FindDependency(snapshot, routed.names[0]);
  if (row == nullptr) return NoSuch("dependency", routed.names[0]);
  Json view = QuotaView(*row, LimitsOf(snapshot, row->policy.name.value));
  const std::optional<DependencyFacts> facts = FactsOf(row->policy.name);
  view["revision"] =
      facts ? absl::StrCat("quotas.", facts->revision) : revisions_.Revision(Collection::kQuotas);
  return JsonReply(200, view);
}

HttpResponse OperatorPlane::Limits(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string dependency = routed.Parameter("dependency");
  const std::string service = routed.Parameter("service");
  const std::string instance = routed.Parameter("instance_id");
  std::vector<std::pair<std::string, const LimitRow*>> keyed;
  for (const LimitRow& row : snapshot.limits) {
    if (!PassesFilter(dependency, row.dependency.value) ||
        !PassesFilter(service, row.service.value) || !PassesFilter(instance, row.instance.value)) {
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
        !PassesFilter(service, row.service.value)) {
      continue;
    }
    if (best == nullptr || IsMoreAlive(row, *best)) best = &row;
  }
  if (best == nullptr) {
    return NoSuch("limit", absl::StrCat(routed.names[0], "/", routed.names[1]));
  }
  return JsonReply(200, LimitView(*best, HasQuota(snapshot, best->dependency), Time()));
}

HttpResponse OperatorPlane::Instances(const RoutedRequest& routed, const Snapshot& snapshot) const {
  const std::string service = routed.Parameter("service");
  std::vector<std::pair<std::string, const InstanceRow*>> keyed;
  for (const InstanceRow& row : snapshot.instances) {
    if (!PassesFilter(service, row.service.value)) continue;
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
    if (row.instance.value != routed.names[0] || !PassesFilter(service, row.service.value))
      continue;
    if (row.fenced) fencing.push_back(row.session.value);
    if (best == nullptr || IsMoreAlive(row, *best)) best = &row;
  }
  if (best == nullptr) return NoSuch("instance", routed.names[0]);
  Json view = InstanceView(*best, Time());
  if (!best->fenced && !fencing.empty()) view["fencing"] = fencing;
  return JsonReply(200, view);
}

}  // namespace plimsoll::internal
