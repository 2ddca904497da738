#include "api/http/src/operator_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/shard.h"
#include "tests/unit/api/snapshot_samples.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

class FixedClock final : public Clock {
 public:
  Instant Now() const override { return SampleSnapshot().at + passed; }
  absl::Time WallTime() const override { return absl::FromUnixSeconds(1'780'000'000) + passed; }

  absl::Duration passed;
};

// Answers at once, from what the test put in.
class FakeController final : public ControllerView {
 public:
  void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) override {
    then(std::make_shared<const Snapshot>(snapshot));
  }
  void FindEvents(EventLog::Filter filter, int limit,
                  std::function<void(std::vector<LogEvent>)> then) override {
    then(log.Find(filter, limit));
  }
  void GetEvent(std::string id, std::function<void(std::optional<LogEvent>)> then) override {
    then(log.Get(id));
  }
  void Try(DependencyId /*dependency*/, SessionId /*session*/, std::vector<TrialWindow> /*windows*/,
           std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> /*then*/) override {}
  void ReadAudit(int limit,
                 std::function<void(absl::StatusOr<std::vector<std::string>>)> then) override {
    if (!audit.ok()) return then(audit.status());
    const auto count = std::min(audit->size(), static_cast<std::size_t>(limit));
    then(std::vector<std::string>(audit->begin(), audit->begin() + static_cast<int>(count)));
  }
  std::string Metrics(std::shared_ptr<const Snapshot> /*snapshot*/) override { return "x 1\n"; }
  bool shutting_down() const override { return ending; }
  Leading leading() const override { return who_leads; }
  std::vector<ShardFacts> shards() const override { return who_leads_shards; }

  Snapshot snapshot = SampleSnapshot();
  EventLog log{Epoch(7), 100};
  absl::StatusOr<std::vector<std::string>> audit = std::vector<std::string>();  // newest first
  bool ending = false;
  Leading who_leads;
  std::vector<ShardFacts> who_leads_shards;
};

const ServerFacts kFacts{"0.1.0", "MEMORY", "f00d", "v0.1.0-3-gabc", R"({"title":"schema"})"};

std::string HeaderOf(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

class OperatorPlaneTest : public ::testing::Test {
 protected:
  OperatorPlaneTest() : plane_(controller_, HostCheck("127.0.0.1", {}), kFacts, clock_) {
    request_.identity = {"alice", Role::kOperator};
  }

  HttpResponse Ask(const std::string& target, const std::string& method = "GET") {
    request_.method = method;
    const std::size_t question = target.find('?');
    request_.path = target.substr(0, question);
    request_.query = question == std::string::npos ? "" : target.substr(question + 1);
    const auto exchange = std::make_shared<Exchange>();
    plane_.Handle(request_, exchange);
    EXPECT_TRUE(exchange->replied());
    HttpResponse response = exchange->TakeResponse();
    RenderProblem(request_, response);
    return response;
  }

  Json AskJson(const std::string& target) {
    const HttpResponse response = Ask(target);
    EXPECT_EQ(response.status, 200) << response.body;
    return Json::parse(response.body);
  }

  std::string Code(const std::string& target) {
    return Json::parse(Ask(target).body)["code"].get<std::string>();
  }

  FixedClock clock_;
  FakeController controller_;
  HttpRequest request_;
  OperatorPlane plane_;
};

TEST_F(OperatorPlaneTest, OfSeveralShardsItAnswersForThoseThatItLeads) {
  const std::string name = SampleSnapshot().dependencies[0].policy.name.value;
  const int shard = ShardOf(DependencyId(name), 2);
  auto& shards = controller_.who_leads_shards;
  shards.resize(2);
  for (int i = 0; i < 2; ++i) shards[static_cast<std::size_t>(i)].leader.api = "http://b:7480";
  const auto own = static_cast<std::size_t>(shard);
  shards[own] = {true, Epoch(7), {"a", "http://a:7481", "http://a:7480"}};
  EXPECT_EQ(Ask("/v1/dependencies/" + name).status, 200);
  const Json list = AskJson("/v1/dependencies");
  EXPECT_EQ(list["partial"], true);
  EXPECT_EQ(list["elsewhere"], Json::parse(absl::StrCat(R"([{"shard": )", 1 - shard,
                                                        R"(, "api": "http://b:7480"}])")));
  const Json status = AskJson("/v1/status");
  ASSERT_EQ(status["shards"].size(), 2U);
  EXPECT_EQ(status["shards"][own]["role"], "LEADER");
  EXPECT_EQ(status["shards"][own]["epoch"], 7);
  EXPECT_EQ(status["shards"][1 - own]["owner"], "http://b:7480");
  EXPECT_EQ(status["shards"][1 - own]["epoch"], nullptr);

  const HttpResponse nobody = Ask("/v1/instances/nobody");
  EXPECT_EQ(nobody.status, 404);
  EXPECT_EQ(Json::parse(nobody.body)["elsewhere"], list["elsewhere"]);
  const HttpResponse event = Ask(absl::StrCat("/v1/events/", 1 - shard, ".7-1"));
  EXPECT_EQ(event.status, 307);

  shards[own].self = false;
  const HttpResponse sent = Ask("/v1/dependencies/" + name + "?x=1");
  EXPECT_EQ(sent.status, 307);
  EXPECT_EQ(HeaderOf(sent, "Location"), "http://a:7480/v1/dependencies/" + name + "?x=1");
  EXPECT_EQ(Ask("/v1/timeseries?dependency=" + name).status, 307);
  EXPECT_EQ(AskJson("/v1/dependencies")["elsewhere"].size(), 2U) << "what is here, if little";
  shards[own].leader = {};
  EXPECT_EQ(Ask("/v1/dependencies/" + name).status, 503);
}

TEST_F(OperatorPlaneTest, WhileStandingByItTellsOfItselfAndWhoLeads) {
  controller_.who_leads = {false, Leader{"b", "http://b:7481", "http://b:7480"}};
  for (const char* own : {"/livez", "/readyz", "/metrics", "/v1/version", "/v1/config",
                          "/v1/openapi.json", "/v1/status"}) {
    const HttpResponse response = Ask(own);
    EXPECT_EQ(response.status, 200) << own;
    EXPECT_EQ(HeaderOf(response, "X-Plimsoll-Leader"), "http://b:7480") << own;
  }
  EXPECT_EQ(AskJson("/v1/status")["role"], "STANDBY");
}

TEST_F(OperatorPlaneTest, WhileStandingByItSendsChangesAndViewsToTheLeader) {
  controller_.who_leads = {false, Leader{"b", "http://b:7481", "http://b:7480"}};
  for (const char* method : {"GET", "PUT", "DELETE"}) {
    const HttpResponse response = Ask("/v1/dependencies/db?force=true", method);
    EXPECT_EQ(response.status, 307) << method;
    EXPECT_EQ(HeaderOf(response, "Location"), "http://b:7480/v1/dependencies/db?force=true");
    EXPECT_EQ(Json::parse(response.body)["code"], "NOT_LEADER");
  }
  EXPECT_EQ(Ask("/ui/").status, 307) << "a page that finds its data there, too";
}

TEST_F(OperatorPlaneTest, WithoutAKnownLeaderItIsNotReadyAndSaysSo) {
  controller_.who_leads = {false, std::nullopt};
  EXPECT_EQ(Ask("/livez").status, 200);
  EXPECT_EQ(Ask("/readyz").status, 503);
  const HttpResponse response = Ask("/v1/limits");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "1");
}

TEST_F(OperatorPlaneTest, TheConfigurationSaysWhereEachSettingIsFrom) {
  plane_.set_config({{{"agents.lease", "10s", "FILE", "f.yaml:8:3", true}}, {"listen.api"}});
  const Json config = AskJson("/v1/config");
  EXPECT_EQ(config["items"], Json::parse(R"([{"key": "agents.lease", "value": "10s",
      "source": "FILE", "place": "f.yaml:8:3", "needs_restart": true}])"));
  EXPECT_EQ(config["pending_restart"], Json::parse(R"(["listen.api"])"));
  EXPECT_EQ(config["hash"], "f00d");
}

TEST_F(OperatorPlaneTest, LimitRowSeparatesTheNumbersAndSaysWhy) {
  const Json row = AskJson("/v1/limits/payments-api/checkout-0");
  EXPECT_EQ(row["enforced"], 38);
  EXPECT_EQ(row["algorithm_limit"], 61);
  EXPECT_EQ(row["quota_share"], 38);
  EXPECT_EQ(row["floor"], 5);
  EXPECT_EQ(row["ceiling"], 200);
  EXPECT_EQ(row["in_flight"], 37);
  EXPECT_EQ(row["binding_constraint"], "QUOTA");
  EXPECT_EQ(row["lease_stage"], "LEASE");
  EXPECT_EQ(row["last_change"]["event_id"], "7-3");
  EXPECT_EQ(row["last_change"]["reason"], "QUOTA_REBALANCED");
  EXPECT_EQ(row["last_change"]["time"], "2026-05-28T20:26:36.000Z");
  EXPECT_DOUBLE_EQ(row["age_seconds"].get<double>(), 0.8);
}

TEST_F(OperatorPlaneTest, WhatIsOnlyObservedIsNotSaidToBeInForce) {
  controller_.snapshot.dependencies[1].policy.mode = Mode::kObserve;
  controller_.snapshot.limits[0].mode = Mode::kObserve;
  const Json row = AskJson("/v1/limits/payments-api/checkout-0");
  EXPECT_EQ(row["mode"], "OBSERVE");
  EXPECT_TRUE(row["enforced"].is_null());
  EXPECT_EQ(row["granted"], 38);
  const Json dependency = AskJson("/v1/dependencies/payments-api");
  EXPECT_EQ(dependency["mode"], "OBSERVE");
  EXPECT_EQ(dependency["status"]["not_enforcing"], 1);
  EXPECT_EQ(dependency["status"]["enforced"], 11) << "of the one that has not been told yet";
  EXPECT_EQ(AskJson("/v1/limits/payments-api/checkout-1")["mode"], "ENFORCE");
}

TEST_F(OperatorPlaneTest, TheLastDecisionIsShownWithItsAge) {
  EXPECT_TRUE(AskJson("/v1/dependencies/payments-api")["status"]["last_decision"].is_null());
  LastDecision last;
  last.at = Instant{999'000'000'000};
  last.from = last.to = 40;
  last.reason = Reason::kUnderused;
  last.message = "payments-api: 40. Only 3 of 40 were in use at once.";
  controller_.snapshot.dependencies[1].last_decision = last;
  last.outcome = WindowOutcome::kTooFewSamples;
  controller_.snapshot.limits[0].last_decision = last;
  const Json view = AskJson("/v1/dependencies/payments-api")["status"]["last_decision"];
  EXPECT_EQ(view["age_seconds"], 1);
  EXPECT_EQ(view["from"], 40);
  EXPECT_EQ(view["to"], 40);
  EXPECT_EQ(view["reason"], "UNDERUSED");
  EXPECT_EQ(view["outcome"], "USED");
  EXPECT_TRUE(view["event_id"].is_null()) << "nothing changed";
  EXPECT_EQ(view["message"], last.message);
  const Json row = AskJson("/v1/limits/payments-api/checkout-0")["last_decision"];
  EXPECT_EQ(row["outcome"], "TOO_FEW_SAMPLES");
  EXPECT_TRUE(row["reason"].is_null()) << "nothing was judged";
}

TEST_F(OperatorPlaneTest, AWindowShowsWhatTheLawIsTold) {
  WindowConfig& window = controller_.snapshot.dependencies[1].policy.window;
  Json view = AskJson("/v1/dependencies/payments-api")["window"];
  EXPECT_EQ(view["latency"], "PERCENTILE");
  EXPECT_TRUE(view["latency_ceiling"].is_null());
  window.latency = LatencySignal::kMean;
  window.latency_ceiling = absl::Seconds(2);
  view = AskJson("/v1/dependencies/payments-api")["window"];
  EXPECT_EQ(view["latency"], "MEAN");
  EXPECT_EQ(view["latency_ceiling"], "2s");
}

TEST_F(OperatorPlaneTest, AfterTheLeaseTheFallbackBinds) {
  controller_.snapshot.limits[0].stage = LeaseStage::kBase;
  const Json row = AskJson("/v1/limits/payments-api/checkout-0");
  EXPECT_EQ(row["lease_stage"], "BASE");
  EXPECT_EQ(row["binding_constraint"], "FALLBACK");
}

TEST_F(OperatorPlaneTest, WithoutAQuotaTheShareIsNull) {
  controller_.snapshot.dependencies[1].policy.quota.reset();
  EXPECT_TRUE(AskJson("/v1/limits/payments-api/checkout-0")["quota_share"].is_null());
}

TEST_F(OperatorPlaneTest, LimitsAreFiltered) {
  EXPECT_EQ(AskJson("/v1/limits")["items"].size(), 2u);
  EXPECT_EQ(AskJson("/v1/limits?instance_id=checkout-1")["items"].size(), 1u);
  EXPECT_EQ(AskJson("/v1/limits?dependency=orders-db")["items"].size(), 0u);
  EXPECT_EQ(AskJson("/v1/limits?service=checkout&dependency=payments-api")["items"].size(), 2u);
}

TEST_F(OperatorPlaneTest, ListsComeInPages) {
  const Json first = AskJson("/v1/limits?page_size=1");
  ASSERT_EQ(first["items"].size(), 1u);
  EXPECT_EQ(first["items"][0]["instance_id"], "checkout-0");
  const std::string token = first["next_page_token"];
  const Json second = AskJson("/v1/limits?page_size=1&page_token=" + token);
  ASSERT_EQ(second["items"].size(), 1u);
  EXPECT_EQ(second["items"][0]["instance_id"], "checkout-1");
  EXPECT_EQ(second["next_page_token"], "");
}

TEST_F(OperatorPlaneTest, PageTokenBelongsToItsFilter) {
  const std::string token = AskJson("/v1/limits?page_size=1")["next_page_token"];
  EXPECT_EQ(Code("/v1/limits?service=checkout&page_token=" + token), "PAGE_TOKEN_INVALID");
  EXPECT_EQ(Code("/v1/instances?page_token=" + token), "PAGE_TOKEN_INVALID");
  EXPECT_EQ(Code("/v1/limits?page_token=%21%21"), "PAGE_TOKEN_INVALID");
}

TEST_F(OperatorPlaneTest, BadPageSizeIsInvalid) {
  EXPECT_EQ(Code("/v1/limits?page_size=-1"), "INVALID_ARGUMENT");
  EXPECT_EQ(Code("/v1/limits?page_size=ten"), "INVALID_ARGUMENT");
  EXPECT_EQ(AskJson("/v1/limits?page_size=100000")["items"].size(), 2u);
}

TEST_F(OperatorPlaneTest, DependencyShowsSettingsAndStatus) {
  const Json view = AskJson("/v1/dependencies/payments-api");
  EXPECT_EQ(view["algorithm"], "GRADIENT2");
  EXPECT_EQ(view["scope"], "FLEET");
  EXPECT_EQ(view["call_deadline"], "2.5s");
  EXPECT_EQ(view["quota"]["capacity"], 50);
  EXPECT_TRUE(view["initial"].is_null()) << "the policy does not set it";
  EXPECT_TRUE(view.contains("gradient2"));
  EXPECT_EQ(view["status"]["health"], "LIMITED");
  EXPECT_EQ(view["status"]["granted"], 49);
  EXPECT_EQ(view["status"]["reserved"], 51);
  EXPECT_DOUBLE_EQ(view["status"]["latency_p99_seconds"].get<double>(), 0.412);
  EXPECT_TRUE(AskJson("/v1/dependencies/orders-db")["quota"].is_null());
  EXPECT_EQ(AskJson("/v1/dependencies")["items"].size(), 2u);
}

TEST_F(OperatorPlaneTest, DependencyShowsTheBreakerOfItsFleetWithEvidenceProberAndCoolOff) {
  EXPECT_EQ(AskJson("/v1/dependencies/payments-api")["status"]["breaker"],
            Json({{"state", "HALF_OPEN"},
                  {"opened_total", 3},
                  {"next_probe_seconds", 1.25},
                  {"prober", "checkout-0"},
                  {"instances", 2},
                  {"succeeded", 100},
                  {"failed", 20},
                  {"slow", 3},
                  {"hanging", 2},
                  {"failures_in_a_row", 1},
                  {"last_change", nullptr}}));
  EXPECT_TRUE(AskJson("/v1/dependencies/orders-db")["status"]["breaker"].is_null());
}

TEST_F(OperatorPlaneTest, ABreakersStateIsOneOfThree) {
  BreakerRow& breaker = *controller_.snapshot.dependencies[1].breaker;
  const std::map<BreakerView, std::string> names = {{BreakerView::kClosed, "CLOSED"},
                                                    {BreakerView::kOpen, "OPEN"},
                                                    {BreakerView::kHalfOpen, "HALF_OPEN"},
                                                    {BreakerView::kProbing, "HALF_OPEN"}};
  for (const auto& [view, name] : names) {
    breaker.view = view;
    breaker.prober = InstanceId();
    const Json status = AskJson("/v1/dependencies/payments-api")["status"]["breaker"];
    EXPECT_EQ(status["state"], name);
    EXPECT_TRUE(status["prober"].is_null());
  }
}

TEST_F(OperatorPlaneTest, ABreakerTellsWhyItIsAsItIs) {
  Snapshot& snapshot = controller_.snapshot;
  snapshot.dependencies[1].breaker->last_change = {snapshot.at - absl::Seconds(3), "It failed."};
  const Json change = AskJson("/v1/dependencies/payments-api")["status"]["breaker"]["last_change"];
  EXPECT_EQ(change["message"], "It failed.");
  EXPECT_DOUBLE_EQ(change["age_seconds"].get<double>(), 3);
  EXPECT_TRUE(change["time"].is_string());
}

TEST_F(OperatorPlaneTest, HealthSaysWhatIsWrong) {
  const auto health = [this](const std::string& name) {
    return AskJson("/v1/dependencies/" + name)["status"]["health"].get<std::string>();
  };
  EXPECT_EQ(health("orders-db"), "NO_INSTANCES");
  controller_.snapshot.dependencies[1].wanted = 49;
  EXPECT_EQ(health("payments-api"), "OK");
  controller_.snapshot.limits[0].explanation.binding = BindingConstraint::kFloor;
  EXPECT_EQ(health("payments-api"), "AT_FLOOR");
  controller_.snapshot.limits[1].granted = 2;
  EXPECT_EQ(health("payments-api"), "STARVED");
}

TEST_F(OperatorPlaneTest, QuotaShowsWhoHoldsWhat) {
  const Json view = AskJson("/v1/dependencies/payments-api/quota");
  EXPECT_EQ(view["capacity"], 50);
  EXPECT_EQ(view["granted"], 49);
  EXPECT_EQ(view["draining"], 1);
  EXPECT_EQ(view["orphaned"], 1);
  ASSERT_EQ(view["shares"].size(), 2u);
  EXPECT_EQ(view["shares"][1]["granted"], 11);
}

TEST_F(OperatorPlaneTest, InstancesShowTheirStateAndWhomTheyFence) {
  EXPECT_EQ(AskJson("/v1/instances")["items"].size(), 2u);
  EXPECT_EQ(AskJson("/v1/instances?service=other")["items"].size(), 0u);
  EXPECT_EQ(AskJson("/v1/instances/checkout-1")["state"], "SILENT");
  InstanceRow old = controller_.snapshot.instances[0];
  old.session = SessionId("6-1");
  old.fenced = true;
  controller_.snapshot.instances.push_back(old);
  const Json view = AskJson("/v1/instances/checkout-0");
  EXPECT_EQ(view["session"], "7-checkout-0");
  EXPECT_EQ(view["fencing"], Json::array({"6-1"}));
  EXPECT_EQ(view["join_time"], "2026-05-28T20:24:40.000Z");
}

TEST_F(OperatorPlaneTest, StatusCounts) {
  const Json view = AskJson("/v1/status");
  EXPECT_EQ(view["role"], "LEADER");
  EXPECT_EQ(view["state"], "MEMORY");
  EXPECT_EQ(view["uptime_seconds"], 3600);
  EXPECT_EQ(view["dependencies"]["total"], 2);
  EXPECT_EQ(view["dependencies"]["limited"], 1);
  EXPECT_EQ(view["agents"]["connected"], 1);
  EXPECT_EQ(view["agents"]["silent"], 1);
  EXPECT_EQ(view["agents"]["versions"], Json::array({"0.1.0"}));
  EXPECT_EQ(AskJson("/v1/version")["version"], "0.1.0");
}

TEST_F(OperatorPlaneTest, TheVersionNamesTheSources) {
  EXPECT_EQ(AskJson("/v1/version"),
            Json({{"version", "0.1.0"}, {"revision", "v0.1.0-3-gabc"}, {"api", "v1"}}));
  OperatorPlane plane(controller_, HostCheck("127.0.0.1", {}), {"0.1.0", "MEMORY", ""}, clock_);
  request_.path = "/v1/version";
  request_.method = "GET";
  const auto exchange = std::make_shared<Exchange>();
  plane.Handle(request_, exchange);
  EXPECT_EQ(Json::parse(exchange->TakeResponse().body)["revision"], "unknown");
}

TEST_F(OperatorPlaneTest, TheSchemaOfTheConfigurationIsServedIfThereIsOne) {
  request_.identity = {};
  const HttpResponse schema = Ask("/v1/schema/config.json");
  EXPECT_EQ(schema.body, R"({"title":"schema"})");
  request_.if_none_match = HeaderOf(schema, "ETag");
  EXPECT_THAT(request_.if_none_match, ::testing::MatchesRegex("\"schema\\.[0-9a-f]+\\.1\""));
  EXPECT_EQ(Ask("/v1/schema/config.json").status, 304);
  const OperatorPlane without(controller_, HostCheck("127.0.0.1", {}), {"", "", ""}, clock_);
  without.router().Visit(
      [](const Route& route) { EXPECT_NE(std::string(route.pattern), "/v1/schema/config.json"); });
}

TEST_F(OperatorPlaneTest, TheAuditIsToldToOperatorsFromTheNewest) {
  controller_.audit = {R"({"what":"C"})", R"({"what":"B"})", "no JSON"};
  const Json view = AskJson("/v1/audit");
  EXPECT_EQ(view["items"], Json::parse(R"([{"what":"C"},{"what":"B"},{"record":"no JSON"}])"));
  EXPECT_EQ(view["next_page_token"], "");
  request_.identity = {"vic", Role::kViewer};
  EXPECT_EQ(Code("/v1/audit"), "PERMISSION_DENIED");
}

TEST_F(OperatorPlaneTest, PagesOfTheAuditGoOnWhereTheyEndedWhateverHasComeMeanwhile) {
  controller_.audit = {"e", "d", "c", "b", "a"};
  const Json first = AskJson("/v1/audit?page_size=2");
  EXPECT_EQ(first["items"].size(), 2u);
  controller_.audit->insert(controller_.audit->begin(), {"h", "g", "f"});
  const std::string token = first["next_page_token"];
  const Json second = AskJson("/v1/audit?page_size=2&page_token=" + token);
  EXPECT_EQ(second["items"], Json::parse(R"([{"record":"c"},{"record":"b"}])"));
  const std::string next = second["next_page_token"];
  const Json third = AskJson("/v1/audit?page_size=2&page_token=" + next);
  EXPECT_EQ(third["items"], Json::parse(R"([{"record":"a"}])"));
  EXPECT_EQ(third["next_page_token"], "");
  controller_.audit = {"z", "y", "x"};
  EXPECT_EQ(AskJson("/v1/audit?page_size=2&page_token=" + token)["items"].size(), 0u)
      << "what followed has been dropped";
  EXPECT_EQ(Code("/v1/audit?page_token=x"), "PAGE_TOKEN_INVALID");
}

TEST_F(OperatorPlaneTest, AnAuditThatCannotBeReadIsUnavailable) {
  controller_.audit = absl::UnavailableError("no disk");
  const HttpResponse response = Ask("/v1/audit");
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(Json::parse(response.body)["code"], "STORE_UNAVAILABLE");
  EXPECT_EQ(HeaderOf(response, "Retry-After"), "1");
}

TEST_F(OperatorPlaneTest, WhoAcceptsAnotherTypeOnlyIsTold) {
  const struct {
    const char* target;
    const char* accept;
    int status;
  } table[] = {
      {"/v1/status", "application/json", 200},
      {"/v1/status", "text/html", 406},
      {"/v1/status", "application/json;q=0, */*", 406},
      {"/v1/events", "text/csv, application/*;q=0.1", 200},
      {"/v1/watch", "text/event-stream", 200},
      {"/v1/watch", "application/json", 406},
      {"/livez", "image/png", 200},
      {"/metrics", "application/openmetrics-text", 200},
  };
  for (const auto& row : table) {
    request_.accept = row.accept;
    EXPECT_EQ(Ask(row.target).status, row.status) << row.target << " " << row.accept;
  }
  request_.accept = "text/html";
  EXPECT_EQ(Code("/v1/status"), "NOT_ACCEPTABLE");
  request_.identity = {};
  EXPECT_EQ(Ask("/v1/status").status, 401) << "who may not ask is not told";
}

TEST_F(OperatorPlaneTest, WithoutOriginsNothingIsSaidToPagesOfOthers) {
  request_.origin = "https://grafana.example.org";
  EXPECT_THAT(Ask("/v1/status").headers, ::testing::IsEmpty());
  request_.preflight_method = "GET";
  EXPECT_EQ(Ask("/v1/status", "OPTIONS").status, 403);
}

TEST_F(OperatorPlaneTest, PagesOfListedOriginsMayReadAndNoOthers) {
  plane_.set_cors_origins({"https://grafana.example.org"});
  request_.origin = "https://grafana.example.org";
  HttpResponse response = Ask("/v1/status");
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), request_.origin);
  EXPECT_EQ(HeaderOf(response, "Vary"), "Origin");
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Credentials"), "");
  EXPECT_EQ(HeaderOf(Ask("/v1/nothing"), "Access-Control-Allow-Origin"), request_.origin)
      << "a page may know why it is refused";
  response = Ask("/v1/status", "POST");
  EXPECT_EQ(response.status, 403) << "listed or not, it changes nothing";
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), "");
  for (const char* other :
       {"https://grafana.example.org.evil.example", "http://grafana.example.org", "null", "*",
        "https://GRAFANA.example.org", "https://grafana.example.org/", ""}) {
    request_.origin = other;
    response = Ask("/v1/status");
    EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), "") << other;
    EXPECT_EQ(HeaderOf(response, "Vary"), "Origin") << other;
  }
}

