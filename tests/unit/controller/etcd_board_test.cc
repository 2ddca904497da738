// One look for all that campaign in a process.
#include "plimsoll/store/etcd_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_members.h"
#include "plimsoll/store/etcd_store.h"
#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::SizeIs;

constexpr int kShards = 2;

class EtcdBoardTest : public ::testing::Test {
 protected:
  EtcdBoardTest()
      : board_(std::make_shared<EtcdBoard>(kShards)),
        members_("/plimsoll", kShards, {"a", "http://a:1", "http://a:2"}, absl::Seconds(5),
                 etcd_.MakeClient(), RealClock()) {
    etcd_.Put("/plimsoll/shards", absl::StrCat(kShards));
  }

  EtcdStoreOptions Options(int shard) {
    EtcdStoreOptions options;
    options.lease = absl::Milliseconds(100);
    options.self = {"a", "http://a:1", "http://a:2"};
    options.shard = shard;
    options.shards = kShards;
    options.board = board_;
    return options;
  }
  std::unique_ptr<Leadership> Controller(const EtcdStoreOptions& options) {
    return MakeEtcdLeadership(
        options, [this] { return etcd_.MakeClient(); }, RealClock(), Random(1));
  }
  // What the council does.
  void Look() {
    board_->Begin();
    const absl::StatusOr<EtcdClusterView> view = members_.Look();
    view.ok() ? board_->Set(view->shards, view->joined) : board_->Fail(view.status());
    std::this_thread::yield();
  }
  // Looks until the condition holds.
  template <typename Condition>
  void LookUntil(Condition condition) {
    while (!condition()) Look();
  }
  // Another controller's reign, so long as its key is there.
  void PutLeader(int shard, const std::string& id) {
    etcd_.Put(Prefix(shard) + "/leader",
              internal::EncodeLeader({id, "http://" + id + ":1", "http://" + id + ":2"}));
  }
  static std::string Prefix(int shard) { return ShardPrefix("/plimsoll", shard, kShards); }
  // Looks of campaigns: five ranges.
  int CountLooks() const {
    int count = 0;
    for (const EtcdTxn& txn : etcd_.txns()) count += txn == LookTxn(Prefix(0));
    return count;
  }

  FakeEtcd etcd_;
  const std::shared_ptr<EtcdBoard> board_;
  EtcdMembers members_;
};

TEST_F(EtcdBoardTest, WhoeverCampaignsAsksNothingWhileSomebodyLeads) {
  PutLeader(0, "b");
  const std::unique_ptr<Leadership> leadership = Controller(Options(0));
  absl::StatusOr<WonReign> won = absl::UnknownError("");
  std::thread campaigns([&] { won = leadership->Campaign(); });
  LookUntil([&] { return leadership->leader().has_value(); });
  EXPECT_EQ(leadership->leader()->agents, "http://b:1");
  for (int i = 0; i < 100; ++i) Look();
  EXPECT_EQ(CountLooks(), 0);
  etcd_.Erase(Prefix(0) + "/leader");
  LookUntil([&] { return leadership->leader().has_value() && leadership->leader()->id == "a"; });
  campaigns.join();
  ASSERT_TRUE(won.ok()) << won.status();
  EXPECT_EQ(won->state.led_before, "http://b:2");
  EXPECT_EQ(CountLooks(), 1) << "once, before it tried";
}

TEST_F(EtcdBoardTest, ABoardThatIsWrongElectsNobody) {
  EtcdStoreOptions options = Options(0);
  std::atomic<int> asked = 0;
  options.may_stand = [&] {
    // After the look, and before the campaign's own.
    if (++asked == 1) PutLeader(0, "b");
    return true;
  };
  const std::unique_ptr<Leadership> leadership = Controller(options);
  absl::StatusOr<WonReign> won = absl::UnknownError("");
  std::thread campaigns([&] { won = leadership->Campaign(); });
  LookUntil([&] { return asked > 0; });
  while (CountLooks() == 0) std::this_thread::yield();
  leadership->Stop();
  campaigns.join();
  EXPECT_EQ(won.status().code(), absl::StatusCode::kCancelled);
}

TEST_F(EtcdBoardTest, ALookThatBeganBeforeTheCampaignIsNotHeeded) {
  // It shows that nobody leads, and this controller may stand.
  board_->Begin();
  board_->Set(std::vector<EtcdSight>(kShards), absl::OkStatus());
  board_->Begin();
  EtcdStoreOptions options = Options(0);
  std::atomic<int> asked = 0;
  options.may_stand = [&] {
    ++asked;
    return false;
  };
  const std::unique_ptr<Leadership> leadership = Controller(options);
  std::thread campaigns([&] { static_cast<void>(leadership->Campaign()); });
  // The one under way has found the same.
  board_->Set(std::vector<EtcdSight>(kShards), absl::OkStatus());
  PutLeader(0, "b");
  LookUntil([&] { return leadership->leader().has_value(); });
  leadership->Stop();
  campaigns.join();
  EXPECT_EQ(asked, 0);
}

