#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "plimsoll/controller/core.h"
#include "plimsoll/controller/leadership.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/duration_histogram.h"

namespace plimsoll::internal {

// Feeds the core and does what it asks: replies go to whoever waits, writes and confirmations to
// the store's threads. The only user of the core while the server runs. Without a core it stands
// by: agents are sent to the controller that leads. Confined to the core's thread.
class CoreDriver {
 public:
  using Body = decltype(ReplyAction::body);
  using Reply = std::function<void(const Body& body)>;

  // What the driver does not do itself. All must return at once.
  struct Host {
    std::function<void(WriteAction)> write;  // leads to a Written() later
    std::function<void(ConfirmAction)>
        confirm;  // leads to a Confirmed(); not with exclusive stores
    // Likewise. With the later epoch that an agent knows of, if that is why.
    std::function<void(const std::string& why, std::optional<Epoch> seen)> deposed;
    std::function<std::optional<Leader>()> leader = {};      // likewise; may be empty
    std::function<void(const LogEvent& event)> notice = {};  // what operators must not miss
  };

  // `core`, which may be null, and clock must outlive the driver.
  CoreDriver(Core* core, const Clock& clock, Host host);

  // A reign begins, with a core that is the driver's, or ends. Who waits is sent to the new leader.
  void Lead(std::unique_ptr<Core> core);
  void StandBy();

  // `reply` may be called before these return, later, or never if the request is abandoned.
  RequestId Send(RegisterRequest message, Reply reply);
  RequestId Send(SyncRequest message, Reply reply);
  RequestId Send(ReleaseRequest message, Reply reply);
  void Abandon(RequestId request);

  void Written(WriteId write, const absl::Status& status);
  void Confirmed(ConfirmId confirm, const absl::Status& status);
  // What operators have changed; the next snapshot shows it.
  void Tell(const std::vector<Event>& events);
  void Tick();
  // Answers the syncs whose holds are over.
  void AnswerDue();
  // When the first of them is; never, if none is held or this driver stands by.
  Instant next_due() const;
  void Shutdown();

  // Not older than SnapshotAgeMax() of what it took, so that many scrapes cost one look at the
  // core.
  std::shared_ptr<const Snapshot> GetSnapshot();
  // Of this very moment, for what must not be 200 ms old.
  std::shared_ptr<const Snapshot> TakeSnapshot();
  const EventLog& log() const { return core_ == nullptr ? no_log_ : core_->log(); }
  // Where agents are sent; with empty addresses if nobody knows.
  Leader leader() const;
  // Of this reign, or of the last that was its own; 0 if there was none.
  Epoch epoch() const { return core_ == nullptr ? epoch_ : core_->epoch(); }
  // Null while another controller reigns.
  const Core* core() const { return core_; }

  // For how long a snapshot serves that took `cost` to make: 200 ms to 2 s. Of large fleets fewer
  // are made, so that looking takes half a percent of the core's thread and agents do not notice.
  static absl::Duration SnapshotAgeMax(absl::Duration cost);

 private:
  template <typename EventType, typename Message>
  RequestId SendEvent(Message message, Reply reply);
  void Apply(const Event& event);
  void Do(Action action, const Event& event);
  void Answer(RequestId request, const Body& body);
  Body SentElsewhere() const;
  void TellNotices();

  std::unique_ptr<Core> own_;
  Core* core_;
  const Clock& clock_;
  const Host host_;
  const Instant made_at_;
  Epoch epoch_;
  const EventLog no_log_{Epoch(), 1};
  std::array<std::int64_t, kEventTypes> told_{};
  absl::flat_hash_map<RequestId, Reply> waiting_;
  std::int64_t requests_ = 0;
  std::shared_ptr<const Snapshot> snapshot_;
  absl::Duration snapshot_cost_;
  DurationHistogram event_times_;
};

}  // namespace plimsoll::internal
