#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "api/cli/src/exit_status.h"
#include "api/cli/src/json.h"
#include "tests/unit/api/cli/fake_rest.h"
#include "tests/unit/api/cli/why_facts.h"

namespace plimsoll::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kFirstPage[] = "GET /v1/dependencies?page_size=1000";

class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    rest().Answer(
        kFirstPage, 200,
        absl::StrCat(R"({"items":[)", AnswerBody("dependency"), R"(],"next_page_token":""})"));
    rest().Answer("GET /v1/dependencies/payments-db", 200, AnswerBody("dependency"));
    rest().Answer("GET /v1/dependencies/payments-db/quota", 200, AnswerBody("quota"));
    rest().Answer("GET /v1/limits?page_size=1000", 200, AnswerBody("limits"));
    rest().Answer("GET /v1/limits?dependency=payments-db&page_size=1000", 200,
                  AnswerBody("limits"));
    rest().Answer("GET /v1/events?dependency=payments-db&page_size=1000", 200,
                  AnswerBody("events"));
    rest().Answer("GET /v1/events?page_size=100", 200, AnswerBody("events"));
  }
  FakeRest& rest() { return terminal_.rest; }
  int Run(const std::vector<std::string>& arguments) { return terminal_.Run(arguments); }
  const std::string& out() const { return terminal_.out; }
  const std::string& error() const { return terminal_.error; }

  FakeTerminal terminal_;
};

TEST_F(CommandLineTest, EachMistakeIsAUsageErrorThatTellsAWayOut) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"whi"}, "unknown command \"whi\" (did you mean \"why\"?); see plimsoll help"},
      {{"set"}, "set needs to know what: override or quota"},
      {{"set", "quotas"},
       "unknown \"quotas\" after set: there is override or quota (did you mean "},
      {{"why"}, "why needs DEP; see plimsoll why --help"},
      {{"get"}, "get needs KIND: dependencies, limits, instances, quotas, events"},
      {{"get", "limit"},
       "KIND must be dependencies, limits, instances, quotas, events, not "
       "\"limit\" (did you mean \"limits\"?)"},
      {{"get", "limits", "a", "b"}, "too many arguments: \"b\""},
      {{"get", "limits", "-o", "xml"}, "--output must be one of table, wide, json, yaml"},
      {{"get", "limits", "--output"}, "--output needs a FORMAT"},
      {{"get", "limits", "--ouput", "json"},
       "unknown flag \"--ouput\" (did you mean \"--output\"?)"},
      {{"get", "limits", "--watch=yes"}, "--watch takes no value"},
      {{"get", "limits", "-o", "json", "--output=csv"},
       "--output is given twice, as \"json\" and \"csv\""},
      {{"set", "quota", "x"}, "set quota needs --capacity N"},
      {{"set", "quota", "x", "--capacity", "many"},
       "--capacity must be a whole number, not \"many\""},
      {{"set", "override", "x", "--for", "15", "--reason", "r", "--limit", "1"},
       "--for must be a time with a unit, such as 15m or 1h30m, not \"15\""},
      {{"set", "override", "x", "--for", "15m", "--reason", "r"}, "name what to pin"},
      {{"check", "limits", "--max-utilisation", "90"}, "must be above 0 and at most 1"},
      {{"status", "--client-cert", "c.pem"}, "a client certificate needs its key"},
      {{"status", "--token-file", "none"}, "the token cannot be read: none is not there"},
      {{"man", "nothing"}, "there is no such page"},
  };
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(Run(arguments), kExitUsage) << message;
    EXPECT_THAT(error(), AllOf(StartsWith("plimsoll: "), HasSubstr(message)));
    EXPECT_THAT(out(), IsEmpty());
  }
  EXPECT_EQ(Run({}), kExitUsage);
}

TEST_F(CommandLineTest, AProblemIsOneLineWithItsRequestAndAnExitStatusOfItsOwn) {
  struct Case {
    int status;
    const char* code;
    int exit;
    const char* step;
  };
  for (const Case& one : {
           Case{400, "INVALID_ARGUMENT", kExitUsage, ""},
           Case{400, "CONFIG_INVALID", kExitInvalidConfig, ""},
           Case{401, "UNAUTHENTICATED", kExitDenied, "set PLIMSOLL_TOKEN"},
           Case{403, "PERMISSION_DENIED", kExitDenied, "ask for a token"},
           Case{404, "NOT_FOUND", kExitNotFound, "plimsoll get dependencies"},
           Case{409, "MANAGED_BY_FILE", kExitConflict, "change the controller's file"},
           Case{412, "ETAG_MISMATCH", kExitConflict, "look again"},
           Case{429, "RATE_LIMITED", kExitUnreachable, "try again in 3 s"},
           Case{500, "INTERNAL", kExitFailure, ""},
           Case{503, "NOT_READY", kExitUnreachable, "try again in 3 s"},
       }) {
    FakeTerminal terminal;
    terminal.rest.Answer(
        "GET /v1/x", one.status,
        absl::StrCat(R"({"code":")", one.code, R"(","detail":"it is\nso","request_id":"01K8"})"),
        {{"retry-after", "3"}});
    EXPECT_EQ(terminal.Run({"api", "GET", "/v1/x"}), one.exit) << one.code;
    EXPECT_THAT(terminal.error, StartsWith("plimsoll: it is so"));
    EXPECT_THAT(terminal.error, HasSubstr(one.step));
    EXPECT_THAT(terminal.error, HasSubstr(absl::StrCat("(", one.code, ", request 01K8)\n")));
  }
}

