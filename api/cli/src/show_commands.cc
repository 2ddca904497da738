#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/humane.h"
#include "api/cli/src/why.h"

namespace plimsoll::cli {
namespace {

std::string Paint(const Session& session, const std::string& word) {
  return UsesColour(session) ? Coloured(word, ColourOf(word)) : word;
}

std::string LearningLine(const Json& status) {
  if (At(status, "/learning/active") != Json(true)) return "";
  const Json& left = At(status, "/learning/remaining_seconds");
  return absl::StrCat("learning      ",
                      left.is_number() ? "for " + HumaneSeconds(left.get<double>())
                                       : "until an operator vouches for the state",
                      ", because: ", TextAt(status, "/learning/why"), "\n");
}

// "shards        0 here (3 dependencies), 1 at http://10.0.0.2:7480".
std::string ShardsLine(const Json& status) {
  std::vector<std::string> shards;
  for (const Json& shard : At(status, "/shards")) {
    const std::string number = HumaneNumber(NumberAt(shard, "/shard"));
    const std::string owner = TextAt(shard, "/owner");
    if (TextAt(shard, "/role") == "LEADER") {
      shards.push_back(absl::StrCat(
          number, " here (", HumaneNumber(NumberAt(shard, "/dependencies")), " dependencies)"));
    } else {
      shards.push_back(absl::StrCat(number, owner.empty() ? " led by nobody" : " at ", owner));
    }
  }
  return shards.empty() ? "" : absl::StrCat("shards        ", absl::StrJoin(shards, ", "), "\n");
}

std::string StatusText(const Session& session, const Json& status, const Json& limited) {
  const auto number = [&status](const char* pointer) {
    return HumaneNumber(NumberAt(status, pointer));
  };
  std::vector<std::string> versions;
  for (const Json& version : At(status, "/agents/versions")) {
    versions.push_back(version.is_string() ? version.get<std::string>() : ToLine(version));
  }
  std::string text = absl::StrCat(
      "controller    ", TextAt(status, "/version"), ", ",
      absl::AsciiStrToLower(TextAt(status, "/role")), ", up for ",
      HumaneSeconds(NumberAt(status, "/uptime_seconds")), "\n", "state         ",
      absl::AsciiStrToLower(TextAt(status, "/state")),
      At(status, "/store_ok") == Json(false) ? Paint(session, ", the store FAILS") : "", "\n",
      ShardsLine(status), LearningLine(status), "dependencies  ", number("/dependencies/total"),
      ", ", number("/dependencies/limited"), " limited\n", "agents        ",
      number("/agents/connected"), " connected, ", number("/agents/silent"), " silent",
      versions.empty() ? "" : "; version " + absl::StrJoin(versions, ", "), "\n");
  if (At(status, "/config/last_reload_ok") == Json(false)) {
    absl::StrAppend(&text,
                    "config        the last reload failed: plimsoll api GET /v1/config/status\n");
  }
  if (limited.empty()) return text;
  const std::vector<Json> rows(limited.begin(), limited.end());
  return absl::StrCat(text, "\n",
                      ToText(MakeTable(KindOf("dependencies"), rows, ListingOptionsOf(session))));
}

absl::StatusOr<Json> Limited(ApiClient& client) {
  absl::StatusOr<Json> all = client.List("/v1/dependencies", {});
  if (!all.ok()) return all.status();
  Json limited = Json::array();
  for (const Json& one : (*all)["items"]) {
    const std::string health = TextAt(one, "/status/health");
    if (health != "OK" && health != "NO_INSTANCES") limited.push_back(one);
  }
  return limited;
}

absl::StatusOr<int> QuietStatus(Session& session) {
  RestRequest request;
  request.target = "/readyz";
  const absl::StatusOr<RestResponse> answer = session.client.transport().Send(request);
  if (!answer.ok()) return answer.status();
  return answer->status == 200 ? kExitFine : kExitFinding;
}

// Numbers of settings and status, "name  value" a line, without what is nested elsewhere.
std::string Properties(const Json& value, const std::string& indent) {
  std::size_t width = 0;
  for (const auto& [key, member] : value.items()) width = std::max(width, key.size());
  std::string text;
  for (const auto& [key, member] : value.items()) {
    if (member.is_structured()) continue;
    std::string shown = member.is_null()     ? "-"
                        : member == Json("") ? "-"
                        : member.is_string() ? member.get<std::string>()
                                             : ToLine(member);
    const bool seconds = key.size() > 8 && key.compare(key.size() - 8, 8, "_seconds") == 0;
    if (member.is_number()) {
      shown = seconds ? HumaneSeconds(member.get<double>()) : HumaneNumber(member.get<double>());
    }
    absl::StrAppend(&text, indent, key, std::string(width + 2 - key.size(), ' '), Tame(shown),
                    "\n");
  }
  return text;
}

std::string DescribeText(const Session& session, const Json& facts) {
  const Json& dependency = facts["dependency"];
  std::string text = Properties(dependency, "");
  for (const auto& [key, member] : dependency.items()) {
    if (!member.is_object()) continue;
    absl::StrAppend(&text, "\n", key, "\n", Properties(member, "  "));
    for (const auto& [inner, nested] : member.items()) {
      if (nested.is_object()) {
        absl::StrAppend(&text, "  ", inner, "\n", Properties(nested, "    "));
      }
    }
  }
  ListingOptions options = ListingOptionsOf(session);
  options.format = "table";
  const auto add = [&](const char* title, const char* kind, const Json& items) {
    if (items.empty()) return;
    const std::vector<Json> rows(items.begin(), items.end());
    absl::StrAppend(&text, "\n", title, "\n", ToText(MakeTable(KindOf(kind), rows, options)));
  };
  add("limits", "limits", facts["limits"]);
  add("newest events", "events", facts["events"]);
  return text;
}

absl::StatusOr<std::vector<Json>> Items(absl::StatusOr<Json> answer) {
  if (!answer.ok()) return answer.status();
  return std::vector<Json>((*answer)["items"].begin(), (*answer)["items"].end());
}

// Events that are not older than `since`.
std::vector<Json> Recent(const std::vector<Json>& events, absl::Time now, absl::Duration since) {
  std::vector<Json> recent;
  for (const Json& event : events) {
    const std::optional<absl::Time> time = ParseTime(TextAt(event, "/time"));
    if (!time.has_value() || now - *time <= since) recent.push_back(event);
  }
  return recent;
}

// The explanation, or null from controllers that do not explain.
Json Explain(ApiClient& client, const std::string& name, const Json& row) {
  RestRequest request{"POST", DependencyPath(name) + ":explain",
                      ToLine({{"instance_id", At(row, "/instance_id")}})};
  absl::StatusOr<Json> answer = client.Send(std::move(request));
  // Of a limit that has moved since, it would tell something else.
  const bool fits = answer.ok() && At(*answer, "/enforced") == At(row, "/enforced");
  return fits ? *std::move(answer) : Json(nullptr);
}

absl::StatusOr<WhyFacts> GatherFacts(Session& session, const std::string& name) {
  const absl::StatusOr<absl::Duration> since =
      DurationOf(session.call, "--since", absl::Minutes(10));
  if (!since.ok()) return since.status();
  ApiClient& client = session.client;
  absl::StatusOr<Json> dependency = client.Get(DependencyPath(name));
  if (!dependency.ok()) return dependency.status();
  auto limits = Items(client.List("/v1/limits", {{"dependency", name}}));
  if (!limits.ok()) return limits.status();
  auto events = Items(client.List("/v1/events", {{"dependency", name}}, 1000));
  if (!events.ok()) return events.status();
  WhyFacts facts;
  facts.dependency = *std::move(dependency);
  facts.limits = *std::move(limits);
  facts.now = session.context.clock.WallTime();
  facts.since = *since;
  facts.events = Recent(*events, facts.now, facts.since);
  if (!At(facts.dependency, "/quota").is_null()) {
    absl::StatusOr<Json> quota = client.Get(DependencyPath(name) + "/quota");
    if (!quota.ok()) return quota.status();
    facts.quota = *std::move(quota);
  }
  return facts;
}

absl::Status UnknownInstance(const WhyFacts& facts, const std::string& instance) {
  std::vector<std::string> names;
  for (const Json& row : facts.limits) names.push_back(TextAt(row, "/instance_id"));
  if (names.size() > 10) names.resize(10);
  return absl::NotFoundError(
      absl::StrCat("no instance ", instance, " uses ", TextAt(facts.dependency, "/name"), "; ",
                   names.empty() ? "none does" : "these do: " + absl::StrJoin(names, ", ")));
}

}  // namespace

absl::StatusOr<int> RunStatus(Session& session) {
  if (session.call.Has("--quiet")) return QuietStatus(session);
  absl::StatusOr<Json> status = session.client.Get("/v1/status");
  if (!status.ok()) return status.status();
  const absl::StatusOr<Json> limited = Limited(session.client);
  if (!limited.ok()) return limited.status();
  // The table of a screen is no list: it has one format.
  PrintStory(session, *status, [&] {
    Invocation plain = session.call;
    plain.flags.erase("--output");
    return StatusText({plain, session.context, session.client}, *status, *limited);
  });
  return kExitFine;
}

absl::StatusOr<int> RunDescribe(Session& session) {
  const std::string name = session.call.Word(1);
  const absl::StatusOr<WhyFacts> facts = GatherFacts(session, name);
  if (!facts.ok()) return facts.status();
  std::vector<Json> events = facts->events;
  if (events.size() > 10) events.resize(10);
  const Json all = {{"dependency", facts->dependency},
                    {"quota", facts->quota},
                    {"limits", facts->limits},
                    {"events", events}};
  PrintStory(session, all, [&] { return DescribeText(session, all); });
  return kExitFine;
}

absl::StatusOr<int> RunWhy(Session& session) {
  const std::string name = session.call.Word(0);
  const std::string instance = session.call.Word(1);
  absl::StatusOr<WhyFacts> facts = GatherFacts(session, name);
  if (!facts.ok()) return facts.status();
  const Json* row = ChooseRow(facts->limits, instance);
  if (row == nullptr && !instance.empty()) return UnknownInstance(*facts, instance);
  if (row != nullptr) facts->explanation = Explain(session.client, name, *row);
  WhyStory story = TellWhy(*facts, row);
  if (session.call.Has("--brief")) story = Brief(std::move(story));
  PrintStory(session, ToJson(story, *facts, row), [&story] { return ToText(story); });
  return kExitFine;
}

}  // namespace plimsoll::cli
