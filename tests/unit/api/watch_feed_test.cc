#include "api/http/src/watch_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/http/src/revisions.h"
#include "tests/unit/api/snapshot_samples.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class SettableClock final : public Clock {
 public:
  Instant Now() const override { return now; }
  absl::Time WallTime() const override { return absl::FromUnixSeconds(1'780'000'000); }
  Instant now = SampleSnapshot().at;
};

// Answers at once, from what the test put in, and counts how often it is asked.
class FakeController final : public ControllerView {
 public:
  void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) override {
    ++looks;
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
  void ReadAudit(int /*limit*/,
                 std::function<void(absl::StatusOr<std::vector<std::string>>)> /*then*/) override {}
  std::string Metrics(std::shared_ptr<const Snapshot> /*snapshot*/) override { return ""; }
  bool shutting_down() const override { return false; }
  std::vector<ShardFacts> shards() const override { return who_leads_shards; }

  std::vector<ShardFacts> who_leads_shards;
  Snapshot snapshot = SampleSnapshot();
  EventLog log{Epoch(7), 5000};
  int looks = 0;
};

// An event as a client reads it.
struct Told {
  std::string event;
  Json data;
};

class WatchFeedTest : public ::testing::Test {
 protected:
  HttpResponse Open(const std::string& topics = "", const std::string& dependency = "",
                    const std::string& last_id = "") {
    HttpRequest request;
    request.last_event_id = last_id;
    RoutedRequest routed{request, {}, {}};
    if (!topics.empty()) routed.query.emplace_back("topics", topics);
    if (!dependency.empty()) routed.query.emplace_back("dependency", dependency);
    const auto exchange = std::make_shared<Exchange>();
    feed_.Open(routed, exchange);
    EXPECT_TRUE(exchange->replied());
    HttpResponse response = exchange->TakeResponse();
    begin_.clear();
    if (response.stream) begin_ = response.stream->Take();
    return response;
  }
  // What the last stream began with.
  std::string Begin() const {
    std::string begin;
    for (const BodyStream::Piece& piece : begin_) begin += *piece;
    return begin;
  }

  std::vector<Told> Look(BodyStream& stream) {
    stream.Take();
    feed_.Poll();
    std::vector<Told> told;
    for (const BodyStream::Piece& piece : stream.Take()) {
      const std::size_t event = piece->find("event: ");
      const std::size_t data = piece->find("\ndata: ");
      if (event == std::string::npos) continue;
      told.push_back(
          {piece->substr(event + 7, data - event - 7), Json::parse(piece->substr(data + 7))});
    }
    return told;
  }

  void Log(EventType type, const std::string& dependency) {
    LogEvent event;
    event.type = type;
    event.dependency = DependencyId(dependency);
    controller_.log.Append(event);
  }

  std::vector<BodyStream::Piece> begin_;
  SettableClock clock_;
  FakeController controller_;
  WatchFeed feed_{controller_, clock_, 2};
};

TEST_F(WatchFeedTest, AStreamBeginsWithWhatItDoesNotTell) {
  Open().stream->Close(false);
  EXPECT_THAT(Begin(), Not(HasSubstr("partial")));
  controller_.who_leads_shards.resize(2);
  controller_.who_leads_shards[0].self = true;
  controller_.who_leads_shards[1].leader.api = "http://b:7480";
  const std::string frame =
      "event: partial\n"
      R"(data: {"partial":true,"elsewhere":[{"shard":1,"api":"http://b:7480"}]})"
      "\n\n";
  Open("config").stream->Close(false);
  EXPECT_THAT(Begin(), HasSubstr("\n\n" + frame));
  Open("", "db").stream->Close(false);
  EXPECT_THAT(Begin(), Not(HasSubstr("partial"))) << "who leads it tells all about it";
  controller_.who_leads_shards[1].self = true;
  Open().stream->Close(false);
  EXPECT_THAT(Begin(), Not(HasSubstr("partial")));
}

TEST_F(WatchFeedTest, AsLongAsNobodyListensTheCoreIsNotAsked) {
  feed_.Poll();
  EXPECT_EQ(controller_.looks, 0);
  const HttpResponse response = Open();
  EXPECT_EQ(response.content_type, "text/event-stream");
  feed_.Poll();
  EXPECT_EQ(controller_.looks, 2);
  response.stream->Close(false);
  clock_.now = clock_.now + WatchHub::kMemory;
  feed_.Poll();
  EXPECT_EQ(controller_.looks, 2);
}

TEST_F(WatchFeedTest, ALimitThatChangedIsToldWithWhatBindsItAndWhy) {
  const HttpResponse response = Open("limits");
  EXPECT_THAT(Look(*response.stream), IsEmpty());
  controller_.snapshot.limits[0].enforced = 30;
  controller_.snapshot.limits[1].in_flight = 3;
  const std::vector<Told> told = Look(*response.stream);
  ASSERT_THAT(told, SizeIs(1)) << "how many are in flight is no change of a limit";
  EXPECT_EQ(told[0].event, "limit");
  EXPECT_EQ(told[0].data["dependency"], "payments-api");
  EXPECT_EQ(told[0].data["instance_id"], "checkout-0");
  EXPECT_EQ(told[0].data["enforced"], 30);
  EXPECT_EQ(told[0].data["binding_constraint"], "QUOTA");
  EXPECT_EQ(told[0].data["reason"], "QUOTA_REBALANCED");
  EXPECT_EQ(told[0].data["event_id"], "7-3");
}

TEST_F(WatchFeedTest, WhatComesAndGoesIsTold) {
  const HttpResponse response = Open("limits,instances");
  controller_.snapshot.instances[0].instance = InstanceId("checkout-00");
  controller_.snapshot.limits.pop_back();
  const std::vector<Told> told = Look(*response.stream);
  ASSERT_THAT(told, SizeIs(3));
  EXPECT_EQ(told[0].data["instance_id"], "checkout-0");
  EXPECT_EQ(told[0].data["gone"], true);
  EXPECT_EQ(told[1].data["state"], "CONNECTED");
  EXPECT_EQ(told[2].event, "limit");
  EXPECT_EQ(told[2].data["gone"], true);
}

TEST_F(WatchFeedTest, EventsAreToldInTheirOrderAndOnce) {
  Log(EventType::kStarted, "");
  const HttpResponse response = Open("events");
  Log(EventType::kInstanceJoined, "payments-api");
  Log(EventType::kInstanceLeft, "payments-api");
  const std::vector<Told> told = Look(*response.stream);
  ASSERT_THAT(told, SizeIs(2)) << "what was before is listed, not told";
  EXPECT_EQ(told[0].data["type"], "INSTANCE_JOINED");
  EXPECT_EQ(told[1].data["type"], "INSTANCE_LEFT");
  EXPECT_THAT(Look(*response.stream), IsEmpty());
}

TEST_F(WatchFeedTest, QuotasAndTheConfigurationAreTold) {
  const HttpResponse response = Open("quotas,config");
  controller_.snapshot.dependencies[1].granted = 48;
  const std::vector<Told> told = Look(*response.stream);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].event, "quota");
  EXPECT_EQ(told[0].data["granted"], 48);
  EXPECT_EQ(told[0].data["capacity"], 50);
  feed_.TellConfig("beef");
  EXPECT_THAT(*response.stream->Take().at(0),
              HasSubstr("event: config\ndata: {\"hash\":\"beef\"}"));
}