TEST_F(CommandLineTest, AHintAndAllFaultsOfABodyAreTold) {
  rest().Answer(
      "GET /v1/x", 400,
      R"({"code":"INVALID_ARGUMENT","detail":"two faults","hint":"raise the ceiling first",
                "request_id":"r7",
                "errors":[{"pointer":"/floor","detail":"must be between 1 and 20"},
                          {"pointer":"/a","file":"f.yaml","line":14,"column":5,"detail":"no"}]})");
  EXPECT_EQ(Run({"api", "GET", "/v1/x"}), kExitUsage);
  EXPECT_EQ(error(),
            "plimsoll: two faults; raise the ceiling first (INVALID_ARGUMENT, request r7)\n"
            "  /floor: must be between 1 and 20\n  f.yaml:14:5: /a: no\n");
}

TEST_F(CommandLineTest, WhoDoesNotAnswerAndWhoAnswersNonsenseAreTold) {
  rest().Answer("GET /v1/version", 200, "<html>");
  EXPECT_EQ(Run({"version"}), kExitFailure);
  EXPECT_THAT(error(), HasSubstr("is no JSON: is PLIMSOLL_ADDR really that of a Plimsoll"));
  rest().GoAway();
  EXPECT_EQ(Run({"status"}), kExitUnreachable);
  EXPECT_THAT(error(), HasSubstr("cannot be reached"));
}

TEST_F(CommandLineTest, TheConnectionComesFromFlagsBeforeTheEnvironment) {
  terminal_.environment = {
      {"PLIMSOLL_ADDR", "db:1/"}, {"PLIMSOLL_TOKEN", "secret"}, {"PLIMSOLL_CACERT", "ca.pem"}};
  terminal_.files["t"] = "of-file\n";
  Run({"get", "limits"});
  EXPECT_EQ(terminal_.connection.url, "http://db:1");
  EXPECT_EQ(terminal_.connection.token, "secret");
  EXPECT_EQ(terminal_.connection.ca_file, "ca.pem");
  Run({"get", "limits", "--addr", "https://x:2", "--token-file", "t", "--timeout=1s"});
  EXPECT_EQ(terminal_.connection.url, "https://x:2");
  EXPECT_EQ(terminal_.connection.token, "of-file");
  EXPECT_EQ(terminal_.connection.timeout, absl::Seconds(1));
}

TEST_F(CommandLineTest, ListsComeInEveryFormat) {
  for (const char* const format : {"table", "wide", "csv", "name", "jsonl", "yaml"}) {
    EXPECT_EQ(Run({"get", "limits", "-o", format}), kExitFine);
    EXPECT_EQ(out(), Golden(absl::StrCat("limits_", format, ".txt"), out())) << format;
  }
  EXPECT_EQ(Run({"get", "limits", "-o", "json"}), kExitFine);
  EXPECT_EQ(Json::parse(out()), Json::parse(AnswerBody("limits")));
  for (const char* const kind : {"dependencies", "quotas", "events"}) {
    EXPECT_EQ(Run({"get", kind}), kExitFine) << error();
    EXPECT_EQ(out(), Golden(absl::StrCat(kind, "_table.txt"), out())) << kind;
  }
}

TEST_F(CommandLineTest, RowsAreSortedByAnyColumnEitherWay) {
  Run({"get", "limits", "-o", "name", "--sort-by", "in_flight"});
  EXPECT_EQ(out(), "orders-0\ncheckout-0\ncheckout-1\n");
  Run({"get", "limits", "-o", "name", "--sort-by", "-in-flight"});
  EXPECT_EQ(out(), "checkout-1\ncheckout-0\norders-0\n");
  EXPECT_EQ(Run({"get", "limits", "--sort-by", "infligt"}), kExitUsage);
  EXPECT_THAT(error(), HasSubstr("--sort-by must be one of dependency"));
  Run({"get", "limits", "--no-headers"});
  EXPECT_THAT(out(), Not(HasSubstr("INSTANCE")));
}

