// What every store promises, asked of each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "plimsoll/core/clock.h"
#include "plimsoll/store/etcd_store.h"
#include "plimsoll/store/memory_store.h"
#include "plimsoll/store/sqlite_store.h"
#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kFirstEpoch = 1'700'000'000'000;

// Makes stores that share what they have written, as controllers one after the other would.
using Opener = std::function<absl::StatusOr<std::unique_ptr<Store>>(std::int64_t first_epoch)>;

struct Kind {
  std::string name;
  std::function<Opener(const std::string& directory)> make;
};

Kind SqliteKind() {
  return {"Sqlite", [](const std::string& directory) -> Opener {
            EXPECT_TRUE(InitSqliteStore(directory).ok());
            return [directory](std::int64_t epoch) { return OpenSqliteStore(directory, epoch); };
          }};
}

Kind MemoryKind() {
  return {"Memory", [](const std::string&) -> Opener {
            return [disk = std::make_shared<MemoryDisk>()](std::int64_t epoch) {
              return MakeMemoryStore(epoch, disk);
            };
          }};
}

// Time stands still at the wanted first epoch.
class StandingClock final : public Clock {
 public:
  explicit StandingClock(std::int64_t millis) : wall_(absl::FromUnixMillis(millis)) {}
  Instant Now() const override { return Instant{}; }
  absl::Time WallTime() const override { return wall_; }

 private:
  const absl::Time wall_;
};

// A store that stands for election once, in TakeOver().
class ElectedStore final : public Store {
 public:
  ElectedStore(std::shared_ptr<testing::FakeEtcd> etcd, std::int64_t first_epoch)
      : clock_(first_epoch),
        etcd_(std::move(etcd)),
        leadership_(MakeEtcdLeadership(
            {.self = {"a", "", ""}}, [this] { return etcd_->MakeClient(); }, clock_, Random(1))) {
    leadership_->Stop();
  }
  absl::StatusOr<StoreState> TakeOver() override {
    absl::StatusOr<WonReign> won = leadership_->Campaign();
    if (!won.ok()) return absl::FailedPreconditionError(std::string(won.status().message()));
    reign_ = won->reign;
    return won->state;
  }
  absl::Status Commit(const WriteBatch& batch) override {
    return reign_ == nullptr ? absl::FailedPreconditionError("no reign") : reign_->Commit(batch);
  }
  absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) override {
    return reign_->ReadAudit(limit);
  }

 private:
  const StandingClock clock_;
  const std::shared_ptr<testing::FakeEtcd> etcd_;
  const std::unique_ptr<Leadership> leadership_;
  std::shared_ptr<Reign> reign_;
};

Kind EtcdKind() {
  return {"Etcd", [](const std::string&) -> Opener {
            return [etcd = std::make_shared<testing::FakeEtcd>()](std::int64_t epoch) {
              return std::make_unique<ElectedStore>(etcd, epoch);
            };
          }};
}

Bound MakeBound(const std::string& dependency, const std::string& session, Calls limit) {
  Bound bound;
  bound.key = {DependencyId(dependency), SessionId(session)};
  bound.service = ServiceId("checkout");
  bound.instance = InstanceId("checkout-1");
  bound.unique_instance = true;
  bound.steps = {limit, 2, 1};
  bound.lease = absl::Seconds(10);
  bound.base_lease = absl::Minutes(10);
  bound.call_deadline = absl::Milliseconds(1500);
  return bound;
}

class StoreContractTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(directory_);
    opener_ = GetParam().make(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Store> Open(std::int64_t first_epoch = kFirstEpoch) {
    absl::StatusOr<std::unique_ptr<Store>> store = opener_(first_epoch);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }

  // A new controller that begins to reign, after the last one has gone.
  StoreState Restart(std::int64_t first_epoch = kFirstEpoch) {
    store_.reset();
    store_ = Open(first_epoch);
    const absl::StatusOr<StoreState> state = store_->TakeOver();
    EXPECT_TRUE(state.ok()) << state.status();
    return state.value_or(StoreState{});
  }

  static std::string DirectoryOfThisTest() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '_');
    return ::testing::TempDir() + "store_contract_" + name;
  }

  const std::string directory_ = DirectoryOfThisTest();
  Opener opener_;
  std::unique_ptr<Store> store_;
};

TEST_P(StoreContractTest, AnEmptyStoreIsNewAndStartsAtTheFirstEpoch) {
  const StoreState state = Restart();
  EXPECT_EQ(state.condition, StoreCondition::kNew);
  EXPECT_EQ(state.epoch, Epoch(kFirstEpoch));
  EXPECT_THAT(state.bounds, IsEmpty());
}

TEST_P(StoreContractTest, AFirstEpochBelowOneBecomesOne) { EXPECT_EQ(Restart(-5).epoch, Epoch(1)); }

