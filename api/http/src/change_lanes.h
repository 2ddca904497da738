#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/http/src/change_queue.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/operations.h"

namespace plimsoll::internal {

// The changes of all shards: each has a queue of its own, and what is asked for goes where the
// dependency is. With one shard, that queue and nothing more. Confined to the operator plane's
// thread.
class ChangeLanes {
 public:
  struct Lane {
    Operations* operations;
    ChangeHost* host;
    std::function<bool()> leads = [] { return true; };
  };
  using Done = ChangeQueue::Done;

  // All must outlive the lanes and the changes that they have not finished. One lane for each
  // shard, at least one.
  ChangeLanes(std::vector<Lane> lanes, const Clock& clock);

  // As those of ChangeQueue. The configuration is read anew by the first lane, and then by the
  // others; an instance is evicted from all shards that are led here and know it.
  void Submit(ChangeRequest request, Done done);
  void Refresh(const std::function<void()>& then);
  void Tick();
  void Restart(int shard) { queues_[static_cast<std::size_t>(shard)]->Restart(); }

 private:
  void Reload(const ChangeRequest& request, Done done);
  void Evict(const ChangeRequest& request, Done done);

  const std::vector<Lane> lanes_;
  std::vector<std::unique_ptr<ChangeQueue>> queues_;
};

}  // namespace plimsoll::internal