TEST_F(CommandLineTest, ColoursAreForTerminalsAndNeverAgainstNoColor) {
  Run({"get", "limits"});
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
  terminal_.out_is_terminal = true;
  Run({"get", "limits"});
  EXPECT_THAT(out(), HasSubstr("\x1b[33mQUOTA\x1b[0m"));
  Run({"get", "limits", "--color=never"});
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
  terminal_.environment["NO_COLOR"] = "1";
  Run({"get", "limits"});
  EXPECT_THAT(out(), Not(HasSubstr("\x1b")));
}

TEST_F(CommandLineTest, WhatAControllerSaysDoesNotDriveTheTerminal) {
  rest().Answer("GET /v1/instances?page_size=1000", 200,
                "{\"items\":[{\"instance_id\":\"a\\u001b[2Jb\",\"service\":\"s\"}]}");
  EXPECT_EQ(Run({"get", "instances"}), kExitFine);
  EXPECT_THAT(out(), AllOf(Not(HasSubstr("\x1b")), HasSubstr("a [2Jb")));
}

TEST_F(CommandLineTest, AllPagesOfAListAreOneList) {
  rest().Answer("GET /v1/instances?page_size=1000", 200,
                R"({"items":[{"instance_id":"a"}],"next_page_token":"t/1"})");
  rest().Answer("GET /v1/instances?page_size=1000&page_token=t%2F1", 200,
                R"({"items":[{"instance_id":"b"}],"next_page_token":""})");
  Run({"get", "instances", "-o", "name"});
  EXPECT_EQ(out(), "a\nb\n");
}

TEST_F(CommandLineTest, LimitsOfADependencyThatIsNotThereAreNotFound) {
  rest().Answer("GET /v1/limits?dependency=nope&page_size=1000", 200, R"({"items":[]})");
  EXPECT_EQ(Run({"get", "limits", "nope"}), kExitNotFound);
}

TEST_F(CommandLineTest, WhyAsksTheControllerAndTellsTheStory) {
  EXPECT_EQ(Run({"why", "payments-db"}), kExitFine) << error();
  EXPECT_THAT(out(), AllOf(StartsWith("14.2 calls/s to payments-db are refused."),
                           HasSubstr("The quota decides"), Not(HasSubstr("90 →"))));
  EXPECT_EQ(rest().last(),
            R"(POST /v1/dependencies/payments-db:explain {"instance_id":"checkout-0"})");
  EXPECT_EQ(Run({"why", "payments-db", "orders-0", "-o", "json"}), kExitFine);
  EXPECT_EQ(Json::parse(out())["instance_id"], "orders-0");
  EXPECT_EQ(Run({"why", "payments-db", "nobody"}), kExitNotFound);
  EXPECT_THAT(error(), HasSubstr("these do: checkout-0, checkout-1, orders-0"));
  EXPECT_EQ(Run({"why", "nothing"}), kExitNotFound);
}

TEST_F(CommandLineTest, AnExplanationOfALimitThatHasMovedSinceIsLeftOut) {
  rest().Answer("POST /v1/dependencies/payments-db:explain", 200,
                R"({"enforced":12,"steps":[{"name":"algorithm","value":1,"text":"Stale."}]})");
  rest().Answer("POST /v1/dependencies/payments-db:explain", 200,
                R"({"enforced":38,"steps":[{"name":"algorithm","value":1,"text":"Fresh."}]})");
  Run({"why", "payments-db"});
  EXPECT_THAT(out(), Not(HasSubstr("Stale.")));
  Run({"why", "payments-db"});
  EXPECT_THAT(out(), HasSubstr("Fresh."));
}

TEST_F(CommandLineTest, StatusIsOneScreenAndQuietIsForProbes) {
  rest().Answer("GET /v1/status", 200,
                R"({"version":"1.0.0","role":"LEADER","uptime_seconds":8123.4,"state":"EMBEDDED",
                "store_ok":true,
                "learning":{"active":false},"dependencies":{"total":12,"limited":2},
                "agents":{"connected":34,"silent":1,"versions":["1.0.0"]}})");
  EXPECT_EQ(Run({"status"}), kExitFine) << error();
  EXPECT_EQ(out(), Golden("status.txt", out()));
  rest().Answer("GET /readyz", 200, "ok");
  rest().Answer("GET /readyz", 503, "no");
  EXPECT_EQ(Run({"status", "--quiet"}), kExitFine);
  EXPECT_EQ(Run({"status", "--quiet"}), kExitFinding);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(CommandLineTest, StatusTellsWhoLeadsWhichShard) {
  rest().Answer("GET /v1/status", 200,
                R"({"version":"1.0.0","role":"LEADER","uptime_seconds":8123.4,"state":"ETCD",
                "store_ok":true, "learning":{"active":false},"shards":[
                {"shard":0,"owner":"http://a:7480","role":"LEADER","epoch":7,"dependencies":3},
                {"shard":1,"owner":"http://b:7480","role":"STANDBY","epoch":null},
                {"shard":2,"owner":"","role":"STANDBY","epoch":null}],
                "dependencies":{"total":3,"limited":0},
                "agents":{"connected":34,"silent":1,"versions":["1.0.0"]}})");
  EXPECT_EQ(Run({"status"}), kExitFine) << error();
  EXPECT_THAT(
      out(),
      HasSubstr("shards        0 here (3 dependencies), 1 at http://b:7480, 2 led by nobody\n"));
}