TEST_P(StoreContractTest, ARestartFindsWhatWasCommitted) {
  Restart();
  const Bound first = MakeBound("payments", "5-1", 7);
  const Bound second = MakeBound("payments", "5-2", 9);
  ASSERT_TRUE(store_->Commit({.put = {second, first}, .erase = {}}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(first, second));
}

TEST_P(StoreContractTest, ARestartIsNotNewEvenWithoutBounds) {
  Restart();
  EXPECT_EQ(Restart().condition, StoreCondition::kWhole);
}

TEST_P(StoreContractTest, PutReplacesTheBoundOfTheSameKey) {
  Restart();
  Bound changed = MakeBound("payments", "5-1", 3);
  changed.instance = InstanceId("checkout-2");
  changed.unique_instance = false;
  ASSERT_TRUE(store_->Commit({.put = {MakeBound("payments", "5-1", 7)}, .erase = {}}).ok());
  ASSERT_TRUE(store_->Commit({.put = {changed}, .erase = {}}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(changed));
}

TEST_P(StoreContractTest, EraseRemovesOnlyTheBoundOfThatDependencyAndSession) {
  Restart();
  const Bound other_session = MakeBound("payments", "5-2", 7);
  const Bound other_dependency = MakeBound("stock", "5-1", 7);
  const Bound doomed = MakeBound("payments", "5-1", 7);
  ASSERT_TRUE(store_->Commit({.put = {other_session, other_dependency, doomed}, .erase = {}}).ok());
  ASSERT_TRUE(store_->Commit({.put = {}, .erase = {doomed.key}}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(other_session, other_dependency));
}

TEST_P(StoreContractTest, ErasingWhatIsNotThereIsFine) {
  Restart();
  EXPECT_TRUE(store_->Commit({.put = {}, .erase = {MakeBound("x", "1-1", 1).key}}).ok());
}

TEST_P(StoreContractTest, WithinABatchPutWinsOverErase) {
  Restart();
  const Bound bound = MakeBound("payments", "5-1", 7);
  ASSERT_TRUE(store_->Commit({.put = {bound}, .erase = {bound.key}}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(bound));
}

TEST_P(StoreContractTest, NamesAreKeptByteForByte) {
  Restart();
  Bound odd = MakeBound(std::string("a\0b", 3), "5-1'; DROP TABLE bound; --", 7);
  odd.service = ServiceId("überweisung");
  ASSERT_TRUE(store_->Commit({.put = {odd}, .erase = {}}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(odd));
}

TEST_P(StoreContractTest, TheEpochRisesOverAHundredRestarts) {
  std::int64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    // A clock that was set back does not matter once there is an epoch.
    const std::int64_t epoch = Restart(kFirstEpoch - i).epoch.value;
    EXPECT_GT(epoch, last);
    last = epoch;
  }
}

TEST_P(StoreContractTest, ASecondControllerIsRefusedWhileTheFirstLives) {
  Restart();
  absl::StatusOr<std::unique_ptr<Store>> second = opener_(kFirstEpoch);
  const absl::Status refused = second.ok() ? (*second)->TakeOver().status() : second.status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition) << refused;
}

TEST_P(StoreContractTest, AfterARefusalTheNextControllerIsServedOnceTheFirstHasGone) {
  Restart();
  {
    absl::StatusOr<std::unique_ptr<Store>> second = opener_(kFirstEpoch);
    EXPECT_FALSE(second.ok() && (*second)->TakeOver().ok());
  }
  EXPECT_EQ(Restart().epoch, Epoch(kFirstEpoch + 1));
}

TEST_P(StoreContractTest, ACommitBeforeTheTakeOverIsRefused) {
  const std::unique_ptr<Store> store = Open();
  EXPECT_EQ(store->Commit({}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(StoreContractTest, TheLongestHoldOnlyGrowsAndSurvivesARestart) {
  EXPECT_EQ(Restart().longest_hold, absl::ZeroDuration());
  ASSERT_TRUE(store_->Commit({.longest_hold = absl::Minutes(11)}).ok());
  ASSERT_TRUE(store_->Commit({.longest_hold = absl::Minutes(7)}).ok());
  EXPECT_EQ(Restart().longest_hold, absl::Minutes(11));
}

TEST_P(StoreContractTest, AnInfiniteHoldStaysInfinite) {
  Restart();
  ASSERT_TRUE(store_->Commit({.longest_hold = absl::InfiniteDuration()}).ok());
  EXPECT_EQ(Restart().longest_hold, absl::InfiniteDuration());
}

TEST_P(StoreContractTest, ANewEpochDropsAllBoundsButThoseOfItsBatch) {
  Restart();
  const Bound old = MakeBound("payments", "5-1", 7);
  const Bound fresh = MakeBound("payments", "9-1", 3);
  ASSERT_TRUE(store_->Commit({.put = {old}}).ok());
  ASSERT_TRUE(store_->Commit({.put = {fresh}, .new_epoch = Epoch(kFirstEpoch + 50)}).ok());
  ASSERT_TRUE(store_->Commit({.learned = true}).ok());
  EXPECT_THAT(Restart().bounds, ElementsAre(fresh));
}

TEST_P(StoreContractTest, TheReignAfterANewEpochLiesAboveIt) {
  Restart();
  ASSERT_TRUE(store_->Commit({.new_epoch = Epoch(kFirstEpoch + 50)}).ok());
  EXPECT_EQ(Restart().epoch, Epoch(kFirstEpoch + 51));
}

TEST_P(StoreContractTest, AnEpochThatDoesNotRiseIsRefusedAndChangesNothing) {
  Restart();
  const Bound bound = MakeBound("payments", "5-1", 7);
  ASSERT_TRUE(store_->Commit({.put = {bound}}).ok());
  EXPECT_EQ(store_->Commit({.new_epoch = Epoch(kFirstEpoch)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Restart().bounds, ElementsAre(bound));
}

TEST_P(StoreContractTest, ALossIsFoundAgainByEachReignUntilLearningIsOver) {
  Restart();
  ASSERT_TRUE(store_->Commit({.new_epoch = Epoch(kFirstEpoch + 50)}).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->Commit({.put = {MakeBound("payments", "5-1", 7)}}).ok());
    const StoreState state = Restart();
    EXPECT_EQ(state.condition, StoreCondition::kLost);
    EXPECT_THAT(state.why, HasSubstr("later reign"));
    EXPECT_THAT(state.bounds, IsEmpty());
  }
  const Bound learnt = MakeBound("payments", "5-2", 4);
  ASSERT_TRUE(store_->Commit({.put = {learnt}, .learned = true}).ok());
  const StoreState state = Restart();
  EXPECT_EQ(state.condition, StoreCondition::kWhole);
  EXPECT_THAT(state.why, IsEmpty());
  EXPECT_THAT(state.bounds, ElementsAre(learnt));
}

TEST_P(StoreContractTest, DocumentsAreWrittenReplacedAndErasedAndOutliveReigns) {
  EXPECT_THAT(Restart().documents, IsEmpty());
  const Document one{{"dependency", "db"}, "{\"floor\": 1}"};
  const Document two{{"override", "db"}, "{}"};
  ASSERT_TRUE(store_->Commit({.put_documents = {two, one}}).ok());
  EXPECT_THAT(Restart().documents, ElementsAre(one, two)) << "by kind and name";
  const Document newer{{"dependency", "db"}, "{\"floor\": 2}"};
  ASSERT_TRUE(store_->Commit({.put_documents = {newer}, .erase_documents = {two.key}}).ok());
  EXPECT_THAT(Restart().documents, ElementsAre(newer));
}

TEST_P(StoreContractTest, DocumentsOutliveANewEpoch) {
  Restart();
  const Document document{{"dependency", "db"}, "{}"};
  ASSERT_TRUE(store_->Commit({.put_documents = {document}}).ok());
  ASSERT_TRUE(store_->Commit({.new_epoch = Epoch(kFirstEpoch + 50)}).ok());
  const StoreState state = Restart();
  EXPECT_EQ(state.condition, StoreCondition::kLost);
  EXPECT_THAT(state.documents, ElementsAre(document));
}

TEST_P(StoreContractTest, AuditRecordsAreReadNewestFirst) {
  Restart();
  ASSERT_TRUE(store_->Commit({.audit = {"first", "second"}}).ok());
  Restart();
  ASSERT_TRUE(store_->Commit({.audit = {"third"}}).ok());
  EXPECT_THAT(*store_->ReadAudit(2), ElementsAre("third", "second"));
  EXPECT_THAT(*store_->ReadAudit(10), ElementsAre("third", "second", "first"));
}

TEST_P(StoreContractTest, TheOldestAuditRecordsAreDropped) {
  Restart();
  ASSERT_TRUE(store_->Commit({.audit = {"the oldest"}}).ok());
  ASSERT_TRUE(store_->Commit({.audit = std::vector<std::string>(kAuditKeep - 1, "x")}).ok());
  EXPECT_EQ(store_->ReadAudit(2 * kAuditKeep)->back(), "the oldest");
  ASSERT_TRUE(store_->Commit({.audit = {"one more"}}).ok());
  EXPECT_EQ(std::ssize(*store_->ReadAudit(2 * kAuditKeep)), kAuditKeep);
  EXPECT_EQ(store_->ReadAudit(2 * kAuditKeep)->back(), "x");
}

TEST_P(StoreContractTest, WhatWasWrittenBeforeALossNeverReturns) {
  Restart();
  ASSERT_TRUE(store_->Commit({.put = {MakeBound("payments", "5-1", 7)}}).ok());
  ASSERT_TRUE(store_->Commit({.new_epoch = Epoch(kFirstEpoch + 50)}).ok());
  Restart();
  ASSERT_TRUE(store_->Commit({.learned = true}).ok());
  EXPECT_THAT(Restart().bounds, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContractTest,
                         ::testing::Values(SqliteKind(), MemoryKind(), EtcdKind()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace plimsoll