TEST_F(WatchFeedTest, ADependencyThatIsNotAskedForIsNotTold) {
  const HttpResponse response = Open("", "orders-db");
  controller_.snapshot.limits[0].enforced = 30;
  controller_.snapshot.instances[0].leaving = true;
  Log(EventType::kInstanceLeft, "payments-api");
  EXPECT_THAT(Look(*response.stream), IsEmpty());
}

TEST_F(WatchFeedTest, MoreEventsThanAreRememberedAreAReset) {
  const HttpResponse response = Open("", "orders-db");
  for (std::size_t i = 0; i < WatchHub::kRingMax + 10; ++i) Log(EventType::kStarted, "other");
  const std::vector<Told> told = Look(*response.stream);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].event, "reset");
}

TEST_F(WatchFeedTest, WhatCannotBeServedIsRefusedWithACode) {
  EXPECT_EQ(Open("limit").status, 400);
  EXPECT_EQ(Open("", "", "1-1").problem->code, "REVISION_COMPACTED");
  EXPECT_EQ(Open("", "", "1-1").status, 410);
  const HttpResponse first = Open();
  const HttpResponse second = Open();
  const HttpResponse third = Open();
  EXPECT_EQ(third.status, 503);
  EXPECT_EQ(third.problem->code, "WATCHERS_EXHAUSTED");
  EXPECT_THAT(third.headers, ElementsAre(std::pair<std::string, std::string>("Retry-After", "5")));
}

