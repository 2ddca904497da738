// A real controller with certificates and tokens, and real agents: who proves who they are is
// served, and nobody else; certificates and tokens are replaced while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/agent/agent.h"
#include "tests/integration/certificates.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Until(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class SecureControllerTest : public ::testing::Test {
 protected:
  SecureControllerTest() {
    certificates_.MakeAuthority("ca");
    certificates_.Issue("server", "ca", "IP:127.0.0.1");
    WriteTokens("viewer-token-0001");
  }

  std::string Path(const std::string& file) const { return folder_.path() + "/" + file; }

  // The line is made as users make it.
  std::string Line(const std::string& name, const std::string& role, const std::string& token) {
    const std::string command = "printf '%s\\n' " + token + " | " + PLIMSOLL_BIN_DIR +
                                "/plimsoll-controller hash-token " + name + " " + role +
                                " --stdin >" + Path("line");
    EXPECT_EQ(std::system(command.c_str()), 0);
    return ReadFile(Path("line"));
  }
  void WriteTokens(const std::string& viewer) {
    std::ofstream(Path("tokens.new"))
        << "tokens:\n"
        << Line("eve", "viewer", viewer) << Line("olga", "operator", "operator-token-1")
        << Line("checkout", "agent", "agent-token-0001");
    std::filesystem::rename(Path("tokens.new"), Path("tokens.yaml"));
  }

  std::string Config(const std::string& tls = "", const std::string& auth = "") const {
    return "tls: {cert_file: " + Path("server.pem") + ", key_file: " + Path("server.key") + tls +
           "}\nauth: {tokens_file: " + Path("tokens.yaml") + auth +
           "}\nagents: {lease: 2s}\ndependencies:\n"
           "  - {name: payments-api, floor: 1, call_deadline: 1s, quota: {capacity: 10}}\n";
  }
  void Start(const std::string& config) {
    controller_ = std::make_unique<demo::ControllerProcess>(
        std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller", folder_.path(), config);
    const absl::Status started = controller_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  AgentOptions Options(const std::string& token) {
    AgentOptions options;
    options.controllers = {"https://127.0.0.1:" + std::to_string(controller_->agent_port())};
    options.service = "checkout";
    options.token = token;
    options.ca_file = Path("ca.pem");
    options.log = [this](std::string_view line) {
      const std::lock_guard<std::mutex> lock(mutex_);
      agent_log_ += std::string(line) + "\n";
    };
    return options;
  }
  std::string agent_log() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return agent_log_;
  }
  bool GetsAPermit(const AgentOptions& options) {
    const absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return Until([&] { return (*agent)->bulkhead("payments-api").TryAcquire().has_value(); });
  }
  // What the agent says why it is not served; empty if it is.
  std::string Refusal(const AgentOptions& options, const std::string& expected) {
    const absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(options);
    EXPECT_TRUE(agent.ok()) << agent.status();
    Until([&] { return agent_log().find(expected) != std::string::npos || (*agent)->connected(); });
    EXPECT_FALSE((*agent)->connected());
    return agent_log();
  }

  std::unique_ptr<httplib::SSLClient> Api(const std::string& token,
                                          const std::string& authority = "ca.pem") const {
    auto client = std::make_unique<httplib::SSLClient>("127.0.0.1", controller_->api_port());
    client->set_ca_cert_path(Path(authority));
    client->set_keep_alive(true);
    if (!token.empty()) client->set_bearer_token_auth(token);
    return client;
  }
  static int Status(httplib::SSLClient& client, const std::string& path = "/v1/status") {
    const httplib::Result result = client.Get(path);
    return result ? result->status : 0;
  }

  const demo::TemporaryFolder folder_;
  const Certificates certificates_{folder_.path()};
  std::unique_ptr<demo::ControllerProcess> controller_;
  std::mutex mutex_;
  std::string agent_log_;
};

TEST_F(SecureControllerTest, WhoHasATokenIsServedOverTls) {
  Start(Config());
  EXPECT_TRUE(GetsAPermit(Options("agent-token-0001"))) << agent_log();
  EXPECT_EQ(Status(*Api("viewer-token-0001")), 200);
  EXPECT_EQ(Status(*Api("")), 401);
  EXPECT_EQ(Status(*Api(""), "/livez"), 200);
  EXPECT_EQ(Status(*Api("agent-token-0001")), 403);
  EXPECT_EQ(Status(*Api("no-such-token-00")), 401);
  HttpProbe plain(static_cast<std::uint16_t>(controller_->api_port()));
  plain.Send(Get("/livez"));
  EXPECT_EQ(StatusOf(plain.ReceiveAll()), 0) << "nothing is said without encryption";
}