// What each controller leads, as one list. One of them is away.
TEST_F(CommandLineTest, AListIsMadeOfWhatAllControllersLead) {
  const std::string page = "/v1/events?page_size=50";
  rest().Answer("GET " + page, 200, R"({"items":[{"id":"0.1-2","time":"2026-11-29T17:00:03Z"}],
      "next_page_token":"","partial":true,"elsewhere":[{"shard":1,"api":"http://b:7480"},
      {"shard":2,"api":"http://b:7480"},{"shard":3,"api":"http://c:7480"},{"shard":4,"api":""}]})");
  rest().Answer("GET http://b:7480" + page, 200,
                R"({"items":[{"id":"1.1-1","time":"2026-11-29T17:00:04Z"},
                {"id":"2.1-1","time":"2026-11-29T17:00:02Z"}],"next_page_token":"",
                "partial":true,"elsewhere":[{"shard":0,"api":"http://a:7480"}]})");
  EXPECT_EQ(Run({"get", "events", "--limit", "50", "-o", "json"}), kExitFine) << error();
  const Json all = Json::parse(out());
  ASSERT_EQ(all["items"].size(), 3U) << all;
  EXPECT_EQ(all["items"][0]["id"], "1.1-1");
  EXPECT_EQ(all["items"][1]["id"], "0.1-2");
  EXPECT_EQ(all["items"][2]["id"], "2.1-1");
  EXPECT_EQ(all["partial"], true);
  ASSERT_EQ(all["elsewhere"].size(), 2U) << all;
  EXPECT_EQ(all["elsewhere"][0]["shard"], 3);
  EXPECT_EQ(all["elsewhere"][1]["why"], "nobody leads it now");
}

// A controller that leads some of three shards, and knows who leads the others.
std::string Elsewhere(const std::vector<std::pair<int, std::string>>& shards) {
  Json elsewhere = Json::array();
  for (const auto& [shard, api] : shards) elsewhere.push_back({{"shard", shard}, {"api", api}});
  return Json{{"code", "NOT_FOUND"}, {"partial", true}, {"elsewhere", elsewhere}}.dump();
}

constexpr char kEvict[] = "DELETE /v1/instances/shop-0";
constexpr char kEvictAtB[] = "DELETE http://b:7480/v1/instances/shop-0";
constexpr char kEvictAtC[] = "DELETE http://c:7480/v1/instances/shop-0";

TEST_F(CommandLineTest, AnInstanceIsEvictedByAllThatLead) {
  rest().Answer(kEvict, 404, Elsewhere({{1, "http://b:7480"}, {2, "http://c:7480"}}));
  rest().Answer(kEvictAtB, 200, Elsewhere({{0, "http://a:7480"}, {2, "http://c:7480"}}));
  rest().Answer(kEvictAtC, 404, Elsewhere({{0, "http://a:7480"}, {1, "http://b:7480"}}));
  EXPECT_EQ(Run({"evict", "shop-0"}), kExitFine) << error();
  EXPECT_THAT(rest().requests(), SizeIs(3));
  EXPECT_THAT(out(), HasSubstr("shop-0: evicted"));
}

TEST_F(CommandLineTest, AnInstanceThatNoControllerKnowsIsNotFound) {
  rest().Answer(kEvict, 404, Elsewhere({{1, "http://b:7480"}}));
  rest().Answer(kEvictAtB, 404, Elsewhere({{0, "http://a:7480"}}));
  EXPECT_EQ(Run({"evict", "shop-0"}), kExitNotFound);
}

// A shard moves while they are asked, to one that has been asked, by another address.
TEST_F(CommandLineTest, EvictionFollowsAShardThatMoves) {
  rest().Answer(kEvict, 200, Elsewhere({{1, "http://b:7480"}, {2, "http://b:7480"}}));
  rest().Answer(kEvictAtB, 200, Elsewhere({{0, "http://a:7480"}, {2, "http://c:7480"}}));
  rest().Answer(kEvictAtC, 200, Elsewhere({{0, "http://a:7480"}, {1, "http://b:7480"}}));
  EXPECT_EQ(Run({"evict", "shop-0"}), kExitFine) << error();
  EXPECT_EQ(rest().last(), kEvictAtC);
}