class RevisionsTest : public ::testing::Test {
 protected:
  // The collections whose revision, or else whose generation, rose.
  std::string Note() {
    std::string risen;
    std::array<std::string, kCollections> before;
    std::array<std::string, kCollections> tags;
    for (std::size_t i = 0; i < kCollections; ++i) {
      before[i] = revisions_.Revision(static_cast<Collection>(i));
      tags[i] = revisions_.ETag(static_cast<Collection>(i));
    }
    revisions_.Note(std::make_shared<const Snapshot>(snapshot_));
    for (std::size_t i = 0; i < kCollections; ++i) {
      const auto collection = static_cast<Collection>(i);
      const std::string now = revisions_.Revision(collection);
      const std::string name = now.substr(0, now.find('.'));
      if (now != before[i]) {
        risen += name + " ";
      } else if (revisions_.ETag(collection) != tags[i]) {
        risen += "(" + name + ") ";
      }
    }
    return risen;
  }

  Snapshot snapshot_ = SampleSnapshot();
  Revisions revisions_;
};

TEST_F(RevisionsTest, NameTheReignAndTheCollection) {
  Note();
  EXPECT_EQ(revisions_.Revision(Collection::kLimits), "limits.7-1");
  EXPECT_EQ(revisions_.ETag(Collection::kDependencies), "\"dependencies.7-1.1\"");
}

TEST_F(RevisionsTest, AForeignChangeRaisesNothing) {
  Note();
  EXPECT_EQ(Note(), "") << "nothing changed";
  snapshot_.limits[0].age = absl::Seconds(3);
  snapshot_.instances[0].age = absl::Seconds(3);
  EXPECT_EQ(Note(), "") << "ages pass without anything happening";
  snapshot_.limits[0].in_flight = 3;
  EXPECT_EQ(Note(), "(dependencies) (quotas) (limits) ");
  snapshot_.limits[0].explanation.binding = BindingConstraint::kFloor;
  EXPECT_EQ(Note(), "(dependencies) limits ");
  snapshot_.limits[0].granted = 3;
  EXPECT_EQ(Note(), "(dependencies) quotas limits ");
  snapshot_.instances[0].leaving = true;
  EXPECT_EQ(Note(), "instances ");
  snapshot_.dependencies[0].policy.description = "new";
  EXPECT_EQ(Note(), "dependencies quotas ");
  snapshot_.dependencies[0].latency_p99 = absl::Milliseconds(3);
  EXPECT_EQ(Note(), "(dependencies) (quotas) ");
  snapshot_.limits.pop_back();
  EXPECT_EQ(Note(), "(dependencies) quotas limits ");
}

TEST(MatchesETagTest, FindsOneOfAList) {
  const std::string etag = "\"limits.7-1.2\"";
  EXPECT_TRUE(MatchesETag(etag, etag));
  EXPECT_TRUE(MatchesETag("\"x\", W/" + etag, etag));
  EXPECT_TRUE(MatchesETag("*", etag));
  EXPECT_FALSE(MatchesETag("", etag));
  EXPECT_FALSE(MatchesETag("\"limits.7-1.1\"", etag));
}

}  // namespace
}  // namespace plimsoll::internal
