// What a configuration says about who may do what.
#include "controller/main/access_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "controller/main/config.h"
#include "controller/main/hash_token.h"
#include "controller/main/reload.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Config Parse(const std::string& text) {
  const absl::StatusOr<Config> config = ParseConfig(text, "f.yaml", Profile::kProduction);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(Config{});
}

constexpr char kPublic[] = "listen: {api: \"0.0.0.0:7480\", agents: \"0.0.0.0:7481\"}\n";

TEST(AccessConfigTest, LoopbackWithoutTokensIsOpen) {
  const AccessRules rules = Parse("dependencies: []\n").server.access;
  EXPECT_EQ(rules.api_anonymous, Role::kOperator);
  EXPECT_EQ(rules.agents_anonymous, Role::kAgent);
  EXPECT_FALSE(rules.metrics_require_auth);
}

TEST(AccessConfigTest, TokensCloseLoopback) {
  const AccessRules rules = Parse("auth: {tokens_file: /t}\n").server.access;
  EXPECT_EQ(rules.api_anonymous, Role::kNone);
  EXPECT_EQ(rules.agents_anonymous, Role::kNone);
}

TEST(AccessConfigTest, OnlyWhatIsWrittenOutIsOpenToOthers) {
  const AccessRules rules =
      Parse(std::string(kPublic) + "auth: {tokens_file: /t, allow_anonymous: [viewer]}\n")
          .server.access;
  EXPECT_EQ(rules.api_anonymous, Role::kViewer);
  EXPECT_EQ(rules.agents_anonymous, Role::kNone);
}

TEST(AccessConfigTest, EverySettingArrives) {
  const Config config = Parse(
      "tls: {cert_file: /c, key_file: /k, client_ca_file: /a, require_client_cert: true, "
      "min_version: \"1.3\"}\n"
      "auth: {identities: [{san: \"spiffe://x/y\", name: cart, role: agent}]}\n"
      "api: {rate_limit: {per_second: 5, burst: 7}, connections_max: 9}\n"
      "metrics: {require_auth: true}\n");
  EXPECT_EQ(config.access.tls.cert_file, "/c");
  EXPECT_EQ(config.access.tls.key_file, "/k");
  EXPECT_EQ(config.access.tls.client_ca_file, "/a");
  EXPECT_TRUE(config.access.tls.require_client_cert);
  EXPECT_TRUE(config.access.tls.only_tls13);
  ASSERT_EQ(config.server.access.certificates.size(), 1u);
  EXPECT_EQ(config.server.access.certificates[0].san, "spiffe://x/y");
  EXPECT_EQ(config.server.access.certificates[0].name, "cart");
  EXPECT_EQ(config.server.access.certificates[0].role, Role::kAgent);
  EXPECT_EQ(config.access.api_rate_limit.per_second, 5);
  EXPECT_EQ(config.access.api_rate_limit.burst, 7);
  EXPECT_EQ(config.server.api_limits.connections_per_address_max, 5);
  EXPECT_TRUE(config.server.access.metrics_require_auth);
  EXPECT_EQ(config.server.access.api_anonymous, Role::kNone) << "certificates are asked for";
}

TEST(AccessConfigTest, FilesThatAreNamedMustBeThere) {
  Config config = Parse("auth: {tokens_file: /nowhere/tokens.yaml}\n");
  EXPECT_THAT(std::string(LoadReferences(config).message()), HasSubstr("/nowhere/tokens.yaml"));
  config = Parse("tls: {cert_file: /nowhere/c.pem, key_file: /nowhere/k.pem}\n");
  EXPECT_THAT(std::string(LoadReferences(config).message()),
              HasSubstr("/nowhere/c.pem: cannot be read as PEM certificates"));
}

TEST(TokensTest, EachHasANameARoleAndAHash) {
  const std::string text = "tokens:\n" + TokenLine("eve", Role::kViewer, HashToken("a")) + "\n" +
                           TokenLine("cart", Role::kAgent, HashToken("b")) + "\n";
  const absl::StatusOr<std::vector<TokenRule>> tokens = ParseTokens(text, "t.yaml");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_EQ(tokens->size(), 2u);
  EXPECT_EQ((*tokens)[1].name, "cart");
  EXPECT_EQ((*tokens)[1].role, Role::kAgent);
  EXPECT_EQ((*tokens)[1].sha256, HashToken("b"));
}

