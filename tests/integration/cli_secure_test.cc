// The program `plimsoll` against a controller with certificates and tokens: whom it trusts, who it
// says it is, and what it says and ends with when either does not hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "tests/integration/certificates.h"
#include "tests/integration/cli_program.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kDenied = 5;
constexpr int kUnreachable = 6;

class CliSecureTest : public ::testing::Test {
 protected:
  CliSecureTest() {
    certificates_.MakeAuthority("ca");
    certificates_.Issue("server", "ca", "IP:127.0.0.1");
    const std::string hash = std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller hash-token ";
    const std::string lines =
        "cd " + folder_.path() + " && (echo tokens:" + Line(hash, "eve viewer") +
        Line(hash, "olga operator") + Line(hash, "cart agent") + ") >tokens.yaml";
    EXPECT_EQ(std::system(lines.c_str()), 0);
  }

  // The token of a name is "NAME-token-00000001"; its file is NAME.token.
  static std::string Line(const std::string& hash, const std::string& who) {
    const std::string name = who.substr(0, who.find(' '));
    return "; echo " + name + "-token-00000001 >" + name + ".token; " + hash + who + " --stdin <" +
           name + ".token";
  }

  std::string Path(const std::string& file) const { return folder_.path() + "/" + file; }

  void Start(const std::string& tls = "", const std::string& auth = "",
             const std::string& more = "") {
    controller_ = std::make_unique<demo::ControllerProcess>(
        std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", folder_.path(),
        "tls: {cert_file: " + Path("server.pem") + ", key_file: " + Path("server.key") + tls +
            "}\nauth: {tokens_file: " + Path("tokens.yaml") + auth + "}\n" + more +
            "dependencies:\n  - {name: payments-api, quota: {capacity: 10}}\n");
    const absl::Status started = controller_->Start();
    ASSERT_TRUE(started.ok()) << started;
    cli_.set_environment("PLIMSOLL_ADDR=" + Url("https", "127.0.0.1"));
  }
  std::string Url(const std::string& scheme, const std::string& host) const {
    return scheme + "://" + host + ":" + std::to_string(controller_->api_port());
  }
  int Run(const std::string& arguments) { return cli_.Run(arguments); }

  const demo::TemporaryFolder folder_;
  const Certificates certificates_{folder_.path()};
  std::unique_ptr<demo::ControllerProcess> controller_;
  CliProgram cli_{folder_.path()};
};

TEST_F(CliSecureTest, WhoTrustsTheAuthorityAndHasATokenIsServed) {
  Start();
  EXPECT_EQ(Run("get dependencies -o name --cacert ca.pem --token-file eve.token"), 0)
      << cli_.error();
  EXPECT_EQ(cli_.out(), "payments-api\n");
  cli_.set_environment("PLIMSOLL_ADDR=" + Url("https", "127.0.0.1") +
                       " PLIMSOLL_CACERT=ca.pem PLIMSOLL_TOKEN=eve-token-00000001");
  EXPECT_EQ(Run("why payments-api"), 0) << cli_.error();
  EXPECT_EQ(Run("get events --token-file olga.token"), 0) << "a flag wins over the environment";
  EXPECT_EQ(Run("watch --count 1 --token-file none.token"), 2);
  EXPECT_THAT(cli_.error(), HasSubstr("the token cannot be read"));
}

TEST_F(CliSecureTest, WhoMayNotDoItIsToldWhichRoleIsMissing) {
  Start();
  EXPECT_EQ(Run("status --cacert ca.pem"), kDenied);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("UNAUTHENTICATED"), HasSubstr("PLIMSOLL_TOKEN")));
  cli_.set_environment("PLIMSOLL_ADDR=" + Url("https", "127.0.0.1") +
                       " PLIMSOLL_CACERT=ca.pem PLIMSOLL_TOKEN=no-such-token-00");
  EXPECT_EQ(Run("status"), kDenied);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("UNAUTHENTICATED"), Not(HasSubstr("no-such-token"))));
  EXPECT_EQ(Run("status --token-file cart.token"), kDenied);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("PERMISSION_DENIED"), HasSubstr("agent")));
  const std::string change = "set override payments-api --limit 1 --for 1m --reason INC-1";
  EXPECT_EQ(Run(change + " --token-file eve.token"), kDenied);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("PERMISSION_DENIED"), HasSubstr("operator")));
  EXPECT_EQ(Run(change + " --token-file olga.token"), 0) << cli_.error();
}

