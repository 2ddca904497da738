// How many shards a log was made for, and who is there.
#include "plimsoll/store/etcd_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plimsoll/core/clock.h"
#include "plimsoll/store/etcd_store.h"
#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::StatusCode kRefused = absl::StatusCode::kFailedPrecondition;

class EtcdShardsTest : public ::testing::Test {
 protected:
  absl::Status Check(int shards) { return CheckShards(*etcd_.MakeClient(), "/plimsoll", shards); }
  std::unique_ptr<Leadership> Controller(const std::string& id, int shard, int shards) {
    EtcdStoreOptions options;
    options.lease = absl::Milliseconds(100);
    options.self = {id, "http://" + id + ":1", "http://" + id + ":2"};
    options.shard = shard;
    options.shards = shards;
    return MakeEtcdLeadership(
        options, [this] { return etcd_.MakeClient(); }, RealClock(), Random(1));
  }
  std::string ValueOf(const std::string& key) {
    const auto found = etcd_.MakeClient()->Range({.key = key});
    return found.ok() && !found->kvs.empty() ? found->kvs[0].value : "";
  }

  FakeEtcd etcd_;
};

TEST_F(EtcdShardsTest, TheNumberIsFixedWhenTheLogIsMade) {
  ASSERT_TRUE(Check(6).ok());
  EXPECT_EQ(ValueOf("/plimsoll/shards"), "6");
  EXPECT_TRUE(Check(6).ok());
  for (const int other : {1, 5, 7}) {
    const absl::Status refused = Check(other);
    EXPECT_EQ(refused.code(), kRefused) << other;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("was made for 6 shards"));
  }
}

TEST_F(EtcdShardsTest, OneShardLeavesNothingBehindAndIsNoOtherNumber) {
  ASSERT_TRUE(Check(1).ok());
  EXPECT_THAT(ValueOf("/plimsoll/shards"), IsEmpty());
  const absl::StatusOr<WonReign> reign = Controller("a", 0, 1)->Campaign();
  ASSERT_TRUE(reign.ok()) << reign.status();
  EXPECT_THAT(ValueOf("/plimsoll/leader"), HasSubstr("\"a\""));
  EXPECT_EQ(Check(2).code(), kRefused);
  EXPECT_TRUE(Check(1).ok());
}

TEST_F(EtcdShardsTest, ALostNumberIsNotGuessed) {
  ASSERT_TRUE(Controller("a", 1, 2)->Campaign().ok());
  etcd_.Erase("/plimsoll/shards");
  for (const int shards : {1, 2, 3}) EXPECT_EQ(Check(shards).code(), kRefused) << shards;
}

TEST_F(EtcdShardsTest, ACampaignUnderAnotherNumberEnds) {
  ASSERT_TRUE(Check(6).ok());
  EXPECT_EQ(Controller("a", 0, 5)->Campaign().status().code(), kRefused);
  EXPECT_EQ(Controller("a", 0, 1)->Campaign().status().code(), kRefused);
}

TEST_F(EtcdShardsTest, EachShardHasALeaderAndALogOfItsOwn) {
  const std::unique_ptr<Leadership> first = Controller("a", 0, 2);
  const std::unique_ptr<Leadership> second = Controller("b", 1, 2);
  const absl::StatusOr<WonReign> one = first->Campaign();
  const absl::StatusOr<WonReign> other = second->Campaign();
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_THAT(ValueOf("/plimsoll/shard/0/leader"), HasSubstr("\"a\""));
  EXPECT_THAT(ValueOf("/plimsoll/shard/1/leader"), HasSubstr("\"b\""));
  EXPECT_TRUE(one->reign->Confirm().ok());
  one->reign->Resign();
  EXPECT_TRUE(other->reign->Confirm().ok());
}

TEST_F(EtcdShardsTest, MembersSeeEachOtherAndWhoLeadsWhat) {
  EtcdMembers a("/plimsoll", 2, {"a", "http://a:1", "http://a:2"}, absl::Seconds(5),
                etcd_.MakeClient(), RealClock());
  EtcdMembers b("/plimsoll", 2, {"b", "http://b:1", "http://b:2"}, absl::Seconds(5),
                etcd_.MakeClient(), RealClock());
  ASSERT_TRUE(a.Look().ok());
  const std::unique_ptr<Leadership> leadership = Controller("a", 1, 2);
  const absl::StatusOr<WonReign> reign = leadership->Campaign();
  absl::StatusOr<EtcdClusterView> view = b.Look();
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(view->members, SizeIs(2));
  ASSERT_THAT(view->shards, SizeIs(2));
  EXPECT_FALSE(view->shards[0].leader.has_value());
  EXPECT_EQ(view->shards[1].leader->api, "http://a:2");
  a.Leave();
  view = b.Look();
  EXPECT_THAT(view->members, SizeIs(1));
  EXPECT_EQ(view->members[0].id, "b");
}

TEST_F(EtcdShardsTest, WhoseLeaseHasEndedJoinsAgain) {
  EtcdMembers a("/plimsoll", 2, {"a", "", ""}, absl::Seconds(5), etcd_.MakeClient(), RealClock());
  ASSERT_TRUE(a.Look().ok());
  etcd_.EndAllLeases();
  absl::StatusOr<EtcdClusterView> view = a.Look();
  ASSERT_TRUE(view.ok());
  EXPECT_THAT(view->members, IsEmpty());
  view = a.Look();
  ASSERT_TRUE(view.ok());
  EXPECT_THAT(view->members, SizeIs(1)) << "at once, not when it is time to keep it alive";
}

TEST_F(EtcdShardsTest, WhoMayNotStandLooksOn) {
  EtcdStoreOptions options;
  options.lease = absl::Milliseconds(100);
  options.self = {"a", "", ""};
  int asked = 0;
  options.may_stand = [&] { return ++asked == 3; };
  const std::unique_ptr<Leadership> leadership = MakeEtcdLeadership(
      options, [this] { return etcd_.MakeClient(); }, RealClock(), Random(1));
  EXPECT_TRUE(leadership->Campaign().ok());
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace plimsoll
