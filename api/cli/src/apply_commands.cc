#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/humane.h"
#include "api/cli/src/policy_file.h"

namespace plimsoll::cli {
namespace {

constexpr char kCheckOnly[] = "?validate_only=true";

absl::StatusOr<std::vector<DependencyDocument>> ReadDocuments(const Session& session) {
  const std::string path = session.call.Text("--file");
  const absl::StatusOr<std::string> text = session.context.read_file(path);
  if (!text.ok()) return absl::InvalidArgumentError(std::string(text.status().message()));
  return ReadPolicyFile(*text, path == "-" ? "stdin" : path);
}

// The dependency as it is; null if there is none.
absl::StatusOr<Json> Current(ApiClient& client, const std::string& name) {
  absl::StatusOr<Json> found = client.Get(DependencyPath(name));
  if (absl::IsNotFound(found.status())) return Json(nullptr);
  return found;
}

// "1m" is "60s", and "enforce" is "ENFORCE".
bool IsSame(const Json& a, const Json& b) {
  if (!a.is_string() || !b.is_string()) return a == b;
  const auto& left = a.get_ref<const std::string&>();
  const auto& right = b.get_ref<const std::string&>();
  absl::Duration first;
  absl::Duration second;
  if (absl::ParseDuration(left, &first) && absl::ParseDuration(right, &second)) {
    return first == second;
  }
  return absl::EqualsIgnoreCase(left, right);
}

std::string ShownValue(const Json& value) { return value.is_null() ? "none" : ToLine(value); }

// "  /quota/capacity: 100 → 120" for each that differs. With `whole`, what `then` lacks is gone;
// else it stays as it is.
void CompareValues(const Json& now, const Json& then, bool whole, const std::string& pointer,
                   std::vector<std::string>& lines) {
  if (!now.is_object() || !then.is_object()) {
    if (!IsSame(now, then)) {
      lines.push_back(absl::StrCat("  ", pointer, ": ", ShownValue(now), " → ", ShownValue(then)));
    }
    return;
  }
  const auto ignored = [&pointer](const std::string& key) {
    if (!pointer.empty()) return false;
    for (const char* const name : {"status", "revision", "create_time", "update_time", "origin",
                                   "template", "override", "name"}) {
      if (key == name) return true;
    }
    return false;
  };
  for (const auto& [key, value] : then.items()) {
    if (ignored(key)) continue;
    CompareValues(now.contains(key) ? now.at(key) : Json(nullptr), value, whole,
                  absl::StrCat(pointer, "/", key), lines);
  }
  for (const auto& [key, value] : now.items()) {
    if (!whole || ignored(key) || then.contains(key) || value.is_null()) continue;
    lines.push_back(absl::StrCat("  ", pointer, "/", key, ": ", ShownValue(value), " → none"));
  }
}

RestRequest PutRequest(const DependencyDocument& document, bool check_only) {
  return {"PUT", absl::StrCat(DependencyPath(document.name), check_only ? kCheckOnly : ""),
          ToLine(document.body)};
}

// What would be is asked of the controller; where it does not say, the file alone is compared.
absl::StatusOr<std::vector<std::string>> Difference(ApiClient& client,
                                                    const DependencyDocument& document) {
  const absl::StatusOr<Json> now = Current(client, document.name);
  if (!now.ok()) return now.status();
  std::vector<std::string> lines;
  if (now->is_null()) {
    lines.push_back("  would be created");
    return lines;
  }
  int status = 0;
  const absl::StatusOr<Json> then = client.Send(PutRequest(document, true), &status);
  const bool told = then.ok() && then->is_object();
  const bool refused = status == 404 || status == 405 || status == 409;
  if (!told && !then.ok() && !refused) return then.status();
  CompareValues(*now, told ? *then : document.body, told, "", lines);
  return lines;
}

absl::Status CheckAll(ApiClient& client, const std::vector<DependencyDocument>& documents) {
  for (const DependencyDocument& document : documents) {
    const absl::StatusOr<Json> answer = client.Send(PutRequest(document, true));
    if (answer.ok()) continue;
    // The body came from the file: it is the file that is faulty.
    const absl::StatusCode code = absl::IsInvalidArgument(answer.status())
                                      ? absl::StatusCode::kDataLoss
                                      : answer.status().code();
    return absl::Status(code,
                        absl::StrCat(document.name, ": ", std::string(answer.status().message()),
                                     "\nnothing was changed"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int> RunApply(Session& session) {
  const auto documents = ReadDocuments(session);
  if (!documents.ok()) return documents.status();
  const absl::Status checked = CheckAll(session.client, *documents);
  if (!checked.ok()) return checked;
  const bool dry = session.call.Has("--dry-run");
  for (const DependencyDocument& document : *documents) {
    const absl::StatusOr<Json> before = Current(session.client, document.name);
    if (!before.ok()) return before.status();
    const absl::StatusOr<Json> after = session.client.Send(PutRequest(document, dry));
    if (!after.ok()) return after.status();
    std::vector<std::string> lines;
    if (!before->is_null()) CompareValues(*before, *after, true, "", lines);
    const char* const what = before->is_null() ? "created"
                             : lines.empty()   ? "unchanged"
                                               : "replaced";
    session.context.out(
        absl::StrCat(document.name, ": ", what, dry ? " (dry run: nothing was changed)\n" : "\n"));
  }
  return kExitFine;
}

absl::StatusOr<int> RunDiff(Session& session) {
  const auto documents = ReadDocuments(session);
  if (!documents.ok()) return documents.status();
  bool differs = false;
  for (const DependencyDocument& document : *documents) {
    const auto lines = Difference(session.client, document);
    if (!lines.ok()) return lines.status();
    if (lines->empty()) continue;
    differs = true;
    session.context.out(document.name + "\n");
    for (const std::string& line : *lines) {
      session.context.out((UsesColour(session) ? Coloured(line, Colour::kCare) : line) + "\n");
    }
  }
  return differs ? kExitFinding : kExitFine;
}

}  // namespace plimsoll::cli
