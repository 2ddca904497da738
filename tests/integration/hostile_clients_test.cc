// Clients that smuggle, exhaust or pretend, against the real server: each is refused, and whoever
// behaves is served meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/operations/policy_book.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/server.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/wire/codec.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kViewer[] = "Authorization: Bearer viewer-token-0001\r\n";

class HostileClientsTest : public ::testing::Test {
 protected:
  HostileClientsTest() {
    options_.version = "0.1.0";
    options_.state_mode = "MEMORY";
    options_.access.api_anonymous = Role::kNone;
    options_.access.agents_anonymous = Role::kNone;
    options_.access.tokens = {
        {"eve", Role::kViewer, HashToken("viewer-token-0001")},
        {"olga", Role::kOperator, HashToken("operator-token-1")},
        {"checkout", Role::kAgent, HashToken("agent-token-0001")},
        {"mallory", Role::kAgent, HashToken("agent-token-0002")},
    };
    options_.api_rate_limit = {.per_second = 1000, .burst = 1000};
    for (ListenerLimits* limits : {&options_.api_limits, &options_.agent_limits}) {
      limits->request_time_max = absl::Milliseconds(500);
      limits->write_time_max = absl::Milliseconds(500);
    }
  }

  void Start() {
    const absl::StatusOr<StoreState> state = store_->TakeOver();
    ASSERT_TRUE(state.ok()) << state.status();
    RealClock().Refresh();
    PolicyBookOptions book;
    book.file_policies[DependencyId("file-db")].name = DependencyId("file-db");
    book.reread = [this] {
      ++rereads_;
      return FileReading{};
    };
    book_ = std::make_unique<PolicyBook>(book, state->documents, RealClock().WallTime());
    options_.operations = book_.get();
    core_ =
        std::make_unique<Core>(CoreOptions{}, book_->InForce().policies, *state, RealClock().Now());
    server_ = std::make_unique<Server>(options_, *core_, *store_, RealClock());
    const absl::Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  void TearDown() override {
    if (server_ != nullptr) server_->Stop();
  }

  static std::string Ask(std::uint16_t port, const std::string& request) {
    HttpProbe probe(port);
    probe.Send(request);
    return probe.Receive();
  }
  std::string AskApi(const std::string& request) { return Ask(server_->api_port(), request); }
  std::string AskAgents(const std::string& request) { return Ask(server_->agent_port(), request); }

  // Somebody else, from another address and with good credentials.
  void ExpectOthersAreServed(const std::string& meanwhile) {
    HttpProbe probe(server_->api_port(), "127.0.0.2");
    probe.Send(Get("/v1/status", kViewer));
    EXPECT_EQ(StatusOf(probe.Receive()), 200) << meanwhile;
  }

  static std::string With(const std::string& token, std::string request) {
    const std::string header = "Authorization: Bearer " + token + "\r\n";
    return request.insert(request.find("\r\n") + 2, header);
  }
  std::string RegisterAs(const std::string& token, const std::string& nonce) {
    RegisterRequest message;
    message.service = ServiceId("checkout");
    message.instance = InstanceId("checkout-" + nonce);
    message.nonce = nonce;
    message.agent_version = "0.1.0";
    message.dependencies = {DependencyId("payments-api")};
    return AskAgents(With(token, Post("/v1/agent/sessions", Encode(message))));
  }

  ServerOptions options_;
  std::unique_ptr<Store> store_ = MakeMemoryStore(1);
  int rereads_ = 0;  // of the configuration file; to be read once the server has stopped
  std::unique_ptr<PolicyBook> book_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Server> server_;
};

TEST_F(HostileClientsTest, WhatCouldBeReadInTwoWaysIsRefused) {
  Start();
  const std::string post = "POST /v1/status HTTP/1.1\r\nHost: localhost\r\n" + std::string(kViewer);
  const std::string smuggled = Get("/v1/status", kViewer);
  const struct {
    const char* what;
    std::string request;
    int status;
  } table[] = {
      {"length and chunks",
       post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunks and length",
       post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 400},
      {"chunks", post + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 411},
      {"strange coding", post + "Transfer-Encoding: xchunked\r\n\r\n" + smuggled, 411},
      {"two codings", post + "Transfer-Encoding: identity, chunked\r\n\r\n" + smuggled, 411},
      {"two lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"the same length twice", post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
      {"list of lengths", post + "Content-Length: 1, 1\r\n\r\na", 400},
      {"signed length", post + "Content-Length: +1\r\n\r\na", 400},
      {"negative length", post + "Content-Length: -1\r\n\r\na", 400},
      {"hexadecimal length", post + "Content-Length: 0x1\r\n\r\na", 400},
      {"endless length", post + "Content-Length: 99999999999999999999999\r\n\r\na", 400},
      {"space before the colon", post + "Content-Length : 1\r\n\r\na", 400},
      {"folded header", Get("/v1/status", "X-A: b\r\n c\r\n" + std::string(kViewer)), 400},
      {"header folded with a tab", Get("/v1/status", "X-A: b\r\n\tc\r\n" + std::string(kViewer)),
       400},
      {"line feeds alone", "GET /v1/status HTTP/1.1\nHost: localhost\n\n", 400},
      {"line feed inside", Get("/v1/status", "X-A: b\nX-B: c\r\n"), 400},
      {"carriage return inside", Get("/v1/status", "X-A: b\rX-B: c\r\n"), 400},
      {"NUL in a header", Get("/v1/status", std::string("X-A: b\0c\r\n", 10)), 400},
      {"NUL in the address", Get(std::string("/v1/sta\0tus", 11), kViewer), 400},
      {"encoded NUL", Get("/v1/status%00", kViewer), 404},
      {"encoded slash", Get("/v1%2Fstatus", kViewer), 404},
      {"name with an encoded slash", Get("/v1/dependencies/a%2Fquota", kViewer), 404},
      {"dots", Get("/livez/../v1/status", kViewer), 404},
      {"encoded dots", Get("/livez/%2e%2e/v1/status", kViewer), 404},
      {"dot", Get("/v1/./status", kViewer), 404},
      {"two slashes", Get("//v1/status", kViewer), 404},
      {"half an encoding", Get("/v1/status%2", kViewer), 400},
      {"no slash", Get("v1/status", kViewer), 400},
      {"absolute address of somebody else", Get("http://evil.example/v1/status", kViewer), 403},
      {"absolute address of ours", Get("http://localhost/v1/status", kViewer), 200},
      {"another scheme", Get("file:///etc/passwd", kViewer), 400},
      {"two hosts", Get("/v1/status", "Host: evil.example\r\n"), 400},
      {"no host", "GET /v1/status HTTP/1.1\r\n\r\n", 400},
      {"HTTP/0.9", "GET /v1/status\r\n\r\n", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"TLS on a plain port", "\x16\x03\x01\x02\r\n\r\n", 400},
      {"two credentials", Get("/v1/status", kViewer + std::string(kViewer)), 400},
      {"method in lower case", "get /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
      {"override of the method", Get("/v1/status", "X-HTTP-Method-Override: DELETE\r\n"), 401},
      {"identity by header", Get("/v1/status", "X-Forwarded-User: olga\r\n"), 401},
      {"huge address", Get("/" + std::string(9000, 'a')), 414},
      {"huge header", Get("/v1/status", "X: " + std::string(9000, 'a') + "\r\n"), 431},
      {"huge body", post + "Content-Length: 2000000\r\n\r\n", 413},
  };
  for (const auto& row : table) {
    HttpProbe probe(server_->api_port());
    probe.Send(row.request);
    const std::string response = probe.Receive();
    EXPECT_EQ(StatusOf(response), row.status) << row.what << ": " << response;
    ExpectOthersAreServed(row.what);
  }
}

TEST_F(HostileClientsTest, NothingBehindARefusedRequestIsAnswered) {
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send(
      "POST /v1/status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
      Get("/v1/status", kViewer));
  const std::string all = probe.ReceiveAll();
  EXPECT_EQ(StatusOf(all), 411);
  EXPECT_THAT(all, Not(HasSubstr("200 OK")));
}

TEST_F(HostileClientsTest, SlowClientsAreCutOffAndOthersServed) {
  options_.api_limits.connections_max = 100;
  Start();
  std::vector<std::unique_ptr<HttpProbe>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<HttpProbe>(server_->api_port()));
    // Half of them within the head, half within the body.
    slow.back()->Send(i % 2 == 0 ? "GET /v1/status HTTP/1.1\r\nX-A: "
                                 : "POST /v1/status HTTP/1.1\r\nHost: localhost\r\n"
                                   "Content-Length: 100\r\n\r\n");
  }
  for (int round = 0; round < 3; ++round) {
    for (const auto& probe : slow) probe->Send("x");
    ExpectOthersAreServed("while clients trickle");
  }
  for (const auto& probe : slow) EXPECT_EQ(StatusOf(probe->Receive()), 408);
}

TEST_F(HostileClientsTest, OneAddressCannotTakeAllConnections) {
  options_.api_limits.connections_max = 20;
  options_.api_limits.connections_per_address_max = 10;
  Start();
  std::vector<std::unique_ptr<HttpProbe>> many;
  int served = 0;
  for (int i = 0; i < 30; ++i) {
    many.push_back(std::make_unique<HttpProbe>(server_->api_port()));
    many.back()->Send(Get("/livez"));
    served += StatusOf(many.back()->Receive()) == 200;
  }
  EXPECT_EQ(served, 10);
  ExpectOthersAreServed("while one address has all it may");
  many.clear();
  EXPECT_EQ(StatusOf(AskApi(Get("/livez"))), 200) << "what was closed is free again";
}

TEST_F(HostileClientsTest, FloodOfRequestsWithoutReadingIsCutOff) {
  options_.api_rate_limit = {.per_second = 10, .burst = 20};
  Start();
  HttpProbe flood(server_->api_port());
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += Get("/v1/status");
  // The server stops reading when nobody takes the answers, and the sender would wait for ever.
  for (int i = 0; i < 10; ++i) flood.Send(requests);
  ExpectOthersAreServed("while one floods");
  int limited = 0;
  for (int i = 0; i < 100; ++i) limited += StatusOf(flood.Receive()) == 429;
  EXPECT_GE(limited, 70);
  ExpectOthersAreServed("after the flood");
}

TEST_F(HostileClientsTest, RateIsLimitedByNameAndTheRestIsServed) {
  options_.api_rate_limit = {.per_second = 0.1, .burst = 5};
  Start();
  std::string last;
  for (int i = 0; i < 6; ++i) last = AskApi(With("operator-token-1", Get("/v1/status")));
  EXPECT_EQ(StatusOf(last), 429);
  EXPECT_THAT(last, HasSubstr("Retry-After: "));
  ExpectOthersAreServed("while another name waits");
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(StatusOf(AskApi(Get("/livez"))), 200) << "health is exempt";
}

TEST_F(HostileClientsTest, NobodyDoesMoreThanTheRoleAllows) {
  Start();
  const struct {
    const char* what;
    const char* token;
    std::string request;
    int status;
  } api[] = {
      {"stranger", "", Get("/v1/status"), 401},
      {"wrong token", "viewer-token-0002", Get("/v1/status"), 401},
      {"viewer", "viewer-token-0001", Get("/v1/status"), 200},
      {"operator", "operator-token-1", Get("/v1/status"), 200},
      {"agent", "agent-token-0001", Get("/v1/status"), 403},
      {"agent reads instances", "agent-token-0001", Get("/v1/instances"), 403},
      {"stranger and health", "", Get("/livez"), 200},
      {"wrong token and health", "viewer-token-0002", Get("/readyz"), 200},
  };
  for (const auto& row : api) {
    const std::string response =
        AskApi(*row.token == '\0' ? row.request : With(row.token, row.request));
    EXPECT_EQ(StatusOf(response), row.status) << row.what << response;
    EXPECT_EQ(response.find("WWW-Authenticate: Bearer") != std::string::npos, row.status == 401);
    EXPECT_THAT(response, Not(HasSubstr("token-0"))) << "secrets are never shown";
  }
  EXPECT_EQ(StatusOf(RegisterAs("operator-token-1", "a")), 403);
  EXPECT_EQ(StatusOf(RegisterAs("viewer-token-0001", "a")), 403);
  EXPECT_EQ(StatusOf(RegisterAs("no-such-token-00", "a")), 401);
  EXPECT_EQ(StatusOf(RegisterAs("agent-token-0001", "a")), 201);
}

TEST_F(HostileClientsTest, WhoMayNotChangeIsRefusedEachKindOfChangeAndNothingChanges) {
  Start();
  const std::string opened = RegisterAs("agent-token-0001", "a");
  ASSERT_EQ(StatusOf(opened), 201);
  const std::string pin =
      R"({"limit":1,"reason":"x","expire_time":")" +
      absl::FormatTime(absl::RFC3339_full, RealClock().WallTime() + absl::Hours(1),
                       absl::UTCTimeZone()) +
      "\"}";
  const struct {
    const char* method;
    const char* path;
    std::string body;
  } changes[] = {
      {"PUT", "/v1/dependencies/db", "{}"},
      {"PUT", "/v1/dependencies/db?validate_only=true", "{}"},
      {"PATCH", "/v1/dependencies/file-db", R"({"floor":2})"},
      {"DELETE", "/v1/dependencies/file-db?force=true", ""},
      {"PUT", "/v1/dependencies/file-db/quota", R"({"capacity":1})"},
      {"PUT", "/v1/dependencies/file-db/override", pin},
      {"DELETE", "/v1/dependencies/file-db/override", ""},
      {"POST", "/v1/dependencies/file-db:reset", ""},
      {"DELETE", "/v1/instances/checkout-a", ""},
      {"POST", "/v1/config:reload", ""},
      {"POST", "/-/reload", ""},
      {"POST", "/v1/config:validate", "dependencies: []"},
  };
  const std::string status = Get("/v1/dependencies/file-db");
  const std::string before = BodyOf(AskApi(With("operator-token-1", status)));
  EXPECT_THAT(before, HasSubstr("\"revision\""));
  for (const auto& change : changes) {
    const std::string request = std::string(change.method) + " " + change.path +
                                " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                "Content-Length: " +
                                std::to_string(change.body.size()) + "\r\n\r\n" + change.body;
    const std::string what = request.substr(0, request.find(" HTTP"));
    EXPECT_EQ(StatusOf(AskApi(With("viewer-token-0001", request))), 403) << what;
    EXPECT_EQ(StatusOf(AskApi(With("agent-token-0001", request))), 403) << what;
    EXPECT_EQ(StatusOf(AskApi(request)), 401) << what;
  }
  EXPECT_EQ(StatusOf(AskApi(With("viewer-token-0001", Get("/v1/audit")))), 403);
  EXPECT_EQ(StatusOf(AskApi(With("viewer-token-0001", Get("/v1/config")))), 403);
  EXPECT_EQ(BodyOf(AskApi(With("operator-token-1", status))), before);
  EXPECT_EQ(StatusOf(AskApi(With("operator-token-1", Get("/v1/dependencies/db")))), 404);
  EXPECT_THAT(BodyOf(AskApi(With("operator-token-1", Get("/v1/instances/checkout-a")))),
              Not(HasSubstr("EVICTED")));
  EXPECT_EQ(BodyOf(AskApi(With("operator-token-1", Get("/v1/audit")))),
            R"({"items":[],"next_page_token":""})");
  server_->Stop();
  EXPECT_EQ(rereads_, 0);
}

