// Who may do what, and how often: tokens, certificates, roles, owners of sessions, rates.
#include "plimsoll/http/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/http/src/authenticator.h"
#include "api/http/src/rate_limiter.h"
#include "api/http/src/session_owners.h"

namespace plimsoll::internal {
namespace {

using ::testing::HasSubstr;

TEST(TokenTest, HashIsSha256) {
  EXPECT_EQ(ToHex(HashToken("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(TokenTest, OnlyWholeHashesAreRead) {
  const std::string hex = ToHex(HashToken("abc"));
  EXPECT_EQ(TokenHashFromHex(hex), HashToken("abc"));
  EXPECT_FALSE(TokenHashFromHex(hex.substr(1)).has_value());
  EXPECT_FALSE(TokenHashFromHex(hex + "0").has_value());
  EXPECT_FALSE(TokenHashFromHex("g" + hex.substr(1)).has_value());
  EXPECT_FALSE(TokenHashFromHex("").has_value());
}

TEST(TokenTest, MadeTokensAreLongAndNeverTheSame) {
  const absl::StatusOr<std::string> one = MakeToken();
  const absl::StatusOr<std::string> other = MakeToken();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->size(), 43u);
  EXPECT_NE(*one, *other);
}

TEST(RoleTest, OperatorsAreViewersAndNothingElseIsIncluded) {
  EXPECT_TRUE(Includes(Role::kOperator, Role::kViewer));
  EXPECT_FALSE(Includes(Role::kOperator, Role::kAgent));
  EXPECT_FALSE(Includes(Role::kAgent, Role::kViewer));
  EXPECT_FALSE(Includes(Role::kViewer, Role::kOperator));
  EXPECT_FALSE(Includes(Role::kNone, Role::kViewer));
  EXPECT_TRUE(Includes(Role::kNone, Role::kNone));
}

class AuthenticatorTest : public ::testing::Test {
 protected:
  HttpRequest Identify(const std::string& authorization, std::vector<std::string> names = {}) {
    HttpRequest request;
    request.authorization = authorization;
    request.certificate_names = std::move(names);
    Authenticator(std::make_shared<AccessRules>(rules_), anonymous_).Identify(request);
    return request;
  }

  AccessRules rules_{
      .tokens = {{"alice", Role::kOperator, HashToken("wonder")},
                 {"bob", Role::kViewer, HashToken("builder")}},
      .certificates = {{"spiffe://example.org/checkout", "checkout", Role::kAgent},
                       {"Ops.example.org", "ops", Role::kOperator}},
  };
  Role anonymous_ = Role::kNone;
};

TEST_F(AuthenticatorTest, TokenTellsNameAndRole) {
  const HttpRequest request = Identify("Bearer builder");
  EXPECT_EQ(request.identity.name, "bob");
  EXPECT_EQ(request.identity.role, Role::kViewer);
  EXPECT_EQ(Identify("bearer  wonder ").identity.name, "alice") << "schemes have no case";
}

TEST_F(AuthenticatorTest, TokenIsTakenOutOfTheRequest) {
  EXPECT_EQ(Identify("Bearer builder").authorization, "");
  EXPECT_EQ(Identify("Bearer wrong").authorization, "");
}

TEST_F(AuthenticatorTest, WrongCredentialsAreWorseThanNone) {
  anonymous_ = Role::kViewer;
  EXPECT_EQ(Identify("").identity.role, Role::kViewer);
  for (const char* wrong : {"Bearer wonde", "Bearer wonderr", "Bearer", "Bearer ", "wonder",
                            "Basic d29uZGVy", "Bearer wonder builder"}) {
    const HttpRequest request = Identify(wrong, {"DNS:ops.example.org"});
    EXPECT_EQ(request.identity.name, kAnonymous) << wrong;
    EXPECT_EQ(request.identity.role, Role::kNone) << wrong;
    EXPECT_NE(request.credentials_fault, "") << wrong;
    EXPECT_THAT(request.credentials_fault, Not(HasSubstr("wonde"))) << "it must not be shown";
  }
}

TEST_F(AuthenticatorTest, CertificateTellsNameAndRole) {
  EXPECT_EQ(Identify("", {"DNS:x", "URI:spiffe://example.org/checkout"}).identity.name, "checkout");
  EXPECT_EQ(Identify("", {"DNS:ops.example.org"}).identity.role, Role::kOperator);
  EXPECT_EQ(Identify("Bearer builder", {"DNS:ops.example.org"}).identity.name, "bob")
      << "what was said on purpose counts";
}

TEST_F(AuthenticatorTest, NamesOfAnotherKindOrOnlyAlikeAreNotTheName) {
  for (const char* name : {"DNS:spiffe://example.org/checkout", "URI:ops.example.org",
                           "DNS:x.ops.example.org", "DNS:ops.example.or", "DNS:*.example.org"}) {
    EXPECT_EQ(Identify("", {name}).identity.name, kAnonymous) << name;
  }
}

TEST(SanKeyTest, KindIsSeenFromTheName) {
  EXPECT_EQ(SanKey("A.example.org"), "DNS:a.example.org");
  EXPECT_EQ(SanKey("spiffe://example.org/A"), "URI:spiffe://example.org/A");
  EXPECT_EQ(SanKey("a@example.org"), "email:a@example.org");
  EXPECT_EQ(SanKey("10.0.0.1"), "IP:10.0.0.1");
  EXPECT_EQ(SanKey("::1"), "IP:::1");
}

TEST(AccessRefusalTest, StrangersAreToldHowToAskAndOthersWhatTheyLack) {
  HttpRequest request;
  const HttpResponse stranger = AccessRefusal(request, Role::kViewer);
  EXPECT_EQ(stranger.status, 401);
  EXPECT_EQ(stranger.problem->code, "UNAUTHENTICATED");
  ASSERT_EQ(stranger.headers.size(), 1u);
  EXPECT_EQ(stranger.headers[0].first, "WWW-Authenticate");
  EXPECT_EQ(stranger.headers[0].second, "Bearer realm=\"plimsoll\"");
  request.identity = {"bob", Role::kViewer};
  const HttpResponse known = AccessRefusal(request, Role::kOperator);
  EXPECT_EQ(known.status, 403);
  EXPECT_EQ(known.problem->code, "PERMISSION_DENIED");
  EXPECT_THAT(known.problem->detail, HasSubstr("'bob' has the role viewer"));
}

TEST(SessionOwnersTest, ForeignSessionsCanNeitherBeUsedNorClaimed) {
  SessionOwners owners;
  EXPECT_TRUE(owners.Claim(SessionId("7-1"), "checkout"));
  EXPECT_TRUE(owners.Claim(SessionId("7-1"), "checkout")) << "a registration that is repeated";
  EXPECT_FALSE(owners.Claim(SessionId("7-1"), "mallory"));
  EXPECT_FALSE(owners.MayUse(SessionId("7-1"), "mallory"));
  EXPECT_TRUE(owners.MayUse(SessionId("7-1"), "checkout"));
  EXPECT_TRUE(owners.MayUse(SessionId("7-2"), "mallory")) << "nobody's";
}

TEST(SessionOwnersTest, EndedSessionsAreForgotten) {
  SessionOwners owners;
  for (const char* session : {"7-1", "7-2", "7-3"}) owners.Claim(SessionId(session), "a");
  owners.Forget(SessionId("7-1"));
  owners.KeepOnly({SessionId("7-2")});
  EXPECT_EQ(owners.size(), 1u);
  EXPECT_FALSE(owners.MayUse(SessionId("7-2"), "b"));
}

constexpr Instant At(std::int64_t ms) { return Instant{ms * 1'000'000}; }

TEST(RateLimiterTest, BurstThenRateThenTheWaitIsTold) {
  RateLimiter limiter({.per_second = 2, .burst = 3});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Take("a", At(0)), absl::ZeroDuration()) << i;
  EXPECT_EQ(limiter.Take("a", At(0)), absl::Milliseconds(500));
  EXPECT_EQ(limiter.Take("a", At(400)), absl::Milliseconds(100));
  EXPECT_EQ(limiter.Take("a", At(500)), absl::ZeroDuration());
  EXPECT_GT(limiter.Take("a", At(500)), absl::ZeroDuration());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limiter.Take("a", At(60'000)), absl::ZeroDuration()) << i;
  EXPECT_GT(limiter.Take("a", At(60'000)), absl::ZeroDuration()) << "never more than the burst";
}

TEST(RateLimiterTest, CallersDoNotPayForEachOther) {
  RateLimiter limiter({.per_second = 1, .burst = 1});
  EXPECT_EQ(limiter.Take("a", At(0)), absl::ZeroDuration());
  EXPECT_GT(limiter.Take("a", At(0)), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("b", At(0)), absl::ZeroDuration());
}

TEST(RateLimiterTest, BucketsAreBoundedAndThoseWhoHaveOneKeepIt) {
  RateLimiter limiter({.per_second = 1, .burst = 2}, 10);
  EXPECT_EQ(limiter.Take("known", At(0)), absl::ZeroDuration());
  int passed = 0;
  for (int i = 0; i < 1000; ++i) {
    passed += limiter.Take("newcomer " + std::to_string(i), At(0)) == absl::ZeroDuration();
  }
  EXPECT_EQ(limiter.size(), 10u);
  EXPECT_EQ(passed, 9 + 2) << "the last two from the bucket that the rest share";
  EXPECT_EQ(limiter.Take("known", At(0)), absl::ZeroDuration());
  EXPECT_EQ(limiter.Take("late", At(5'000)), absl::ZeroDuration());
  EXPECT_EQ(limiter.size(), 1u) << "full buckets are dropped";
}

}  // namespace
}  // namespace plimsoll::internal
