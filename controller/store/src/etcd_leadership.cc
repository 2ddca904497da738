#include <algorithm>
#include <atomic>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/store/src/etcd_reign.h"
#include "plimsoll/store/etcd_members.h"
#include "plimsoll/store/etcd_store.h"

namespace plimsoll {
namespace {

using internal::EtcdReign;
using internal::LeaderBoard;

constexpr absl::Duration kLookEvery = absl::Milliseconds(250);

// What no waiting mends.
bool IsHopeless(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status) ||
         absl::IsUnimplemented(status) || absl::IsInternal(status) ||
         absl::IsInvalidArgument(status);
}

EtcdStoreOptions WithShardPrefix(EtcdStoreOptions options) {
  options.prefix = ShardPrefix(options.prefix, options.shard, options.shards);
  return options;
}

class EtcdLeadership final : public Leadership {
 public:
  EtcdLeadership(EtcdStoreOptions options, EtcdReign::Factory make_etcd, const Clock& clock,
                 Random random)
      : log_prefix_(options.prefix),
        options_(WithShardPrefix(std::move(options))),
        make_etcd_(std::move(make_etcd)),
        clock_(clock),
        board_(std::make_shared<LeaderBoard>()),
        rounds_(options_.rounds != nullptr ? options_.rounds
                                           : std::make_shared<EtcdRounds>(make_etcd_())),
        random_(random),
        etcd_(make_etcd_()),
        word_(options_.word) {}

  absl::StatusOr<WonReign> Campaign() override;
  void Stop() override {
    {
      const MutexLock lock(mutex_);
      stop_ = true;
      stopped_.NotifyAll();
    }
    if (options_.board != nullptr) options_.board->Wake();
  }
  std::optional<Leader> leader() const override { return board_->leader(); }
  void NoteEpoch(Epoch epoch) override {
    const MutexLock lock(mutex_);
    memory_.Note("", epoch.value);
  }

 private:
  // Without a value: not now.
  absl::StatusOr<std::optional<WonReign>> Try();
  // Whether to look closer, as far as the board says.
  absl::StatusOr<bool> IsWorthALook();
  void See(const std::optional<Leader>& leader, const std::string& log_id, std::int64_t epoch);
  bool MayStand() const { return !options_.may_stand || options_.may_stand(); }
  absl::StatusOr<std::optional<WonReign>> TakeOver(const EtcdLook& look);
  EtcdTakeOverOptions HowToTakeOver(std::int64_t lease);
  void Note(const std::string& log_id, std::int64_t epoch) {
    const MutexLock lock(mutex_);
    memory_.Note(log_id, epoch);
  }
  void NoteTrouble(const absl::Status& status);
  // False if it is to end.
  bool Pause();
  bool AwaitLook();

  const std::string log_prefix_;
  const EtcdStoreOptions options_;  // with the prefix of the shard
  const EtcdReign::Factory make_etcd_;
  const Clock& clock_;
  const std::shared_ptr<LeaderBoard> board_;
  const std::shared_ptr<EtcdRounds> rounds_;
  // Of the thread that campaigns.
  Random random_;
  const std::unique_ptr<Etcd> etcd_;
  OperatorWord word_;
  bool checked_ = false;  // the log is for as many shards
  bool looked_ = false;   // etcd could be used at least once
  bool trouble_ = false;
  Instant seen_at_;
  std::string led_before_;  // the API of who led last, as far as was seen
  EtcdBoard::Reading reading_;

