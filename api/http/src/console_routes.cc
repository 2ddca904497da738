#include "api/http/src/console_routes.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/http/src/revisions.h"

namespace plimsoll {
namespace {

bool IsPlainSegment(std::string_view segment) {
  if (segment.empty() || segment == "." || segment == "..") return false;
  for (const char c : segment) {
    const bool plain = absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' ||
                       c == '~' || c == '-';
    if (!plain) return false;
  }
  return true;
}

}  // namespace

bool IsConsolePath(std::string_view path) {
  if (!path.starts_with('/') || !path.ends_with("/ui/")) return false;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (!IsPlainSegment(path.substr(0, slash))) return false;
    path.remove_prefix(slash + 1);
  }
  return true;
}

}  // namespace plimsoll

namespace plimsoll::internal {
namespace {

constexpr std::string_view kBase = "<base href=\"/ui/\">";
// Scripts and styles are files of ours, and no other site may frame the page or lead it elsewhere.
constexpr const char* kPolicy =
    "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'";

struct Page {
  std::string text;
  std::string etag;
};

Page MakePage(const Console& console) {
  std::string text(console.page);
  const std::size_t base = text.find(kBase);
  if (base != std::string::npos) {
    text.replace(base, kBase.size(), absl::StrCat("<base href=\"", console.base_path, "\">"));
  }
  // FNV-1a: tells versions of the page apart.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return {std::move(text), absl::StrFormat("\"ui.%016x.1\"", hash)};
}

HttpResponse Guarded() {
  HttpResponse response;
  response.headers = {{"Content-Security-Policy", kPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"}};
  return response;
}

HttpResponse PageResponse(const Page& page, const HttpRequest& request) {
  HttpResponse response = Guarded();
  response.cache_control = "no-cache";
  response.headers.emplace_back("ETag", page.etag);
  if (MatchesETag(request.if_none_match, page.etag)) {
    response.status = 304;
    return response;
  }
  response.content_type = "text/html; charset=utf-8";
  response.body = page.text;
  return response;
}

HttpResponse AssetResponse(const Console& console, const std::string& name) {
  for (const ConsoleAsset& asset : console.assets) {
    if (asset.name != name) continue;
    HttpResponse response = Guarded();
    response.content_type = asset.content_type;
    response.cache_control = "public, max-age=31536000, immutable";
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = asset.gzip;
    return response;
  }
  return ProblemResponse(404, "NOT_FOUND",
                         absl::StrCat("the console has no file '", name,
                                      "'; reload the page, which knows the names of its files"));
}

HttpResponse WayTo(const std::string& place) {
  HttpResponse response;
  response.status = 302;
  response.content_type = {};
  response.headers.emplace_back("Location", place);
  return response;
}

}  // namespace

std::vector<Route> ConsoleRoutes(const Console& console) {
  if (console.page.empty()) return {};
  const auto page = std::make_shared<const Page>(MakePage(console));
  const auto show_page = [page](const RoutedRequest& routed, const ExchangePtr& exchange) {
    exchange->Reply(PageResponse(*page, routed.request));
  };
  const auto show_asset = [console](const RoutedRequest& routed, const ExchangePtr& exchange) {
    exchange->Reply(AssetResponse(console, routed.names[0]));
  };
  const auto lead = [base = console.base_path](const RoutedRequest& /*routed*/,
                                               const ExchangePtr& exchange) {
    exchange->Reply(WayTo(base));
  };
  // The first that matches counts, and filters of a view are the page's parameters.
  return {{"GET", "/", {}, lead, Role::kNone, ""},
          {"GET", "/ui", {}, lead, Role::kNone, ""},
          {"GET", "/ui/assets/{file}", {}, show_asset, Role::kNone, ""},
          {"GET", "/ui/{page*}", {kAnyParameter}, show_page, Role::kNone, "text/html"}};
}

}  // namespace plimsoll::internal
