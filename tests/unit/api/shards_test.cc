// Several shards told as one: ids, snapshots, events, what is elsewhere, and changes that go where
// their dependency is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "api/http/src/change_lanes.h"
#include "api/http/src/shard_merge.h"
#include "api/http/src/shard_views.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShardMergeTest, IdsSayWhichShardTheyAreOf) {
  EXPECT_EQ(ShardedId(3, "1764-17"), "3.1764-17");
  EXPECT_EQ(SplitShardedId("3.1764-17"), std::pair(3, std::string("1764-17")));
  EXPECT_EQ(SplitShardedId("1764-17"), std::nullopt);
  EXPECT_EQ(SplitShardedId("x.1764-17"), std::nullopt);
}

TEST(ShardMergeTest, SnapshotsAreAddedAndSorted) {
  const auto with = [](const std::string& dependency, std::int64_t epoch) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->epoch = Epoch(epoch);
    snapshot->held_syncs = 2;
    DependencyRow row;
    row.policy.name = DependencyId(dependency);
    row.last_decision.emplace().event_id = "9-1";
    snapshot->dependencies.push_back(row);
    InstanceRow instance;
    instance.session = SessionId("7-1");
    instance.instance = InstanceId("shop-0");
    snapshot->instances.push_back(instance);
    return snapshot;
  };
  const auto first = with("b", 5);
  const auto second = with("a", 4);
  second->store_ok = false;
  second->learning = true;
  second->learning_until = Instant() + absl::Seconds(7);
  const Snapshot whole = MergeSnapshots({{1, first}, {4, second}}, *first);
  EXPECT_EQ(whole.epoch, Epoch(5));
  EXPECT_EQ(whole.held_syncs, 4);
  EXPECT_FALSE(whole.store_ok);
  EXPECT_TRUE(whole.learning);
  EXPECT_EQ(whole.learning_until, second->learning_until);
  ASSERT_EQ(whole.dependencies.size(), 2U);
  EXPECT_EQ(whole.dependencies[0].policy.name.value, "a");
  EXPECT_EQ(whole.dependencies[0].last_decision->event_id, "4.9-1");
  ASSERT_EQ(whole.instances.size(), 2U);
  EXPECT_EQ(whole.instances[0].session.value, "1.7-1");
  EXPECT_EQ(whole.instances[1].session.value, "4.7-1");
}

// Three logs that grow at the same time, often at the same instant.
class ShardLogsTest : public ::testing::Test {
 protected:
  ShardLogsTest() {
    Random random(3);
    Instant at = Instant() + absl::Hours(1);
    for (int i = 0; i < 300; ++i) {
      at = at + absl::Milliseconds(static_cast<double>(random.Below(2)));
      LogEvent event;
      event.at = at;
      logs_[random.Below(3)].Append(event);
    }
  }
  ShardLogs Logs() const { return {{0, &logs_[0]}, {2, &logs_[1]}, {5, &logs_[2]}}; }
  static std::vector<std::string> Ids(const std::vector<LogEvent>& events) {
    std::vector<std::string> ids;
    for (const LogEvent& event : events) ids.push_back(event.id);
    return ids;
  }

  std::vector<EventLog> logs_{EventLog(Epoch(1), 1000), EventLog(Epoch(2), 1000),
                              EventLog(Epoch(3), 1000)};
};

TEST_F(ShardLogsTest, PagesTellEveryEventOnceNewestFirst) {
  const std::vector<LogEvent> all = FindInLogs(Logs(), {}, 1000);
  ASSERT_EQ(all.size(), 300U);
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_LE(all[i].at, all[i - 1].at);
  std::vector<std::string> paged;
  EventLog::Filter filter;
  for (;;) {
    const std::vector<LogEvent> page = FindInLogs(Logs(), filter, 7);
    if (page.empty()) break;
    for (const LogEvent& event : page) paged.push_back(event.id);
    filter.before = page.back().id;
  }
  EXPECT_EQ(paged, Ids(all));
}

TEST_F(ShardLogsTest, WhoFollowsIsToldWhatIsNewer) {
  const std::vector<std::string> all = Ids(FindInLogs(Logs(), {}, 1000));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{150}, std::size_t{299}}) {
    EventLog::Filter filter;
    filter.after = all[i];
    EXPECT_EQ(Ids(FindInLogs(Logs(), filter, 1000)),
              std::vector<std::string>(all.begin(), all.begin() + static_cast<int>(i)));
  }
}

