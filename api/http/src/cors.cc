#include "api/http/src/cors.h"

#include <algorithm>

namespace plimsoll::internal {
namespace {

bool OnlyReads(const std::string& method) { return method == "GET" || method == "HEAD"; }

}  // namespace

bool Cors::Allows(const std::string& origin) const {
  return !origin.empty() && std::find(origins_.begin(), origins_.end(), origin) != origins_.end();
}

HttpHeaders Cors::Headers(const HttpRequest& request) const {
  if (origins_.empty()) return {};
  // Caches must not hand what one origin was told to another.
  HttpHeaders headers = {{"Vary", "Origin"}};
  const bool preflight = request.method == "OPTIONS" && OnlyReads(request.preflight_method);
  if (!Allows(request.origin) || !(OnlyReads(request.method) || preflight)) return headers;
  headers.emplace_back("Access-Control-Allow-Origin", request.origin);
  if (!preflight) {
    headers.emplace_back("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id");
  }
  return headers;
}

bool Cors::AnswerPreflight(const HttpRequest& request, Exchange& exchange) const {
  if (request.method != "OPTIONS" || !Allows(request.origin) ||
      !OnlyReads(request.preflight_method)) {
    return false;
  }
  HttpResponse response;
  response.status = 204;
  response.headers = {
      {"Access-Control-Allow-Methods", "GET, HEAD"},
      {"Access-Control-Allow-Headers", "Authorization, If-None-Match, Last-Event-ID, X-Request-Id"},
      {"Access-Control-Max-Age", "600"}};
  exchange.Reply(std::move(response));
  return true;
}

}  // namespace plimsoll::internal
