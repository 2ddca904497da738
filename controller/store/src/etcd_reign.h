#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "controller/store/src/leader_board.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/store/etcd_api.h"
#include "plimsoll/store/etcd_plan.h"
#include "plimsoll/store/etcd_rounds.h"
#include "plimsoll/store/etcd_store.h"

namespace plimsoll::internal {

// One reign in etcd, with the thread that keeps its lease alive.
class EtcdReign final : public Reign {
 public:
  using Factory = std::function<std::unique_ptr<Etcd>()>;

  EtcdReign(EtcdReignStart start, std::int64_t lease, const EtcdStoreOptions& options,
            const Factory& make_etcd, std::shared_ptr<EtcdRounds> rounds,
            std::shared_ptr<LeaderBoard> board);
  ~EtcdReign() override;

  absl::StatusOr<StoreState> TakeOver() override;
  absl::Status Commit(const WriteBatch& batch) override;
  absl::StatusOr<std::vector<std::string>> ReadAudit(int limit) override;
  absl::Status Confirm() override;
  bool over() const override { return over_; }
  void Resign() override;

 private:
  void KeepAlive();
  // False if the thread is to end.
  bool Pause(absl::Duration time);
  void KeepOnce();
  void TellOfLongLease(absl::Duration granted);
  void End();
  void Tell(const std::string& line) const;

  // Fixed at construction.
  const EtcdStoreOptions options_;
  const std::int64_t lease_;
  const EtcdReignToken token_;
  const std::shared_ptr<EtcdRounds> rounds_;
  const std::shared_ptr<LeaderBoard> board_;

  // Of the caller that writes.
  EtcdReignPlan plan_;
  const std::unique_ptr<Etcd> writer_;
  // Of the lease's thread; of whoever resigns after it has ended.
  const std::unique_ptr<Etcd> keeper_;
  bool trouble_ = false;
  bool told_of_long_lease_ = false;

  std::atomic<bool> over_ = false;
  Mutex mutex_;
  CondVar stopped_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool resigned_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace plimsoll::internal
