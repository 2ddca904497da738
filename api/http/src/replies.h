#pragma once

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/status.h"
#include "api/http/src/http_message.h"

namespace plimsoll::internal {

// Answers that several routes give. Pure. Thread-safe.

// Whatever bytes an agent's texts held: the answer is JSON.
HttpResponse JsonReply(int status, const nlohmann::ordered_json& body);
// 404: there is no `what` of that name.
HttpResponse NoSuch(const std::string& what, const std::string& name);
// 400 for what ReadPageRequest() said.
HttpResponse PageFault(const absl::Status& status);

// Answers with what `make` returns. For calls that come back from another thread, which have no
// caller who would answer for an exception of theirs.
template <typename Make>
void ReplyWith(Exchange& exchange, Make make) {
  try {
    exchange.Reply(make());
  } catch (const std::exception&) {
    exchange.Reply(ProblemResponse(500, "INTERNAL", "the server failed; see request_id"));
  }
}

}  // namespace plimsoll::internal
