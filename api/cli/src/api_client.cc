#include "api/cli/src/api_client.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/humane.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kPageMax = 1000;

absl::StatusCode CodeOf(int status, const std::string& code) {
  if (code == "CONFIG_INVALID") return absl::StatusCode::kDataLoss;
  switch (status) {
    case 400:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
    case 412:
      return absl::StatusCode::kFailedPrecondition;
    case 405:
      return absl::StatusCode::kUnimplemented;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    case 503:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

// What to do where the controller gives no hint.
std::string NextStep(const RestResponse& response, const std::string& code) {
  if (code == "MANAGED_BY_FILE") return "change the controller's file, then plimsoll reload";
  if (code == "IN_USE") return "stop those who use it first";
  if (code == "ETAG_MISMATCH") return "somebody changed it meanwhile: look again, then retry";
  switch (response.status) {
    case 401:
      return "set PLIMSOLL_TOKEN or PLIMSOLL_TOKEN_FILE";
    case 403:
      return "ask for a token with a role that may do this";
    case 404:
      return "plimsoll get dependencies and plimsoll get instances list what there is";
    case 429:
    case 503: {
      const std::string after = response.Header("retry-after");
      return after.empty() ? "try again" : absl::StrCat("try again in ", after, " s");
    }
    default:
      return "";
  }
}

std::string FaultLine(const Json& fault) {
  const std::string file = TextAt(fault, "/file");
  std::string place;
  if (!file.empty()) {
    place =
        absl::StrCat(file, ":", NumberAt(fault, "/line"), ":", NumberAt(fault, "/column"), ": ");
  }
  const std::string pointer = TextAt(fault, "/pointer");
  return absl::StrCat("\n  ", Tame(place), Tame(pointer), pointer.empty() ? "" : ": ",
                      Tame(TextAt(fault, "/detail")));
}

absl::Status NotUnderstood(const std::string& what) {
  return absl::InternalError(
      absl::StrCat("the answer of ", what,
                   " is no JSON: is PLIMSOLL_ADDR really that of a Plimsoll controller?"));
}

// Adds what that controller leads.
absl::Status AddFrom(const RestTransport& here, const std::string& url, const std::string& path,
                     const std::vector<std::pair<std::string, std::string>>& parameters,
                     std::size_t items_max, Json& all) {
  const absl::StatusOr<std::unique_ptr<RestTransport>> transport = here.To(url);
  if (!transport.ok()) return transport.status();
  absl::StatusOr<Json> theirs = ApiClient(**transport).ListHere(path, parameters, items_max);
  if (!theirs.ok()) return theirs.status();
  for (Json& item : (*theirs)["items"]) all["items"].push_back(std::move(item));
  return absl::OkStatus();
}

constexpr std::size_t kControllersMax = 256;  // no more than there can be shards

bool IsAnswer(const RestResponse& response) {
  return (response.status >= 200 && response.status <= 299) || response.status == 404;
}

absl::StatusOr<RestResponse> Answered(absl::StatusOr<RestResponse> response) {
  if (response.ok() && !IsAnswer(*response)) return ToStatus(*response);
  return response;
}

absl::StatusOr<RestResponse> SendTo(const RestTransport& here, const std::string& url,
                                    const RestRequest& request) {
  const absl::StatusOr<std::unique_ptr<RestTransport>> transport = here.To(url);
  if (!transport.ok()) return transport.status();
  return Answered((*transport)->Send(request));
}

// The shards that an answer is not for.
Json ElsewhereOf(const RestResponse& response) {
  const Json body = Json::parse(response.body, nullptr, false);
  const Json& elsewhere = At(body, "/elsewhere");
  return elsewhere.is_array() ? elsewhere : Json::array();
}

// What is missing still, now that `url` has answered: what it does not lead either, as it knows
// that. An answer that says nothing about shards is for those that it was asked for.
Json Without(const Json& missing, const std::string& url, const RestResponse& answer) {
  const Json elsewhere = ElsewhereOf(answer);
  Json left = Json::array();
  for (const Json& shard : missing) {
    if (elsewhere.empty() && TextAt(shard, "/api") != url) left.push_back(shard);
    for (const Json& theirs : elsewhere) {
      if (At(theirs, "/shard") == At(shard, "/shard")) left.push_back(theirs);
    }
  }
  return left;
}

// What has a time is told in its order; all times are UTC.
void SortNewestFirst(Json& items) {
  if (items.empty() || TextAt(items[0], "/time").empty()) return;
  std::stable_sort(items.begin(), items.end(), [](const Json& a, const Json& b) {
    return TextAt(a, "/time") > TextAt(b, "/time");
  });
}

}  // namespace

absl::Status ToStatus(const RestResponse& response) {
  const Json problem = Json::parse(response.body, nullptr, false);
  const std::string code = TextAt(problem, "/code");
  std::string text = TextAt(problem, "/detail");
  if (text.empty()) text = TextAt(problem, "/title");
  if (text.empty()) text = absl::StrCat("the controller answered with HTTP ", response.status);
  std::string step = TextAt(problem, "/hint");
  if (step.empty()) step = NextStep(response, code);
  std::string id = TextAt(problem, "/request_id");
  if (id.empty()) id = response.Header("x-request-id");
  std::string line = absl::StrCat(text, step.empty() ? "" : "; ", step, " (",
                                  code.empty() ? absl::StrCat("HTTP ", response.status) : code,
                                  id.empty() ? "" : ", request ", id, ")");
  line = Tame(line);
  const Json& faults = At(problem, "/errors");
  for (const Json& fault : faults.is_array() ? faults : Json::array()) line += FaultLine(fault);
  return absl::Status(CodeOf(response.status, code), line);
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : absl::StrFormat("%%%02X", byte);
  }
  return escaped;
}

