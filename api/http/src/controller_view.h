#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/controller/snapshot.h"

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
};

}  // namespace plimsoll::internal
