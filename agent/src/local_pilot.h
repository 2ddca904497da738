#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "agent/src/due_work.h"
#include "agent/src/local_law.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

// Sets the limit of a bulkhead that no controller looks after: by its law, or by hand. Whoever
// holds its lock has the part of the limiter that is else confined to the agent's thread.
// Thread-safe.
class LocalPilot final : public DueWork {
 public:
  // `config` is valid, and that of the law.
  LocalPilot(const AlgorithmConfig& config, LocalLaw law, absl::Duration call_deadline);

  // The first limit. Once, before the limiter is used.
  void Begin(Limiter& limiter, Instant now);
  // No value: the law's limit again. Waits for the lock.
  void SetByHand(Limiter& limiter, std::optional<Calls> limit, Instant now);

  // Closes the window and tells the law. A thread that finds another one at it goes on.
  void Run(Limiter& limiter, Instant at) override;

 private:
  void CloseWindow(Limiter& limiter, Instant at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Install(Limiter& limiter, Reason reason, Instant at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  BindingConstraint Binding() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Fixed at construction.
  const AlgorithmKind kind_;
  const Calls floor_;
  const Calls ceiling_;
  const absl::Duration call_deadline_;
  const absl::Duration window_;

  Mutex mutex_;
  LocalLaw law_ ABSL_GUARDED_BY(mutex_);
  Calls wanted_ ABSL_GUARDED_BY(mutex_);  // by the law, before floor and ceiling
  std::optional<Calls> by_hand_ ABSL_GUARDED_BY(mutex_);
  std::int64_t seq_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace plimsoll::internal
