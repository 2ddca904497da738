#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/mutex.h"

namespace plimsoll::internal {

// The thread that asks whether the reign still stands: beside the one that writes, so that no slow
// write keeps leases from being extended. Thread-safe.
class Confirmer {
 public:
  using Confirmed = std::function<void(ConfirmId, absl::Status)>;

  // `confirmed` is called on the confirmer's thread. The reign must outlive the confirmer.
  Confirmer(Reign& reign, Confirmed confirmed);
  ~Confirmer();

  // Returns at once; the question is put to the store after that. There is at most one under way:
  // the core sees to that.
  void Submit(ConfirmAction action);
  // Waits for the question under way, then ends the thread.
  void Stop();

 private:
  void Run();

  Reign& reign_;
  const Confirmed confirmed_;
  Mutex mutex_;
  CondVar changed_;
  std::optional<ConfirmAction> pending_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace plimsoll::internal