TEST_F(CliSecureTest, ACertificateThatCannotBeTrustedIsSaidWhy) {
  certificates_.MakeAuthority("other");
  Start();
  EXPECT_EQ(Run("status --cacert other.pem"), kUnreachable);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("is not trusted"), HasSubstr("--cacert")));
  EXPECT_EQ(Run("status"), kUnreachable);
  EXPECT_THAT(cli_.error(), HasSubstr("is not trusted")) << "the system's authorities";
  EXPECT_EQ(Run("status --cacert ca.pem --addr " + Url("https", "localhost")), kUnreachable);
  EXPECT_THAT(cli_.error(), HasSubstr("is for another host"));
  std::ofstream(Path("empty.pem")) << "nothing\n";
  EXPECT_EQ(Run("status --cacert empty.pem"), kUnreachable);
  EXPECT_THAT(cli_.error(), HasSubstr("holds no certificate"));
}

TEST_F(CliSecureTest, ACertificateThatHasExpiredIsSaidSo) {
  certificates_.Issue("server", "ca", "IP:127.0.0.1", -1);
  Start();
  EXPECT_EQ(Run("status --cacert ca.pem --token-file eve.token"), kUnreachable);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("out of date"), HasSubstr("expired")));
}

TEST_F(CliSecureTest, ACertificateOfTheClientProvesWhoItIs) {
  certificates_.Issue("olga", "ca", "URI:spiffe://example.org/olga");
  certificates_.MakeAuthority("other");
  certificates_.Issue("forged", "other", "URI:spiffe://example.org/olga");
  Start(", client_ca_file: " + Path("ca.pem") + ", require_client_cert: true",
        ", identities: [{san: \"spiffe://example.org/olga\", name: olga, role: operator}]");
  const std::string trust = " --cacert ca.pem";
  EXPECT_EQ(Run("set quota payments-api --dry-run --capacity 9 --client-cert olga.pem "
                "--client-key olga.key" +
                trust),
            4)
      << "it is of the file, and olga is an operator: " << cli_.error();
  EXPECT_EQ(Run("status --client-cert olga.pem --client-key olga.key" + trust), 0) << cli_.error();
  for (const char* const who : {"", " --client-cert forged.pem --client-key forged.key"}) {
    EXPECT_EQ(Run("status" + trust + who), kUnreachable) << who;
    EXPECT_THAT(cli_.error(), HasSubstr("if it wants a client certificate"));
  }
  EXPECT_EQ(Run("status --client-cert olga.pem --client-key forged.key" + trust), 2);
  EXPECT_THAT(cli_.error(), HasSubstr("do certificate and key fit together"));
}

TEST_F(CliSecureTest, TheWrongSchemeAndAnEmptyPortAreToldApart) {
  Start();
  EXPECT_EQ(Run("status --addr " + Url("http", "127.0.0.1")), kUnreachable);
  EXPECT_THAT(cli_.error(), HasSubstr("begins with https://"));
  const std::string url = Url("https", "127.0.0.1");
  controller_->Terminate();
  EXPECT_EQ(Run("status --cacert ca.pem --addr " + url), kUnreachable);
  EXPECT_THAT(cli_.error(), HasSubstr("is the controller running"));
}

TEST_F(CliSecureTest, WhoAsksTooOftenIsToldWhenToAskAgain) {
  Start("", "", "api: {rate_limit: {per_second: 1, burst: 1}}\n");
  int status = 0;
  for (int i = 0; i < 10 && status == 0; ++i) {
    status = Run("api GET /v1/version --cacert ca.pem --token-file eve.token");
  }
  EXPECT_EQ(status, kUnreachable);
  EXPECT_THAT(cli_.error(), AllOf(HasSubstr("RATE_LIMITED"), HasSubstr("try again in 1 s")));
}

}  // namespace
}  // namespace plimsoll
