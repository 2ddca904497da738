#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/http/operations.h"

namespace plimsoll::internal {

// What changes need of the rest of the server. `done` is called on the operator plane's thread.
class ChangeHost {
 public:
  virtual ~ChangeHost() = default;

  virtual void Commit(WriteBatch batch, std::function<void(absl::Status)> done) = 0;
  // The core has been told when `done` is called.
  virtual void Tell(std::vector<Event> events, std::function<void()> done) = 0;
};

// Makes changes one after the other: plan, make durable, tell the core, answer. The only user of
// Operations that changes anything. Confined to the operator plane's thread.
class ChangeQueue {
 public:
  using Done = std::function<void(const ChangePlan& plan)>;

  // All three must outlive the queue and the changes that it has not finished.
  ChangeQueue(Operations& operations, ChangeHost& host, const Clock& clock)
      : operations_(operations), host_(host), clock_(clock) {}

  // `done` gets the plan when it holds, or the refusal.
  void Submit(ChangeRequest request, Done done);
  // Calls `then` when whatever is asked of the core next is as new as this call.
  void Refresh(std::function<void()> then) { host_.Tell({}, std::move(then)); }
  // Ends what has expired, if nothing else is under way. To be called about once a second.
  void Tick();
  // The operations have forgotten what was planned: the change that is under way is refused.
  void Restart() { ++generation_; }

 private:
  struct Change {
    ChangeRequest request;
    Done done;
  };

  void Next();
  void Carry(std::shared_ptr<ChangePlan> plan, Done done);
  void Finish(const std::shared_ptr<ChangePlan>& plan, const Done& done);

  Operations& operations_;
  ChangeHost& host_;
  const Clock& clock_;
  std::deque<Change> waiting_;
  bool busy_ = false;
  std::int64_t generation_ = 0;
};

}  // namespace plimsoll::internal