TEST_F(CommandLineTest, EvictionThatMissesAShardSaysWhich) {
  rest().Answer(kEvict, 200, Elsewhere({{1, ""}, {2, "http://b:7480"}}));
  rest().Answer(kEvictAtB, 200, Elsewhere({{0, "http://a:7480"}, {1, ""}}));
  EXPECT_EQ(Run({"evict", "shop-0"}), kExitUnreachable);
  EXPECT_THAT(error(), HasSubstr("shop-0 is evicted, but not from all shards; try again when they "
                                 "are led (shard 1: nobody leads it now)"));
  EXPECT_THAT(out(), IsEmpty());
}

// A controller of before says nothing of shards: it is taken for the leader of its own only.
TEST_F(CommandLineTest, EvictionBelievesNoMoreThanItWasTold) {
  rest().Answer(kEvict, 200, Elsewhere({{1, "http://b:7480"}, {2, "http://c:7480"}}));
  rest().Answer(kEvictAtB, 204, "");
  rest().Answer(kEvictAtC, 503, R"({"code":"STORE_UNAVAILABLE","detail":"no etcd"})");
  EXPECT_EQ(Run({"evict", "shop-0"}), kExitUnreachable);
  EXPECT_THAT(error(), HasSubstr("(shard 2: no etcd"));
  EXPECT_THAT(error(), Not(HasSubstr("shard 1")));
}

TEST_F(CommandLineTest, AnInstanceIsLookedForAtAllThatLead) {
  rest().Answer("GET /v1/instances/shop-0", 404, Elsewhere({{1, "http://b:7480"}}));
  rest().Answer("GET http://b:7480/v1/instances/shop-0", 200,
                R"({"instance_id":"shop-0","service":"shop","partial":true,"elsewhere":[]})");
  EXPECT_EQ(Run({"get", "instances", "shop-0", "-o", "name"}), kExitFine) << error();
  EXPECT_EQ(out(), "shop-0\n");
}

TEST_F(CommandLineTest, WatchSaysOnceWhatItDoesNotFollow) {
  const std::string partial =
      "event: partial\ndata: " + Elsewhere({{1, "http://b:7480"}, {2, ""}}) + "\n\n";
  rest().Stream({partial, "event: quota\ndata: {}\n\n"});
  rest().Stream({partial, "event: quota\ndata: {}\n\n"});
  EXPECT_EQ(Run({"watch", "--count", "2"}), kExitFine);
  EXPECT_EQ(out(),
            "{\"event\":\"quota\",\"id\":\"\",\"data\":{}}\n"
            "{\"event\":\"quota\",\"id\":\"\",\"data\":{}}\n");
  EXPECT_EQ(error(),
            "only changes in the shards that this controller leads are told; the others are led by "
            "http://b:7480, nobody now: follow them with --addr\n");
}

TEST_F(CommandLineTest, DescribeTellsSettingsLimitsAndEvents) {
  EXPECT_EQ(Run({"describe", "dependency", "payments-db"}), kExitFine) << error();
  EXPECT_EQ(out(), Golden("describe.txt", out()));
}

TEST_F(CommandLineTest, ChangesAreSentAsTheContractHasThem) {
  const std::string base = "/v1/dependencies/payments-db";
  rest().Answer("PUT " + base + "/override", 201, "{}");
  EXPECT_EQ(Run({"set", "override", "payments-db", "--limit", "10", "--for", "15m", "--reason",
                 "INC-12"}),
            kExitFine)
      << error();
  EXPECT_EQ(rest().last(),
            "PUT " + base +
                "/override "
                R"({"limit":10,"reason":"INC-12","expire_time":"2026-11-29T17:35:23Z"})");
  rest().Answer("PUT " + base + "/override?validate_only=true", 200, "{}");
  Run({"set", "override", "payments-db", "--mode", "observe", "--for=1h", "--reason=r",
       "--dry-run"});
  EXPECT_THAT(rest().last(), HasSubstr(R"({"mode":"OBSERVE","reason":"r")"));
  EXPECT_THAT(out(), HasSubstr("nothing was changed"));
  rest().Answer("DELETE " + base + "/override", 204, "");
  EXPECT_EQ(Run({"unset", "override", "payments-db"}), kExitFine);
  rest().Answer("PUT " + base + "/quota", 200, "{}");
  EXPECT_EQ(Run({"set", "quota", "payments-db", "--capacity", "150"}), kExitFine);
  EXPECT_EQ(rest().last(), "PUT " + base + R"(/quota {"capacity":150,"policy":"FAIR_SHARE"})");
  EXPECT_EQ(out(), "payments-db: quota 120 → 150\n");
  rest().Answer("POST /v1/config:reload", 200, R"({"pending_restart":["listen.api"]})");
  EXPECT_EQ(Run({"reload"}), kExitFine);
  EXPECT_THAT(out(), HasSubstr(R"(wait for a restart: ["listen.api"])"));
}