TEST_F(SecureControllerTest, AgentsWithoutTheRightTokenAreToldSo) {
  Start(Config());
  EXPECT_THAT(Refusal(Options(""), "refuses"), HasSubstr("refuses this agent"));
  EXPECT_THAT(Refusal(Options("operator-token-1"), "'olga'"), HasSubstr("'olga' has the role"));
  EXPECT_THAT(agent_log(), Not(HasSubstr("operator-token-1")));
}

TEST_F(SecureControllerTest, AgentsDoNotTalkToWhomTheyCannotTrust) {
  certificates_.MakeAuthority("other");
  Start(Config());
  AgentOptions options = Options("agent-token-0001");
  options.ca_file = Path("other.pem");
  EXPECT_THAT(Refusal(options, "does not answer"), HasSubstr("does not answer"));
  EXPECT_EQ(Status(*Api("viewer-token-0001", "other.pem")), 0);
}

TEST_F(SecureControllerTest, CertificatesAreReplacedWhileConnectionsGoOn) {
  certificates_.Issue("server", "ca", "IP:127.0.0.1", -1);
  Start(Config());
  EXPECT_THAT(ReadFile(Path("controller.log")), HasSubstr("expires"));
  EXPECT_THAT(Refusal(Options("agent-token-0001"), "does not answer"),
              HasSubstr("does not answer"));
  const auto standing = Api("viewer-token-0001");
  standing->enable_server_certificate_verification(false);
  EXPECT_EQ(Status(*standing), 200);
  const int connection = static_cast<int>(standing->socket());

  certificates_.Issue("server", "ca", "IP:127.0.0.1");
  controller_->Signal(SIGHUP);
  EXPECT_TRUE(Until([&] { return Status(*Api("viewer-token-0001")) == 200; }));
  EXPECT_EQ(Status(*standing), 200);
  EXPECT_EQ(static_cast<int>(standing->socket()), connection) << "it was not cut";
  EXPECT_TRUE(GetsAPermit(Options("agent-token-0001"))) << agent_log();

  std::ofstream(Path("server.pem")) << "nonsense\n";
  controller_->Signal(SIGHUP);
  EXPECT_TRUE(Until([&] {
    return ReadFile(Path("controller.log")).find("server.pem: cannot be read") != std::string::npos;
  }));
  EXPECT_EQ(Status(*Api("viewer-token-0001")), 200) << "the ones from before stay";
}

TEST_F(SecureControllerTest, CertificatesOfClientsProveWhoTheyAre) {
  certificates_.MakeAuthority("other");
  certificates_.Issue("agent", "ca", "URI:spiffe://example.org/checkout");
  certificates_.Issue("expired", "ca", "URI:spiffe://example.org/checkout", -1);
  certificates_.Issue("stranger", "ca", "URI:spiffe://example.org/strange");
  certificates_.Issue("forged", "other", "URI:spiffe://example.org/checkout");
  Start(
      Config(", client_ca_file: " + Path("ca.pem") + ", require_client_cert: true",
             ", identities: [{san: \"spiffe://example.org/checkout\", name: cart, role: agent}]"));
  AgentOptions options = Options("");
  const auto use = [&](const std::string& name) {
    options.client_cert_file = Path(name + ".pem");
    options.client_key_file = Path(name + ".key");
    return options;
  };
  EXPECT_TRUE(GetsAPermit(use("agent"))) << agent_log();
  EXPECT_THAT(Refusal(use("stranger"), "refuses"), HasSubstr("refuses this agent"));
  for (const char* name : {"expired", "forged"}) {
    agent_log_.clear();
    EXPECT_THAT(Refusal(use(name), "does not answer"), HasSubstr("does not answer")) << name;
  }
  agent_log_.clear();
  EXPECT_THAT(Refusal(Options("agent-token-0001"), "does not answer"), HasSubstr("does not answer"))
      << "a token alone is not enough here";
}

TEST_F(SecureControllerTest, TokensAreReadAgainWhenTheirFileChanges) {
  Start(Config());
  const auto api = Api("viewer-token-0002");
  EXPECT_EQ(Status(*api), 401);
  WriteTokens("viewer-token-0002");
  EXPECT_TRUE(Until([&] { return Status(*api) == 200; })) << ReadFile(Path("controller.log"));
  EXPECT_EQ(Status(*Api("viewer-token-0001")), 401);
  std::ofstream(Path("tokens.yaml")) << "tokens: [{name: eve, role: viewer, sha256: secret}]\n";
  EXPECT_TRUE(Until([&] {
    return ReadFile(Path("controller.log")).find("/tokens/0/sha256") != std::string::npos;
  }));
  EXPECT_EQ(Status(*api), 200) << "the ones from before stay";
  EXPECT_THAT(ReadFile(Path("controller.log")), Not(HasSubstr("secret")));
  EXPECT_THAT(ReadFile(Path("controller.log")), Not(HasSubstr("viewer-token")));
}

}  // namespace
}  // namespace plimsoll