TEST_F(EtcdBoardTest, WhoWaitsIsGivenOnlyWhatIsNewer) {
  const std::atomic<bool> stop = false;
  board_->Begin();
  const std::int64_t now = board_->begun();
  board_->Set(std::vector<EtcdSight>(kShards), absl::OkStatus());
  EtcdBoard::Reading reading;
  std::thread waits([&] { reading = board_->Await(0, now, stop); });
  Look();
  waits.join();
  EXPECT_EQ(reading.look, now + 1);
  EXPECT_TRUE(reading.status.ok());
}

TEST_F(EtcdBoardTest, AnEtcdThatWasReplacedMeanwhileIsNotTakenForNew) {
  const std::unique_ptr<Leadership> other = MakeEtcdLeadership(
      [&] {
        EtcdStoreOptions options = Options(0);
        options.self.id = "b";
        options.board = nullptr;
        return options;
      }(),
      [this] { return etcd_.MakeClient(); }, RealClock(), Random(2));
  const absl::StatusOr<WonReign> reign = other->Campaign();
  ASSERT_TRUE(reign.ok());
  const std::unique_ptr<Leadership> leadership = Controller(Options(0));
  absl::StatusOr<WonReign> won = absl::UnknownError("");
  std::thread campaigns([&] { won = leadership->Campaign(); });
  LookUntil([&] { return leadership->leader().has_value(); });
  etcd_.Wipe();
  LookUntil([&] { return leadership->leader().has_value() && leadership->leader()->id == "a"; });
  campaigns.join();
  ASSERT_TRUE(won.ok()) << won.status();
  EXPECT_EQ(won->state.condition, StoreCondition::kLost);
  EXPECT_GT(won->state.epoch, reign->state.epoch);
}

TEST_F(EtcdBoardTest, ThatNobodyCanLookIsToldByThoseThatCampaign) {
  Mutex mutex;
  std::vector<std::string> told;
  EtcdStoreOptions options = Options(0);
  options.on_trouble = [&](const std::string& line) {
    const MutexLock lock(mutex);
    told.push_back(line);
  };
  const auto count = [&] {
    const MutexLock lock(mutex);
    return told.size();
  };
  PutLeader(0, "b");
  const std::unique_ptr<Leadership> leadership = Controller(options);
  std::thread campaigns([&] { static_cast<void>(leadership->Campaign()); });
  LookUntil([&] { return leadership->leader().has_value(); });
  const auto silent = [&] {
    board_->Begin();
    board_->Fail(absl::UnavailableError("etcd does not answer"));
  };
  while (leadership->leader().has_value()) silent();
  EXPECT_EQ(count(), 1) << "a lease long nobody was seen to lead; told once";
  LookUntil([&] { return count() == 2; });
  EXPECT_EQ(leadership->leader()->id, "b");
  leadership->Stop();
  campaigns.join();
}

TEST_F(EtcdBoardTest, WhoMustNotStandKnowsWhoLeadsAndSaysWhy) {
  std::atomic<int> told = 0;
  EtcdStoreOptions options = Options(0);
  options.on_trouble = [&](const std::string& line) {
    told += line.find("space exceeded") != std::string::npos;
  };
  PutLeader(0, "b");
  const std::unique_ptr<Leadership> leadership = Controller(options);
  std::thread campaigns([&] { static_cast<void>(leadership->Campaign()); });
  EtcdSight sight;
  sight.leader = Leader{"b", "http://b:1", "http://b:2"};
  while (told == 0) {
    board_->Begin();
    board_->Set({sight, {}}, absl::ResourceExhaustedError("database space exceeded"));
    std::this_thread::yield();
  }
  EXPECT_EQ(leadership->leader()->id, "b");
  leadership->Stop();
  campaigns.join();
}

TEST(EtcdSightsTest, MoreShardsThanATransactionMayReadAreSeenInParts) {
  FakeEtcd etcd;
  constexpr int kMany = 256;
  etcd.Put(ShardPrefix("/plimsoll", 255, kMany) + "/leader", internal::EncodeLeader({"z", "", ""}));
  EtcdMembers members("/plimsoll", kMany, {"a", "", ""}, absl::Seconds(5), etcd.MakeClient(),
                      RealClock());
  const absl::StatusOr<EtcdClusterView> view = members.Look();
  ASSERT_TRUE(view.ok()) << view.status();
  ASSERT_THAT(view->shards, SizeIs(kMany));
  EXPECT_EQ(view->shards[255].leader->id, "z");
  EXPECT_FALSE(view->shards[0].leader.has_value());
  EXPECT_THAT(etcd.txns(), SizeIs(1 + 3)) << "one that joins";
}

TEST(EtcdSightsTest, AnEtcdThatTakesNoWritesStillShowsWhoLeads) {
  FakeEtcd etcd;
  etcd.Put(ShardPrefix("/plimsoll", 1, kShards) + "/leader", internal::EncodeLeader({"z", "", ""}));
  EtcdMembers members("/plimsoll", kShards, {"a", "", ""}, absl::Seconds(5), etcd.MakeClient(),
                      RealClock());
  etcd.Expect({FakeEtcd::Fate::kRefused});
  const absl::StatusOr<EtcdClusterView> view = members.Look();
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->joined.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(view->shards[1].leader->id, "z");
}

}  // namespace
}  // namespace plimsoll