TEST(TokensTest, FaultsHaveTheirPlaceAndShowNoSecret) {
  const std::string hash = ToHex(HashToken("a"));
  const absl::Status status = ParseTokens(
                                  "tokens:\n"
                                  "  - {name: anonymous, role: viewer, sha256: \"" +
                                      hash +
                                      "\"}\n"
                                      "  - {name: a, role: admin, sha256: my-secret}\n"
                                      "  - {name: b, sha256: \"" +
                                      hash + "\", token: x}\n",
                                  "t.yaml")
                                  .status();
  EXPECT_THAT(
      std::string(status.message()),
      AllOf(HasSubstr("t.yaml:2:6: /tokens/0/name: must be a name"),
            HasSubstr("t.yaml:3:15: /tokens/1/role: must be one of viewer, agent, operator"),
            HasSubstr("t.yaml:3:28: /tokens/1/sha256: must be the SHA-256"),
            HasSubstr("/tokens/2/role: is missing"),
            HasSubstr("/tokens/2/sha256: another entry has the same token"),
            HasSubstr("/tokens/2/token: unknown key"), Not(HasSubstr("my-secret"))));
}

TEST(HashTokenTest, MakesOneOrReadsOne) {
  std::istringstream none;
  const absl::StatusOr<HashedToken> made = HashTokenCommand({"eve", "viewer"}, none);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->token.size(), 43u);
  EXPECT_EQ(made->line, TokenLine("eve", Role::kViewer, HashToken(made->token)));
  std::istringstream in("viewer-token-0001\nsecond line\n");
  const absl::StatusOr<HashedToken> given = HashTokenCommand({"eve", "agent", "--stdin"}, in);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ(given->token, "") << "who gave it knows it";
  EXPECT_EQ(given->line, TokenLine("eve", Role::kAgent, HashToken("viewer-token-0001")));
}

TEST(HashTokenTest, WrongUseIsExplainedAndTheTokenNotShown) {
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"eve"},
                                                       {"eve", "admin"},
                                                       {"anonymous", "viewer"},
                                                       {"a b", "viewer"},
                                                       {"eve", "viewer", "--sdtin"}};
  for (const std::vector<std::string>& arguments : wrong) {
    std::istringstream in("viewer-token-0001\n");
    EXPECT_THAT(std::string(HashTokenCommand(arguments, in).status().message()),
                HasSubstr("usage: plimsoll-controller hash-token NAME ROLE"));
  }
  for (const char* token : {"", "short", "has spaces in the token"}) {
    std::istringstream in(token);
    const absl::Status status = HashTokenCommand({"eve", "viewer", "--stdin"}, in).status();
    EXPECT_FALSE(status.ok()) << token;
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("has spaces in")));
  }
}

TEST(ReloadAccessTest, ChangesAreToldWithoutSecrets) {
  Config before = Parse("auth: {tokens_file: /t}\n");
  Config after = Parse("auth: {tokens_file: /t, allow_anonymous: [viewer]}\n");
  before.server.access.tokens = {{"eve", Role::kViewer, HashToken("a")}};
  after.server.access.tokens = {{"eve", Role::kOperator, HashToken("a")}};
  EXPECT_THAT(Compare(before, before).access, IsEmpty());
  EXPECT_THAT(
      Compare(before, after).access,
      ElementsAre("auth.allow_anonymous  -> viewer", "auth.tokens.eve.ca9781 viewer -> operator"));
  EXPECT_THAT(Compare(before, after).needs_restart, IsEmpty());
}

TEST(ReloadAccessTest, AListenerThatStaysIsNotOpenedByAFileThatMovesIt) {
  const Config running = Parse(std::string(kPublic) + "auth: {tokens_file: /t}\n");
  const Config after = Parse("dependencies: []\n");
  EXPECT_THAT(std::string(CheckReload(running, after).message()),
              HasSubstr("\"0.0.0.0\" is open to other machines"));
  EXPECT_TRUE(CheckReload(after, running).ok());
}

}  // namespace
}  // namespace plimsoll
