// What is written to etcd when, and what an answer that never came means.
#include "plimsoll/store/etcd_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"
#include "plimsoll/core/random.h"
#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Fate = FakeEtcd::Fate;

constexpr char kPrefix[] = "/p";
constexpr std::int64_t kFirstEpoch = 1000;
const internal::EtcdKeys& Keys() {
  static const auto& keys = *new internal::EtcdKeys(kPrefix);
  return keys;
}

Bound MakeBound(const std::string& session, Calls limit, Calls base = 0) {
  Bound bound;
  bound.key = {DependencyId("db"), SessionId(session)};
  bound.service = ServiceId("s");
  bound.instance = InstanceId("i");
  bound.steps = {limit, base, 0};
  bound.lease = absl::Seconds(10);
  bound.base_lease = absl::Minutes(10);
  bound.call_deadline = absl::Seconds(3);
  return bound;
}

class EtcdPlanTest : public ::testing::Test {
 protected:
  absl::StatusOr<EtcdReignStart> TryTakeOver(EtcdTakeOverOptions options = {}) {
    const std::unique_ptr<Etcd> client = etcd_.MakeClient();
    const auto look = ReadLook(kPrefix, *etcd_.Send(LookTxn(kPrefix)));
    EXPECT_TRUE(look.ok());
    if (look->leader.has_value()) return absl::AbortedError("led by " + look->leader->id);
    options.prefix = kPrefix;
    options.self = {"me", "http://me:1", "http://me:2"};
    options.lease = *client->Grant(absl::Seconds(5));
    options.first_epoch = kFirstEpoch;
    options.fresh_log_id = absl::StrCat("log", options.lease);
    EtcdTakeOver plan(*look, options);
    while (const auto request = plan.Next()) {
      if (const auto* txn = std::get_if<EtcdTxn>(&*request)) {
        plan.On(client->Txn(*txn));
      } else {
        plan.On(client->Range(std::get<EtcdRange>(*request)));
      }
    }
    if (!plan.outcome().ok()) {
      EXPECT_TRUE(client->Revoke(options.lease).ok());
      return plan.outcome();
    }
    return plan.TakeStart();
  }
  StoreState Reign(EtcdTakeOverOptions options = {}) {
    etcd_.EndAllLeases();
    absl::StatusOr<EtcdReignStart> start = TryTakeOver(std::move(options));
    EXPECT_TRUE(start.ok()) << start.status();
    const StoreState state = start->state;
    log_id_ = start->log_id;
    plan_.emplace(*std::move(start));
    return state;
  }
  absl::Status Commit(const WriteBatch& batch) { return Commit(*plan_, batch); }
  absl::Status Commit(EtcdReignPlan& plan, const WriteBatch& batch) {
    if (absl::Status begun = plan.Begin(batch); !begun.ok()) return begun;
    while (const auto txn = plan.Next()) plan.On(etcd_.Send(*txn));
    return plan.outcome();
  }
  Calls Durable(const std::string& session) const {
    const auto values = etcd_.values();
    const auto found = values.find(Keys().Of(MakeBound(session, 0).key));
    return found == values.end() ? -1 : internal::DecodeBound(found->second)->steps.limit;
  }

  FakeEtcd etcd_;
  std::optional<EtcdReignPlan> plan_;
  std::string log_id_;
};

TEST_F(EtcdPlanTest, EveryWriteIsGuardedByTheReignAndByItsNumber) {
  Reign();
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 3)}}).ok());
  ASSERT_TRUE(Commit({.put_documents = {{{"override", "db"}, "{}"}}, .audit = {"a"}}).ok());
  const std::vector<EtcdTxn> txns = etcd_.txns();
  ASSERT_THAT(txns, SizeIs(4)) << "look, take over, two writes";
  for (std::size_t i = 2; i < txns.size(); ++i) {
    ASSERT_THAT(txns[i].compare, SizeIs(2));
    EXPECT_EQ(txns[i].compare[0].key, "/p/leader");
    EXPECT_EQ(txns[i].compare[0].target, EtcdCompare::Target::kCreateRevision);
    EXPECT_GT(txns[i].compare[0].revision, 0);
    EXPECT_EQ(txns[i].compare[1].key, "/p/writes");
    EXPECT_EQ(txns[i].compare[1].value, absl::StrCat(i - 2));
  }
}

