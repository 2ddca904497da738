#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"

namespace plimsoll::cli {
namespace {

// One thing as a list of one, so that all formats work alike. Its json is the thing itself.
absl::StatusOr<int> PrintOne(Session& session, const Kind& kind, absl::StatusOr<Json> item) {
  if (!item.ok()) return item.status();
  const ListingOptions options = ListingOptionsOf(session);
  if (options.format == "json" || options.format == "yaml") {
    session.context.out(options.format == "yaml" ? ToYaml(*item) : ToLine(*item) + "\n");
    return kExitFine;
  }
  const absl::StatusOr<std::string> text =
      FormatList(kind, {{"items", Json::array({*item})}}, options);
  if (!text.ok()) return text.status();
  session.context.out(*text);
  return kExitFine;
}

absl::StatusOr<int> PrintAll(Session& session, const Kind& kind, absl::StatusOr<Json> answer) {
  if (!answer.ok()) return answer.status();
  const absl::StatusOr<std::string> text = FormatList(kind, *answer, ListingOptionsOf(session));
  if (!text.ok()) return text.status();
  session.context.out(*text);
  const bool table = session.call.Text("--output", "table") == "table";
  if (table && (*answer)["items"].empty()) {
    session.context.error(absl::StrCat("there are no ", kind.name, "\n"));
  }
  return kExitFine;
}

// What one of the controllers knows, if there are several: the first that is found.
absl::StatusOr<Json> FindAnywhere(ApiClient& client, const std::string& target) {
  RestRequest request;
  request.target = target;
  const absl::StatusOr<ApiClient::Gathered> gathered = client.SendEverywhere(request);
  if (!gathered.ok()) return gathered.status();
  for (const RestResponse& answer : gathered->answers) {
    const Json body = Json::parse(answer.body, nullptr, false);
    if (answer.status == 200 && body.is_object()) return body;
  }
  if (absl::Status whole = gathered->Whole(); !whole.ok()) return whole;
  return ToStatus(gathered->answers.front());
}

// What the list is asked for. The controller refuses what it does not know.
std::vector<std::pair<std::string, std::string>> FiltersOf(const Invocation& call) {
  return {{"dependency", call.Text("--dependency")},
          {"service", call.Text("--service")},
          {"instance_id", call.Text("--instance")},
          {"type", call.Text("--type")},
          {"reason", call.Text("--reason")}};
}

absl::StatusOr<int> GetLimits(Session& session, const std::string& name) {
  auto filters = FiltersOf(session.call);
  if (!name.empty()) filters.front().second = name;
  absl::StatusOr<Json> answer = session.client.List("/v1/limits", filters);
  const bool none = answer.ok() && (*answer)["items"].empty();
  if (none && !filters.front().second.empty()) {
    // Nobody uses it, or there is no such dependency.
    const absl::StatusOr<Json> found = session.client.Get(DependencyPath(filters.front().second));
    if (!found.ok()) return found.status();
  }
  return PrintAll(session, KindOf("limits"), std::move(answer));
}

absl::StatusOr<int> GetQuotas(Session& session, const std::string& name) {
  const std::string dependency = name.empty() ? session.call.Text("--dependency") : name;
  if (!name.empty()) {
    return PrintOne(session, KindOf("quotas"), session.client.Get(DependencyPath(name) + "/quota"));
  }
  return PrintAll(session, KindOf("quotas"), FetchQuotas(session.client, dependency));
}

absl::StatusOr<int> GetEvents(Session& session, const std::string& name) {
  const absl::StatusOr<int> count = WholeOf(session.call, "--limit", 100);
  if (!count.ok()) return count.status();
  if (!name.empty()) {
    return PrintOne(session, KindOf("events"), session.client.Get("/v1/events/" + Escaped(name)));
  }
  return PrintAll(session, KindOf("events"),
                  session.client.List("/v1/events", FiltersOf(session.call),
                                      static_cast<std::size_t>(std::max(1, *count))));
}

}  // namespace

absl::StatusOr<Json> FetchQuotas(ApiClient& client, const std::string& dependency) {
  Json names = Json::array();
  if (!dependency.empty()) {
    names.push_back({{"name", dependency}, {"quota", Json::object()}});
  } else {
    absl::StatusOr<Json> all = client.List("/v1/dependencies", {});
    if (!all.ok()) return all.status();
    names = (*all)["items"];
  }
  Json items = Json::array();
  for (const Json& one : names) {
    if (At(one, "/quota").is_null()) continue;
    absl::StatusOr<Json> quota = client.Get(DependencyPath(TextAt(one, "/name")) + "/quota");
    if (!quota.ok()) return quota.status();
    items.push_back(*std::move(quota));
  }
  return Json{{"items", items}};
}

bool UsesColour(const Session& session) {
  const std::string when = session.call.Text("--color", "auto");
  if (when != "auto") return when == "always" && session.context.environment("NO_COLOR").empty();
  return session.context.out_is_terminal && session.context.environment("NO_COLOR").empty();
}

ListingOptions ListingOptionsOf(const Session& session) {
  return {session.call.Text("--output", "table"),
          session.call.Text("--sort-by"),
          !session.call.Has("--no-headers"),
          UsesColour(session),
          session.context.clock.WallTime(),
          session.context.out_is_terminal ? session.context.out_size().columns : 0};
}

absl::StatusOr<int> RunGet(Session& session) {
  const std::string kind = session.call.Word(0);
  const std::string name = session.call.Word(1);
  if (session.call.Has("--watch")) return Follow(session, KindOf(kind).topic);
  if (kind == "limits") return GetLimits(session, name);
  if (kind == "quotas") return GetQuotas(session, name);
  if (kind == "events") return GetEvents(session, name);
  if (kind == "instances") {
    if (!name.empty()) {
      return PrintOne(
          session, KindOf(kind),
          FindAnywhere(session.client,
                       absl::StrCat("/v1/instances/", Escaped(name),
                                    Query({{"service", session.call.Text("--service")}}))));
    }
    return PrintAll(
        session, KindOf(kind),
        session.client.List("/v1/instances", {{"service", session.call.Text("--service")}}));
  }
  const std::string one = name.empty() ? session.call.Text("--dependency") : name;
  if (!one.empty()) return PrintOne(session, KindOf(kind), session.client.Get(DependencyPath(one)));
  return PrintAll(session, KindOf(kind), session.client.List("/v1/dependencies", {}));
}

}  // namespace plimsoll::cli
