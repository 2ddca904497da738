#include "controller/simulation/src/virtual_etcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "controller/simulation/src/etcd_caller.h"
#include "controller/simulation/src/etcd_state.h"

namespace plimsoll::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

EtcdTxn PutTxn(const std::string& key, const std::string& value, std::int64_t lease = 0) {
  return {.success = {EtcdPut{key, value, lease}}};
}

std::vector<std::pair<std::string, std::string>> Found(const EtcdRangeResult& range) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const EtcdKeyValue& kv : range.kvs) found.emplace_back(kv.key, kv.value);
  return found;
}

TEST(EtcdStateTest, KeepsEveryVersionUntilItIsCompacted) {
  EtcdState state(128, 1000);
  const std::int64_t first = state.Apply(PutTxn("/a", "1"))->revision;
  ASSERT_TRUE(state.Apply(PutTxn("/a", "2")).ok());
  ASSERT_TRUE(state.Apply(EtcdTxn{.success = {EtcdDelete{"/a"}}}).ok());
  EXPECT_THAT(Found(*state.Read({.key = "/a", .revision = first})), ElementsAre(Pair("/a", "1")));
  EXPECT_THAT(Found(*state.Read({.key = "/a", .revision = first + 1})),
              ElementsAre(Pair("/a", "2")));
  EXPECT_TRUE(state.Read({.key = "/a"})->kvs.empty());
  state.Compact(first + 1);
  EXPECT_EQ(state.Read({.key = "/a", .revision = first}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(state.Read({.key = "/a", .revision = first + 1}).ok());
}

TEST(EtcdStateTest, AKeyThatIsMadeAgainHasANewCreateRevision) {
  EtcdState state(128, 1000);
  const std::int64_t first = state.Apply(PutTxn("/a", "1"))->revision;
  ASSERT_TRUE(state.Apply(PutTxn("/a", "2")).ok());
  EXPECT_EQ(state.Find("/a")->create_revision, first);
  EXPECT_EQ(state.Find("/a")->mod_revision, first + 1);
  ASSERT_TRUE(state.Apply(EtcdTxn{.success = {EtcdDelete{"/a"}}}).ok());
  const std::int64_t again = state.Apply(PutTxn("/a", "3"))->revision;
  EXPECT_EQ(state.Find("/a")->create_revision, again);
}

TEST(EtcdStateTest, DoesAllOrNothingAsItsComparesSay) {
  EtcdState state(128, 1000);
  EtcdTxn guarded = PutTxn("/a", "1");
  guarded.compare = {{"/leader", EtcdCompare::Target::kCreateRevision, 7}};
  guarded.failure = {EtcdRange{.key = "/leader"}};
  const std::int64_t before = state.revision();
  EXPECT_FALSE(state.Apply(guarded)->succeeded);
  EXPECT_EQ(state.revision(), before);
  guarded.compare[0].revision = 0;
  EXPECT_TRUE(state.Apply(guarded)->succeeded) << "a key that is missing has the revision 0";
  EXPECT_EQ(state.revision(), before + 1);
}

TEST(EtcdStateTest, TellsManyKeysInPagesAndTheRevisionThatThereIsNow) {
  EtcdState state(128, 2);
  for (const char* const key : {"/b/1", "/b/2", "/b/3", "/c"}) {
    ASSERT_TRUE(state.Apply(PutTxn(key, "x")).ok());
  }
  const std::int64_t then = state.revision();
  ASSERT_TRUE(state.Apply(PutTxn("/c", "y")).ok());
  const auto page = state.Read({.key = "/b/", .end = "/b0", .limit = 1000, .revision = then});
  EXPECT_THAT(page->kvs, testing::SizeIs(2));
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->revision, then + 1);
  const auto last = state.Read({.key = "/b/", .end = "/b0", .limit = 1, .descending = true});
  EXPECT_THAT(Found(*last), ElementsAre(Pair("/b/3", "x")));
}

TEST(EtcdStateTest, ALeaseTakesItsKeysAlongAndCannotBeUsedAnyMore) {
  EtcdState state(128, 1000);
  EXPECT_EQ(state.Apply(PutTxn("/leader", "me", 5)).status().code(), absl::StatusCode::kNotFound);
  state.AddLease(5);
  ASSERT_TRUE(state.Apply(PutTxn("/leader", "me", 5)).ok());
  ASSERT_TRUE(state.Apply(PutTxn("/other", "x")).ok());
  state.EndLease(5);
  EXPECT_EQ(state.Find("/leader"), nullptr);
  EXPECT_NE(state.Find("/other"), nullptr);
  EXPECT_EQ(state.Apply(PutTxn("/leader", "me", 5)).status().code(), absl::StatusCode::kNotFound);
}

TEST(EtcdStateTest, RefusesTooManyOperationsAndOneKeyTwice) {
  EtcdState state(2, 1000);
  EtcdTxn txn = PutTxn("/a", "1");
  txn.success.push_back(EtcdPut{"/b", "1"});
  EXPECT_TRUE(state.Apply(txn).ok());
  txn.success.push_back(EtcdPut{"/c", "1"});
  EXPECT_EQ(state.Apply(txn).status().code(), absl::StatusCode::kInvalidArgument);
  txn.success = {EtcdPut{"/a", "1"}, EtcdDelete{"/", "0"}};
  EXPECT_EQ(state.Apply(txn).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(EtcdStateTest, WhoHasNotHeardOfEverythingAnswersFromThePast) {
  EtcdState state(128, 1000);
  const std::int64_t token = state.Apply(PutTxn("/leader", "me"))->revision;
  EtcdTxn confirm;
  confirm.compare = {{"/leader", EtcdCompare::Target::kCreateRevision, token}};
  EXPECT_TRUE(OnlyAsks(confirm));
  EXPECT_FALSE(HasRange(confirm));
  ASSERT_TRUE(state.Apply(EtcdTxn{.success = {EtcdDelete{"/leader"}}}).ok());
  EXPECT_TRUE(state.Ask(confirm, token).succeeded);
  EXPECT_FALSE(state.Ask(confirm, state.revision()).succeeded);
}

// On a day with two controllers and no chance but that of arrival times.
class VirtualEtcdTest : public testing::Test {
 protected:
  static Scenario Day() {
    Scenario scenario;
    scenario.controllers = 2;
    scenario.clock_rate_error = 0;
    scenario.etcd.emplace();
    return scenario;
  }
  std::optional<EtcdAnswer> Send(const EtcdRequest& request, absl::Duration wait) {
    std::optional<EtcdAnswer> answer;
    etcd_.Send(request.controller, {request, std::make_shared<EtcdFate>()},
               [&answer](const EtcdAnswer& heard) { answer = heard; });
    Pass(wait);
    return answer;
  }
  void Pass(absl::Duration time) {
    const Instant until = world_.queue.now() + time;
    while (world_.queue.Step(until)) {
    }
    world_.queue.AdvanceTo(until);
  }
  std::int64_t Lease() {
    return Send({EtcdPurpose::kGrant, 0, EtcdGrantLease{}}, absl::Milliseconds(100))->lease;
  }
  absl::Status KeepAlive(std::int64_t lease) {
    return Send({EtcdPurpose::kKeepAlive, 0, EtcdKeepLeaseAlive{lease}}, absl::Milliseconds(100))
        ->status;
  }

  Sabotage none_;
  World world_{Day(), 1, false, none_};
  EtcdCounts counts_;
  VirtualEtcd etcd_{world_, "/plimsoll", counts_};
};

TEST_F(VirtualEtcdTest, ALeaseEndsLateAndNeverEarly) {
  const std::int64_t lease = Lease();
  Pass(absl::Milliseconds(1850));
  EXPECT_TRUE(etcd_.state().HasLease(lease));
  ASSERT_TRUE(KeepAlive(lease).ok());
  Pass(absl::Milliseconds(1850));
  EXPECT_TRUE(etcd_.state().HasLease(lease));
  Pass(absl::Seconds(1));
  EXPECT_FALSE(etcd_.state().HasLease(lease));
  EXPECT_TRUE(absl::IsNotFound(KeepAlive(lease)));
}

TEST_F(VirtualEtcdTest, WhoLeadsInEtcdAnewExtendsAllLeases) {
  const std::int64_t lease = Lease();
  Pass(absl::Seconds(1));
  etcd_.LoseQuorum(world_.queue.now() + absl::Seconds(5));
  Pass(absl::Milliseconds(6800));
  EXPECT_TRUE(etcd_.state().HasLease(lease));
  Pass(absl::Seconds(1));
  EXPECT_FALSE(etcd_.state().HasLease(lease));
}

TEST_F(VirtualEtcdTest, WithoutAQuorumNothingIsAnswered) {
  etcd_.LoseQuorum(world_.queue.now() + absl::Seconds(5));
  const EtcdRequest write{EtcdPurpose::kWrite, 0, PutTxn("/a", "1")};
  EXPECT_FALSE(Send(write, absl::Seconds(4)).has_value());
  EXPECT_EQ(etcd_.state().Find("/a"), nullptr);
}

TEST_F(VirtualEtcdTest, WhoIsCutOffReachesNoMember) {
  etcd_.CutOff(0, world_.queue.now() + absl::Seconds(5));
  const EtcdRequest write{EtcdPurpose::kWrite, 0, PutTxn("/a", "1")};
  EXPECT_FALSE(Send(write, absl::Seconds(5)).has_value());
  EXPECT_TRUE(Send(write, absl::Seconds(1)).has_value());
}

TEST_F(VirtualEtcdTest, AMemberThatIsCutOffAnswersOnlyWhatHasNoRange) {
  ASSERT_TRUE(Send({EtcdPurpose::kWrite, 1, PutTxn("/leader", "me")}, absl::Seconds(1)));
  EtcdTxn ask;
  ask.compare = {{"/leader", EtcdCompare::Target::kValue, 0, "me"}};
  etcd_.Isolate(0, world_.queue.now() + absl::Seconds(20));
  Pass(absl::Seconds(2));
  ASSERT_TRUE(Send({EtcdPurpose::kWrite, 1, PutTxn("/leader", "you")}, absl::Seconds(1)));
  const auto answer = Send({EtcdPurpose::kConfirm, 0, ask}, absl::Seconds(1));
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(answer->txn.succeeded) << "it has not heard of the other leader";
  EXPECT_EQ(counts_.stale_answers, 1);
  ask.success = {EtcdRange{.key = "/leader"}};
  EXPECT_FALSE(Send({EtcdPurpose::kConfirm, 0, ask}, absl::Seconds(1)).has_value());
  const auto other = Send({EtcdPurpose::kConfirm, 1, ask}, absl::Seconds(1));
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(other->txn.succeeded);
}

TEST_F(VirtualEtcdTest, ACallThatGetsNoAnswerAsksAnotherMemberAndEndsInTime) {
  const VirtualClock clock(world_.queue.time(), 1, Instant{});
  EtcdCaller caller(world_, etcd_, 0, counts_, [](const EventQueue::Action& action) { action(); });
  absl::Status status = absl::UnknownError("nothing yet");
  const auto done = [&status](const EtcdAnswer& answer) { status = answer.status; };
  etcd_.Isolate(0, world_.queue.now() + absl::Seconds(30));
  Pass(absl::Seconds(2));
  caller.Ask(clock, {EtcdPurpose::kWrite, 0, PutTxn("/a", "1")}, done);
  Pass(absl::Milliseconds(999));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << "both members are cut off from it";
  Pass(absl::Milliseconds(2));
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(counts_.unknown_open, 1);
  etcd_.LoseQuorum(world_.queue.now());
  caller.Ask(clock, {EtcdPurpose::kLook, 0, EtcdRange{.key = "/a"}}, done);
  Pass(absl::Seconds(2));
  EXPECT_TRUE(absl::IsUnavailable(status));
}

}  // namespace
}  // namespace plimsoll::internal