TEST_F(EtcdPlanTest, WhatMayNotHaveArrivedIsSentAgainAsItWas) {
  Reign();
  etcd_.Expect({Fate::kRequestLost});
  EXPECT_EQ(Commit({.put = {MakeBound("1-1", 3)}}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Durable("1-1"), -1);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-2", 4)}}).ok());
  EXPECT_EQ(Durable("1-1"), 3);
  EXPECT_EQ(Durable("1-2"), 4);
  const std::vector<EtcdTxn> txns = etcd_.txns();
  EXPECT_EQ(txns[2], txns[3]);
}

TEST_F(EtcdPlanTest, WhatLandedWithoutAnAnswerIsNotWrittenTwice) {
  Reign();
  etcd_.Expect({Fate::kAnswerLost});
  EXPECT_EQ(Commit({.put = {MakeBound("1-1", 3)}}).code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 2)}}).ok());
  EXPECT_EQ(Durable("1-1"), 2);
  EXPECT_EQ(etcd_.values().at("/p/writes"), "2");
}

TEST_F(EtcdPlanTest, ALateFirstSendingNeverOverwritesWhatIsNewer) {
  Reign();
  etcd_.Expect({Fate::kLate});
  EXPECT_FALSE(Commit({.put = {MakeBound("1-1", 9)}}).ok());
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 2)}}).ok());
  EXPECT_EQ(etcd_.DeliverLate(), 0);
  EXPECT_EQ(Durable("1-1"), 2);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 1)}}).ok());
}

TEST_F(EtcdPlanTest, ALateFirstSendingThatComesBeforeTheSecondIsTakenForIt) {
  Reign();
  etcd_.Expect({Fate::kLate});
  EXPECT_FALSE(Commit({.put = {MakeBound("1-1", 9)}}).ok());
  EXPECT_EQ(etcd_.DeliverLate(), 1);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-2", 2)}}).ok());
  EXPECT_EQ(Durable("1-1"), 9);
  EXPECT_EQ(Durable("1-2"), 2);
}

TEST_F(EtcdPlanTest, AfterASuccessorNothingLandsAnyMore) {
  Reign();
  std::optional<EtcdReignPlan> former = std::move(plan_);
  etcd_.Expect({Fate::kLate});
  EXPECT_FALSE(Commit(*former, {.put = {MakeBound("1-1", 9)}}).ok());
  Reign();
  EXPECT_EQ(etcd_.DeliverLate(), 0);
  EXPECT_EQ(Commit(*former, {.put = {MakeBound("1-1", 8)}}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(former->over());
  EXPECT_EQ(Commit(*former, {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Durable("1-1"), -1);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 2)}}).ok());
}

TEST_F(EtcdPlanTest, WhoseLeaseHasEndedWritesNothingEvenIfNobodyElseReigns) {
  Reign();
  etcd_.EndAllLeases();
  EXPECT_EQ(Commit({.put = {MakeBound("1-1", 9)}}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Durable("1-1"), -1);
}

TEST_F(EtcdPlanTest, WhatWasRefusedDidNothingAndItsNumberIsFree) {
  Reign();
  etcd_.Expect({Fate::kRefused});
  EXPECT_EQ(Commit({.put = {MakeBound("1-1", 9)}}).code(), absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(Commit({.put = {MakeBound("1-2", 1)}}).ok());
  EXPECT_EQ(Durable("1-1"), -1);
  EXPECT_EQ(etcd_.values().at("/p/writes"), "1");
}

TEST_F(EtcdPlanTest, WhatWasRefusedAfterASilenceIsStillToBeSettled) {
  Reign();
  etcd_.Expect({Fate::kLate, Fate::kRefused});
  EXPECT_FALSE(Commit({.put = {MakeBound("1-1", 9)}}).ok());
  EXPECT_FALSE(Commit({.put = {MakeBound("1-1", 1)}}).ok());
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 2)}}).ok());
  EXPECT_EQ(etcd_.DeliverLate(), 0);
  EXPECT_EQ(Durable("1-1"), 2);
}

