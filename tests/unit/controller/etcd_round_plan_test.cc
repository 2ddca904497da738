// Many reigns are confirmed by one round: each by itself, and none by a round that began before it
// was asked about.
#include "plimsoll/store/etcd_round_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Ticket = EtcdRoundPlan::Ticket;

constexpr absl::StatusCode kOver = absl::StatusCode::kFailedPrecondition;
constexpr absl::StatusCode kUnknown = absl::StatusCode::kUnavailable;

class EtcdRoundPlanTest : public ::testing::Test {
 protected:
  EtcdReignToken Reign(int shard) { return TakeShardOver(etcd_, shard); }
  // Carries out the round that begins now.
  std::map<Ticket, absl::StatusCode> Round() {
    const std::optional<EtcdTxn> txn = plan_.Begin();
    if (!txn.has_value()) return {};
    return CodesOf(plan_.End(etcd_.Send(*txn)));
  }
  static std::map<Ticket, absl::StatusCode> CodesOf(
      const std::vector<EtcdRoundPlan::Verdict>& verdicts) {
    std::map<Ticket, absl::StatusCode> codes;
    for (const auto& [ticket, verdict] : verdicts) codes[ticket] = verdict.code();
    return codes;
  }

  FakeEtcd etcd_;
  EtcdRoundPlan plan_;
};

TEST_F(EtcdRoundPlanTest, AllThatWaitShareOneRound) {
  std::map<Ticket, absl::StatusCode> all;
  for (int shard = 0; shard < 6; ++shard) all[plan_.Ask(Reign(shard))] = absl::StatusCode::kOk;
  EXPECT_EQ(Round(), all);
  EXPECT_THAT(etcd_.txns(), SizeIs(1));
  EXPECT_FALSE(plan_.Begin().has_value()) << "nobody waits any more";
}

TEST_F(EtcdRoundPlanTest, OneAloneIsAskedAboutAsEver) {
  const EtcdReignToken reign = Reign(0);
  plan_.Ask(reign);
  EXPECT_EQ(plan_.Begin(), EtcdReignPlan::ConfirmTxn(reign));
}

TEST_F(EtcdRoundPlanTest, EveryReignIsReadSoThatNoMemberAnswersFromWhatItHas) {
  for (int shard = 0; shard < 3; ++shard) plan_.Ask(Reign(shard));
  const std::optional<EtcdTxn> txn = plan_.Begin();
  EXPECT_THAT(txn->compare, IsEmpty()) << "one that is over would hide the others";
  ASSERT_THAT(txn->success, SizeIs(3));
  for (const EtcdOp& op : txn->success) EXPECT_TRUE(std::holds_alternative<EtcdRange>(op));
}

TEST_F(EtcdRoundPlanTest, OneThatIsDeposedHarmsNoOther) {
  const EtcdReignToken first = Reign(0);
  const EtcdReignToken second = Reign(1);
  const EtcdReignToken third = Reign(2);
  const EtcdReignToken fourth = Reign(3);
  Reign(1);
  etcd_.Erase("/p/shard/3/leader");
  const Ticket a = plan_.Ask(first);
  const Ticket b = plan_.Ask(second);
  const Ticket c = plan_.Ask(third);
  const Ticket d = plan_.Ask(fourth);
  const std::map<Ticket, absl::StatusCode> expected = {
      {a, absl::StatusCode::kOk}, {b, kOver}, {c, absl::StatusCode::kOk}, {d, kOver}};
  EXPECT_EQ(Round(), expected);
}

TEST_F(EtcdRoundPlanTest, WhatComesWhileARoundIsUnderWayWaitsForTheNext) {
  const EtcdReignToken reign = Reign(0);
  const Ticket early = plan_.Ask(reign);
  const std::optional<EtcdTxn> txn = plan_.Begin();
  const auto answer = etcd_.Send(*txn);
  // It has been judged at etcd, and the answer is on its way.
  Reign(0);
  const Ticket late = plan_.Ask(reign);
  EXPECT_FALSE(plan_.Begin().has_value()) << "one at a time";
  const std::map<Ticket, absl::StatusCode> stood = {{early, absl::StatusCode::kOk}};
  EXPECT_EQ(CodesOf(plan_.End(answer)), stood);
  const std::map<Ticket, absl::StatusCode> over = {{late, kOver}};
  EXPECT_EQ(Round(), over);
}

TEST_F(EtcdRoundPlanTest, ALostAnswerConfirmsNobody) {
  const Ticket a = plan_.Ask(Reign(0));
  const Ticket b = plan_.Ask(Reign(1));
  etcd_.Expect({FakeEtcd::Fate::kAnswerLost});
  const std::map<Ticket, absl::StatusCode> unknown = {{a, kUnknown}, {b, kUnknown}};
  EXPECT_EQ(Round(), unknown);
  EXPECT_THAT(Round(), IsEmpty()) << "whoever still wants to know asks again";
}

TEST_F(EtcdRoundPlanTest, AnAnswerThatIsNotWholeConfirmsNobody) {
  const Ticket a = plan_.Ask(Reign(0));
  const Ticket b = plan_.Ask(Reign(1));
  auto answer = *etcd_.Send(*plan_.Begin());
  answer.ranges.pop_back();
  const std::map<Ticket, absl::StatusCode> unknown = {{a, kUnknown}, {b, kUnknown}};
  EXPECT_EQ(CodesOf(plan_.End(answer)), unknown);
}

TEST_F(EtcdRoundPlanTest, ARefusalSaysNothingOfAnyReign) {
  const Ticket a = plan_.Ask(Reign(0));
  const Ticket b = plan_.Ask(Reign(1));
  etcd_.Expect({FakeEtcd::Fate::kRefused});
  const std::map<Ticket, absl::StatusCode> unknown = {{a, kUnknown}, {b, kUnknown}};
  EXPECT_EQ(Round(), unknown);
}

TEST_F(EtcdRoundPlanTest, MoreThanATransactionMayHaveTakeSeveralRoundsInTheirOrder) {
  std::map<Ticket, absl::StatusCode> all;
  for (int shard = 0; shard < 300; ++shard) all[plan_.Ask(Reign(shard))] = absl::StatusCode::kOk;
  std::map<Ticket, absl::StatusCode> judged;
  for (const int size : {128, 128, 44}) {
    const std::map<Ticket, absl::StatusCode> some = Round();
    EXPECT_THAT(some, SizeIs(size));
    EXPECT_GT(some.begin()->first, judged.empty() ? 0 : judged.rbegin()->first);
    judged.insert(some.begin(), some.end());
  }
  EXPECT_EQ(judged, all);
}

}  // namespace
}  // namespace plimsoll
