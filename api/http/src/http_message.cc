#include "api/http/src/http_message.h"

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

void RenderProblem(const HttpRequest& request, HttpResponse& response) {
  if (!response.problem) return;
  response.problem->instance = request.path;
  response.problem->request_id = request.request_id;
  response.content_type = "application/problem+json";
  response.body = Encode(*response.problem);
}

}  // namespace plimsoll::internal
