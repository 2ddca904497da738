// The real server with the real core on loopback sockets, spoken to byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "api/http/src/store_writer.h"
#include "controller/operations/policy_book.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/server.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/wire/codec.h"
#include "tests/integration/http_probe.h"
#include "tests/integration/waiting.h"
#include "tests/unit/api/prometheus_text.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Policy SamplePolicy() {
  Policy policy;
  policy.name = DependencyId("payments-api");
  policy.quota = 50;
  policy.algorithm.floor = 1;
  policy.algorithm.ceiling = 100;
  policy.call_deadline = absl::Seconds(1);
  return policy;
}

class HttpServerTest : public ::testing::Test {
 protected:
  void TearDown() override {
    if (server_ != nullptr) server_->Stop();
  }

  // Starts the server; a test may change the options before.
  void Start() {
    CoreOptions core_options;
    core_options.sync_min = absl::Milliseconds(1);
    core_options.hold_max = hold_;
    core_options.lease = 10 * hold_;
    const Policy policy = SamplePolicy();
    const absl::StatusOr<StoreState> state = store_->TakeOver();
    ASSERT_TRUE(state.ok()) << state.status();
    RealClock().Refresh();
    PolicyBookOptions book;
    book.file_policies = {{policy.name, policy}};
    book.hash = options_.config_hash;
    book.reread = [this] { return reading_; };
    book_ = std::make_unique<PolicyBook>(book, state->documents, RealClock().WallTime());
    options_.operations = book_.get();
    core_ = std::make_unique<Core>(core_options, PolicySet{{policy.name, policy}}, *state,
                                   RealClock().Now());
    options_.version = "0.1.0";
    options_.state_mode = "MEMORY";
    options_.tick = absl::Milliseconds(20);
    server_ = std::make_unique<Server>(options_, *core_, *store_, RealClock());
    const absl::Status started = server_->Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // The configuration file is read anew, and is like this.
  void Read(FileReading reading) {
    reading_ = std::move(reading);
    AskApi(Post("/v1/config:reload", ""));
  }

  std::string AskAgentPlane(const std::string& request) {
    HttpProbe probe(server_->agent_port());
    probe.Send(request);
    return probe.Receive();
  }
  std::string AskApi(const std::string& request) {
    HttpProbe probe(server_->api_port());
    probe.Send(request);
    return probe.Receive();
  }
  Json ApiJson(const std::string& target) {
    const std::string response = AskApi(Get(target));
    EXPECT_EQ(StatusOf(response), 200) << response;
    return Json::parse(BodyOf(response));
  }

  RegisterAnswer Register(const std::string& instance) {
    RegisterRequest request;
    request.service = ServiceId("checkout");
    request.instance = InstanceId(instance);
    request.nonce = instance;
    request.agent_version = "0.1.0";
    request.dependencies = {DependencyId("payments-api")};
    const std::string response = AskAgentPlane(Post("/v1/agent/sessions", Encode(request)));
    EXPECT_EQ(StatusOf(response), 201) << response;
    absl::StatusOr<RegisterAnswer> answer = DecodeRegisterAnswer(BodyOf(response));
    EXPECT_TRUE(answer.ok()) << answer.status();
    EXPECT_THAT(response, HasSubstr("Location: /v1/agent/sessions/" + answer->session.value));
    return answer.value_or(RegisterAnswer{});
  }

  static SyncRequest MakeSync(std::int64_t n, absl::Duration hold, const GrantStamp& installed,
                              const Steps& in_force) {
    SyncRequest sync;
    sync.n = SyncNumber(n);
    sync.epoch = installed.epoch;
    sync.hold = hold;
    DependencyReport report;
    report.dependency = DependencyId("payments-api");
    report.installed = installed;
    report.in_force = in_force;
    sync.dependencies = {report};
    return sync;
  }

  static std::string PostSync(const SessionId& session, const SyncRequest& sync) {
    return Post("/v1/agent/sessions/" + session.value + "/sync", Encode(sync));
  }

  // Syncs until a grant with a limit has come, and returns the number of the next sync.
  std::int64_t SyncUntilGranted(const SessionId& session, GrantStamp& installed, Steps& steps) {
    std::int64_t n = 1;
    for (; n < 100 && steps.limit == 0; ++n) {
      const std::string response =
          AskAgentPlane(PostSync(session, MakeSync(n, absl::Milliseconds(50), installed, steps)));
      const absl::StatusOr<SyncAnswer> answer = DecodeSyncAnswer(BodyOf(response));
      EXPECT_TRUE(answer.ok()) << response;
      if (!answer.ok()) break;
      for (const Grant& grant : answer->grants) {
        installed = grant.stamp;
        steps = grant.steps;
      }
    }
    EXPECT_GT(steps.limit, 0);
    return n;
  }

  // Registers and syncs on `probe` until there is nothing left to say, so that the answer is held.
  // Leaves the number of the held sync in `n`.
  SessionId HoldSync(HttpProbe& probe, std::int64_t& n) {
    const SessionId session = Register("checkout-0").session;
    GrantStamp installed;
    Steps steps;
    for (n = SyncUntilGranted(session, installed, steps); n < 200; ++n) {
      probe.Send(PostSync(session, MakeSync(n, hold_, installed, steps)));
      if (probe.IsSilentFor(absl::Milliseconds(250))) return session;
      const absl::StatusOr<SyncAnswer> answer = DecodeSyncAnswer(BodyOf(probe.Receive()));
      EXPECT_TRUE(answer.ok()) << answer.status();
      for (const Grant& grant : answer.value_or(SyncAnswer{}).grants) {
        installed = grant.stamp;
        steps = grant.steps;
      }
    }
    ADD_FAILURE() << "no sync was held";
    return session;
  }

  std::unique_ptr<Store> store_ = MakeMemoryStore(1);
  FileReading reading_;
  std::unique_ptr<PolicyBook> book_;
  std::unique_ptr<Core> core_;
  absl::Duration hold_ = absl::Seconds(1);  // the longest of a sync
  ServerOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(HttpServerTest, AgentRegistersSyncsAndLeaves) {
  Start();
  const SessionId session = Register("checkout-0").session;
  GrantStamp installed;
  Steps steps;
  SyncUntilGranted(session, installed, steps);
  EXPECT_EQ(ApiJson("/v1/instances/checkout-0")["state"], "CONNECTED");
  const std::string release =
      "DELETE /v1/agent/sessions/" + session.value + " HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string response = AskAgentPlane(release);
  EXPECT_EQ(StatusOf(response), 204) << response;
  EXPECT_THAT(response, Not(HasSubstr("Content-Length")));
  EXPECT_EQ(StatusOf(AskAgentPlane(release)), 204);
}

TEST_F(HttpServerTest, UnknownSessionIs404WithTheEpoch) {
  Start();
  const std::string response =
      AskAgentPlane(PostSync(SessionId("1-999"), MakeSync(1, absl::ZeroDuration(), {}, {})));
  EXPECT_EQ(StatusOf(response), 404);
  const absl::StatusOr<Refusal> refusal = DecodeRefusal(BodyOf(response));
  ASSERT_TRUE(refusal.ok()) << response;
  EXPECT_EQ(refusal->code, RefusalCode::kSessionUnknown);
  EXPECT_GE(refusal->epoch.value, 1);
}

TEST_F(HttpServerTest, StaleNumberIs409AndChangesNothing) {
  Start();
  const SessionId session = Register("checkout-0").session;
  const auto ask = [&](std::int64_t n) {
    return AskAgentPlane(PostSync(session, MakeSync(n, absl::ZeroDuration(), {}, {})));
  };
  EXPECT_EQ(StatusOf(ask(5)), 200);
  EXPECT_EQ(StatusOf(ask(4)), 409);
  EXPECT_THAT(ask(4), HasSubstr("STALE_SYNC"));
  EXPECT_EQ(StatusOf(ask(6)), 200);
}

TEST_F(HttpServerTest, FaultyBodyIs400WithPointers) {
  Start();
  const std::string response = AskAgentPlane(Post("/v1/agent/sessions", R"({"service":5})"));
  EXPECT_EQ(StatusOf(response), 400);
  EXPECT_THAT(response, HasSubstr("Content-Type: application/problem+json"));
  const Json problem = Json::parse(BodyOf(response));
  EXPECT_EQ(problem["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(problem["errors"][0]["pointer"], "/service");
  EXPECT_EQ(problem["errors"][0]["code"], "WRONG_TYPE");
  EXPECT_GE(problem["epoch"], 1);
  EXPECT_EQ(problem["instance"], "/v1/agent/sessions");
  EXPECT_FALSE(problem["request_id"].get<std::string>().empty());
}

TEST_F(HttpServerTest, EachBreachOfHttpHasItsAnswer) {
  Start();
  const struct {
    std::string request;
    int status;
    const char* code;
  } table[] = {
      {Get("/v1/agent/nothing"), 404, "NOT_FOUND"},
      {Get("/v1/agent/sessions"), 405, "METHOD_NOT_ALLOWED"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\r\n", 411,
       "LENGTH_REQUIRED"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
       "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
       411, "LENGTH_REQUIRED"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 415,
       "UNSUPPORTED_MEDIA_TYPE"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
       "Transfer-Encoding: chunked\r\n\r\n{}",
       400, "INVALID_ARGUMENT"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n", 413,
       "BODY_TOO_LARGE"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400,
       "INVALID_ARGUMENT"},
      {"POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n"
       "\r\nab",
       400, "INVALID_ARGUMENT"},
      {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414, "URI_TOO_LONG"},
      {Get("/", "X: " + std::string(9000, 'a') + "\r\n"), 431, "HEADER_TOO_LARGE"},
      {Get("/", "Host: again\r\n"), 400, "INVALID_ARGUMENT"},
      {"GET / HTTP/1.1\r\n\r\n", 400, "INVALID_ARGUMENT"},
      {"nonsense\r\n\r\n", 400, "INVALID_ARGUMENT"},
      {"PRI * HTTP/2.0\r\n\r\n", 400, "INVALID_ARGUMENT"},
      {"\x16\x03\x01 hello\r\n\r\n", 400, "INVALID_ARGUMENT"},
      {Get("/", "Expect: wonders\r\n"), 417, "INVALID_ARGUMENT"},
  };
  for (const auto& row : table) {
    const std::string response = AskAgentPlane(row.request);
    EXPECT_EQ(StatusOf(response), row.status) << row.request.substr(0, 100) << response;
    EXPECT_THAT(response, HasSubstr(std::string("\"code\":\"") + row.code + "\""));
  }
  EXPECT_THAT(AskAgentPlane(Get("/v1/agent/sessions")), HasSubstr("Allow: POST\r\n"));
}

TEST_F(HttpServerTest, RefusedClientIsClosedAndTheOthersAreServed) {
  Start();
  HttpProbe probe(server_->agent_port());
  probe.Send("POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n");
  // The peer may close while we still send.
  for (int i = 0; i < 20 && probe.Send(std::string(100'000, 'x')); ++i) {
  }
  const std::string response = probe.ReceiveAll();
  EXPECT_EQ(StatusOf(response), 413);
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  Register("checkout-0");
}

TEST_F(HttpServerTest, SlowClientIsAnsweredAndCutOff) {
  options_.agent_limits.request_time_max = absl::Milliseconds(100);
  Start();
  HttpProbe head(server_->agent_port());
  HttpProbe body(server_->agent_port());
  HttpProbe well(server_->agent_port());
  head.Send("POST /v1/agent/sessions HTTP/1.1\r\nHost:");
  body.Send("POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_EQ(StatusOf(head.ReceiveAll()), 408);
  EXPECT_EQ(StatusOf(body.ReceiveAll()), 408);
  // One that has not begun a request is idle, not slow.
  well.Send(Get("/v1/agent/nothing"));
  EXPECT_EQ(StatusOf(well.Receive()), 404);
}

TEST_F(HttpServerTest, IdleConnectionIsClosedWithoutAWord) {
  options_.api_limits.idle_time_max = absl::Milliseconds(100);
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send(Get("/livez"));
  EXPECT_EQ(StatusOf(probe.Receive()), 200);
  EXPECT_EQ(probe.ReceiveAll(), "");
}

TEST_F(HttpServerTest, ConnectionsAboveTheCapAreClosedAndCounted) {
  options_.agent_limits.connections_max = 2;
  Start();
  HttpProbe first(server_->agent_port());
  HttpProbe second(server_->agent_port());
  second.Send(Get("/v1/agent/nothing"));
  EXPECT_EQ(StatusOf(second.Receive()), 404);
  HttpProbe third(server_->agent_port());
  third.Send(Get("/v1/agent/nothing"));
  EXPECT_EQ(third.ReceiveAll(), "");
  const PrometheusPage page = ParsePrometheusText(BodyOf(AskApi(Get("/metrics"))));
  EXPECT_EQ(page.Value(R"(plimsoll_controller_http_connections_refused_total{plane="agent"})"), 1);
  EXPECT_EQ(page.Value(R"(plimsoll_controller_http_connections{plane="agent"})"), 2);
}

TEST_F(HttpServerTest, RequestsOnOneConnectionAreAnsweredInTurn) {
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send(Get("/livez") + Get("/v1/version") + Get("/v1/nothing") +
             "HEAD /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(BodyOf(probe.Receive()), "ok\n");
  EXPECT_THAT(probe.Receive(), HasSubstr(R"("version":"0.1.0")"));
  EXPECT_EQ(StatusOf(probe.Receive()), 404);
  const std::string head = probe.ReceiveAll();
  EXPECT_THAT(head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_EQ(BodyOf(head), "");
}

TEST_F(HttpServerTest, BodyOfAGetIsNotTakenForARequest) {
  Start();
  HttpProbe probe(server_->api_port());
  const std::string inner = Get("/v1/status");
  probe.Send(Get("/livez", "Content-Length: " + std::to_string(inner.size()) + "\r\n") + inner +
             Get("/v1/version", "Connection: close\r\n"));
  const std::string all = probe.ReceiveAll();
  EXPECT_THAT(all, HasSubstr("\"api\":\"v1\""));
  EXPECT_THAT(all, Not(HasSubstr("uptime_seconds")));
}

TEST_F(HttpServerTest, HttpOneDotZeroIsAnsweredAndClosed) {
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send("GET /livez HTTP/1.0\r\n\r\n");
  const std::string response = probe.ReceiveAll();
  EXPECT_EQ(StatusOf(response), 200);
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  HttpProbe keep(server_->api_port());
  keep.Send("GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(keep.Receive(), HasSubstr("Connection: keep-alive"));
}

TEST_F(HttpServerTest, ClientThatAsksFirstIsToldToContinue) {
  Start();
  HttpProbe probe(server_->agent_port());
  probe.Send(
      "POST /v1/agent/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
      "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(StatusOf(probe.Receive()), 100);
  probe.Send("{}");
  EXPECT_EQ(StatusOf(probe.Receive()), 400);
}

TEST_F(HttpServerTest, EveryAnswerSaysWhichRequestItBelongsTo) {
  Start();
  const std::string given = AskApi(Get("/livez", "X-Request-Id: abc-1\r\n"));
  EXPECT_THAT(given, HasSubstr("X-Request-Id: abc-1\r\n"));
  EXPECT_THAT(given, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(given, HasSubstr("Server: plimsoll/0.1.0\r\n"));
  EXPECT_THAT(given, ContainsRegex("Date: [A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ [0-9: ]+ GMT\r\n"));
  const std::string absurd =
      AskApi(Get("/livez", "X-Request-Id: " + std::string(129, 'x') + "\r\n"));
  EXPECT_THAT(absurd, Not(HasSubstr("xxxx")));
  EXPECT_THAT(absurd, HasSubstr("X-Request-Id: "));
}

TEST_F(HttpServerTest, ForeignHostHeaderIs403) {
  Start();
  const std::string request = "GET /v1/status HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  EXPECT_EQ(StatusOf(AskApi(request)), 403);
  EXPECT_THAT(AskApi(request), HasSubstr("PERMISSION_DENIED"));
  EXPECT_EQ(StatusOf(AskApi(Get("/v1/status"))), 200);
}

TEST_F(HttpServerTest, NewerSyncReleasesTheHeldOne) {
  Start();
  HttpProbe held(server_->agent_port());
  std::int64_t n = 0;
  const SessionId session = HoldSync(held, n);
  EXPECT_EQ(ApiJson("/v1/status")["agents"]["held_syncs"], 1);
  const std::string newer =
      AskAgentPlane(PostSync(session, MakeSync(n + 1, absl::ZeroDuration(), {}, {})));
  EXPECT_EQ(StatusOf(newer), 200);
  const absl::StatusOr<SyncAnswer> released = DecodeSyncAnswer(BodyOf(held.Receive()));
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_TRUE(released->superseded);
}

TEST_F(HttpServerTest, HeldSyncWhoseClientIsGoneIsForgotten) {
  Start();
  HttpProbe held(server_->agent_port());
  std::int64_t n = 0;
  HoldSync(held, n);
  const auto held_syncs = [this] {
    return ApiJson("/v1/status")["agents"]["held_syncs"].get<int>();
  };
  ASSERT_EQ(held_syncs(), 1);
  held.Close();
  // Long before the hold would have ended by itself; the snapshot may be 200 ms old.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(held_syncs(), 0);
}

TEST_F(HttpServerTest, HeldSyncWhoseClientHasSentMoreAndIsGoneIsForgotten) {
  hold_ = absl::Seconds(4);
  Start();
  HttpProbe held(server_->agent_port());
  std::int64_t n = 0;
  HoldSync(held, n);
  held.Send("G");
  held.Close();
  EXPECT_TRUE(Until(absl::Seconds(2), [this] {
    return ApiJson("/v1/status")["agents"]["held_syncs"].get<int>() == 0;
  }));
}

TEST_F(HttpServerTest, WhatIsSentAheadWhileASyncIsHeldIsAnsweredAfterIt) {
  Start();
  HttpProbe held(server_->agent_port());
  std::int64_t n = 0;
  const SessionId session = HoldSync(held, n);
  const std::string next = Get("/v1/agent/shards");
  held.Send(next + next.substr(0, 9));
  EXPECT_TRUE(held.IsSilentFor(absl::Milliseconds(100)));
  AskAgentPlane(PostSync(session, MakeSync(n + 1, absl::ZeroDuration(), {}, {})));
  const absl::StatusOr<SyncAnswer> released = DecodeSyncAnswer(BodyOf(held.Receive()));
  ASSERT_TRUE(released.ok()) << released.status();
  EXPECT_EQ(StatusOf(held.Receive()), 200);
  held.Send(next.substr(9));
  EXPECT_THAT(held.Receive(), HasSubstr("\"shards\":1"));
}

TEST_F(HttpServerTest, StopAnswersHeldSyncsWith503) {
  Start();
  HttpProbe held(server_->agent_port());
  HttpProbe idle(server_->agent_port());
  std::int64_t n = 0;
  HoldSync(held, n);
  server_->Stop();
  const std::string response = held.ReceiveAll();
  EXPECT_EQ(StatusOf(response), 503) << response;
  EXPECT_THAT(response, HasSubstr("Retry-After: 0"));
  EXPECT_THAT(response, HasSubstr("NOT_READY"));
  EXPECT_THAT(response, HasSubstr("Connection: close"));
  EXPECT_EQ(idle.ReceiveAll(), "");
  EXPECT_FALSE(HttpProbe(server_->agent_port()).connected());
  server_->Stop();
}

// The event streams of the operator plane.
class WatchTest : public HttpServerTest {
 protected:
  // Opens a stream and reads its first words, up to the id from which it could be resumed.
  std::string Open(HttpProbe& probe, const std::string& headers = "") {
    probe.Send(Get("/v1/watch", headers));
    const std::string head = probe.ReceiveUntil("retry: 2000\n");
    EXPECT_EQ(StatusOf(head), 200) << head;
    EXPECT_THAT(head, HasSubstr("Content-Type: text/event-stream\r\n"));
    EXPECT_THAT(head, Not(HasSubstr("Content-Length")));
    if (!headers.empty()) return "";
    const std::string id = probe.ReceiveUntil("\n\n");
    EXPECT_THAT(id, ::testing::StartsWith("id: "));
    return id.substr(4, id.size() - 6);
  }
  // More streams come at once than one caller may ask for.
  void SetUp() override { options_.api_rate_limit = {.per_second = 10'000, .burst = 10'000}; }
  Json Watchers() { return ApiJson("/v1/status")["watchers"]; }
  void Configure(const std::string& hash) {
    const Policy policy = SamplePolicy();
    Read({.policies = PolicySet{{policy.name, policy}}, .hash = hash});
  }
};

TEST_F(WatchTest, AStreamTellsWhatChanges) {
  Start();
  HttpProbe probe(server_->api_port());
  Open(probe);
  Register("checkout-0");
  const std::string told = probe.ReceiveUntil("event: instance\ndata: ");
  EXPECT_THAT(told, HasSubstr("INSTANCE_JOINED"));
  EXPECT_EQ(Json::parse(probe.ReceiveUntil("\n"))["instance_id"], "checkout-0");
}

TEST_F(WatchTest, AStreamIsResumedWhereItBroke) {
  Start();
  HttpProbe first(server_->api_port());
  const std::string id = Open(first);
  first.Close();
  Configure("beef");
  HttpProbe second(server_->api_port());
  Open(second, "Last-Event-ID: " + id + "\r\n");
  EXPECT_THAT(second.ReceiveUntil("beef"), HasSubstr("event: config"));
  const std::string gone = AskApi(Get("/v1/watch", "Last-Event-ID: 1-1\r\n"));
  EXPECT_EQ(StatusOf(gone), 410);
  EXPECT_THAT(gone, HasSubstr("REVISION_COMPACTED"));
}

TEST_F(WatchTest, OneStreamTooManyIsRefusedAndTheRestIsServed) {
  options_.watchers_max = 1;
  Start();
  HttpProbe probe(server_->api_port());
  Open(probe);
  const std::string response = AskApi(Get("/v1/watch"));
  EXPECT_EQ(StatusOf(response), 503);
  EXPECT_THAT(response, HasSubstr("WATCHERS_EXHAUSTED"));
  EXPECT_THAT(response, HasSubstr("Retry-After: 5\r\n"));
  EXPECT_EQ(Watchers()["open"], 1);
  EXPECT_EQ(Watchers()["refused_total"], 1);
}

TEST_F(WatchTest, HeadIsAnsweredWithoutAStream) {
  Start();
  HttpProbe probe(server_->api_port());
  probe.Send("HEAD /v1/watch HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string response = probe.ReceiveAll();
  EXPECT_EQ(StatusOf(response), 200);
  EXPECT_THAT(response, HasSubstr("text/event-stream"));
  EXPECT_EQ(BodyOf(response), "");
  EXPECT_EQ(Watchers()["open"], 0);
}

TEST_F(WatchTest, AReaderThatVanishedIsForgotten) {
  Start();
  HttpProbe probe(server_->api_port());
  Open(probe);
  EXPECT_EQ(Watchers()["open"], 1);
  probe.Close();
  for (int tries = 0; tries < 100 && Watchers()["open"] != 0; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(Watchers()["open"], 0);
}

TEST_F(WatchTest, ASlowReaderIsCutOffAndCountedAndTheOthersAreServed) {
  options_.api_limits.write_time_max = absl::Seconds(1);
  Start();
  HttpProbe slow(server_->api_port());
  HttpProbe quick(server_->api_port());
  Open(slow);
  Open(quick);
  // More than the system keeps for a reader that does not read.
  for (int i = 0; i < 40; ++i) {
    const std::string hash = std::to_string(i) + std::string(200'000, 'x') + "end";
    Configure(hash);
    EXPECT_THAT(quick.ReceiveUntil("xend\"}\n\n"), HasSubstr("event: config"));
  }
  for (int tries = 0; tries < 500 && Watchers()["closed_slow_total"] == 0; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(Watchers()["closed_slow_total"], 1);
  EXPECT_EQ(Watchers()["open"], 1);
  EXPECT_THAT(AskApi(Get("/metrics")), HasSubstr("\nplimsoll_controller_watchers 1\n"));
}

TEST_F(WatchTest, ManyStreamsGetTheSame) {
  Start();
  std::vector<std::unique_ptr<HttpProbe>> probes;
  for (int i = 0; i < 200; ++i) {
    probes.push_back(std::make_unique<HttpProbe>(server_->api_port()));
    Open(*probes.back());
  }
  Configure("beef");
  for (const auto& probe : probes) {
    EXPECT_THAT(probe->ReceiveUntil("beef\"}\n\n"), HasSubstr("event: config"));
  }
}

TEST_F(WatchTest, StreamsEndWithGoodByeWhenTheServerStops) {
  Start();
  HttpProbe probe(server_->api_port());
  Open(probe);
  server_->Stop();
  EXPECT_THAT(probe.ReceiveAll(), HasSubstr("event: bye\n"));
}

TEST_F(HttpServerTest, WhatTheCallerKnowsIsNotSentAgain) {
  Start();
  const std::string first = AskApi(Get("/v1/openapi.json"));
  EXPECT_EQ(StatusOf(first), 200);
  EXPECT_EQ(Json::parse(BodyOf(first))["openapi"], "3.1.0");
  const std::size_t at = first.find("ETag: ") + 6;
  const std::string etag = first.substr(at, first.find('\r', at) - at);
  const std::string second = AskApi(Get("/v1/openapi.json", "If-None-Match: " + etag + "\r\n"));
  EXPECT_EQ(StatusOf(second), 304);
  EXPECT_EQ(BodyOf(second), "");
  EXPECT_THAT(second, HasSubstr("ETag: " + etag));
}

TEST_F(HttpServerTest, TheHistoryBeginsWithTheServer) {
  Start();
  Json columns;
  for (int tries = 0; tries < 100 && columns["granted"].empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    columns = ApiJson("/v1/timeseries?dependency=payments-api")["columns"];
  }
  EXPECT_EQ(columns["granted"], Json::array({0}));
}

TEST_F(HttpServerTest, MetricsTellHowTheConfigurationWasReadAndEveryRouteFromTheStart) {
  Start();
  Register("checkout-0");
  const auto page = [this] { return ParsePrometheusText(BodyOf(AskApi(Get("/metrics")))); };
  const std::string prefix = "plimsoll_controller_";
  const std::string successful = prefix + "config_last_reload_successful";
  const PrometheusPage first = page();
  EXPECT_EQ(first.Value(successful), 1);
  const double loaded = first.Value(prefix + "config_last_reload_success_timestamp_seconds");
  EXPECT_GT(loaded, 1e9);
  EXPECT_EQ(first.Value(prefix + R"(http_requests_total{plane="api",method="GET",)"
                                 R"(route="/v1/limits",code="200"})"),
            0);
  EXPECT_GT(first.Value(prefix + "decision_duration_seconds_count"), 0);
  Read({.faults = {{"", "CONFLICT", "it is broken"}}});
  EXPECT_EQ(page().Value(successful), 0);
  Read({.policies = PolicySet{}, .hash = "f00d"});
  const PrometheusPage last = page();
  EXPECT_EQ(last.Value(successful), 1);
  EXPECT_GE(last.Value(prefix + "config_last_reload_success_timestamp_seconds"), loaded);
}

TEST_F(HttpServerTest, MetricsParseAndCountTheRequests) {
  Start();
  Register("checkout-0");
  AskAgentPlane(Get("/v1/agent/nothing"));
  // A request is counted once its answer has been written, by when we may have it already.
  std::string response = AskApi(Get("/metrics"));
  for (int i = 0; i < 100 && response.find(R"(route="none",code="404"})") == std::string::npos;
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    response = AskApi(Get("/metrics"));
  }
  EXPECT_THAT(response, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8"));
  const PrometheusPage page = ParsePrometheusText(BodyOf(response));
  EXPECT_THAT(page.faults, IsEmpty());
  const std::string requests = "plimsoll_controller_http_requests_total";
  EXPECT_EQ(page.Value(requests + R"({plane="agent",method="POST",route="/v1/agent/sessions",)"
                                  R"(code="201"})"),
            1);
  EXPECT_EQ(page.Value(requests + R"({plane="agent",method="GET",route="none",code="404"})"), 1);
  EXPECT_EQ(page.Value("plimsoll_controller_sessions"), 1);
}

TEST_F(HttpServerTest, WhoHasAnAnswerFindsItCounted) {
  Start();
  const std::string counted =
      "plimsoll_controller_http_requests_total"
      R"({plane="agent",method="GET",route="none",code="404"})";
  for (int i = 1; i <= 50; ++i) {
    AskAgentPlane(Get("/v1/agent/nothing"));
    EXPECT_EQ(ParsePrometheusText(BodyOf(AskApi(Get("/metrics")))).Value(counted), i);
  }
}

TEST_F(HttpServerTest, RestViewsHaveTheirShape) {
  Start();
  const SessionId session = Register("checkout-0").session;
  GrantStamp installed;
  Steps steps;
  SyncUntilGranted(session, installed, steps);
  // The read model may be 200 ms old.
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  const Json limits = ApiJson("/v1/limits?dependency=payments-api");
  ASSERT_EQ(limits["items"].size(), 1u);
  for (const char* key : {"enforced", "algorithm_limit", "quota_share", "floor", "ceiling",
                          "in_flight", "binding_constraint", "lease_stage", "last_change"}) {
    EXPECT_TRUE(limits["items"][0].contains(key)) << key;
  }
  const std::string event = limits["items"][0]["last_change"]["event_id"];
  EXPECT_EQ(ApiJson("/v1/events/" + event)["type"], "LIMIT_CHANGED");
  EXPECT_GE(ApiJson("/v1/events")["items"].size(), 2u);
  EXPECT_EQ(ApiJson("/v1/dependencies/payments-api/quota")["capacity"], 50);
  EXPECT_EQ(ApiJson("/v1/status")["agents"]["connected"], 1);
}

TEST_F(HttpServerTest, AddressesThatCannotBeUsedAreErrors) {
  Core core(CoreOptions{}, PolicySet{}, StoreState{}, RealClock().Now());
  options_.api.address = "localhost";
  Server names(options_, core, *store_, RealClock());
  EXPECT_EQ(names.Start().code(), absl::StatusCode::kInvalidArgument);

  options_.api.address = "127.0.0.1";
  Start();
  ServerOptions taken = options_;
  taken.agents.port = server_->agent_port();
  Server second(taken, core, *store_, RealClock());
  EXPECT_EQ(second.Start().code(), absl::StatusCode::kUnavailable);
}

TEST_F(HttpServerTest, AgentsOfOtherVersionsAgreeOrAreToldWhatToUpgrade) {
  Start();
  const auto registration = [this](const std::string& versions) {
    return AskAgentPlane(Post(
        "/v1/agent/sessions",
        R"({"service":"a","instance_id":"b","nonce":"n","dependencies":[],)" + versions + "}"));
  };
  const std::string agreed = registration(R"("protocol":2,"protocol_min":1,"encodings":["dense"])");
  EXPECT_EQ(StatusOf(agreed), 201) << agreed;
  EXPECT_THAT(agreed, HasSubstr(R"("protocol":1)"));
  const std::string newer = registration(R"("protocol":3,"protocol_min":2,"encodings":[])");
  EXPECT_EQ(StatusOf(newer), 400);
  EXPECT_THAT(newer, HasSubstr("CONTROLLER_TOO_OLD"));
  EXPECT_THAT(newer, HasSubstr("upgrade all controllers first, then agents"));
  EXPECT_THAT(registration(R"("protocol":0)"), HasSubstr("AGENT_TOO_OLD"));

  const std::string path = "/v1/agent/sessions/" + Register("checkout-0").session.value + "/sync";
  const std::string sync = AskAgentPlane(Post(path, R"({"protocol":2,"all":"is different"})"));
  EXPECT_EQ(StatusOf(sync), 400);
  EXPECT_THAT(sync, HasSubstr("CONTROLLER_TOO_OLD"));
}

// What the watchdog of a service manager stands on.
TEST_F(HttpServerTest, WhetherItsThreadsAnswerIsKnown) {
  const auto becomes_true = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 500 && !flag; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return flag.load();
  };
  // Hangs the core's thread when the configuration was refused.
  std::atomic<bool> hangs = false;
  std::atomic<bool> release = false;
  options_.on_notice = [&](const LogEvent& event) {
    if (event.type != EventType::kConfigReloadFailed) return;
    hangs = true;
    EXPECT_TRUE(becomes_true(release));
  };
  Start();
  std::atomic<bool> answered = false;
  server_->AskThreads([&answered] { answered = true; });
  EXPECT_TRUE(becomes_true(answered));

  std::atomic<bool> read = false;
  reading_ = {};
  reading_.faults = {{"/laese", "UNKNOWN_KEY", "unknown key", "x.yaml", 1, 1}};
  server_->Reload("a test", [&read] { read = true; });
  ASSERT_TRUE(becomes_true(hangs));
  answered = false;
  server_->AskThreads([&answered] { answered = true; });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(answered);
  release = true;
  EXPECT_TRUE(becomes_true(answered));
  EXPECT_TRUE(becomes_true(read)) << "a refused reload is over, too";
}

// Or the watchdog would take a store that is given up for one that hangs.
TEST(StoreWriterTest, QuestionsAreAnsweredThoughItEnds) {
  const std::unique_ptr<Store> store = MakeMemoryStore(1);
  ASSERT_TRUE(store->TakeOver().ok());
  std::atomic<int> answers = 0;
  internal::StoreWriter writer(*store, RealClock(), [](WriteId, const absl::Status&) {});
  for (int i = 0; i < 100; ++i) writer.Ask([&answers] { ++answers; });
  writer.Stop();
  EXPECT_EQ(answers, 100);
  writer.Ask([&answers] { ++answers; });
  EXPECT_EQ(answers, 101);
}

}  // namespace
}  // namespace plimsoll
