#include "api/http/src/replies.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {

HttpResponse JsonReply(int status, const nlohmann::ordered_json& body) {
  HttpResponse response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return response;
}

HttpResponse NoSuch(const std::string& what, const std::string& name) {
  return ProblemResponse(404, "NOT_FOUND", absl::StrCat("there is no ", what, " '", name, "'"));
}

HttpResponse PageFault(const absl::Status& status) {
  return ProblemResponse(
      400, absl::IsFailedPrecondition(status) ? "PAGE_TOKEN_INVALID" : "INVALID_ARGUMENT",
      std::string(status.message()));
}

}  // namespace plimsoll::internal
