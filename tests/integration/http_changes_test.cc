// What operators change over REST, on the real server with the real core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "controller/operations/policy_book.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/server.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/wire/codec.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

// Fails when it is told to.
class FragileStore final : public Store {
 public:
  explicit FragileStore(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  absl::StatusOr<StoreState> TakeOver() override { return store_->TakeOver(); }
  absl::Status Commit(const WriteBatch& batch) override {
    if (broken) return absl::UnavailableError("no disk");
    return store_->Commit(batch);
  }
  absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) override {
    reading = true;
    while (slow) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (broken) return absl::UnavailableError("no disk");
    return store_->ReadAudit(limit);
  }

  std::atomic<bool> broken = false;
  std::atomic<bool> slow = false;
  std::atomic<bool> reading = false;

 private:
  const std::unique_ptr<Store> store_;
};

struct Reply {
  int status = 0;
  std::string head;
  Json body;
};

class HttpChangesTest : public ::testing::Test {
 protected:
  HttpChangesTest() { Start(); }
  ~HttpChangesTest() override { server_->Stop(); }

  void Start() {
    Policy policy;
    policy.name = DependencyId("file-db");
    policy.quota = 50;
    policy.algorithm.floor = 1;
    policy.algorithm.ceiling = 100;
    policy.call_deadline = absl::Seconds(1);
    const absl::StatusOr<StoreState> state = store_.TakeOver();
    ASSERT_TRUE(state.ok()) << state.status();
    PolicyBookOptions book;
    book.file_policies = {{policy.name, policy}};
    book.hash = "f00d";
    book.reread = [this] { return reading_; };
    book.check = [](const std::string& text) {
      std::vector<ChangeFault> faults;
      if (text != "dependencies: []") {
        faults.push_back({"/laese", "UNKNOWN_KEY", "unknown key", "x.yaml", 1, 1});
      }
      return faults;
    };
    RealClock().Refresh();
    book_ = std::make_unique<PolicyBook>(book, state->documents, RealClock().WallTime());
    core_ =
        std::make_unique<Core>(CoreOptions{}, book_->InForce().policies, *state, RealClock().Now());
    ServerOptions options;
    options.version = "0.1.0";
    options.tick = absl::Milliseconds(20);
    options.operations = book_.get();
    server_ = std::make_unique<Server>(options, *core_, store_, RealClock());
    ASSERT_TRUE(server_->Start().ok());
  }

  Reply Ask(const std::string& method, const std::string& target, const std::string& body = "",
            const std::string& headers = "") {
    HttpProbe probe(server_->api_port());
    std::string request = method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers;
    if (!body.empty()) {
      request +=
          "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n";
    }
    probe.Send(request + "\r\n" + body);
    const std::string response = probe.Receive();
    Reply reply{StatusOf(response), response.substr(0, response.find("\r\n\r\n")), {}};
    const std::string text = BodyOf(response);
    if (!text.empty()) reply.body = Json::parse(text);
    return reply;
  }

  // An agent that syncs once, and is told what it gets at once.
  SessionId Join(const std::string& instance, const std::string& dependency) {
    RegisterRequest request;
    request.service = ServiceId("shop");
    request.instance = InstanceId(instance);
    request.nonce = instance;
    request.dependencies = {DependencyId(dependency)};
    HttpProbe probe(server_->agent_port());
    probe.Send(Post("/v1/agent/sessions", Encode(request)));
    return DecodeRegisterAnswer(BodyOf(probe.Receive())).value_or(RegisterAnswer{}).session;
  }
  // The limit of the grant that came last.
  Calls Sync(const SessionId& session, const std::string& dependency) {
    SyncRequest sync;
    sync.n = SyncNumber(++n_);
    sync.epoch = core_epoch_;
    sync.hold = absl::Milliseconds(30);
    DependencyReport report;
    report.dependency = DependencyId(dependency);
    report.installed = installed_;
    report.in_force = in_force_;
    sync.dependencies = {report};
    HttpProbe probe(server_->agent_port());
    probe.Send(Post("/v1/agent/sessions/" + session.value + "/sync", Encode(sync)));
    const std::string response = probe.Receive();
    const absl::StatusOr<SyncAnswer> answer = DecodeSyncAnswer(BodyOf(response));
    if (!answer.ok()) return -1;
    core_epoch_ = answer->epoch;
    for (const Grant& grant : answer->grants) {
      installed_ = grant.stamp;
      in_force_ = grant.steps;
    }
    return in_force_.limit;
  }
  bool SyncUntil(const SessionId& session, const std::string& dependency, Calls limit) {
    for (int i = 0; i < 200; ++i) {
      if (Sync(session, dependency) == limit) return true;
    }
    return false;
  }

