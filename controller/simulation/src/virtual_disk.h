#pragma once

#include <functional>
#include <map>

#include "absl/status/status.h"
#include "controller/simulation/src/event_queue.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/scenario.h"

namespace plimsoll::internal {

// What survives a crash of the controller. A commit becomes durable at a random moment between its
// start and its acknowledgement, so that a crash in between leaves either state behind.
// Thread-compatible.
class VirtualDisk {
 public:
  VirtualDisk(const DiskFaults& faults, EventQueue& queue, Random& random);

  // As Store::TakeOver(). Commits of reigns before that are under way come to nothing.
  StoreState TakeOver();
  // As Store::Commit(), with the result later.
  void Commit(const WriteBatch& batch, std::function<void(absl::Status)> done);
  // The process that writes is gone.
  void Abort() { ++reign_; }

 private:
  void Apply(const WriteBatch& batch);

  const DiskFaults faults_;
  EventQueue& queue_;
  Random& random_;
  Epoch epoch_;
  int reign_ = 0;
  std::map<BoundKey, Bound> bounds_;
};

}  // namespace plimsoll::internal