TEST_F(ShardLogsTest, AnEventIsFoundByItsId) {
  EXPECT_TRUE(GetFromLogs(Logs(), "2.2-1").has_value());
  EXPECT_EQ(GetFromLogs(Logs(), "2.2-1")->id, "2.2-1");
  EXPECT_FALSE(GetFromLogs(Logs(), "1.2-1").has_value());
  EXPECT_FALSE(GetFromLogs(Logs(), "2-1").has_value());
  EventLog::Filter gone;
  gone.before = "4.1-1";
  EXPECT_THAT(FindInLogs(Logs(), gone, 10), IsEmpty());
}

TEST(ShardMergeTest, AuditRecordsAreInTheOrderOfTime) {
  EXPECT_THAT(MergeAudit({{R"({"time":"3"})", R"({"time":"1"})"}, {R"({"time":"2"})"}}, 2),
              ElementsAre(R"({"time":"3"})", R"({"time":"2"})"));
}

TEST(ShardViewsTest, WhichDependencyARequestIsAbout) {
  const auto of = [](const std::string& path, const std::string& query = "") {
    HttpRequest request;
    request.path = path;
    request.query = query;
    return DependencyOf(request).value_or("-");
  };
  EXPECT_EQ(of("/v1/dependencies/db"), "db");
  EXPECT_EQ(of("/v1/dependencies/db/override"), "db");
  EXPECT_EQ(of("/v1/dependencies/db:reset"), "db");
  EXPECT_EQ(of("/v1/dependencies/a%2Eb"), "a.b");
  EXPECT_EQ(of("/v1/limits/db/shop-0"), "db");
  EXPECT_EQ(of("/v1/limits", "dependency=db&page_size=1"), "db");
  EXPECT_EQ(of("/v1/timeseries", "dependency=db"), "db");
  EXPECT_EQ(of("/v1/dependencies"), "-");
  EXPECT_EQ(of("/v1/instances/db"), "-");
  EXPECT_EQ(of("/v1/status"), "-");
}

TEST(ShardViewsTest, ListsSayWhatIsElsewhere) {
  std::vector<ControllerView::ShardFacts> shards(2);
  shards[0].self = true;
  shards[1].leader.api = "http://b:7480";
  HttpResponse response;
  response.body = R"({"items":[]})";
  AddElsewhere(shards, {}, response);
  EXPECT_EQ(Json::parse(response.body), Json::parse(R"({"items": [], "partial": true,
      "elsewhere": [{"shard": 1, "api": "http://b:7480"}]})"));
  shards[1].self = true;
  response.body = R"({"items":[]})";
  AddElsewhere(shards, {}, response);
  EXPECT_EQ(response.body, R"({"items":[]})");
}

TEST(ShardViewsTest, AnEventIsAskedOfTheLeaderOfItsShard) {
  const auto of = [](const std::string& path) {
    HttpRequest request;
    request.path = path;
    return ShardAskedFor(request, 4).value_or(-1);
  };
  EXPECT_EQ(of("/v1/events/3.1764-17"), 3);
  EXPECT_EQ(of("/v1/events/4.1764-17"), -1);
  EXPECT_EQ(of("/v1/events/-1.1764-17"), -1);
  EXPECT_EQ(of("/v1/events/1764-17"), -1);
  EXPECT_EQ(of("/v1/events"), -1);
  EXPECT_EQ(of("/v1/dependencies/db"), ShardOf(DependencyId("db"), 4));
}

TEST(ShardViewsTest, WhatIsAboutAnInstanceIsDoneForWhatIsLedHereAndSaysSo) {
  const auto partial = [](const std::string& method, const std::string& path) {
    HttpRequest request;
    request.method = method;
    request.path = path;
    return IsPartial(request);
  };
  EXPECT_TRUE(partial("DELETE", "/v1/instances/shop-0"));
  EXPECT_TRUE(partial("GET", "/v1/instances/shop-0"));
  EXPECT_TRUE(partial("GET", "/v1/instances"));
  EXPECT_FALSE(partial("DELETE", "/v1/instances"));
  EXPECT_FALSE(partial("GET", "/v1/status"));

  std::vector<ControllerView::ShardFacts> shards(2);
  shards[0].self = true;
  HttpResponse done;
  done.status = 204;
  AddElsewhere(shards, {}, done);
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(done.body, R"({"partial":true,"elsewhere":[{"shard":1,"api":""}]})");
  HttpResponse missed = ProblemResponse(404, "NOT_FOUND", "there is no instance 'shop-0'");
  AddElsewhere(shards, {}, missed);
  EXPECT_EQ(missed.status, 404);
  EXPECT_EQ(Json::parse(missed.body)["code"], "NOT_FOUND");
  EXPECT_EQ(Json::parse(missed.body)["partial"], true);
  EXPECT_EQ(Json::parse(missed.body)["elsewhere"].size(), 1U);
  HttpResponse refused = ProblemResponse(403, "PERMISSION_DENIED", "no");
  AddElsewhere(shards, {}, refused);
  RenderProblem({}, refused);
  EXPECT_FALSE(Json::parse(refused.body).contains("partial"));
  shards[1].self = true;
  HttpResponse all;
  all.status = 204;
  AddElsewhere(shards, {}, all);
  EXPECT_EQ(all.status, 204);
}