  static std::string Pin(int limit) {
    const absl::Time end = RealClock().WallTime() + absl::Hours(1);
    return R"({"reason":"INC-12","limit":)" + std::to_string(limit) + R"(,"expire_time":")" +
           absl::FormatTime(absl::RFC3339_full, end, absl::UTCTimeZone()) + "\"}";
  }

  FragileStore store_{MakeMemoryStore(1)};
  FileReading reading_;
  std::unique_ptr<PolicyBook> book_;
  std::unique_ptr<Core> core_;
  std::unique_ptr<Server> server_;
  std::int64_t n_ = 0;
  Epoch core_epoch_;
  GrantStamp installed_;
  Steps in_force_;
};

TEST_F(HttpChangesTest, ADependencyIsMadeShownPatchedAndDeleted) {
  Reply reply = Ask("PUT", "/v1/dependencies/db", R"({"quota":{"capacity":40},"floor":2})");
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_THAT(reply.head, HasSubstr("Location: /v1/dependencies/db"));
  EXPECT_THAT(reply.head, HasSubstr("ETag: \"dependencies."));
  EXPECT_EQ(reply.body["origin"], "API");
  EXPECT_EQ(reply.body["quota"]["capacity"], 40);
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db").body["revision"], reply.body["revision"]);
  reply = Ask("PATCH", "/v1/dependencies/db", R"({"quota":{"capacity":30}})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body["quota"]["capacity"], 30);
  EXPECT_EQ(reply.body["floor"], 2);
  reply = Ask("PUT", "/v1/dependencies/db/quota", R"({"capacity":25})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body["capacity"], 25);
  EXPECT_EQ(Ask("GET", "/v1/dependencies?origin=api").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/v1/dependencies?origin=FILE&mode=enforce").body["items"].size(), 1U);
  EXPECT_EQ(Ask("GET", "/v1/dependencies?mode=OBSERVE").body["items"].size(), 0U);
  EXPECT_EQ(Ask("DELETE", "/v1/dependencies/db").status, 204);
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db").status, 404);
}

TEST_F(HttpChangesTest, WhatGetSaysCanBePutBackAndChangesNothing) {
  const std::string body = R"({
    "description":"x","mode":"OBSERVE","scope":"INSTANCE","algorithm":"GRADIENT2","floor":2,
    "ceiling":90,"call_deadline":"90s","window":{"length":"1500ms","min_samples":7},
    "quota":{"capacity":40,"services":{"shop":{"weight":2.5,"min_share":3}}},
    "outage":{"base_lease":"61s"},"breaker":{"consecutive_failures":9}})";
  ASSERT_EQ(Ask("PUT", "/v1/dependencies/db", body).status, 201);
  Json first = Ask("GET", "/v1/dependencies/db").body;
  const Reply put = Ask("PUT", "/v1/dependencies/db", first.dump());
  EXPECT_EQ(put.status, 200) << put.body;
  Json second = Ask("GET", "/v1/dependencies/db").body;
  for (Json* view : {&first, &second}) {
    for (const char* key : {"status", "revision", "update_time"}) view->erase(key);
  }
  EXPECT_EQ(first, second);
  EXPECT_EQ(
      Ask("PUT", "/v1/dependencies/db/quota", Ask("GET", "/v1/dependencies/db/quota").body.dump())
          .status,
      200);
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db").body["quota"], first["quota"]);
}

TEST_F(HttpChangesTest, AnOverrideReachesTheGrantAndSaysWhy) {
  const SessionId session = Join("shop-1", "file-db");
  EXPECT_EQ(Ask("GET", "/v1/dependencies/file-db/override").status, 404);
  Reply reply = Ask("PUT", "/v1/dependencies/file-db/override", Pin(7));
  EXPECT_EQ(reply.status, 201) << reply.body;
  EXPECT_EQ(reply.body["limit"], 7);
  EXPECT_EQ(reply.body["set_by"], "anonymous");
  EXPECT_TRUE(SyncUntil(session, "file-db", 7));
  EXPECT_EQ(Ask("GET", "/v1/dependencies/file-db").body["override"]["reason"], "INC-12");
  EXPECT_EQ(Ask("PUT", "/v1/dependencies/file-db/override", Pin(5)).status, 200);
  EXPECT_TRUE(SyncUntil(session, "file-db", 5));
  Sync(session, "file-db");
  // The read model is up to 200 ms old.
  Json row = Ask("GET", "/v1/limits/file-db/shop-1").body;
  for (int i = 0; i < 100 && row["enforced"] != 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    row = Ask("GET", "/v1/limits/file-db/shop-1").body;
  }
  EXPECT_EQ(row["binding_constraint"], "OVERRIDE");
  EXPECT_EQ(row["last_change"]["reason"], "OVERRIDE_SET");
  const Json why =
      Ask("POST", "/v1/dependencies/file-db:explain", R"({"instance_id":"shop-1"})").body;
  EXPECT_EQ(why["binding_constraint"], "OVERRIDE");
  std::string names;
  for (const Json& step : why["steps"]) names += step["name"].get<std::string>() + " ";
  EXPECT_EQ(names, "algorithm bounds override quota ");
  EXPECT_THAT(why["steps"][2]["text"].get<std::string>(),
              HasSubstr("anonymous pins the limit of each instance to 5"));
  EXPECT_EQ(why["steps"][3]["value"], 5);
  EXPECT_EQ(Ask("GET", "/v1/events?type=OVERRIDE_SET").body["items"].size(), 2U);
  EXPECT_EQ(Ask("DELETE", "/v1/dependencies/file-db/override").status, 204);
  EXPECT_EQ(Ask("DELETE", "/v1/dependencies/file-db/override").status, 404);
}

TEST_F(HttpChangesTest, SamplesAreJudgedWithoutChangingAnything) {
  ASSERT_EQ(Ask("PUT", "/v1/dependencies/db",
                R"({"algorithm":"AIMD","aimd":{"latency_threshold":"50ms"},"scope":"INSTANCE",)"
                R"("initial":8,"floor":1,"ceiling":20})")
                .status,
            201);
  Sync(Join("shop-1", "db"), "db");
  const std::string body = R"({"instance_id":"shop-1","samples":[{"latency_seconds":0.01,)"
                           R"("succeeded":100,"in_flight_max":8}]})";
  Reply reply = Ask("POST", "/v1/dependencies/db:explain", body);
  // The read model is up to 200 ms old.
  for (int i = 0; i < 100 && reply.status == 404; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reply = Ask("POST", "/v1/dependencies/db:explain", body);
  }
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body["trial"]["algorithm_limit"], 9);
  const Json decision = reply.body["trial"]["decisions"][0];
  EXPECT_EQ(decision["outcome"], "USED");
  EXPECT_EQ(decision["reason"], "LATENCY_FELL");
  EXPECT_THAT(decision["message"].get<std::string>(), HasSubstr("8 → 9"));
  EXPECT_EQ(Ask("POST", "/v1/dependencies/db:explain", body).body["trial"], reply.body["trial"]);
  EXPECT_FALSE(Ask("POST", "/v1/dependencies/db:explain", R"({"instance_id":"shop-1"})")
                   .body.contains("trial"));
}