TEST_F(OperatorPlaneTest, ABrowserThatAsksBeforeIsAnsweredForReadingOnly) {
  plane_.set_cors_origins({"https://grafana.example.org"});
  request_.origin = "https://grafana.example.org";
  request_.identity = {};  // browsers show no credentials with this question
  request_.preflight_method = "GET";
  HttpResponse response = Ask("/v1/status", "OPTIONS");
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), request_.origin);
  EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Methods"), "GET, HEAD");
  EXPECT_THAT(HeaderOf(response, "Access-Control-Allow-Headers"), HasSubstr("Authorization"));
  for (const char* method : {"PUT", "DELETE", "PATCH", "POST", ""}) {
    request_.preflight_method = method;
    response = Ask("/v1/status", "OPTIONS");
    EXPECT_EQ(response.status, 403) << method;
    EXPECT_EQ(HeaderOf(response, "Access-Control-Allow-Origin"), "") << method;
  }
  request_.preflight_method = "GET";
  request_.origin = "https://evil.example";
  EXPECT_EQ(Ask("/v1/status", "OPTIONS").status, 403);
}

TEST_F(OperatorPlaneTest, ADecisionTellsWhatTheLawSaw) {
  LogEvent event;
  event.type = EventType::kDecision;
  event.dependency = DependencyId("payments-api");
  event.from = 40;
  event.to = 36;
  event.reason = Reason::kLatencyRose;
  DecisionInputs& inputs = event.inputs.emplace();
  inputs.percentile = 0.99;
  inputs.throughput = 480;
  inputs.in_flight_mean = 38.5;
  inputs.failed = 2;
  inputs.length = absl::Seconds(1);
  inputs.elasticity = 0.25;
  controller_.log.Append(event);
  const Json view = AskJson("/v1/events?type=decision")["items"][0];
  EXPECT_EQ(view["type"], "DECISION");
  EXPECT_EQ(view["from"], 40);
  EXPECT_EQ(view["to"], 36);
  EXPECT_EQ(view["reason"], "LATENCY_ROSE");
  EXPECT_FALSE(view.contains("binding_constraint")) << "nothing binds before the shares are made";
  EXPECT_FALSE(view.contains("instance_id"));
  EXPECT_EQ(view["inputs"]["latency_signal"], "P99");
  EXPECT_EQ(view["inputs"]["throughput_per_second"], 480);
  EXPECT_EQ(view["inputs"]["in_flight_mean"], 38.5);
  EXPECT_EQ(view["inputs"]["failed"], 2);
  EXPECT_EQ(view["inputs"]["window_seconds"], 1);
  EXPECT_EQ(view["inputs"]["elasticity"], 0.25);
  EXPECT_TRUE(view["inputs"]["elasticity_error"].is_null());
}

