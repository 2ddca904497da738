#include "plimsoll/store/etcd_rounds.h"

#include <utility>

namespace plimsoll {

absl::Status EtcdRounds::Confirm(const EtcdReignToken& reign) {
  const MutexLock lock(mutex_);
  Waiting self;
  waiting_[plan_.Ask(reign)] = &self;
  while (!self.judged && asking_) self.changed.Wait(mutex_);
  if (self.judged) return self.verdict;
  asking_ = true;
  while (!self.judged) Round();
  asking_ = false;
  // Whoever came meanwhile asks for those that did.
  if (!waiting_.empty()) waiting_.begin()->second->changed.NotifyOne();
  return self.verdict;
}

void EtcdRounds::Round() {
  const std::optional<EtcdTxn> txn = plan_.Begin();
  if (!txn.has_value()) return;
  mutex_.Unlock();
  const absl::StatusOr<EtcdTxnResult> result = etcd_->Txn(*txn);
  mutex_.Lock();
  for (auto& [ticket, verdict] : plan_.End(result)) {
    Waiting& waiting = *waiting_.extract(ticket).mapped();
    waiting.verdict = std::move(verdict);
    waiting.judged = true;
    waiting.changed.NotifyOne();
  }
}

}  // namespace plimsoll
