#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/humane.h"

namespace plimsoll::cli {
namespace {

constexpr int kStatusNotFound = 404;

std::string DryRun(const Session& session) {
  return session.call.Has("--dry-run") ? "?validate_only=true" : "";
}

// "would be" and "is": what was done, or would have been.
std::string OutcomeLine(const Session& session, const std::string& what) {
  return session.call.Has("--dry-run") ? absl::StrCat(what, " (dry run: nothing was changed)\n")
                                       : absl::StrCat(what, "\n");
}

void AddMatch(const Session& session, RestRequest& request) {
  if (session.call.Has("--if-match")) {
    request.headers.emplace_back("If-Match", session.call.Text("--if-match"));
  }
}

// Somebody at a terminal is asked before what cannot be taken back.
absl::Status Confirm(const Session& session, const std::string& question) {
  if (session.call.Has("--yes") || !session.context.in_is_terminal) return absl::OkStatus();
  session.context.error(absl::StrCat(question, " [y/N] "));
  const std::string answer = absl::AsciiStrToLower(session.context.read_line());
  if (answer == "y" || answer == "yes") return absl::OkStatus();
  return absl::CancelledError("nothing was changed");
}

absl::StatusOr<Json> OverrideBody(const Session& session) {
  const absl::StatusOr<absl::Duration> span =
      DurationOf(session.call, "--for", absl::ZeroDuration());
  if (!span.ok()) return span.status();
  const absl::StatusOr<int> limit = WholeOf(session.call, "--limit", 0);
  if (!limit.ok()) return limit.status();
  if (!session.call.Has("--limit") && !session.call.Has("--mode")) {
    return absl::InvalidArgumentError("name what to pin: --limit N or --mode observe");
  }
  Json body = Json::object();
  if (session.call.Has("--limit")) body["limit"] = *limit;
  if (session.call.Has("--mode")) {
    body["mode"] = absl::AsciiStrToUpper(session.call.Text("--mode"));
  }
  body["reason"] = session.call.Text("--reason");
  body["expire_time"] = absl::FormatTime(
      "%Y-%m-%dT%H:%M:%SZ", session.context.clock.WallTime() + *span, absl::UTCTimeZone());
  return body;
}

// Some shards could not be asked: whether the instance has a session there is not known.
absl::Status NotEverywhere(const std::string& name, bool evicted, const absl::Status& why) {
  return absl::Status(
      why.code(), absl::StrCat(name,
                               evicted ? " is evicted, but not from all shards"
                                       : " is not known where it could be looked for",
                               "; try again when they are led (", std::string(why.message()), ")"));
}

}  // namespace

absl::StatusOr<int> RunSetOverride(Session& session) {
  const absl::StatusOr<Json> body = OverrideBody(session);
  if (!body.ok()) return body.status();
  const std::string name = session.call.Word(0);
  RestRequest request{"PUT", absl::StrCat(DependencyPath(name), "/override", DryRun(session)),
                      ToLine(*body)};
  const absl::StatusOr<Json> answer = session.client.Send(std::move(request));
  if (!answer.ok()) return answer.status();
  const std::string what = body->contains("limit")
                               ? absl::StrCat("limit ", ToLine((*body)["limit"]))
                               : "mode " + session.call.Text("--mode");
  session.context.out(OutcomeLine(session, absl::StrCat(name, ": override of ", what, " until ",
                                                        TextAt(*body, "/expire_time"))));
  return kExitFine;
}

absl::StatusOr<int> RunUnsetOverride(Session& session) {
  const std::string name = session.call.Word(0);
  RestRequest request{"DELETE", absl::StrCat(DependencyPath(name), "/override", DryRun(session)),
                      ""};
  const absl::StatusOr<Json> answer = session.client.Send(std::move(request));
  if (!answer.ok()) return answer.status();
  session.context.out(OutcomeLine(session, name + ": override ended"));
  return kExitFine;
}

absl::StatusOr<int> RunSetQuota(Session& session) {
  const absl::StatusOr<int> capacity = WholeOf(session.call, "--capacity", 0);
  if (!capacity.ok()) return capacity.status();
  const std::string name = session.call.Word(0);
  // What the quota says beside its capacity stays: PUT would replace it.
  absl::StatusOr<Json> dependency = session.client.Get(DependencyPath(name));
  if (!dependency.ok()) return dependency.status();
  Json body = At(*dependency, "/quota").is_object() ? (*dependency)["quota"] : Json::object();
  const std::string before = ToLine(At(body, "/capacity"));
  body["capacity"] = *capacity;
  RestRequest request{"PUT", absl::StrCat(DependencyPath(name), "/quota", DryRun(session)),
                      ToLine(body)};
  AddMatch(session, request);
  const absl::StatusOr<Json> answer = session.client.Send(std::move(request));
  if (!answer.ok()) return answer.status();
  session.context.out(OutcomeLine(
      session,
      absl::StrCat(name, ": quota ", before == "null" ? "none" : before, " → ", *capacity)));
  return kExitFine;
}

absl::StatusOr<int> RunReset(Session& session) {
  const std::string name = session.call.Word(0);
  const absl::Status asked =
      Confirm(session, absl::StrCat("Forget what was learned about ", name, "?"));
  if (!asked.ok()) return asked;
  const absl::StatusOr<Json> answer =
      session.client.Send({"POST", DependencyPath(name) + ":reset", ""});
  if (!answer.ok()) return answer.status();
  session.context.out(absl::StrCat(name, ": starts again from its initial limit\n"));
  return kExitFine;
}

absl::StatusOr<int> RunEvict(Session& session) {
  const std::string name = session.call.Word(0);
  const absl::Status asked = Confirm(session, absl::StrCat("End the session of ", name, "?"));
  if (!asked.ok()) return asked;
  RestRequest request{"DELETE",
                      absl::StrCat("/v1/instances/", Escaped(name),
                                   Query({{"service", session.call.Text("--service")}})),
                      ""};
  const absl::StatusOr<ApiClient::Gathered> gathered = session.client.SendEverywhere(request);
  if (!gathered.ok()) return gathered.status();
  const auto evicted =
      std::count_if(gathered->answers.begin(), gathered->answers.end(),
                    [](const RestResponse& answer) { return answer.status != kStatusNotFound; });
  const absl::Status whole = gathered->Whole();
  if (!whole.ok()) return NotEverywhere(name, evicted > 0, whole);
  if (evicted == 0) return ToStatus(gathered->answers.front());
  session.context.out(
      absl::StrCat(name, ": evicted; its share stays reserved until its holds end\n"));
  return kExitFine;
}

absl::StatusOr<int> RunReload(Session& session) {
  const absl::Status asked = Confirm(session, "Read the controller's configuration again?");
  if (!asked.ok()) return asked;
  const absl::StatusOr<Json> answer = session.client.Send({"POST", "/v1/config:reload", ""});
  if (!answer.ok()) return answer.status();
  std::string text = "the configuration was read again";
  const Json& pending = At(*answer, "/pending_restart");
  if (pending.is_array() && !pending.empty()) {
    absl::StrAppend(&text, "; these wait for a restart: ", ToLine(pending));
  }
  session.context.out(text + "\n");
  return kExitFine;
}

absl::StatusOr<int> RunApi(Session& session) {
  std::string body = session.call.Text("--data");
  if (body == "-" || (!body.empty() && body[0] == '@')) {
    absl::StatusOr<std::string> text =
        session.context.read_file(body == "-" ? body : body.substr(1));
    if (!text.ok()) return absl::InvalidArgumentError(std::string(text.status().message()));
    body = *std::move(text);
  }
  std::string target = session.call.Word(1);
  if (target.empty() || target[0] != '/') target = "/" + target;
  if (target.find_first_of(" \r\n\t") != std::string::npos) {
    return absl::InvalidArgumentError("PATH must not have spaces in it: write %20");
  }
  RestRequest request{session.call.Word(0), target, body};
  AddMatch(session, request);
  const absl::StatusOr<RestResponse> response = session.client.transport().Send(request);
  if (!response.ok()) return response.status();
  if (response->status > 299) return ToStatus(*response);
  const bool ends = response->body.empty() || response->body.back() == '\n';
  session.context.out(absl::StrCat(response->body, ends ? "" : "\n"));
  return kExitFine;
}

absl::StatusOr<int> RunVersion(Session& session) {
  session.context.out(absl::StrCat("plimsoll ", session.context.version, "\n"));
  if (session.call.Has("--client")) return kExitFine;
  const absl::StatusOr<Json> answer = session.client.Get("/v1/version");
  if (!answer.ok()) return answer.status();
  session.context.out(absl::StrCat("controller ", TextAt(*answer, "/version"), ", API ",
                                   TextAt(*answer, "/api"), "\n"));
  return kExitFine;
}

}  // namespace plimsoll::cli