// C5.
TEST_F(EtcdPlanTest, ALargeBatchFreesBeforeItRaisesAndNoStateExceedsTheQuota) {
  constexpr int kSessions = 300;
  constexpr std::int64_t kQuota = kSessions * 10;
  Reign();
  WriteBatch even;
  for (int i = 0; i < kSessions; ++i) even.put.push_back(MakeBound(absl::StrCat("1-", i), 10, 5));
  ASSERT_TRUE(Commit(even).ok());
  std::int64_t largest = 0;
  std::int64_t largest_base = 0;
  etcd_.OnChange([&](const std::map<std::string, EtcdKeyValue>& kvs) {
    Steps sum;
    for (const auto& [key, kv] : kvs) {
      if (!key.starts_with(Keys().Bounds())) continue;
      const Steps steps = internal::DecodeBound(kv.value)->steps;
      sum.limit += steps.limit;
      sum.base += steps.base;
    }
    largest = std::max<std::int64_t>(largest, sum.limit);
    largest_base = std::max<std::int64_t>(largest_base, sum.base);
  });
  // Limits move to the first half, bases to the second; some go, others come.
  WriteBatch moved;
  for (int i = 0; i < kSessions; ++i) {
    if (i % 10 == 0) {
      moved.erase.push_back(MakeBound(absl::StrCat("1-", i), 0).key);
      moved.put.push_back(MakeBound(absl::StrCat("2-", i), i < kSessions / 2 ? 19 : 1, 5));
    } else {
      moved.put.push_back(
          MakeBound(absl::StrCat("1-", i), i < kSessions / 2 ? 19 : 1, i < kSessions / 2 ? 2 : 8));
    }
  }
  ASSERT_TRUE(Commit(moved).ok());
  EXPECT_LE(largest, kQuota);
  EXPECT_LE(largest_base, kSessions * 5);
  const StoreState state = Reign();
  std::map<BoundKey, Bound> wanted;
  for (const Bound& bound : moved.put) wanted[bound.key] = bound;
  ASSERT_EQ(state.bounds.size(), wanted.size());
  for (const Bound& bound : state.bounds) EXPECT_EQ(bound, wanted[bound.key]);
}

TEST_F(EtcdPlanTest, ABatchThatFailsHalfWayIsSettledBeforeTheNext) {
  Reign();
  WriteBatch large;
  for (int i = 0; i < 300; ++i) large.put.push_back(MakeBound(absl::StrCat("1-", i), 1));
  etcd_.Expect({Fate::kAnswered, Fate::kLate});
  EXPECT_FALSE(Commit(large).ok());
  ASSERT_TRUE(Commit({.put = {MakeBound("1-200", 7)}}).ok());
  EXPECT_EQ(etcd_.DeliverLate(), 0);
  EXPECT_EQ(Durable("1-200"), 7);
  EXPECT_EQ(etcd_.values().at("/p/writes"), "3");
}

// Whatever is lost or late: what was confirmed is there, and what was not is old or new.
TEST_F(EtcdPlanTest, ThroughRandomFaultsConfirmedWritesHold) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    Reign();
    std::map<std::string, std::set<Calls>> possible;
    for (int step = 0; step < 30; ++step) {
      std::vector<Fate> fates;
      for (int i = 0; i < 3; ++i) {
        fates.push_back(random.Chance(0.6) ? Fate::kAnswered
                                           : static_cast<Fate>(1 + random.Below(4)));
      }
      etcd_.Expect(fates);
      const std::string session = absl::StrCat(seed, "-", random.Below(3));
      const Calls limit = static_cast<Calls>(random.Below(100));
      const bool written = Commit({.put = {MakeBound(session, limit)}}).ok();
      if (possible[session].empty()) possible[session].insert(-1);
      if (written) possible[session].clear();
      possible[session].insert(limit);
      if (random.Chance(0.3)) etcd_.DeliverLate();
      for (const auto& [name, limits] : possible) {
        ASSERT_TRUE(limits.contains(Durable(name)))
            << "seed " << seed << " step " << step << ": " << name << " " << Durable(name);
      }
    }
    etcd_.Expect({});
    etcd_.DeliverLate();
  }
}

