#include "controller/store/src/etcd_reign.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/src/etcd_values.h"

namespace plimsoll::internal {

EtcdReign::EtcdReign(EtcdReignStart start, std::int64_t lease, const EtcdStoreOptions& options,
                     const Factory& make_etcd, std::shared_ptr<EtcdRounds> rounds,
                     std::shared_ptr<LeaderBoard> board)
    : options_(options),
      lease_(lease),
      token_{start.prefix, start.token},
      rounds_(std::move(rounds)),
      board_(std::move(board)),
      plan_(std::move(start)),
      writer_(make_etcd()),
      keeper_(make_etcd()),
      thread_([this] { KeepAlive(); }) {}

EtcdReign::~EtcdReign() { Resign(); }

absl::StatusOr<StoreState> EtcdReign::TakeOver() {
  return absl::FailedPreconditionError("etcd: a reign that was won has been taken over already");
}

absl::Status EtcdReign::Commit(const WriteBatch& batch) {
  if (over_) return absl::FailedPreconditionError("this reign is over");
  if (absl::Status begun = plan_.Begin(batch); !begun.ok()) return begun;
  bool asked = false;
  while (const std::optional<EtcdTxn> txn = plan_.Next()) {
    plan_.On(writer_->Txn(*txn));
    asked = true;
  }
  if (plan_.over()) End();
  // That it landed says that the reign stands: so something must have landed.
  return asked || !plan_.outcome().ok() ? plan_.outcome() : Confirm();
}

absl::StatusOr<std::vector<std::string>> EtcdReign::ReadAudit(int limit) {
  const EtcdKeys keys(options_.prefix);
  const absl::StatusOr<EtcdRangeResult> found =
      writer_->Range({.key = keys.Audits(),
                      .end = EtcdKeys::EndOf(keys.Audits()),
                      .limit = limit,
                      .descending = true});
  if (!found.ok()) return found.status();
  std::vector<std::string> records;
  for (const EtcdKeyValue& kv : found->kvs) records.push_back(kv.value);
  return records;
}

absl::Status EtcdReign::Confirm() {
  if (over_) return absl::FailedPreconditionError("this reign is over");
  absl::Status verdict = rounds_->Confirm(token_);
  if (absl::IsFailedPrecondition(verdict)) End();
  return verdict;
}

void EtcdReign::Resign() {
  {
    const MutexLock lock(mutex_);
    if (std::exchange(resigned_, true)) return;
    stop_ = true;
    stopped_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
  End();
  // It ends by itself if this fails.
  static_cast<void>(keeper_->Revoke(lease_));
}

void EtcdReign::KeepAlive() {
  while (Pause(options_.lease / 4)) {
    if (over_) return;
    KeepOnce();
  }
}

bool EtcdReign::Pause(absl::Duration time) {
  const MutexLock lock(mutex_);
  if (!stop_) stopped_.WaitFor(mutex_, time);
  return !stop_;
}

void EtcdReign::KeepOnce() {
  const absl::StatusOr<absl::Duration> left = keeper_->KeepAlive(lease_);
  if (absl::IsNotFound(left.status())) {
    Tell("etcd: the lease of this controller has ended: it does not lead any more");
    return End();
  }
  if (left.ok() && *left > options_.lease) TellOfLongLease(*left);
  const bool trouble = !left.ok();
  if (trouble == std::exchange(trouble_, trouble)) return;
  Tell(trouble
           ? absl::StrCat("the lease cannot be kept alive: ", std::string(left.status().message()))
           : "etcd answers again: the lease is kept alive");
}

// etcd makes no lease shorter than one and a half times its election timeout.
void EtcdReign::TellOfLongLease(absl::Duration granted) {
  if (std::exchange(told_of_long_lease_, true)) return;
  Tell(absl::StrCat("etcd keeps the lease of the leader for ", absl::FormatDuration(granted),
                    ", not for ", absl::FormatDuration(options_.lease),
                    ": elections may outlast agents.lease; lower --election-timeout of etcd, or "
                    "raise state.etcd.lease, and agents.lease with it"));
}

void EtcdReign::End() {
  over_ = true;
  board_->Clear(options_.self);
}

void EtcdReign::Tell(const std::string& line) const {
  if (options_.on_trouble) options_.on_trouble(line);
}

}  // namespace plimsoll::internal