TEST_F(OperatorPlaneTest, EventsAreFilteredAndPagedFromTheNewest) {
  for (int i = 0; i < 5; ++i) {
    LogEvent event;
    event.type = i == 2 ? EventType::kInstanceJoined : EventType::kLimitChanged;
    event.at = controller_.snapshot.at - absl::Seconds(10 - i);
    event.dependency = DependencyId("payments-api");
    event.to = i;
    event.reason = Reason::kLatencyRose;
    if (i == 4) event.inputs.emplace().samples = 212;
    controller_.log.Append(event);
  }
  const Json first = AskJson("/v1/events?type=limit_changed&page_size=3");
  ASSERT_EQ(first["items"].size(), 3u);
  EXPECT_EQ(first["items"][0]["to"], 4);
  EXPECT_EQ(first["items"][0]["inputs"]["samples"], 212);
  EXPECT_EQ(first["items"][0]["reason"], "LATENCY_ROSE");
  const std::string token = first["next_page_token"];
  const Json second = AskJson("/v1/events?type=limit_changed&page_size=3&page_token=" + token);
  ASSERT_EQ(second["items"].size(), 1u);
  EXPECT_EQ(second["items"][0]["to"], 0);
  EXPECT_EQ(second["next_page_token"], "");

  const std::string id = first["items"][0]["id"];
  EXPECT_EQ(AskJson("/v1/events/" + id)["to"], 4);
  EXPECT_EQ(Code("/v1/events/7-999"), "NOT_FOUND");
  EXPECT_EQ(Code("/v1/events?type=whim"), "INVALID_ARGUMENT");
  EXPECT_EQ(Code("/v1/events?reason=whim"), "INVALID_ARGUMENT");
}

