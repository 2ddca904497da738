#include "api/http/src/router.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/http/src/accept.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

bool IsVariable(const std::string& segment) { return segment.starts_with('{'); }

bool IsRest(const std::string& segment) { return segment.ends_with("*}"); }

// "{d}:reset" is a name with a verb; a name alone has none.
std::string VerbOf(const std::string& segment) {
  const std::size_t colon = segment.rfind(':');
  return colon == std::string::npos ? "" : segment.substr(colon);
}

bool Fits(const std::string& part, const std::string& segment) {
  if (!IsVariable(part)) return part == segment;
  const std::string verb = VerbOf(part);
  return VerbOf(segment) == verb && segment.size() > verb.size();
}

bool Matches(const PathSegments& pattern, const PathSegments& segments) {
  if (IsRest(pattern.back())) {
    return segments.size() >= pattern.size() &&
           std::equal(pattern.begin(), pattern.end() - 1, segments.begin());
  }
  return std::equal(
      pattern.begin(), pattern.end(), segments.begin(), segments.end(),
      [](const std::string& part, const std::string& segment) { return Fits(part, segment); });
}

bool Serves(const std::string& route_method, const std::string& method) {
  return route_method == method || (route_method == "GET" && method == "HEAD");
}

std::string Allowed(const std::vector<std::string>& methods) {
  std::string allow = absl::StrJoin(methods, ", ");
  const bool get = std::find(methods.begin(), methods.end(), "GET") != methods.end();
  if (get) absl::StrAppend(&allow, ", HEAD");
  return allow;
}

}  // namespace

bool RoutedRequest::Has(std::string_view name) const {
  return std::any_of(query.begin(), query.end(),
                     [name](const auto& parameter) { return parameter.first == name; });
}

std::string RoutedRequest::Parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return "";
}

Router::Router(std::vector<Route> routes) {
  for (Route& route : routes) {
    absl::StatusOr<PathSegments> segments = SplitPath(route.pattern);
    PLIMSOLL_CHECK(segments.ok(), "a route's pattern must be a valid path");
    entries_.push_back({std::move(route), *std::move(segments)});
  }
}

const char* Router::Dispatch(const HttpRequest& request, const ExchangePtr& exchange) const {
  const absl::StatusOr<PathSegments> segments = SplitPath(request.path);
  if (absl::IsInvalidArgument(segments.status())) {
    exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT", std::string(segments.status().message())));
    return kNoRoute;
  }
  std::vector<std::string> methods;
  const char* label = kNoRoute;
  for (const Entry& entry : entries_) {
    if (!segments.ok() || !Matches(entry.segments, *segments)) continue;
    label = entry.route.pattern;
    if (Serves(entry.route.method, request.method)) {
      if (Includes(request.identity.role, entry.route.role)) {
        Call(entry, *segments, request, exchange);
      } else {
        exchange->Reply(AccessRefusal(request, entry.route.role));
      }
      return label;
    }
    methods.emplace_back(entry.route.method);
  }
  if (methods.empty()) {
    exchange->Reply(ProblemResponse(404, "NOT_FOUND", "there is no such address here"));
    return kNoRoute;
  }
  HttpResponse response = ProblemResponse(405, "METHOD_NOT_ALLOWED",
                                          absl::StrCat("this address accepts ", Allowed(methods)));
  response.headers.emplace_back("Allow", Allowed(methods));
  exchange->Reply(std::move(response));
  return label;
}

void Router::Call(const Entry& entry, const PathSegments& segments, const HttpRequest& request,
                  const ExchangePtr& exchange) const {
  absl::StatusOr<QueryParameters> query = SplitQuery(request.query);
  if (!query.ok()) {
    exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT", std::string(query.status().message())));
    return;
  }
  const std::vector<std::string>& known = entry.route.parameters;
  for (const auto& [name, value] : *query) {
    const bool understood = std::find(known.begin(), known.end(), name) != known.end() ||
                            (known.size() == 1 && known[0] == kAnyParameter);
    if (understood) continue;
    exchange->Reply(
        ProblemResponse(400, "INVALID_ARGUMENT",
                        absl::StrCat("unknown parameter '", name, "'; this address knows ",
                                     known.empty() ? "none" : absl::StrJoin(known, ", "))));
    return;
  }
  const char* const type = entry.route.media_type;
  if (*type != '\0' && !Accepts(request.accept, type)) {
    exchange->Reply(ProblemResponse(406, "NOT_ACCEPTABLE",
                                    absl::StrCat("this address answers with ", type,
                                                 ", which the Accept header does not take")));
    return;
  }
  RoutedRequest routed{request, {}, *std::move(query)};
  for (std::size_t i = 0; i < entry.segments.size(); ++i) {
    if (!IsVariable(entry.segments[i]) || IsRest(entry.segments[i])) continue;
    const std::string& name = segments[i];
    routed.names.push_back(name.substr(0, name.size() - VerbOf(name).size()));
  }
  entry.route.handler(routed, exchange);
}

std::vector<std::pair<const char*, const char*>> Router::labels() const {
  std::vector<std::pair<const char*, const char*>> labels;
  for (const Entry& entry : entries_) labels.emplace_back(entry.route.method, entry.route.pattern);
  return labels;
}

}  // namespace plimsoll::internal