// Plans nothing, and keeps what it was asked for.
class NotedOperations final : public Operations, public ChangeHost {
 public:
  ChangePlan Plan(const ChangeRequest& request, absl::Time /*now*/) override {
    asked.push_back(request);
    ChangePlan plan;
    plan.status = refuses ? 404 : 200;
    return plan;
  }
  std::optional<ChangePlan> Expire(absl::Time /*now*/) override {
    ++ticks;
    return std::nullopt;
  }
  void Settle(const absl::Status& /*written*/) override {}
  std::optional<DependencyFacts> Find(const DependencyId& /*name*/) const override { return {}; }
  ConfigFacts config() const override { return {}; }
  std::vector<ChangeFault> Validate(const std::string& /*text*/) const override { return {}; }
  Question ReadQuestion(const std::string& /*body*/,
                        std::vector<ChangeFault>& /*faults*/) const override {
    return {};
  }
  void Commit(WriteBatch /*batch*/, std::function<void(absl::Status)> done) override {
    done(absl::OkStatus());
  }
  void Tell(std::vector<Event> /*events*/, std::function<void()> done) override { done(); }

  std::vector<ChangeRequest> asked;
  int ticks = 0;
  bool refuses = false;
};

class ChangeLanesTest : public ::testing::Test {
 protected:
  ChangeLanesTest()
      : lanes_({{&shards_[0], &shards_[0]},
                {&shards_[1], &shards_[1], [] { return false; }},
                {&shards_[2], &shards_[2]}},
               RealClock()) {}

  // The status of the plan.
  int Submit(ChangeVerb verb, const std::string& name, std::vector<SessionId> sessions = {}) {
    ChangeRequest request;
    request.verb = verb;
    request.name = name;
    request.sessions = std::move(sessions);
    int status = 0;
    int done = 0;
    lanes_.Submit(request, [&](const ChangePlan& plan) {
      status = plan.status;
      ++done;
    });
    EXPECT_EQ(done, 1);
    return status;
  }

  NotedOperations shards_[3];
  ChangeLanes lanes_;
};

TEST_F(ChangeLanesTest, AChangeGoesToTheShardOfItsDependency) {
  for (int i = 0; i < 20; ++i) {
    const std::string name = absl::StrCat("d", i);
    NotedOperations& right = shards_[ShardOf(DependencyId(name), 3)];
    const std::size_t before = right.asked.size();
    EXPECT_EQ(Submit(ChangeVerb::kPutOverride, name), 200);
    ASSERT_EQ(right.asked.size(), before + 1) << name;
    EXPECT_EQ(right.asked.back().name, name);
  }
}

TEST_F(ChangeLanesTest, AReloadIsForAllOfThemUnlessTheFirstRefusesIt) {
  EXPECT_EQ(Submit(ChangeVerb::kReload, ""), 200);
  for (const NotedOperations& shard : shards_) EXPECT_EQ(shard.asked.size(), 1U);
  shards_[0].refuses = true;
  EXPECT_EQ(Submit(ChangeVerb::kReload, ""), 404);
  EXPECT_EQ(shards_[0].asked.size(), 2U);
  EXPECT_EQ(shards_[1].asked.size(), 1U);
}

TEST_F(ChangeLanesTest, AnInstanceIsEvictedWhereItHasSessions) {
  EXPECT_EQ(Submit(ChangeVerb::kEvict, "shop-0",
                   {SessionId("0.7-1"), SessionId("2.8-1"), SessionId("2.8-2")}),
            200);
  ASSERT_EQ(shards_[0].asked.size(), 1U);
  EXPECT_THAT(shards_[0].asked[0].sessions, ElementsAre(SessionId("7-1")));
  EXPECT_THAT(shards_[1].asked, IsEmpty());
  EXPECT_THAT(shards_[2].asked[0].sessions, ElementsAre(SessionId("8-1"), SessionId("8-2")));
}

TEST_F(ChangeLanesTest, OnlyWhatIsLedHereExpiresHere) {
  lanes_.Tick();
  EXPECT_EQ(shards_[0].ticks, 1);
  EXPECT_EQ(shards_[1].ticks, 0);
  EXPECT_EQ(shards_[2].ticks, 1);
}

}  // namespace
}  // namespace plimsoll::internal
