#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/controller/trial.h"

namespace plimsoll::internal {

// How the operator plane sees the controller. The core lives on another thread, so answers come
// later: `then` is called on the operator plane's thread. Confined to that thread.
class ControllerView {
 public:
  virtual ~ControllerView() = default;

  virtual void GetSnapshot(std::function<void(std::shared_ptr<const Snapshot>)> then) = 0;
  virtual void FindEvents(EventLog::Filter filter, int limit,
                          std::function<void(std::vector<LogEvent>)> then) = 0;
  virtual void GetEvent(std::string id, std::function<void(std::optional<LogEvent>)> then) = 0;
  // What the law of an instance would make of these windows: Core::Try().
  virtual void Try(DependencyId dependency, SessionId session, std::vector<TrialWindow> windows,
                   std::function<void(absl::StatusOr<std::vector<TrialDecision>>)> then) = 0;
  // The newest audit records, newest first, at most `limit`, as the store has them. It may take as
  // long as the store does; nobody else waits for it.
  virtual void ReadAudit(int limit,
                         std::function<void(absl::StatusOr<std::vector<std::string>>)> then) = 0;
  // The page of /metrics for a snapshot.
  virtual std::string Metrics(std::shared_ptr<const Snapshot> snapshot) = 0;
  virtual bool shutting_down() const = 0;

  // Whether this controller leads, and who does, as far as is known. `leader` has a value only with
  // a store that changes hands.
  struct Leading {
    bool self = true;
    std::optional<Leader> leader = {};

    bool known() const { return self || leader.has_value(); }
  };
  virtual Leading leading() const { return {}; }

  // What is known of a shard.
  struct ShardFacts {
    bool self = false;  // this controller leads it
    Epoch epoch;        // of the newest reign over it that was this controller's own
    Leader leader;      // with empty addresses if nobody is known to lead it
  };
  // In their order. Empty if there is only one: then the controller is that shard.
  virtual std::vector<ShardFacts> shards() const { return {}; }
};

}  // namespace plimsoll::internal
