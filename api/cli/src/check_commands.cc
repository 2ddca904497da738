#include "absl/strings/str_cat.h"
#include "api/cli/src/argument_parser.h"
#include "api/cli/src/commands.h"
#include "api/cli/src/humane.h"

namespace plimsoll::cli {
namespace {

constexpr double kUtilisation = 0.9;

absl::StatusOr<int> Tell(Session& session, const std::vector<std::string>& findings,
                         const std::string& fine) {
  for (const std::string& finding : findings) session.context.out(finding + "\n");
  if (findings.empty()) session.context.out(fine + "\n");
  return findings.empty() ? kExitFine : kExitFinding;
}

std::string Share(double used, double bound) {
  return absl::StrCat(HumaneNumber(used), " of ", HumaneNumber(bound), " in flight, ",
                      HumaneNumber(100 * used / bound), " %");
}

void CheckQuota(const Json& quota, double most, std::vector<std::string>& findings) {
  const std::string name = TextAt(quota, "/dependency");
  if (!At(quota, "/capacity").is_number()) return;
  const double capacity = NumberAt(quota, "/capacity");
  double used = 0;
  for (const Json& share : At(quota, "/shares")) used += NumberAt(share, "/in_flight");
  if (NumberAt(quota, "/draining") > 0) {
    findings.push_back(absl::StrCat(name, ": ", HumaneNumber(NumberAt(quota, "/draining")),
                                    " more are reserved than the quota of ", HumaneNumber(capacity),
                                    " allows; they drain"));
  }
  if (capacity > 0 && used > most * capacity) {
    findings.push_back(absl::StrCat(name, ": ", Share(used, capacity)));
  }
  if (NumberAt(quota, "/wanted") > capacity) {
    findings.push_back(absl::StrCat(name, ": ", HumaneNumber(NumberAt(quota, "/wanted")),
                                    " are wanted, and the quota is ", HumaneNumber(capacity)));
  }
}

// Why, below the table.
std::string Reasons(const Json& items) {
  std::string text;
  for (const Json& item : items) {
    absl::StrAppend(&text, "\n", Tame(TextAt(item, "/dependency")), "\n");
    for (const Json& reason : At(item, "/reasons")) {
      absl::StrAppend(&text, "  ",
                      Tame(reason.is_string() ? reason.get<std::string>() : ToLine(reason)), "\n");
    }
    for (const Json& remark : At(item, "/remarks")) {
      absl::StrAppend(&text, "  ", Tame(TextAt(remark, "/finding")), ": ",
                      Tame(TextAt(remark, "/message")), "\n");
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<int> RunCheckLimits(Session& session) {
  const absl::StatusOr<double> most = ShareOf(session.call, "--max-utilisation", kUtilisation);
  if (!most.ok()) return most.status();
  const absl::StatusOr<Json> answer =
      session.client.List("/v1/limits", {{"dependency", session.call.Text("--dependency")}});
  if (!answer.ok()) return answer.status();
  std::vector<std::string> findings;
  for (const Json& row : At(*answer, "/items")) {
    const double limit = NumberAt(row, "/enforced");
    const double used = NumberAt(row, "/in_flight");
    if (!At(row, "/enforced").is_number() || At(row, "/fenced") == Json(true)) continue;
    if (used <= *most * limit) continue;
    findings.push_back(absl::StrCat(TextAt(row, "/dependency"), " ", TextAt(row, "/instance_id"),
                                    ": ", limit > 0 ? Share(used, limit) : "its limit is 0",
                                    ", by ", TextAt(row, "/binding_constraint")));
  }
  return Tell(session, findings,
              absl::StrCat("no limit is used by more than ", HumaneNumber(100 * *most), " %"));
}

absl::StatusOr<int> RunCheckQuotas(Session& session) {
  const absl::StatusOr<double> most = ShareOf(session.call, "--max-utilisation", kUtilisation);
  if (!most.ok()) return most.status();
  const absl::StatusOr<Json> quotas =
      FetchQuotas(session.client, session.call.Text("--dependency"));
  if (!quotas.ok()) return quotas.status();
  std::vector<std::string> findings;
  for (const Json& quota : At(*quotas, "/items")) CheckQuota(quota, *most, findings);
  return Tell(session, findings, "no quota is exceeded, used up or asked too much of");
}

absl::StatusOr<int> RunSize(Session& session) {
  absl::StatusOr<Json> answer = session.client.Get("/v1/sizing");
  if (!answer.ok()) return answer.status();
  const std::string name = session.call.Word(0);
  if (!name.empty()) {
    Json chosen = Json::array();
    for (const Json& item : At(*answer, "/items")) {
      if (TextAt(item, "/dependency") == name) chosen.push_back(item);
    }
    if (chosen.empty())
      return absl::NotFoundError(absl::StrCat("no advice on ", name, ": does it exist?"));
    (*answer)["items"] = chosen;
  }
  const ListingOptions options = ListingOptionsOf(session);
  const absl::StatusOr<std::string> text = FormatList(KindOf("sizing"), *answer, options);
  if (!text.ok()) return text.status();
  session.context.out(*text);
  if (options.format == "table" || options.format == "wide") {
    session.context.out(Reasons(At(*answer, "/items")));
  }
  return kExitFine;
}

}  // namespace plimsoll::cli