TEST_F(HttpChangesTest, AnEvictedInstanceMustRegisterAgain) {
  const SessionId session = Join("shop-1", "file-db");
  Sync(session, "file-db");
  EXPECT_EQ(Ask("DELETE", "/v1/instances/nobody").status, 404);
  EXPECT_EQ(Ask("DELETE", "/v1/instances/shop-1").status, 204);
  EXPECT_EQ(Sync(session, "file-db"), -1);
  EXPECT_EQ(Ask("GET", "/v1/instances/shop-1").body["state"], "EVICTED");
}

TEST_F(HttpChangesTest, WhatIsInUseIsDeletedByForceOnly) {
  ASSERT_EQ(Ask("PUT", "/v1/dependencies/db", R"({"quota":{"capacity":40}})").status, 201);
  Sync(Join("shop-1", "db"), "db");
  Reply reply = Ask("DELETE", "/v1/dependencies/db");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.body["code"], "IN_USE");
  EXPECT_EQ(Ask("DELETE", "/v1/dependencies/db?force=true").status, 204);
}

TEST_F(HttpChangesTest, ResetIsTold) {
  const Reply reply = Ask("POST", "/v1/dependencies/file-db:reset");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Ask("POST", "/v1/dependencies/none:reset").status, 404);
  const Json events = Ask("GET", "/v1/events?type=DEPENDENCY_UPDATED").body["items"];
  ASSERT_EQ(events.size(), 1U);
  EXPECT_THAT(events[0]["message"].get<std::string>(), HasSubstr("Asked for by anonymous."));
}

TEST_F(HttpChangesTest, FaultyBodiesAreRefusedWithAllFaults) {
  Reply reply = Ask("PUT", "/v1/dependencies/db", R"({"celing":3,"floor":0,"floor":1})");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["code"], "INVALID_ARGUMENT");
  EXPECT_GE(reply.body["errors"].size(), 2U);
  EXPECT_EQ(Ask("PUT", "/v1/dependencies/db", "floor: 1").body["errors"][0]["code"], "BAD_FORMAT")
      << "YAML is not JSON";
  EXPECT_EQ(Ask("PUT", "/v1/dependencies/db", "{}", "X-A: b\r\n").status, 201);
  EXPECT_EQ(Ask("PUT", "/v1/dependencies/db").status, 411);
  reply = Ask("PUT", "/v1/dependencies/file-db", "{}");
  EXPECT_EQ(reply.status, 409);
  EXPECT_EQ(reply.body["code"], "MANAGED_BY_FILE");
  reply = Ask("PATCH", "/v1/dependencies/db", "{}", "If-Match: \"dependencies.1\"\r\n");
  EXPECT_EQ(reply.status, 412);
  EXPECT_THAT(reply.body["current_etag"].get<std::string>(), HasSubstr("dependencies."));
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db:reset").status, 405);
}

