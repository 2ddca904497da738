// Several controllers at one etcd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "plimsoll/core/clock.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_store.h"
#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Bound BoundOf(const std::string& session) {
  Bound bound;
  bound.key = {DependencyId("db"), SessionId(session)};
  bound.steps = {5, 1, 0};
  return bound;
}

class EtcdLeadershipTest : public ::testing::Test {
 protected:
  std::unique_ptr<Leadership> Controller(const std::string& id) {
    EtcdStoreOptions options;
    options.lease = absl::Milliseconds(100);
    options.self = {id, "http://" + id + ":1", "http://" + id + ":2"};
    options.on_trouble = [this](const std::string& line) {
      const MutexLock lock(mutex_);
      told_.push_back(line);
    };
    return MakeEtcdLeadership(
        options, [this] { return etcd_.MakeClient(); }, RealClock(), Random(1));
  }

  std::vector<std::string> told() {
    const MutexLock lock(mutex_);
    return told_;
  }

  FakeEtcd etcd_;
  Mutex mutex_;
  std::vector<std::string> told_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(EtcdLeadershipTest, TheSecondStandsByUntilTheFirstResignsAndInherits) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const std::unique_ptr<Leadership> second = Controller("b");
  absl::StatusOr<WonReign> reign = first->Campaign();
  ASSERT_TRUE(reign.ok()) << reign.status();
  EXPECT_EQ(first->leader()->id, "a");
  EXPECT_TRUE(reign->reign->Confirm().ok());
  ASSERT_TRUE(reign->reign->Commit({.put = {BoundOf("1-1")}}).ok());

  absl::StatusOr<WonReign> next = absl::UnknownError("");
  std::thread waits([&] { next = second->Campaign(); });
  while (!second->leader().has_value()) std::this_thread::yield();
  EXPECT_EQ(second->leader()->agents, "http://a:1");
  reign->reign->Resign();
  waits.join();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_THAT(next->state.bounds, SizeIs(1));
  EXPECT_GT(next->state.epoch, reign->state.epoch);
  EXPECT_EQ(second->leader()->id, "b");
}

TEST_F(EtcdLeadershipTest, WhoWasDeposedNoticesWithTheNextConfirmationAndWritesNothing) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const std::unique_ptr<Leadership> second = Controller("b");
  const absl::StatusOr<WonReign> reign = first->Campaign();
  etcd_.EndAllLeases();
  ASSERT_TRUE(second->Campaign().ok());
  EXPECT_EQ(reign->reign->Confirm().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(reign->reign->over());
  EXPECT_FALSE(first->leader().has_value()) << "it does not send agents to itself";
  EXPECT_EQ(reign->reign->Commit({.put = {BoundOf("1-1")}}).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(EtcdLeadershipTest, WithoutAgentsTheEndOfTheLeaseIsNoticed) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const absl::StatusOr<WonReign> reign = first->Campaign();
  etcd_.EndAllLeases();
  while (!reign->reign->over()) std::this_thread::yield();
  const absl::StatusOr<WonReign> again = first->Campaign();
  ASSERT_TRUE(again.ok());
  EXPECT_GT(again->state.epoch, reign->state.epoch);
  EXPECT_FALSE(reign->reign->Commit({}).ok()) << "of the former reign";
  EXPECT_TRUE(again->reign->Commit({.put = {BoundOf("1-1")}}).ok());
}

TEST_F(EtcdLeadershipTest, ASilentEtcdIsNotTheEndOfAReign) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const absl::StatusOr<WonReign> reign = first->Campaign();
  etcd_.Expect({FakeEtcd::Fate::kRequestLost});
  EXPECT_EQ(reign->reign->Confirm().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(reign->reign->Confirm().ok());
}

TEST_F(EtcdLeadershipTest, ALeaseLongerThanAskedForIsToldOnce) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const absl::StatusOr<WonReign> reign = first->Campaign();
  ASSERT_TRUE(reign.ok());
  while (told().empty()) std::this_thread::yield();
  EXPECT_THAT(told()[0], HasSubstr("for 5s, not for 100ms"));
  const int rounds = etcd_.kept_alive();
  while (etcd_.kept_alive() < rounds + 3) std::this_thread::yield();
  EXPECT_THAT(told(), SizeIs(1));
}

TEST_F(EtcdLeadershipTest, AnEtcdOlderThanTheAgentsIsTakenForLost) {
  const std::unique_ptr<Leadership> first = Controller("a");
  absl::StatusOr<WonReign> reign = first->Campaign();
  reign->reign->Resign();
  const Epoch seen(reign->state.epoch.value + 1000);
  first->NoteEpoch(seen);
  reign = first->Campaign();
  EXPECT_EQ(reign->state.condition, StoreCondition::kLost);
  EXPECT_GT(reign->state.epoch, seen);
}

TEST_F(EtcdLeadershipTest, StopEndsACampaign) {
  const std::unique_ptr<Leadership> first = Controller("a");
  const std::unique_ptr<Leadership> second = Controller("b");
  const absl::StatusOr<WonReign> reign = first->Campaign();
  second->Stop();
  EXPECT_EQ(second->Campaign().status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace plimsoll