  Mutex mutex_;
  CondVar stopped_;
  std::atomic<bool> stop_ = false;  // set with the lock
  EtcdMemory memory_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<WonReign> EtcdLeadership::Campaign() {
  seen_at_ = clock_.Now();
  if (options_.board != nullptr) {
    // What was seen before may show the reign that has just ended.
    reading_.look = options_.board->begun();
    if (!AwaitLook()) return absl::CancelledError("the campaign was ended");
  }
  do {
    absl::StatusOr<std::optional<WonReign>> won = Try();
    if (won.ok() && won->has_value()) return **std::move(won);
    if (absl::IsFailedPrecondition(won.status())) return won.status();
    if (!won.ok() && !looked_ && IsHopeless(won.status())) return won.status();
    NoteTrouble(won.status());
  } while (Pause());
  return absl::CancelledError("the campaign was ended");
}

absl::StatusOr<std::optional<WonReign>> EtcdLeadership::Try() {
  if (!checked_) {
    if (absl::Status fits = CheckShards(*etcd_, log_prefix_, options_.shards); !fits.ok()) {
      return fits;
    }
    checked_ = true;
  }
  if (options_.board != nullptr) {
    const absl::StatusOr<bool> worth = IsWorthALook();
    if (!worth.ok()) return worth.status();
    if (!*worth) return std::nullopt;
  }
  const absl::StatusOr<EtcdTxnResult> result = etcd_->Txn(LookTxn(options_.prefix));
  if (!result.ok()) return result.status();
  absl::StatusOr<EtcdLook> look = ReadLook(options_.prefix, *result);
  if (!look.ok()) return look.status();
  See(look->leader, look->log_id, look->epoch);
  if (look->leader.has_value() || !MayStand()) return std::nullopt;
  return TakeOver(*look);
}

absl::StatusOr<bool> EtcdLeadership::IsWorthALook() {
  const EtcdSight& sight = reading_.sight;
  if (reading_.seen) See(sight.leader, sight.log_id, sight.epoch);
  if (!reading_.status.ok()) return reading_.status;
  return !sight.leader.has_value() && MayStand();
}

void EtcdLeadership::See(const std::optional<Leader>& leader, const std::string& log_id,
                         std::int64_t epoch) {
  looked_ = true;
  seen_at_ = clock_.Now();
  board_->Set(leader);
  if (!leader.has_value()) return;
  led_before_ = leader->api;
  Note(log_id, epoch);
}

// A lease is used for one attempt only: if it is not known what came of that, the lease ends, and
// the leader key with it, should it have been written.
absl::StatusOr<std::optional<WonReign>> EtcdLeadership::TakeOver(const EtcdLook& look) {
  const absl::StatusOr<std::int64_t> lease = etcd_->Grant(options_.lease);
  if (!lease.ok()) return lease.status();
  EtcdTakeOver plan(look, HowToTakeOver(*lease));
  while (const std::optional<EtcdTakeOver::Request> request = plan.Next()) {
    if (const auto* txn = std::get_if<EtcdTxn>(&*request)) {
      plan.On(etcd_->Txn(*txn));
    } else {
      plan.On(etcd_->Range(std::get<EtcdRange>(*request)));
    }
  }
  if (!plan.outcome().ok()) {
    static_cast<void>(etcd_->Revoke(*lease));
    if (absl::IsAborted(plan.outcome())) return std::nullopt;
    return plan.outcome();
  }
  EtcdReignStart start = plan.TakeStart();
  word_ = OperatorWord::kNone;
  Note(start.log_id, start.state.epoch.value);
  board_->Set(options_.self);
  WonReign won;
  won.state = start.state;
  won.state.led_before = std::exchange(led_before_, options_.self.api);
  won.reign =
      std::make_shared<EtcdReign>(std::move(start), *lease, options_, make_etcd_, rounds_, board_);
  return won;
}

EtcdTakeOverOptions EtcdLeadership::HowToTakeOver(std::int64_t lease) {
  EtcdTakeOverOptions options;
  options.prefix = options_.prefix;
  options.self = options_.self;
  options.lease = lease;
  options.first_epoch = absl::ToUnixMillis(clock_.WallTime());
  options.fresh_log_id = absl::StrFormat("%016x%016x", random_.Next(), random_.Next());
  options.word = word_;
  const MutexLock lock(mutex_);
  options.memory = memory_;
  return options;
}

// The first of a series only.
void EtcdLeadership::NoteTrouble(const absl::Status& status) {
  if (!status.ok() && clock_.Now() - seen_at_ > options_.lease) board_->Set(std::nullopt);
  const bool trouble = !status.ok();
  if (trouble == std::exchange(trouble_, trouble) || !options_.on_trouble) return;
  options_.on_trouble(trouble ? absl::StrCat("this controller cannot stand for election: ",
                                             std::string(status.message()))
                              : "etcd answers again");
}

bool EtcdLeadership::AwaitLook() {
  reading_ = options_.board->Await(options_.shard, reading_.look, stop_);
  return !stop_;
}

bool EtcdLeadership::Pause() {
  if (options_.board != nullptr) return AwaitLook();
  const MutexLock lock(mutex_);
  if (!stop_) stopped_.WaitFor(mutex_, std::min(kLookEvery, options_.lease / 10));
  return !stop_;
}

}  // namespace

absl::Duration EtcdCallTimeMax(absl::Duration lease) {
  return std::min(absl::Seconds(2), lease / 2);
}

std::unique_ptr<Leadership> MakeEtcdLeadership(EtcdStoreOptions options,
                                               std::function<std::unique_ptr<Etcd>()> make_etcd,
                                               const Clock& clock, Random random) {
  return std::make_unique<EtcdLeadership>(std::move(options), std::move(make_etcd), clock, random);
}

}  // namespace plimsoll
