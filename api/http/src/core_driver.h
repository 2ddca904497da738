#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/duration_histogram.h"

namespace plimsoll::internal {

// Feeds the core and does what it asks: replies go to whoever waits, writes to the store's thread.
// The only user of the core while the server runs. Confined to the core's thread.
class CoreDriver {
 public:
  using Body = decltype(ReplyAction::body);
  using Reply = std::function<void(const Body& body)>;

  using Notice = std::function<void(const LogEvent& event)>;

  // Core and clock must outlive the driver. `write` must return at once and lead to a Written()
  // later. `notice`, which may be empty, is told of events that operators must not miss.
  CoreDriver(Core& core, const Clock& clock, std::function<void(WriteAction)> write,
             Notice notice = {});

  // `reply` may be called before these return, later, or never if the request is abandoned.
  RequestId Send(RegisterRequest message, Reply reply);
  RequestId Send(SyncRequest message, Reply reply);
  RequestId Send(ReleaseRequest message, Reply reply);
  void Abandon(RequestId request);

  void Written(WriteId write, const absl::Status& status);
  // What operators have changed; the next snapshot shows it.
  void Tell(const std::vector<Event>& events);
  void Tick();
  void Shutdown();

  // Not older than kSnapshotAgeMax, so that many scrapes cost one look at the core.
  std::shared_ptr<const Snapshot> GetSnapshot();
  // Of this very moment, for what must not be 200 ms old.
  std::shared_ptr<const Snapshot> TakeSnapshot();
  const EventLog& log() const { return core_.log(); }
  const Core& core() const { return core_; }
  // Of this reign.
  Epoch epoch() const { return core_.epoch(); }

  static constexpr absl::Duration kSnapshotAgeMax = absl::Milliseconds(200);

 private:
  template <typename EventType, typename Message>
  RequestId SendEvent(Message message, Reply reply);
  void Apply(const Event& event);
  void TellNotices();

  Core& core_;
  const Clock& clock_;
  const std::function<void(WriteAction)> write_;
  const Notice notice_;
  std::array<std::int64_t, kEventTypes> told_{};
  absl::flat_hash_map<RequestId, Reply> waiting_;
  std::int64_t requests_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
  DurationHistogram event_times_;
};

}  // namespace plimsoll::internal
