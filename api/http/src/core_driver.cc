#include "api/http/src/core_driver.h"

#include <utility>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// None of them can be caused often by what agents send: a breaker opens once per cool-off.
constexpr EventType kNotices[] = {
    EventType::kStoreFailed,       EventType::kStoreRecovered,    EventType::kStoreLost,
    EventType::kLearningEnded,     EventType::kQuotaChanged,      EventType::kDeposed,
    EventType::kBreakerOpened,     EventType::kBreakerClosed,     EventType::kOverrideSet,
    EventType::kOverrideCleared,   EventType::kDependencyCreated, EventType::kDependencyUpdated,
    EventType::kDependencyDeleted, EventType::kConfigReloaded,    EventType::kConfigReloadFailed};

}  // namespace

CoreDriver::CoreDriver(Core& core, const Clock& clock, std::function<void(WriteAction)> write,
                       Notice notice)
    : core_(core), clock_(clock), write_(std::move(write)), notice_(std::move(notice)) {}

template <typename EventType, typename Message>
RequestId CoreDriver::SendEvent(Message message, Reply reply) {
  const RequestId request(++requests_);
  waiting_.emplace(request, std::move(reply));
  Apply(EventType{request, std::move(message)});
  return request;
}

RequestId CoreDriver::Send(RegisterRequest message, Reply reply) {
  return SendEvent<RegisterEvent>(std::move(message), std::move(reply));
}
RequestId CoreDriver::Send(SyncRequest message, Reply reply) {
  return SendEvent<SyncEvent>(std::move(message), std::move(reply));
}
RequestId CoreDriver::Send(ReleaseRequest message, Reply reply) {
  return SendEvent<ReleaseEvent>(std::move(message), std::move(reply));
}

void CoreDriver::Abandon(RequestId request) {
  if (waiting_.erase(request) > 0) Apply(AbandonEvent{request});
}

void CoreDriver::Written(WriteId write, const absl::Status& status) {
  Apply(WrittenEvent{write, status});
}

void CoreDriver::Tell(const std::vector<Event>& events) {
  for (const Event& event : events) Apply(event);
  snapshot_.reset();
}

void CoreDriver::Tick() { Apply(TickEvent{}); }

void CoreDriver::Shutdown() { Apply(ShutdownEvent{}); }

std::shared_ptr<const Snapshot> CoreDriver::GetSnapshot() {
  const Instant now = clock_.Now();
  if (!snapshot_ || now - snapshot_->at > kSnapshotAgeMax) {
    Snapshot snapshot = core_.TakeSnapshot(now);
    snapshot.event_times = event_times_;
    snapshot_ = std::make_shared<const Snapshot>(std::move(snapshot));
  }
  return snapshot_;
}

std::shared_ptr<const Snapshot> CoreDriver::TakeSnapshot() {
  snapshot_ = nullptr;
  return GetSnapshot();
}

void CoreDriver::Apply(const Event& event) {
  // After a suspend the first event may come before the first tick: holds must not start in the
  // past.
  clock_.Refresh();
  const Instant began = clock_.Now();
  std::vector<Action> actions = core_.Apply(event, began);
  event_times_.Record(clock_.Now() - began);
  for (Action& action : actions) {
    if (auto* write = std::get_if<WriteAction>(&action)) {
      write_(std::move(*write));
      continue;
    }
    PLIMSOLL_CHECK(std::holds_alternative<ReplyAction>(action),
                   "the stores of this server are exclusive: there is nothing to confirm");
    const auto& reply = std::get<ReplyAction>(action);
    const auto found = waiting_.find(reply.request);
    if (found == waiting_.end()) continue;
    const Reply call = std::move(found->second);
    waiting_.erase(found);
    call(reply.body);
  }
  TellNotices();
}

void CoreDriver::TellNotices() {
  if (!notice_) return;
  for (const EventType type : kNotices) {
    std::int64_t& told = told_[static_cast<std::size_t>(type)];
    const std::int64_t fresh =
        core_.log().total(type) - std::exchange(told, core_.log().total(type));
    if (fresh <= 0) continue;
    const std::vector<LogEvent> events = core_.log().Find({.type = type}, static_cast<int>(fresh));
    for (auto event = events.rbegin(); event != events.rend(); ++event) notice_(*event);
  }
}

}  // namespace plimsoll::internal
