// The threads of a process that confirm their reigns together.
#include "plimsoll/store/etcd_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/fake_etcd.h"

namespace plimsoll {
namespace {

using testing::FakeEtcd;
using ::testing::SizeIs;

constexpr absl::StatusCode kOver = absl::StatusCode::kFailedPrecondition;

// Holds back the answers to the first transactions until it is told to let them go.
class HeldEtcd final : public Etcd {
 public:
  explicit HeldEtcd(std::unique_ptr<Etcd> etcd) : etcd_(std::move(etcd)) {}

  absl::StatusOr<EtcdTxnResult> Txn(const EtcdTxn& txn) override {
    absl::StatusOr<EtcdTxnResult> result = etcd_->Txn(txn);
    const MutexLock lock(mutex_);
    ++answered_;
    changed_.NotifyAll();
    while (answered_ > let_go_) changed_.Wait(mutex_);
    return result;
  }
  absl::StatusOr<EtcdRangeResult> Range(const EtcdRange& range) override {
    return etcd_->Range(range);
  }
  absl::StatusOr<std::int64_t> Grant(absl::Duration ttl) override { return etcd_->Grant(ttl); }
  absl::StatusOr<absl::Duration> KeepAlive(std::int64_t lease) override {
    return etcd_->KeepAlive(lease);
  }
  absl::Status Revoke(std::int64_t lease) override { return etcd_->Revoke(lease); }

  // So many have been judged at etcd.
  void AwaitJudged(int count) {
    const MutexLock lock(mutex_);
    while (answered_ < count) changed_.Wait(mutex_);
  }
  void LetGo(int count) {
    const MutexLock lock(mutex_);
    let_go_ = count;
    changed_.NotifyAll();
  }

 private:
  const std::unique_ptr<Etcd> etcd_;
  Mutex mutex_;
  CondVar changed_;
  int answered_ ABSL_GUARDED_BY(mutex_) = 0;
  int let_go_ ABSL_GUARDED_BY(mutex_) = 0;
};

class EtcdRoundsTest : public ::testing::Test {
 protected:
  EtcdRoundsTest() : held_(new HeldEtcd(etcd_.MakeClient())), rounds_(Wrap(), 128) {}

  EtcdReignToken Reign(int shard) { return TakeShardOver(etcd_, shard); }
  // Asks in a thread of its own; the verdict is there when that has been joined.
  void Ask(const EtcdReignToken& reign) {
    const std::size_t i = threads_.size();
    threads_.emplace_back([this, reign, i] { verdicts_[i] = rounds_.Confirm(reign).code(); });
  }
  void Join() {
    for (std::thread& thread : threads_) thread.join();
  }

  FakeEtcd etcd_;
  HeldEtcd* const held_;  // of the rounds
  EtcdRounds rounds_;
  std::vector<std::thread> threads_;
  absl::StatusCode verdicts_[400] = {};

 private:
  std::unique_ptr<Etcd> Wrap() { return std::unique_ptr<Etcd>(held_); }
};

TEST_F(EtcdRoundsTest, ARoundThatBeganBeforeTheQuestionDoesNotAnswerIt) {
  const EtcdReignToken reign = Reign(0);
  Ask(reign);
  held_->AwaitJudged(1);
  Reign(0);  // somebody else has taken over: the first answer, which is on its way, is old
  Ask(reign);
  while (rounds_.waiting() < 2) std::this_thread::yield();
  held_->LetGo(2);
  Join();
  EXPECT_EQ(verdicts_[0], absl::StatusCode::kOk);
  EXPECT_EQ(verdicts_[1], kOver);
}

TEST_F(EtcdRoundsTest, ThoseThatWaitForARoundShareTheNext) {
  Ask(Reign(0));
  held_->AwaitJudged(1);
  const std::size_t before = etcd_.txns().size();
  for (int shard = 1; shard < 64; ++shard) Ask(Reign(shard));
  while (rounds_.waiting() < 64) std::this_thread::yield();
  held_->LetGo(2);
  Join();
  for (int shard = 0; shard < 64; ++shard) EXPECT_EQ(verdicts_[shard], absl::StatusCode::kOk);
  EXPECT_THAT(etcd_.txns(), SizeIs(before + 1));
}

TEST_F(EtcdRoundsTest, ARoundThatHangsHoldsAllAndThenAllGoOn) {
  Ask(Reign(0));
  held_->AwaitJudged(1);
  for (int shard = 1; shard < 400; ++shard) Ask(Reign(shard));
  while (rounds_.waiting() < 400) std::this_thread::yield();
  EXPECT_THAT(etcd_.txns(), SizeIs(1));
  held_->LetGo(1'000'000);
  Join();
  for (const absl::StatusCode verdict : verdicts_) EXPECT_EQ(verdict, absl::StatusCode::kOk);
  EXPECT_THAT(etcd_.txns(), SizeIs(5)) << "399 of at most 128 each";
}

TEST_F(EtcdRoundsTest, ALostAnswerConfirmsNobodyAndTheNextRoundDoes) {
  held_->LetGo(1'000'000);
  const EtcdReignToken reign = Reign(0);
  etcd_.Expect({FakeEtcd::Fate::kAnswerLost});
  EXPECT_EQ(rounds_.Confirm(reign).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(rounds_.Confirm(reign).ok());
}

}  // namespace
}  // namespace plimsoll