TEST_F(EtcdPlanTest, AConfirmationSaysWhoElseLeads) {
  etcd_.EndAllLeases();
  const absl::StatusOr<EtcdReignStart> start = TryTakeOver();
  const EtcdTxn confirm = EtcdReignPlan::ConfirmTxn(*start);
  EXPECT_TRUE(EtcdReignPlan::ReadConfirm(*etcd_.Send(confirm)).ok());
  etcd_.EndAllLeases();
  EXPECT_EQ(EtcdReignPlan::ReadConfirm(*etcd_.Send(confirm)).code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(TryTakeOver().ok());
  EXPECT_THAT(std::string(EtcdReignPlan::ReadConfirm(*etcd_.Send(confirm)).message()),
              HasSubstr("controller me"));
}

TEST_F(EtcdPlanTest, AConfirmationHasARangeSoThatNoMemberAnswersFromWhatItHas) {
  const EtcdTxn confirm = EtcdReignPlan::ConfirmTxn(*TryTakeOver());
  ASSERT_THAT(confirm.success, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<EtcdRange>(confirm.success[0]));
  ASSERT_THAT(confirm.failure, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<EtcdRange>(confirm.failure[0]));
}

TEST_F(EtcdPlanTest, OnlyOneOfTwoThatSawNobodyTakesOver) {
  const std::unique_ptr<Etcd> client = etcd_.MakeClient();
  const auto look = ReadLook(kPrefix, *etcd_.Send(LookTxn(kPrefix)));
  ASSERT_TRUE(TryTakeOver().ok());
  EtcdTakeOver late(*look, {.prefix = kPrefix, .lease = *client->Grant(absl::Seconds(5))});
  late.On(etcd_.Send(std::get<EtcdTxn>(*late.Next())));
  EXPECT_EQ(late.outcome().code(), absl::StatusCode::kAborted);
}

TEST_F(EtcdPlanTest, WhoLookedBeforeAReignThatIsOverAlreadyDoesNotUseItsEpochAgain) {
  const std::unique_ptr<Etcd> client = etcd_.MakeClient();
  const auto look = ReadLook(kPrefix, *etcd_.Send(LookTxn(kPrefix)));
  ASSERT_TRUE(TryTakeOver().ok());
  etcd_.EndAllLeases();
  EtcdTakeOver late(*look, {.prefix = kPrefix, .lease = *client->Grant(absl::Seconds(5))});
  late.On(etcd_.Send(std::get<EtcdTxn>(*late.Next())));
  EXPECT_EQ(late.outcome().code(), absl::StatusCode::kAborted);
}

TEST_F(EtcdPlanTest, ATakeOverWithoutAnAnswerComesToNothingWithItsLease) {
  etcd_.Expect({Fate::kAnswered, Fate::kLate});
  EXPECT_EQ(TryTakeOver().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(etcd_.DeliverLate(), 0);
  etcd_.Expect({Fate::kAnswered, Fate::kAnswerLost});
  EXPECT_FALSE(TryTakeOver().ok());
  const absl::StatusOr<EtcdReignStart> start = TryTakeOver();
  ASSERT_TRUE(start.ok()) << "its leader key went with its lease";
  EXPECT_EQ(start->state.epoch, Epoch(kFirstEpoch + 1));
}

TEST_F(EtcdPlanTest, AnEmptyPrefixIsNewAndEpochsRise) {
  const StoreState first = Reign();
  EXPECT_EQ(first.condition, StoreCondition::kNew);
  EXPECT_EQ(first.epoch, Epoch(kFirstEpoch));
  EXPECT_FALSE(first.exclusive);
  const StoreState second = Reign();
  EXPECT_EQ(second.condition, StoreCondition::kWhole);
  EXPECT_EQ(second.epoch, Epoch(kFirstEpoch + 1));
}

TEST_F(EtcdPlanTest, WithoutItsLogIdTheStoreIsLost) {
  Reign();
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 9)}}).ok());
  etcd_.Erase("/p/log_id");
  const StoreState state = Reign();
  EXPECT_EQ(state.condition, StoreCondition::kLost);
  EXPECT_THAT(state.why, HasSubstr("/p/log_id"));
  EXPECT_THAT(state.bounds, IsEmpty());
  EXPECT_EQ(Durable("1-1"), -1) << "and can never come back";
  EXPECT_EQ(Reign().condition, StoreCondition::kLost) << "until it was learnt";
  ASSERT_TRUE(Commit({.learned = true}).ok());
  EXPECT_EQ(Reign().condition, StoreCondition::kWhole);
}

