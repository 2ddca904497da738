#include "api/http/src/core_driver.h"

#include <utility>

namespace plimsoll::internal {

CoreDriver::CoreDriver(Core& core, const Clock& clock, std::function<void(WriteAction)> write)
    : core_(core), clock_(clock), write_(std::move(write)) {}

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

void CoreDriver::Tick() {
  clock_.Refresh();
  Apply(TickEvent{});
}

void CoreDriver::Shutdown() { Apply(ShutdownEvent{}); }

std::shared_ptr<const Snapshot> CoreDriver::GetSnapshot() {
  const Instant now = clock_.Now();
  if (!snapshot_ || now - snapshot_->at > kSnapshotAgeMax) {
    snapshot_ = std::make_shared<const Snapshot>(core_.TakeSnapshot(now));
  }
  return snapshot_;
}

void CoreDriver::Apply(const Event& event) {
  for (Action& action : core_.Apply(event, clock_.Now())) {
    if (auto* write = std::get_if<WriteAction>(&action)) {
      write_(std::move(*write));
      continue;
    }
    if (!std::holds_alternative<ReplyAction>(action)) continue;
    const auto& reply = std::get<ReplyAction>(action);
    const auto found = waiting_.find(reply.request);
    if (found == waiting_.end()) continue;
    const Reply call = std::move(found->second);
    waiting_.erase(found);
    call(reply.body);
  }
}

}  // namespace plimsoll::internal