TEST_F(OperatorPlaneTest, UnknownNamesAreNotFound) {
  for (const char* target : {"/v1/dependencies/x", "/v1/dependencies/x/quota",
                             "/v1/limits/payments-api/x", "/v1/instances/x", "/v1/nothing", "/"}) {
    EXPECT_EQ(Ask(target).status, 404) << target;
    EXPECT_EQ(Code(target), "NOT_FOUND") << target;
  }
}

TEST_F(OperatorPlaneTest, ReadinessFollowsStoreAndShutdown) {
  EXPECT_EQ(Ask("/readyz").status, 200);
  EXPECT_EQ(Ask("/readyz").body, "ok\n");
  EXPECT_THAT(Ask("/readyz?verbose").body, HasSubstr("[+]store ok\n"));
  controller_.snapshot.store_ok = false;
  EXPECT_EQ(Ask("/readyz").status, 503);
  EXPECT_THAT(Ask("/readyz").body, HasSubstr("[-]store failed\n"));
  EXPECT_EQ(Ask("/readyz?exclude=store").status, 200);
  controller_.snapshot.store_ok = true;
  controller_.ending = true;
  EXPECT_EQ(Ask("/readyz").status, 503);
  EXPECT_EQ(Ask("/livez").status, 200);
}

TEST_F(OperatorPlaneTest, LearningIsShownWithTheSecondsThatAreLeftAndWhy) {
  EXPECT_EQ(AskJson("/v1/status")["learning"], Json({{"active", false}}));
  EXPECT_THAT(Ask("/readyz?verbose").body, HasSubstr("[~]learning ok\n"));
  controller_.snapshot.learning = true;
  controller_.snapshot.store_lost_why = "The file is gone";
  controller_.snapshot.learning_until = clock_.Now() + absl::Milliseconds(89'500);
  const Json status = AskJson("/v1/status");
  EXPECT_EQ(status["learning"],
            Json({{"active", true}, {"remaining_seconds", 90}, {"why", "The file is gone"}}));
  EXPECT_EQ(status["dependencies"]["learning"], status["dependencies"]["total"]);
  EXPECT_EQ(AskJson("/v1/dependencies/payments-api")["status"]["learning"], true);
  EXPECT_EQ(Ask("/readyz").body, "ok\n") << "agents do not need it to serve";
  EXPECT_THAT(Ask("/readyz?verbose").body,
              HasSubstr("[~]learning ok: learning from agents for 90 more seconds, because: The "
                        "file is gone\n"));
}

TEST_F(OperatorPlaneTest, LearningThatOnlyAnOperatorCanEndHasNoSecondsLeft) {
  controller_.snapshot.learning = true;
  controller_.snapshot.learning_until = kInfiniteFuture;
  EXPECT_EQ(AskJson("/v1/status")["learning"]["remaining_seconds"], nullptr);
  EXPECT_THAT(Ask("/readyz?verbose").body, HasSubstr("--trust-state"));
}

TEST_F(OperatorPlaneTest, ForeignHostIsRefusedExceptByProbes) {
  request_.host = "evil.example";
  EXPECT_EQ(Ask("/v1/status").status, 403);
  EXPECT_EQ(Ask("/metrics").status, 403);
  EXPECT_EQ(Ask("/livez").status, 200);
  request_.host = "localhost:7480";
  EXPECT_EQ(Ask("/v1/status").status, 200);
}

TEST_F(OperatorPlaneTest, ForeignOriginMayReadButNotChange) {
  request_.origin = "http://evil.example";
  EXPECT_EQ(Ask("/v1/status").status, 200);
  EXPECT_EQ(Ask("/v1/status", "POST").status, 403);
  request_.origin = "http://localhost:7480";
  EXPECT_EQ(Ask("/v1/status", "POST").status, 405);
}

TEST_F(OperatorPlaneTest, NonsenseFromAgentsStaysJson) {
  controller_.snapshot.instances[0].zone = "\xff\xfe";
  EXPECT_EQ(AskJson("/v1/instances/checkout-0")["state"], "CONNECTED");
}

TEST_F(OperatorPlaneTest, TheHistoryIsColumnsOfOneLength) {
  EXPECT_TRUE(AskJson("/v1/timeseries?dependency=payments-api")["start_time"].is_null())
      << "nothing is recorded yet";
  plane_.Poll();
  const Json all = AskJson("/v1/timeseries?dependency=payments-api");
  EXPECT_EQ(all["step_seconds"], 5);
  EXPECT_EQ(all["start_time"], "2026-05-28T20:26:40.000Z");
  EXPECT_EQ(all["columns"].size(), 14u);
  EXPECT_EQ(all["columns"]["in_flight"], Json::array({47}));
  EXPECT_EQ(all["columns"]["baseline_latency_seconds"], Json::array({0.011}));
  EXPECT_EQ(all["columns"]["latency_p99_seconds"], Json::array({nullptr}));
  const Json two = AskJson(
      "/v1/timeseries?dependency=payments-api&instance_id=checkout-0&metric=granted,enforced"
      "&since=15m&step=30s");
  EXPECT_EQ(two["instance_id"], "checkout-0");
  EXPECT_EQ(two["step_seconds"], 30);
  EXPECT_EQ(two["columns"], Json({{"granted", {38}}, {"enforced", {38}}}));
}

TEST_F(OperatorPlaneTest, SizesAreAdvisedFromWhatWasRecorded) {
  EXPECT_EQ(AskJson("/v1/sizing")["items"], Json::array());
  DependencyRow& row = controller_.snapshot.dependencies[0];
  row.admitted_per_second = 100;
  row.latency_mean = absl::Milliseconds(100);
  row.latency_p99 = absl::Milliseconds(250);
  for (int i = 0; i < 12; ++i) {
    plane_.Poll();
    clock_.passed += absl::Seconds(5);
    controller_.snapshot.at = clock_.Now();
  }
  const Json items = AskJson("/v1/sizing?dependency=" + row.policy.name.value)["items"];
  ASSERT_EQ(items.size(), 1u);
  EXPECT_EQ(items[0]["needed"]["critical"], 25);
  EXPECT_EQ(items[0]["needed"]["optional"], 10);
  EXPECT_EQ(items[0]["measured"]["arrivals_per_second"], 100);
  EXPECT_EQ(AskJson("/v1/sizing?dependency=other")["items"].size(), 0u);
}

TEST_F(OperatorPlaneTest, AQuestionForTheHistoryThatDoesNotFitIsRefused) {
  const std::string base = "/v1/timeseries?dependency=payments-api";
  EXPECT_EQ(Ask("/v1/timeseries").status, 400);
  EXPECT_THAT(Ask(base + "&metric=enforcd").body, HasSubstr("in_flight_max"));
  EXPECT_THAT(Ask(base + "&since=yesterday").body, HasSubstr("15m"));
  EXPECT_EQ(Ask(base + "&step=5").status, 400);
  EXPECT_EQ(Ask(base + "&step=2h").status, 400);
  EXPECT_EQ(Ask(base + "&since=2026-05-28T20:00:00Z").status, 200);
  EXPECT_EQ(Ask("/v1/timeseries?dependency=other").status, 404);
  EXPECT_EQ(Ask(base + "&instance_id=other").status, 404);
}

TEST_F(OperatorPlaneTest, WhoKnowsTheAnswerIsNotSentItAgain) {
  for (const char* target :
       {"/v1/dependencies", "/v1/dependencies/payments-api", "/v1/dependencies/payments-api/quota",
        "/v1/limits", "/v1/limits/payments-api/checkout-0", "/v1/instances",
        "/v1/instances/checkout-0"}) {
    request_.if_none_match = "";
    const HttpResponse first = Ask(target);
    ASSERT_EQ(first.headers.size(), 1u) << target;
    EXPECT_EQ(first.headers[0].first, "ETag");
    request_.if_none_match = first.headers[0].second;
    const HttpResponse second = Ask(target);
    EXPECT_EQ(second.status, 304) << target;
    EXPECT_EQ(second.body, "");
    EXPECT_EQ(second.headers, first.headers) << target;
  }
  controller_.snapshot.limits[0].in_flight = 1;
  EXPECT_EQ(Ask("/v1/limits").status, 200);
}

TEST_F(OperatorPlaneTest, ListsAndDocumentsNameTheirRevision) {
  EXPECT_EQ(AskJson("/v1/limits")["revision"], "limits.7-1");
  EXPECT_EQ(AskJson("/v1/instances")["revision"], "instances.7-1");
  EXPECT_EQ(AskJson("/v1/dependencies")["revision"], "dependencies.7-1");
  EXPECT_EQ(AskJson("/v1/dependencies/payments-api")["revision"], "dependencies.7-1");
  EXPECT_EQ(AskJson("/v1/dependencies/payments-api/quota")["revision"], "quotas.7-1");
}

TEST_F(OperatorPlaneTest, DependenciesAreFilteredByModeAndOrigin) {
  controller_.snapshot.dependencies[0].mode = Mode::kObserve;
  EXPECT_EQ(AskJson("/v1/dependencies?mode=observe")["items"].size(), 1u);
  EXPECT_EQ(AskJson("/v1/dependencies?mode=ENFORCE")["items"][0]["name"], "payments-api");
  EXPECT_EQ(AskJson("/v1/dependencies?origin=FILE")["items"].size(), 2u);
  EXPECT_EQ(AskJson("/v1/dependencies?origin=API")["items"].size(), 0u);
}

TEST_F(OperatorPlaneTest, EventsOfASpanOfTimeAreFound) {
  for (int minutes : {10, 5, 1}) {
    LogEvent event;
    event.at = clock_.Now() - absl::Minutes(minutes);
    controller_.log.Append(event);
  }
  EXPECT_EQ(AskJson("/v1/events?since=6m")["items"].size(), 2u);
  EXPECT_EQ(AskJson("/v1/events?until=5m")["items"].size(), 1u);
  const Json items = AskJson("/v1/events?since=2026-05-28T20:31:00Z")["items"];
  EXPECT_EQ(items.size(), 0u);
  EXPECT_EQ(
      AskJson("/v1/events?since=2026-05-28T20:20:00Z&until=2026-05-28T20:22:00Z")["items"].size(),
      1u);
  EXPECT_THAT(Ask("/v1/events?until=never").body, HasSubstr("until must be a time"));
}

TEST_F(OperatorPlaneTest, StatusCountsTheStreams) {
  const Json before = AskJson("/v1/status")["watchers"];
  EXPECT_EQ(before["open"], 0);
  EXPECT_EQ(before["max"], 256);
  const HttpResponse stream = Ask("/v1/watch?topics=limits");
  EXPECT_EQ(AskJson("/v1/status")["watchers"]["open"], 1);
  plane_.Shutdown();
  EXPECT_TRUE(stream.stream->ended());
}

TEST_F(OperatorPlaneTest, HealthIsOpenAndMetricsAreUnlessTheyNeedAViewer) {
  request_.identity = {};
  for (const char* path : {"/livez", "/readyz", "/metrics"})
    EXPECT_EQ(Ask(path).status, 200) << path;
  EXPECT_EQ(Ask("/v1/status").status, 401);
  plane_.set_metrics_role(Role::kViewer);
  EXPECT_EQ(Ask("/metrics").status, 401);
  EXPECT_EQ(Ask("/livez").status, 200);
  request_.identity = {"prometheus", Role::kViewer};
  EXPECT_EQ(Ask("/metrics").status, 200);
  request_.identity = {"checkout", Role::kAgent};
  EXPECT_EQ(Ask("/metrics").status, 403);
}

TEST_F(OperatorPlaneTest, WhoAsksTooOftenWaitsAndTheOthersDoNot) {
  plane_.set_rate_limit({.per_second = 0.5, .burst = 2});
  EXPECT_EQ(Ask("/v1/status").status, 200);
  EXPECT_EQ(Ask("/v1/status").status, 200);
  const HttpResponse refused = Ask("/v1/status");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(Json::parse(refused.body)["code"], "RATE_LIMITED");
  ASSERT_EQ(refused.headers.size(), 1u);
  EXPECT_EQ(refused.headers[0].first, "Retry-After");
  EXPECT_EQ(refused.headers[0].second, "2");
  EXPECT_EQ(Ask("/livez").status, 200) << "health is exempt";
  request_.identity = {"bob", Role::kViewer};
  EXPECT_EQ(Ask("/v1/status").status, 200);
  request_.identity = {};
  for (const char* address : {"10.0.0.1", "10.0.0.2"}) {
    request_.remote_address = address;
    EXPECT_EQ(Ask("/v1/status").status, 401) << address;
    EXPECT_EQ(Ask("/v1/status").status, 401) << address;
    EXPECT_EQ(Ask("/v1/status").status, 429) << "guessing is slow, too: " << address;
  }
}

}  // namespace
}  // namespace plimsoll::internal