TEST_F(EtcdPlanTest, AnEtcdThatWasEmptiedUnderALivingControllerIsLost) {
  const std::int64_t epoch = Reign().epoch.value;
  etcd_.Wipe();
  const StoreState state = Reign({.memory = {log_id_, epoch + 7}});
  EXPECT_EQ(state.condition, StoreCondition::kLost);
  EXPECT_GT(state.epoch, Epoch(epoch + 7));
}

TEST_F(EtcdPlanTest, AnEtcdThatIsOlderThanTheAgentsIsLost) {
  const std::int64_t epoch = Reign().epoch.value;
  const StoreState state = Reign({.memory = {log_id_, epoch + 7}});
  EXPECT_EQ(state.condition, StoreCondition::kLost);
  EXPECT_GT(state.epoch, Epoch(epoch + 7));
}

TEST_F(EtcdPlanTest, AnotherLogThanTheOneBeforeIsLost) {
  Reign();
  EXPECT_EQ(Reign({.memory = {"another", 1}}).condition, StoreCondition::kLost);
}

TEST_F(EtcdPlanTest, AnEpochThatCannotBeReadIsLost) {
  Reign();
  etcd_.Put("/p/epoch", R"({"epoch":3})");
  const StoreState state = Reign();
  EXPECT_EQ(state.condition, StoreCondition::kLost);
  EXPECT_THAT(state.why, HasSubstr("/p/epoch"));
}

TEST_F(EtcdPlanTest, ABoundThatCannotBeReadMakesAllLost) {
  Reign();
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 9), MakeBound("1-2", 9)},
                      .put_documents = {{{"override", "db"}, "{}"}}})
                  .ok());
  const std::string key = Keys().Of(MakeBound("1-1", 0).key);
  const std::string whole = etcd_.values().at(key);
  for (const std::string& damaged :
       {std::string("{"), whole.substr(0, whole.size() - 1) + ",\"x\":1}",
        internal::EncodeBound(MakeBound("1-3", 9)), std::string(R"({"limit":-1})")}) {
    etcd_.Put(Keys().Of(MakeBound("1-2", 0).key), internal::EncodeBound(MakeBound("1-2", 9)));
    etcd_.Put(key, damaged);
    const StoreState state = Reign();
    EXPECT_EQ(state.condition, StoreCondition::kLost) << damaged;
    EXPECT_THAT(state.why, HasSubstr(key));
    EXPECT_THAT(state.bounds, IsEmpty());
    EXPECT_THAT(state.documents, SizeIs(1)) << "what operators have set is not lost";
    EXPECT_EQ(Durable("1-2"), -1);
    ASSERT_TRUE(Commit({.learned = true}).ok()) << "numbers go on after the mark";
  }
}

TEST_F(EtcdPlanTest, TheOperatorsWordWins) {
  Reign();
  ASSERT_TRUE(Commit({.put = {MakeBound("1-1", 9)}}).ok());
  etcd_.Erase("/p/log_id");
  EXPECT_THAT(Reign({.word = OperatorWord::kTrust}).bounds, SizeIs(1));
  EXPECT_EQ(Reign({.word = OperatorWord::kLost}).condition, StoreCondition::kLost);
}

