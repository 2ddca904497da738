#include "api/http/src/console_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Console Sample(const std::string& base_path = "/ui/") {
  Console console;
  console.page = "<head><base href=\"/ui/\"><script src=\"assets/app.1.js\"></script>";
  console.assets = {{"app.1.js", "text/javascript; charset=utf-8", "\x1f\x8b bytes"}};
  console.base_path = base_path;
  return console;
}

HttpResponse Ask(const Router& router, const std::string& path, const std::string& etag = "",
                 const std::string& query = "", const std::string& method = "GET") {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.query = query;
  request.if_none_match = etag;
  const auto exchange = std::make_shared<Exchange>();
  router.Dispatch(request, exchange);
  HttpResponse response = exchange->TakeResponse();
  RenderProblem(request, response);
  return response;
}

std::string Header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(ConsoleRoutesTest, EveryAddressBelowUiIsThePageWithItsFilters) {
  const Router router(ConsoleRoutes(Sample()));
  for (const char* path : {"/ui/", "/ui/events", "/ui/events/7-3", "/ui/dependencies/a.b"}) {
    const HttpResponse response = Ask(router, path, "", "range=5&q=checkout");
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.content_type, "text/html; charset=utf-8");
    EXPECT_THAT(response.body, HasSubstr("<base href=\"/ui/\">"));
  }
}

TEST(ConsoleRoutesTest, ThePageIsAskedForAgainAndAnsweredShortIfItIsTheSame) {
  const Router router(ConsoleRoutes(Sample()));
  const HttpResponse first = Ask(router, "/ui/");
  const std::string etag = Header(first, "ETag");
  EXPECT_EQ(first.cache_control, "no-cache");
  EXPECT_THAT(etag, Not(""));
  const HttpResponse again = Ask(router, "/ui/events", "\"other\", " + etag);
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(Header(again, "ETag"), etag);
  EXPECT_EQ(Ask(router, "/ui/", "\"ui.older\"").status, 200);
}

TEST(ConsoleRoutesTest, BrowsersFindTheConsoleBelowThePathOfAProxy) {
  const Router plain(ConsoleRoutes(Sample()));
  const Router proxied(ConsoleRoutes(Sample("/plimsoll/ui/")));
  const HttpResponse page = Ask(proxied, "/ui/quota");
  EXPECT_THAT(page.body, HasSubstr("<base href=\"/plimsoll/ui/\">"));
  EXPECT_NE(Header(page, "ETag"), Header(Ask(plain, "/ui/quota"), "ETag"));
  for (const char* path : {"/", "/ui"}) {
    EXPECT_EQ(Ask(plain, path).status, 302);
    EXPECT_EQ(Header(Ask(plain, path), "Location"), "/ui/");
    EXPECT_EQ(Header(Ask(proxied, path), "Location"), "/plimsoll/ui/");
  }
}

TEST(ConsoleRoutesTest, AssetsAreCompressedAndKeptForEver) {
  const Router router(ConsoleRoutes(Sample()));
  const HttpResponse asset = Ask(router, "/ui/assets/app.1.js");
  EXPECT_EQ(asset.status, 200);
  EXPECT_EQ(asset.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(asset.body, "\x1f\x8b bytes");
  EXPECT_THAT(asset.cache_control, HasSubstr("immutable"));
  EXPECT_EQ(Header(asset, "Content-Encoding"), "gzip");
}

TEST(ConsoleRoutesTest, AFileOfAnotherVersionIsNotFoundInsteadOfBeingThePage) {
  const Router router(ConsoleRoutes(Sample()));
  for (const char* path : {"/ui/assets/app.2.js", "/ui/assets/..%5capp.1.js", "/ui/assets/"}) {
    const HttpResponse response = Ask(router, path);
    const bool page = response.content_type == "text/html; charset=utf-8";
    EXPECT_TRUE(response.status == 404 || page) << path;
    EXPECT_NE(response.body, "\x1f\x8b bytes");
  }
  EXPECT_EQ(Ask(router, "/ui/assets/app.2.js").status, 404);
  EXPECT_EQ(Ask(router, "/ui/a%2Fb").status, 404);
}

TEST(ConsoleRoutesTest, NoOtherSiteMayFrameThePageOrPutCodeIntoIt) {
  const Router router(ConsoleRoutes(Sample()));
  for (const char* path : {"/ui/", "/ui/assets/app.1.js"}) {
    const HttpResponse response = Ask(router, path);
    const std::string policy = Header(response, "Content-Security-Policy");
    EXPECT_THAT(policy, HasSubstr("default-src 'self'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_EQ(Header(response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(Header(response, "Referrer-Policy"), "no-referrer");
  }
}

TEST(ConsoleRoutesTest, OnlyReadingIsAllowed) {
  const Router router(ConsoleRoutes(Sample()));
  const HttpResponse response = Ask(router, "/ui/", "", "", "POST");
  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.headers, UnorderedElementsAre(Pair("Allow", "GET, HEAD")));
}

TEST(ConsoleRoutesTest, WithoutAConsoleItsAddressesAreNotFound) {
  const Router router(ConsoleRoutes({}));
  for (const char* path : {"/", "/ui", "/ui/", "/ui/assets/app.1.js"}) {
    EXPECT_EQ(Ask(router, path).status, 404) << path;
  }
}

TEST(ConsolePathTest, IsAPathThatCanStandInAPage) {
  for (const char* path : {"/ui/", "/plimsoll/ui/", "/a/b-c/d.e_f~1/ui/"}) {
    EXPECT_TRUE(IsConsolePath(path)) << path;
  }
  for (const char* path : {"", "/", "ui/", "/ui", "//evil.example/ui/", "/../ui/", "/./ui/",
                           "/a b/ui/", "/\"><script>/ui/", "/a?b/ui/", "/console/", "/a%2fb/ui/"}) {
    EXPECT_FALSE(IsConsolePath(path)) << path;
  }
}

}  // namespace
}  // namespace plimsoll::internal