TEST_F(HttpChangesTest, ValidateOnlyChangesNothing) {
  const Reply reply =
      Ask("PUT", "/v1/dependencies/db?validate_only=true", R"({"quota":{"capacity":40}})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body["quota"]["capacity"], 40);
  EXPECT_EQ(Ask("GET", "/v1/dependencies/db").status, 404);
}

TEST_F(HttpChangesTest, WithoutTheStoreNothingChanges) {
  store_.broken = true;
  const Reply reply = Ask("PUT", "/v1/dependencies/file-db/override", Pin(7));
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body["code"], "STORE_UNAVAILABLE");
  EXPECT_THAT(reply.head, HasSubstr("Retry-After"));
  EXPECT_TRUE(Ask("GET", "/v1/dependencies/file-db").body["override"].is_null());
  store_.broken = false;
  EXPECT_EQ(Ask("PUT", "/v1/dependencies/file-db/override", Pin(7)).status, 201);
}

TEST_F(HttpChangesTest, TheFileIsReadAnewOrRefused) {
  reading_.faults = {{"/laese", "UNKNOWN_KEY", "unknown key", "x.yaml", 4, 2}};
  Reply reply = Ask("POST", "/v1/config:reload");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["code"], "CONFIG_INVALID");
  EXPECT_EQ(reply.body["errors"][0]["line"], 4);
  EXPECT_EQ(Ask("GET", "/v1/config/status").body["last_load_ok"], false);
  EXPECT_EQ(Ask("GET", "/v1/events?type=CONFIG_RELOAD_FAILED").body["items"].size(), 1U);
  reading_.faults.clear();
  reading_.policies = PolicySet{};
  reading_.hash = "beef";
  reply = Ask("POST", "/-/reload");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body["hash"], "beef");
  EXPECT_EQ(reply.body["last_load_ok"], true);
  EXPECT_EQ(Ask("GET", "/v1/dependencies/file-db").status, 404);
  EXPECT_EQ(Ask("GET", "/v1/status").body["config"]["hash"], "beef");
}

TEST_F(HttpChangesTest, WhoChangedWhatIsRecordedWithTheIdOfTheRequest) {
  ASSERT_EQ(
      Ask("PUT", "/v1/dependencies/file-db/override", Pin(7), "X-Request-Id: req-1\r\n").status,
      201);
  ASSERT_EQ(Ask("DELETE", "/v1/dependencies/file-db/override").status, 204);
  const Reply page = Ask("GET", "/v1/audit?page_size=1");
  EXPECT_EQ(page.body["items"][0]["what"], "DELETE_OVERRIDE");
  const std::string token = page.body["next_page_token"];
  const Json items = Ask("GET", "/v1/audit?page_size=1&page_token=" + token).body["items"];
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0]["what"], "PUT_OVERRIDE");
  EXPECT_EQ(items[0]["who"], "anonymous");
  EXPECT_EQ(items[0]["request_id"], "req-1");
  EXPECT_EQ(items[0]["target"], "file-db");
  EXPECT_EQ(items[0]["after"]["limit"], 7);
  store_.broken = true;
  EXPECT_EQ(Ask("GET", "/v1/audit").body["code"], "STORE_UNAVAILABLE");
}

TEST_F(HttpChangesTest, ASlowAuditKeepsNeitherPlaneWaiting) {
  store_.slow = true;
  HttpProbe reader(server_->api_port());
  reader.Send(Get("/v1/audit"));
  while (!store_.reading) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(Ask("GET", "/v1/status").status, 200) << "which the core's thread was asked for";
  store_.slow = false;
  EXPECT_EQ(StatusOf(reader.Receive()), 200);
}

TEST_F(HttpChangesTest, AConfigurationIsValidatedWithoutBeingTaken) {
  EXPECT_EQ(Ask("POST", "/v1/config:validate", "dependencies: []").status, 200);
  const Reply reply = Ask("POST", "/v1/config:validate", "laese: 1");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.body["code"], "CONFIG_INVALID");
  EXPECT_EQ(reply.body["errors"][0]["file"], "x.yaml");
}

}  // namespace
}  // namespace plimsoll