TEST_F(EtcdPlanTest, ManyBoundsAreReadInPagesAndFromTheStartAfterACompaction) {
  Reign();
  WriteBatch many;
  for (int i = 0; i < 95; ++i) many.put.push_back(MakeBound(absl::StrCat("1-", i), i));
  ASSERT_TRUE(Commit(many).ok());
  etcd_.set_page_limit(10);
  std::size_t before = etcd_.ranges().size();
  EXPECT_THAT(Reign().bounds, SizeIs(95));
  std::vector<EtcdRange> pages = etcd_.ranges();
  pages.erase(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(before));
  ASSERT_THAT(pages, SizeIs(11)) << "ten of bounds, one of documents";
  EXPECT_EQ(pages[0].revision, 0) << "as of after the take-over";
  EXPECT_GT(pages[1].revision, 0);
  for (std::size_t i = 2; i < 10; ++i)
    EXPECT_EQ(pages[i].revision, pages[1].revision) << "one state";
  EXPECT_EQ(pages[10].revision, 0);

  etcd_.CompactBeforeNextPages(1);
  before = etcd_.ranges().size();
  EXPECT_THAT(Reign().bounds, SizeIs(95));
  pages = etcd_.ranges();
  pages.erase(pages.begin(), pages.begin() + static_cast<std::ptrdiff_t>(before));
  ASSERT_THAT(pages, SizeIs(13));
  EXPECT_EQ(pages[2], pages[0]) << "from the start, as of now";
}

// Of an etcd that others use as well: its answers tell the newest revision, whichever was asked
// for.
TEST_F(EtcdPlanTest, AllPagesAreOfTheRevisionOfTheFirst) {
  Reign();
  WriteBatch many;
  for (int i = 0; i < 30; ++i) many.put.push_back(MakeBound(absl::StrCat("1-", i), 1));
  ASSERT_TRUE(Commit(many).ok());
  etcd_.set_page_limit(10);
  etcd_.EndAllLeases();
  const std::unique_ptr<Etcd> client = etcd_.MakeClient();
  const auto look = ReadLook(kPrefix, *etcd_.Send(LookTxn(kPrefix)));
  EtcdTakeOver plan(*look, {.prefix = kPrefix, .lease = *client->Grant(absl::Seconds(5))});
  std::vector<std::int64_t> asked;
  while (const auto request = plan.Next()) {
    if (const auto* txn = std::get_if<EtcdTxn>(&*request)) {
      plan.On(client->Txn(*txn));
    } else {
      asked.push_back(std::get<EtcdRange>(*request).revision);
      plan.On(client->Range(std::get<EtcdRange>(*request)));
    }
    etcd_.Put("/neighbour", absl::StrCat(asked.size()));
  }
  ASSERT_THAT(asked, SizeIs(4)) << "three of bounds, one of documents";
  EXPECT_EQ(asked[0], 0);
  EXPECT_GT(asked[1], 0);
  EXPECT_EQ(asked[2], asked[1]);
  EXPECT_EQ(asked[3], 0);
}

TEST_F(EtcdPlanTest, AnEtcdThatTakesFewerOperationsGetsFewer) {
  etcd_.EndAllLeases();
  EtcdReignStart start = *TryTakeOver();
  start.ops_max = 6;
  plan_.emplace(std::move(start));
  const std::size_t before = etcd_.txns().size();
  WriteBatch many;
  for (int i = 0; i < 12; ++i) many.put.push_back(MakeBound(absl::StrCat("1-", i), 1));
  ASSERT_TRUE(Commit(many).ok());
  const std::vector<EtcdTxn> txns = etcd_.txns();
  EXPECT_EQ(txns.size() - before, 3U);
  for (std::size_t i = before; i < txns.size(); ++i) EXPECT_LE(txns[i].success.size(), 6U);
}

}  // namespace
}  // namespace plimsoll
