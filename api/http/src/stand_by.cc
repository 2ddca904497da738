#include "api/http/src/stand_by.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {

bool AnswersWhileStandingBy(const HttpRequest& request) {
  static constexpr std::string_view kOwn[] = {
      "/livez",     "/readyz",           "/metrics",         "/v1/version",           "/v1/config",
      "/v1/status", "/v1/config/status", "/v1/openapi.json", "/v1/schema/config.json"};
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

}  // namespace plimsoll::internal
