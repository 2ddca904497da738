#pragma once

#include <string>

#include "api/http/src/http_message.h"

namespace plimsoll::internal {

// What a controller answers while another one leads: all that it knows of itself, or of its
// configuration.
bool AnswersWhileStandingBy(const HttpRequest& request);

// Everything else is asked of the leader, whose API is at `leader`: 307, or 503 if it is empty.
HttpResponse SendToLeader(const HttpRequest& request, const std::string& leader);

}  // namespace plimsoll::internal
