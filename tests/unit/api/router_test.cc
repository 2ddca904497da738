#include "api/http/src/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/src/accept.h"

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;

class RouterTest : public ::testing::Test {
 protected:
  RouterTest()
      : router_({{"GET", "/v1/limits", {"service"}, Tell("list")},
                 {"GET", "/v1/limits/{d}/{i}", {}, Tell("one")},
                 {"POST", "/v1/limits", {}, Tell("post")},
                 {"DELETE", "/v1/limits/{d}/{i}", {}, Tell("delete")},
                 {"GET", "/ui/assets/{file}", {}, Tell("asset")},
                 {"GET", "/ui/{page*}", {kAnyParameter}, Tell("page")},
                 {"GET", "/v1/dependencies/{d}", {}, Tell("show")},
                 {"POST", "/v1/dependencies/{d}:reset", {}, Tell("reset")}}) {}

  static std::function<void(const RoutedRequest&, const ExchangePtr&)> Tell(std::string name) {
    return [name](const RoutedRequest& routed, const ExchangePtr& exchange) {
      HttpResponse response;
      response.body = name;
      for (const std::string& part : routed.names) response.body += "|" + part;
      response.body += routed.Parameter("service");
      exchange->Reply(std::move(response));
    };
  }

  HttpResponse Ask(const std::string& method, const std::string& path,
                   const std::string& query = "") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.query = query;
    request.identity = identity_;
    const auto exchange = std::make_shared<Exchange>();
    label_ = router_.Dispatch(request, exchange);
    return exchange->TakeResponse();
  }

  Router router_;
  Identity identity_{"alice", Role::kOperator};
  std::string label_;
};

TEST_F(RouterTest, AVerbFollowsTheNameAfterAColon) {
  EXPECT_EQ(Ask("POST", "/v1/dependencies/db:reset").body, "reset|db");
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db").body, "show|db");
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db:reset").status, 405);
  EXPECT_EQ(Ask("POST", "/v1/dependencies/db").status, 405);
  EXPECT_EQ(Ask("POST", "/v1/dependencies/db:explode").status, 404);
  EXPECT_EQ(Ask("POST", "/v1/dependencies/:reset").status, 404) << "no name";
}

TEST_F(RouterTest, FindsTheRouteAndItsNames) {
  EXPECT_EQ(Ask("GET", "/v1/limits/a/b%2Dc").body, "one|a|b-c");
  EXPECT_EQ(label_, "/v1/limits/{d}/{i}");
  EXPECT_EQ(Ask("DELETE", "/v1/limits/a/b").body, "delete|a|b");
}

TEST_F(RouterTest, ARestTakesAllSegmentsThatAreLeftUnlessAnEarlierRouteMatches) {
  for (const char* path : {"/ui/", "/ui/a", "/ui/a/b/c", "/ui/assets/a/b", "/ui//"}) {
    EXPECT_EQ(Ask("GET", path).body, "page") << path;
    EXPECT_EQ(label_, "/ui/{page*}");
  }
  EXPECT_EQ(Ask("GET", "/ui/assets/x").body, "asset|x");
  EXPECT_EQ(Ask("GET", "/ui").status, 404);
  EXPECT_EQ(Ask("GET", "/other/a").status, 404);
}

TEST_F(RouterTest, ARouteMayTakeAnyParameter) {
  EXPECT_EQ(Ask("GET", "/ui/", "anything=1&more=2").body, "page");
  EXPECT_EQ(Ask("GET", "/ui/", "a=%zz").status, 400);
  EXPECT_EQ(Ask("GET", "/v1/limits", "anything=1").status, 400);
}

TEST_F(RouterTest, HeadIsServedAsGet) { EXPECT_EQ(Ask("HEAD", "/v1/limits").body, "list"); }

TEST_F(RouterTest, UnknownAddressIsNotFound) {
  for (const char* path : {"/", "/v1", "/v1/limits/", "/v1/limits/a", "/v1/limits//b", "",
                           "/v1/limits/a/b/c", "/v1/limits/a%2Fb/c", "//v1/limits", "*"}) {
    EXPECT_EQ(Ask("GET", path).status, 404) << path;
    EXPECT_EQ(label_, kNoRoute);
  }
}

TEST_F(RouterTest, WrongMethodIsToldWhatIsAllowed) {
  const HttpResponse response = Ask("PUT", "/v1/limits");
  EXPECT_EQ(response.status, 405);
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].first, "Allow");
  EXPECT_EQ(response.headers[0].second, "GET, POST, HEAD");
  EXPECT_EQ(label_, "/v1/limits");
}

TEST_F(RouterTest, ReadingIsForViewersAndChangingForOperators) {
  identity_ = {"bob", Role::kViewer};
  EXPECT_EQ(Ask("GET", "/v1/limits").body, "list");
  for (const char* method : {"POST", "DELETE"}) {
    const std::string path = method == std::string("POST") ? "/v1/limits" : "/v1/limits/a/b";
    EXPECT_EQ(Ask(method, path).status, 403) << method;
  }
  EXPECT_EQ(label_, "/v1/limits/{d}/{i}") << "refusals are counted under their route";
  identity_ = {};
  EXPECT_EQ(Ask("HEAD", "/v1/limits").status, 401);
  EXPECT_EQ(Ask("GET", "/v1/limits", "servce=x").status, 401)
      << "before anything else is looked at";
}

TEST_F(RouterTest, UnknownParameterIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(Ask("GET", "/v1/limits", "service=x").body, "listx");
  const HttpResponse response = Ask("GET", "/v1/limits", "servce=x");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.problem->detail, HasSubstr("knows service"));
}

TEST(AcceptTest, TheMostSpecificEntryCounts) {
  const struct {
    const char* accept;
    bool accepted;
  } table[] = {{"", true},
               {"*/*", true},
               {"application/json", true},
               {"APPLICATION/JSON ; charset=utf-8", true},
               {"application/*", true},
               {"text/html, */*;q=0.1", true},
               {"application/json;q=0", false},
               {"application/json;q=0.0, */*", false},
               {"*/*;q=0, application/json", true},
               {"application/*;q=0, */*", false},
               {"text/html", false},
               {"application/problem+json", false},
               {"application/jsonp", false},
               {"application", false},
               {"*", false},
               {"/*", false},
               {",;,", false},
               {"application/json;q=many", true}};
  for (const auto& row : table) {
    EXPECT_EQ(Accepts(row.accept, "application/json"), row.accepted) << row.accept;
  }
}

TEST_F(RouterTest, BrokenAddressIsRefused) {
  EXPECT_EQ(Ask("GET", "/v1/%zz").status, 400);
  EXPECT_EQ(Ask("GET", "/v1/limits", "service=%").status, 400);
}

}  // namespace
}  // namespace plimsoll::internal