std::string Query(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    absl::StrAppend(&query, query.empty() ? "?" : "&", name, "=", Escaped(value));
  }
  return query;
}

std::string DependencyPath(const std::string& name) {
  return absl::StrCat("/v1/dependencies/", Escaped(name));
}

absl::StatusOr<Json> ApiClient::Get(const std::string& target) {
  RestRequest request;
  request.target = target;
  return Send(std::move(request));
}

absl::StatusOr<Json> ApiClient::Send(RestRequest request, int* status) {
  const absl::StatusOr<RestResponse> response = transport_.Send(request);
  if (!response.ok()) return response.status();
  if (status != nullptr) *status = response->status;
  if (response->status < 200 || response->status > 299) return ToStatus(*response);
  if (response->body.empty()) return Json(nullptr);
  Json body = Json::parse(response->body, nullptr, false);
  if (body.is_discarded()) return NotUnderstood(request.target);
  return body;
}

absl::Status ApiClient::Gathered::Whole() const {
  if (missing.empty()) return absl::OkStatus();
  std::vector<std::string> shards;
  for (const Json& shard : missing) {
    shards.push_back(
        absl::StrCat("shard ", ToLine(At(shard, "/shard")), ": ", TextAt(shard, "/why")));
  }
  return absl::Status(failure.ok() ? absl::StatusCode::kUnavailable : failure.code(),
                      Tame(absl::StrJoin(shards, "; ")));
}

absl::StatusOr<ApiClient::Gathered> ApiClient::SendEverywhere(const RestRequest& request) {
  const absl::StatusOr<RestResponse> first = Answered(transport_.Send(request));
  if (!first.ok()) return first.status();
  Gathered gathered;
  gathered.answers.push_back(*first);
  gathered.missing = ElsewhereOf(*first);
  std::map<std::string, std::string> asked;  // by address, why it gave no answer
  const auto next = [&]() -> std::string {
    for (const Json& shard : gathered.missing) {
      std::string url = TextAt(shard, "/api");
      if (!url.empty() && !asked.contains(url)) return url;
    }
    return "";
  };
  std::string url = next();
  for (; !url.empty() && asked.size() < kControllersMax; url = next()) {
    const absl::StatusOr<RestResponse> answer = SendTo(transport_, url, request);
    asked[url] = std::string(answer.status().message());
    gathered.failure.Update(answer.status());
    if (!answer.ok()) continue;
    gathered.missing = Without(gathered.missing, url, *answer);
    gathered.answers.push_back(*answer);
  }
  for (Json& shard : gathered.missing) {
    const std::string api = TextAt(shard, "/api");
    const std::string& why = asked[api];
    shard["why"] = api.empty() ? "nobody leads it now" : why.empty() ? "it has moved" : why;
  }
  return gathered;
}

absl::StatusOr<Json> ApiClient::List(const std::string& path,
                                     std::vector<std::pair<std::string, std::string>> parameters,
                                     std::size_t items_max) {
  absl::StatusOr<Json> all = ListHere(path, parameters, items_max);
  if (!all.ok() || At(*all, "/partial") != Json(true)) return all;
  std::map<std::string, absl::Status> asked;  // by address; a controller may lead several shards
  Json missing = Json::array();
  for (Json& shard : (*all)["elsewhere"]) {
    const std::string url = TextAt(shard, "/api");
    const auto [known, first] = asked.try_emplace(url, absl::NotFoundError("nobody leads it now"));
    if (first && !url.empty())
      known->second = AddFrom(transport_, url, path, parameters, items_max, *all);
    if (known->second.ok()) continue;
    shard["why"] = std::string(known->second.message());
    missing.push_back(std::move(shard));
  }
  (*all)["partial"] = !missing.empty();
  (*all)["elsewhere"] = std::move(missing);
  Json& items = (*all)["items"];
  SortNewestFirst(items);
  if (items.size() > items_max) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(items_max), items.end());
  }
  return all;
}

absl::StatusOr<Json> ApiClient::ListHere(
    const std::string& path, std::vector<std::pair<std::string, std::string>> parameters,
    std::size_t items_max) {
  parameters.emplace_back("page_size", absl::StrCat(std::min(items_max, kPageMax)));
  parameters.emplace_back("page_token", "");
  Json all;
  while (true) {
    absl::StatusOr<Json> page = Get(absl::StrCat(path, Query(parameters)));
    if (!page.ok()) return page.status();
    if (!At(*page, "/items").is_array()) return NotUnderstood(path);
    if (all.is_null()) {
      all = *page;
    } else {
      for (Json& item : (*page)["items"]) all["items"].push_back(std::move(item));
    }
    const std::string next = TextAt(*page, "/next_page_token");
    if (next.empty() || next == parameters.back().second || all["items"].size() >= items_max) {
      all["next_page_token"] = next;
      return all;
    }
    parameters.back().second = next;
  }
}

}  // namespace plimsoll::cli