TEST_F(CommandLineTest, AtATerminalWhatCannotBeTakenBackIsAskedFirst) {
  rest().Answer("DELETE /v1/instances/a%2Fb", 204, "");
  rest().Answer("POST /v1/dependencies/payments-db:reset", 200, "{}");
  terminal_.in_is_terminal = true;
  terminal_.typed = "n";
  EXPECT_EQ(Run({"evict", "a/b"}), kExitFailure);
  EXPECT_THAT(error(), HasSubstr("End the session of a/b? [y/N]"));
  EXPECT_THAT(rest().requests(), IsEmpty());
  EXPECT_EQ(Run({"evict", "a/b", "--yes"}), kExitFine);
  terminal_.typed = "Y";
  EXPECT_EQ(Run({"reset", "payments-db"}), kExitFine);
}

TEST_F(CommandLineTest, ChecksFindWhatIsNearlyUsedUp) {
  EXPECT_EQ(Run({"check", "limits"}), kExitFinding);
  EXPECT_EQ(out(),
            "payments-db checkout-0: 38 of 38 in flight, 100 %, by QUOTA\n"
            "payments-db checkout-1: 40 of 42 in flight, 95.2 %, by QUOTA\n");
  EXPECT_EQ(Run({"check", "limits", "--max-utilisation", "1"}), kExitFine);
  EXPECT_EQ(Run({"check", "quotas"}), kExitFinding);
  EXPECT_EQ(out(), "payments-db: 171 are wanted, and the quota is 120\n");
}

TEST_F(CommandLineTest, SizesAreAdvisedWithReasons) {
  rest().Answer("GET /v1/sizing", 200,
                R"({"items":[{"dependency":"payments-db","measured":{"span_seconds":600,
                "arrivals_per_second":640,
                "latency_mean_seconds":0.012,"latency_p99_seconds":0.412,"utilisation":0.8},
                "needed":{"in_flight_by_mean":8,"in_flight_by_p99":264,"critical":16,"optional":8},
                "advised":{"quota":24,"floor":2,"ceiling":64},
                "configured":{"quota":120,"floor":5,"ceiling":200},
                "reasons":["640 calls/s of 12 ms are 7.7 in flight."],
                "remarks":[{"finding":"IDLE","message":"never passes 30 % of its limit"}]}]})");
  EXPECT_EQ(Run({"size"}), kExitFine) << error();
  EXPECT_EQ(out(), Golden("size.txt", out()));
  EXPECT_EQ(Run({"size", "other"}), kExitNotFound);
}

TEST_F(CommandLineTest, AFileIsAppliedWholeOrNotAtAll) {
  terminal_.files["p.yaml"] =
      "defaults: {floor: 2}\ndependencies:\n  - {name: a, call_deadline: 5s}\n  - {name: b, floor: "
      "7}\n";
  rest().Answer("PUT /v1/dependencies/a?validate_only=true", 201, "{}");
  rest().Answer("PUT /v1/dependencies/b?validate_only=true", 409,
                R"({"code":"MANAGED_BY_FILE","detail":"b is of the file"})");
  rest().Answer("PUT /v1/dependencies/b?validate_only=true", 200, "{}");
  EXPECT_EQ(Run({"apply", "-f", "p.yaml"}), kExitConflict);
  EXPECT_THAT(error(), AllOf(HasSubstr("b: b is of the file"), HasSubstr("nothing was changed")));
  rest().Answer("PUT /v1/dependencies/a", 201, R"({"name":"a","floor":2})");
  rest().Answer("GET /v1/dependencies/b", 200, R"({"name":"b","floor":7,"status":{"x":1}})");
  rest().Answer("PUT /v1/dependencies/b", 200, R"({"name":"b","floor":7,"status":{"x":2}})");
  EXPECT_EQ(Run({"apply", "-f", "p.yaml"}), kExitFine) << error();
  EXPECT_EQ(out(), "a: created\nb: unchanged\n");
  EXPECT_EQ(rest().last(), R"(PUT /v1/dependencies/b {"name":"b","floor":7})");
}

TEST_F(CommandLineTest, AFaultyFileIsRefusedAtItsPlaceBeforeAnythingIsSent) {
  terminal_.files["p.yaml"] = "dependencies:\n  - {name: a, celing: 7}\n";
  EXPECT_EQ(Run({"apply", "-f", "p.yaml"}), kExitInvalidConfig);
  EXPECT_THAT(error(), HasSubstr("p.yaml:2:15: /dependencies/0/celing: "));
  terminal_.files["p.yaml"] = "listen: {api: x}\ndependencies: []\n";
  EXPECT_EQ(Run({"diff", "-f", "p.yaml"}), kExitInvalidConfig);
  EXPECT_EQ(Run({"diff", "-f", "none"}), kExitUsage);
  EXPECT_THAT(rest().requests(), IsEmpty());
}