TEST_F(HostileClientsTest, SessionsAreTheirOpenersAlone) {
  Start();
  const std::string opened = RegisterAs("agent-token-0001", "a");
  const absl::StatusOr<RegisterAnswer> answer = DecodeRegisterAnswer(BodyOf(opened));
  ASSERT_TRUE(answer.ok()) << opened;
  const std::string path = "/v1/agent/sessions/" + answer->session.value;
  SyncRequest message;
  message.n = SyncNumber(1);
  message.epoch = answer->epoch;
  const std::string sync = Post(path + "/sync", Encode(message));
  const std::string leave = "DELETE " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(StatusOf(AskAgents(With("agent-token-0002", sync))), 403);
  EXPECT_EQ(StatusOf(AskAgents(With("agent-token-0002", leave))), 403);
  EXPECT_EQ(StatusOf(RegisterAs("agent-token-0002", "a")), 403) << "with the nonce of another";
  EXPECT_EQ(StatusOf(AskAgents(With("agent-token-0001", sync))), 200) << "nothing has changed";
  EXPECT_EQ(StatusOf(AskAgents(With("agent-token-0001", leave))), 204);
}

TEST_F(HostileClientsTest, NewRulesHoldOnConnectionsThereAre) {
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send(Get("/v1/status", kViewer));
  EXPECT_EQ(StatusOf(probe.Receive()), 200);
  AccessRules rules = options_.access;
  rules.tokens.erase(rules.tokens.begin());
  server_->SetAccess(rules, options_.api_rate_limit);
  std::string response;
  // The rules travel to the plane's thread.
  for (int i = 0; i < 1000 && StatusOf(response) != 401; ++i) {
    probe.Send(Get("/v1/status", kViewer));
    response = probe.Receive();
  }
  EXPECT_EQ(StatusOf(response), 401);
}

}  // namespace
}  // namespace plimsoll
