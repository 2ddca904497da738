#pragma once

#include <memory>
#include <string>

#include "api/http/src/controller_view.h"
#include "api/http/src/router.h"
#include "api/http/src/watch_hub.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::internal {

// Answers /v1/watch: looks at the controller while somebody listens, and publishes what changed.
// Confined to the operator plane's thread.
class WatchFeed {
 public:
  // Controller and clock must outlive the feed and the questions it has asked.
  WatchFeed(ControllerView& controller, const Clock& clock, int watchers_max);

  void Open(const RoutedRequest& routed, const ExchangePtr& exchange);
  // To be called about twice a second. Asks nothing of the core unless somebody listens.
  void Poll();
  void TellConfig(const std::string& hash);
  void Shutdown() { hub_.Shutdown(); }
  // Ends the streams there are, and forgets what they were told.
  void Restart() {
    hub_.EndStreams();
    told_ = nullptr;
  }

  const WatchCounts& counts() const { return hub_.counts(); }
  int watchers_max() const { return hub_.watchers_max(); }

 private:
  void Begin(std::function<void()> then);
  void Tell(const std::shared_ptr<const Snapshot>& snapshot, const std::vector<LogEvent>& events);
  std::string Greeting(const WatchFilter& filter) const;
  HttpResponse Stream(const WatchFilter& filter, const std::string& last_id);
  TimeBase Time() const { return {clock_.Now(), clock_.WallTime()}; }

  ControllerView& controller_;
  const Clock& clock_;
  WatchHub hub_;
  // What was told last; null while nobody listens.
  std::shared_ptr<const Snapshot> told_;
  std::string told_event_;
  bool asking_ = false;
};

}  // namespace plimsoll::internal
