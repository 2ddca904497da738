#include "plimsoll/agent/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/src/address.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

AgentOptions Good() {
  AgentOptions options;
  options.controllers = {"http://127.0.0.1:7481"};
  options.service = "checkout";
  return options;
}

std::string Fault(const AgentOptions& options) {
  const absl::Status status = Validate(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(AgentOptionsTest, AnAddressAndAServiceAreEnough) { EXPECT_TRUE(Validate(Good()).ok()); }

TEST(AgentOptionsTest, EveryViolationIsListedWithItsNameItsValueAndTheRule) {
  AgentOptions options;
  options.controllers = {"http://127.0.0.1:7481", "127.0.0.1"};
  options.service = "check out";
  options.instance = "-pod";
  options.zone = std::string(64, 'z');
  options.connect_timeout = std::chrono::milliseconds(0);
  options.answer_timeout = std::chrono::milliseconds(-1);
  options.release_timeout = std::chrono::milliseconds(-5);
  const std::string fault = Fault(options);
  EXPECT_THAT(fault, HasSubstr("controllers[1] is '127.0.0.1': must be http://host:port"));
  EXPECT_THAT(fault, HasSubstr("service is 'check out': must be 1 to 63 letters"));
  EXPECT_THAT(fault, HasSubstr("instance is '-pod'"));
  EXPECT_THAT(fault, HasSubstr("zone has 64 characters: at most 63"));
  EXPECT_THAT(fault, HasSubstr("connect_timeout is 0 ms: must be positive"));
  EXPECT_THAT(fault, HasSubstr("answer_timeout is -1 ms: must be positive"));
  EXPECT_THAT(fault, HasSubstr("release_timeout is -5 ms: must not be negative"));
}

TEST(AgentOptionsTest, OneControllerIsNeeded) {
  AgentOptions options = Good();
  options.controllers.clear();
  EXPECT_THAT(Fault(options), HasSubstr("controllers is empty"));
}

TEST(AgentOptionsTest, CredentialsMustBeWholeAndMeantForEncryptedConnections) {
  AgentOptions options = Good();
  options.controllers = {"https://127.0.0.1:7481"};
  options.token = "secret-token-0001";
  options.ca_file = "ca.pem";
  options.client_cert_file = "agent.pem";
  options.client_key_file = "agent.key";
  EXPECT_TRUE(Validate(options).ok());
  options.client_key_file.clear();
  EXPECT_THAT(Fault(options), HasSubstr("client_cert_file and client_key_file belong together"));
  options.client_key_file = "agent.key";
  options.controllers.emplace_back("http://127.0.0.2:7481");
  EXPECT_THAT(Fault(options), HasSubstr("controllers[1] is 'http://127.0.0.2:7481', without "
                                        "encryption"));
  options.token = "secret-token\r\nX: y";
  EXPECT_THAT(Fault(options), HasSubstr("token has characters that no token has"));
  EXPECT_THAT(Fault(options), Not(HasSubstr("secret"))) << "it must not be shown";
}

TEST(AddressTest, GoodOnesAreTakenApart) {
  struct Row {
    const char* text;
    const char* host;
    int port;
    bool tls;
  };
  for (const Row& row : {Row{"http://127.0.0.1:7481", "127.0.0.1", 7481, false},
                         Row{"http://controller-0.plimsoll:1", "controller-0.plimsoll", 1, false},
                         Row{"http://[::1]:65535", "::1", 65535, false},
                         Row{"https://host:443", "host", 443, true}}) {
    const std::optional<internal::Address> address = internal::ParseAddress(row.text);
    ASSERT_TRUE(address.has_value()) << row.text;
    EXPECT_EQ(address->host, row.host);
    EXPECT_EQ(address->port, row.port);
    EXPECT_EQ(address->tls, row.tls);
  }
}

TEST(AddressTest, EverythingElseIsRefused) {
  for (const char* text : {"",
                           "http://",
                           "http://host",
                           "http://host:",
                           "http://:80",
                           "http://host:0",
                           "http://host:65536",
                           "http://host:99999999999",
                           "http://host:+80",
                           "http://host: 80",
                           "http://host:80/",
                           "http://host:80/path",
                           "https://host",
                           "host:80",
                           "ftp://host:80",
                           "http://ho st:80",
                           "http://user@host:80",
                           "http://[]:80",
                           "http://::1:80",
                           "http://host\r\nX:80"}) {
    EXPECT_FALSE(internal::ParseAddress(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace plimsoll