TEST_F(CommandLineTest, ADifferenceIsToldKeyByKey) {
  terminal_.files["p.yaml"] =
      "dependencies:\n  - {name: payments-db, floor: 6, call_deadline: 30s, quota: {capacity: "
      "150}}\n"
      "  - {name: new}\n";
  // The controller owns it by its file, so only what this file says is compared.
  rest().Answer("PUT /v1/dependencies/payments-db?validate_only=true", 409,
                R"({"code":"MANAGED_BY_FILE"})");
  EXPECT_EQ(Run({"diff", "-f", "p.yaml"}), kExitFinding) << error();
  EXPECT_EQ(
      out(),
      "payments-db\n  /floor: 5 → 6\n  /quota/capacity: 120 → 150\nnew\n  would be created\n");
  terminal_.files["p.yaml"] =
      "dependencies:\n  - {name: payments-db, mode: enforce, call_deadline: 0.5m}\n";
  EXPECT_EQ(Run({"diff", "-f", "p.yaml"}), kExitFine);
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(CommandLineTest, WatchPrintsTheStreamAsLinesOfJson) {
  rest().Stream({"retry: 2000\n\nid: 418-3\nevent: li", "mit\ndata: {\"a\":1}\n\n: still there\n\n",
                 "id: 418-4\nevent: quota\ndata: {}\n\n"});
  EXPECT_EQ(Run({"watch", "limits,quotas", "--count", "2"}), kExitFine) << error();
  EXPECT_EQ(out(),
            "{\"event\":\"limit\",\"id\":\"418-3\",\"data\":{\"a\":1}}\n"
            "{\"event\":\"quota\",\"id\":\"418-4\",\"data\":{}}\n");
  EXPECT_EQ(rest().requests()[0].target, "/v1/watch?topics=limits%2Cquotas");
}

TEST_F(CommandLineTest, WatchGoesOnFromWhereItWas) {
  rest().Stream({"id: 1\ndata: {}\n\n"});
  rest().Stream({"id: 2\ndata: {}\n\n"});
  EXPECT_EQ(Run({"watch", "--count", "2"}), kExitFine);
  EXPECT_EQ(rest().requests()[1].headers.back().second, "1");
}

TEST_F(CommandLineTest, WithoutAFreeStreamWatchLooksAgainAndAgain) {
  const std::string list = "GET /v1/limits?page_size=1000";
  rest().Answer("GET /v1/watch?topics=limits", 503, R"({"code":"WATCHERS_EXHAUSTED"})");
  FakeTerminal terminal;
  terminal.rest.Answer("GET /v1/watch?topics=limits", 503, R"({"code":"WATCHERS_EXHAUSTED"})");
  const std::string row =
      R"({"items":[{"dependency":"d","service":"s","instance_id":"i","enforced":)";
  terminal.rest.Answer(list, 200, row + R"(4,"in_flight":1}]})", {{"etag", "\"l.1.1\""}});
  terminal.rest.Answer(list, 304, "");
  terminal.rest.Answer(list, 200, row + R"(4,"in_flight":3}]})");  // nothing that counts
  terminal.rest.Answer(list, 200, row + R"(5,"in_flight":3}]})");
  EXPECT_EQ(terminal.Run({"get", "limits", "-w", "--count", "1"}), kExitFine) << terminal.error;
  EXPECT_THAT(terminal.out, AllOf(HasSubstr(R"("enforced":5)"), Not(HasSubstr(R"("enforced":4)"))));
  EXPECT_THAT(terminal.error, HasSubstr("no stream is free: looking every 2 s instead"));
  EXPECT_EQ(terminal.rest.requests()[2].headers.back().second, "\"l.1.1\"");
}

TEST_F(CommandLineTest, TopDrawsTableAfterTable) {
  EXPECT_EQ(Run({"top", "--count", "2"}), kExitFine) << error();
  EXPECT_EQ(terminal_.pauses, 1);
  EXPECT_THAT(out(),
              AllOf(HasSubstr("17:20:23 UTC"), HasSubstr("17:20:25 UTC"), Not(HasSubstr("\x1b"))));
  terminal_.out_is_terminal = true;
  EXPECT_EQ(Run({"top", "-d", "payments-db", "--count", "1", "--color", "never"}), kExitFine);
  EXPECT_THAT(out(), AllOf(HasSubstr("\x1b[H"), HasSubstr("checkout-1")));
}

TEST_F(CommandLineTest, TopFitsTheTerminal) {
  terminal_.out_is_terminal = true;
  terminal_.size = {5, 20};
  EXPECT_EQ(Run({"top", "-d", "payments-db", "--count", "1", "--color", "never"}), kExitFine);
  EXPECT_EQ(std::count(out().begin(), out().end(), '\n'), 4) << out();
  EXPECT_THAT(out(), AllOf(HasSubstr("NAME         MODE  …\x1b[K"), HasSubstr("and 5 more lines")));
  EXPECT_EQ(Run({"get", "dependencies", "-o", "wide", "--color", "never"}), kExitFine);
  EXPECT_THAT(out(), AllOf(HasSubstr("ORIGIN"), Not(HasSubstr("…")))) << "asked for in full";
}

TEST_F(CommandLineTest, TopGoesOnWhileAControllerRestarts) {
  rest().Answer(kFirstPage, 503, R"({"code":"NOT_READY","detail":"stopping"})");
  rest().Answer(kFirstPage, 200, R"({"items":[],"next_page_token":""})");
  EXPECT_EQ(Run({"top", "--count", "3"}), kExitFine);
  EXPECT_THAT(error(), HasSubstr("plimsoll: stopping; try again (NOT_READY)"));
  rest().GoAway();
  EXPECT_EQ(Run({"top", "--count", "3"}), kExitUnreachable) << "it was never there";
}

TEST_F(CommandLineTest, WhatIsOnlyObservedEnforcesNothing) {
  Json observed = Json::parse(AnswerBody("dependency"));
  observed["mode"] = "OBSERVE";
  observed["status"]["enforced"] = 0;
  rest().Answer("GET /v1/dependencies/observed", 200, observed.dump());
  EXPECT_EQ(Run({"get", "dependencies", "observed", "--no-headers"}), kExitFine);
  EXPECT_THAT(out(), testing::ContainsRegex("OBSERVE +[A-Z_]+ +[0-9]+ +[0-9]+ +- "));
  EXPECT_EQ(Run({"get", "dependencies", "observed", "-o", "json"}), kExitFine);
  EXPECT_EQ(Json::parse(out())["status"]["enforced"], 0) << "as it came";
}

TEST_F(CommandLineTest, WhyInBriefTellsWhatDecidesAndNoMore) {
  EXPECT_EQ(Run({"why", "payments-db", "checkout-0", "--brief"}), kExitFine);
  EXPECT_THAT(out(), AllOf(HasSubstr("are refused"), HasSubstr("The quota decides"),
                           Not(HasSubstr("Step by step")), Not(HasSubstr("What to do"))));
}

TEST_F(CommandLineTest, RawRequestsPassAsTheyAre) {
  rest().Answer("PATCH /v1/dependencies/x", 200, "{\"a\":1}");
  terminal_.files["b.json"] = "{}";
  EXPECT_EQ(Run({"api", "PATCH", "/v1/dependencies/x", "-d", "@b.json", "--if-match", "\"e\""}),
            kExitFine);
  EXPECT_EQ(out(), "{\"a\":1}\n");
  EXPECT_EQ(rest().requests()[0].body, "{}");
  EXPECT_EQ(rest().requests()[0].headers.back().second, "\"e\"");
  EXPECT_EQ(Run({"api", "GET", "/v1/a b"}), kExitUsage);
}

TEST_F(CommandLineTest, ACheckOfAConfigurationCanBeStrictAndLeaveSecretsUnread) {
  EXPECT_EQ(Run({"check-config", "good.yaml"}), kExitFine);
  EXPECT_EQ(out(), "good.yaml: valid\n");
  EXPECT_EQ(error(), "warning: unknown variable\n");
  EXPECT_EQ(Run({"check-config", "--strict", "good.yaml", "--skip-secrets"}), kExitFine);
  EXPECT_EQ(out(), "good.yaml: valid without secrets\n");
  EXPECT_EQ(error(), "");
}

TEST_F(CommandLineTest, WhatNeedsNoControllerAsksNone) {
  rest().GoAway();
  EXPECT_EQ(Run({"check-config", "good.yaml"}), kExitFine);
  EXPECT_EQ(Run({"check-config", "bad.yaml"}), kExitInvalidConfig);
  EXPECT_EQ(error(), "bad.yaml:1:1: /celing: unknown key\n");
  EXPECT_EQ(Run({"simulate", "--anything", "at", "all"}), kExitFine);
  EXPECT_EQ(out(), "simulate 3");
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"version", "--client"},
                                                                     {"--version"},
                                                                     {"help"},
                                                                     {"help", "why"},
                                                                     {"why", "--help"},
                                                                     {"completion", "bash"},
                                                                     {"man", "plimsoll"}}) {
    EXPECT_EQ(Run(arguments), kExitFine) << arguments[0];
    EXPECT_THAT(out(), Not(IsEmpty()));
  }
}

}  // namespace
}  // namespace plimsoll::cli
