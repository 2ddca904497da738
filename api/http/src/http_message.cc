#include "api/http/src/http_message.h"

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {

HttpResponse ProblemResponse(Problem problem) {
  HttpResponse response;
  response.status = problem.status;
  response.problem = std::move(problem);
  return response;
}

HttpResponse ProblemResponse(int status, std::string code, std::string detail) {
  Problem problem;
  problem.status = status;
  problem.code = std::move(code);
  problem.detail = std::move(detail);
  return ProblemResponse(std::move(problem));
}

HttpResponse AccessRefusal(const HttpRequest& request, Role needed) {
  const std::string role(ToString(needed));
  const Identity& identity = request.identity;
  if (identity.name != kAnonymous) {
    return ProblemResponse(403, "PERMISSION_DENIED",
                           absl::StrCat("this needs the role ", role, "; '", identity.name,
                                        "' has the role ", std::string(ToString(identity.role))));
  }
  const std::string& fault = request.credentials_fault;
  HttpResponse response = ProblemResponse(
      401, "UNAUTHENTICATED",
      fault.empty() ? absl::StrCat("this needs the role ", role,
                                   ": send 'Authorization: Bearer TOKEN' or a client certificate")
                    : fault);
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"plimsoll\"");
  return response;
}

void RenderProblem(const HttpRequest& request, HttpResponse& response) {
  if (!response.problem) return;
  response.problem->instance = request.path;
  response.problem->request_id = request.request_id;
  response.content_type = "application/problem+json";
  response.body = Encode(*response.problem);
}

}  // namespace plimsoll::internal
