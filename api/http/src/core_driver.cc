#include "api/http/src/core_driver.h"

#include <algorithm>
#include <limits>
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

CoreDriver::CoreDriver(Core* core, const Clock& clock, Host host)
    : core_(core), clock_(clock), host_(std::move(host)), made_at_(clock.Now()) {}

void CoreDriver::Lead(std::unique_ptr<Core> core) {
  own_ = std::move(core);
  core_ = own_.get();
  told_ = {};
  snapshot_.reset();
  TellNotices();
}

// What the books say does not count any more.
void CoreDriver::StandBy() {
  if (core_ == nullptr) return;
  epoch_ = core_->epoch();
  core_ = nullptr;
  own_.reset();
  snapshot_.reset();
  std::vector<RequestId> waiting;
  waiting.reserve(waiting_.size());
  for (const auto& [request, reply] : waiting_) waiting.push_back(request);
  for (const RequestId request : waiting) Answer(request, SentElsewhere());
}

CoreDriver::Body CoreDriver::SentElsewhere() const {
  return Refusal{RefusalCode::kNotLeader, "this controller stands by", epoch_};
}

template <typename EventType, typename Message>
RequestId CoreDriver::SendEvent(Message message, Reply reply) {
  const RequestId request(++requests_);
  waiting_.emplace(request, std::move(reply));
  if (core_ == nullptr) {
    Answer(request, SentElsewhere());
  } else {
    Apply(EventType{request, std::move(message)});
  }
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

void CoreDriver::Confirmed(ConfirmId confirm, const absl::Status& status) {
  Apply(ConfirmedEvent{confirm, status});
}

void CoreDriver::Tell(const std::vector<Event>& events) {
  for (const Event& event : events) Apply(event);
  snapshot_.reset();
}

void CoreDriver::Tick() { Apply(TickEvent{}); }

void CoreDriver::AnswerDue() {
  if (next_due() <= clock_.Now()) Apply(HoldsEvent{});
}

Instant CoreDriver::next_due() const {
  const std::optional<Instant> due = core_ == nullptr ? std::nullopt : core_->next_due();
  return due.value_or(Instant{std::numeric_limits<std::int64_t>::max()});
}

void CoreDriver::Shutdown() { Apply(ShutdownEvent{}); }

absl::Duration CoreDriver::SnapshotAgeMax(absl::Duration cost) {
  return std::clamp(200 * cost, absl::Milliseconds(200), absl::Seconds(2));
}

std::shared_ptr<const Snapshot> CoreDriver::GetSnapshot() {
  const Instant now = clock_.Now();
  if (!snapshot_ || now - snapshot_->at > SnapshotAgeMax(snapshot_cost_)) {
    // Of a large fleet it has tens of megabytes: there need not be two.
    snapshot_ = nullptr;
    Snapshot snapshot;
    if (core_ == nullptr) {
      snapshot.epoch = epoch_;
      snapshot.at = now;
      snapshot.started_at = made_at_;
    } else {
      snapshot = core_->TakeSnapshot(now);
    }
    snapshot.event_times = event_times_;
    snapshot_ = std::make_shared<const Snapshot>(std::move(snapshot));
    snapshot_cost_ = clock_.Now() - now;
  }
  return snapshot_;
}

std::shared_ptr<const Snapshot> CoreDriver::TakeSnapshot() {
  snapshot_ = nullptr;
  return GetSnapshot();
}

void CoreDriver::Apply(const Event& event) {
  if (core_ == nullptr) return;
  // After a suspend the first event may come before the first tick: holds must not start in the
  // past.
  clock_.Refresh();
  const Instant began = clock_.Now();
  std::vector<Action> actions = core_->Apply(event, began);
  event_times_.Record(clock_.Now() - began);
  for (Action& action : actions) Do(std::move(action), event);
  TellNotices();
}

void CoreDriver::Do(Action action, const Event& event) {
  if (auto* write = std::get_if<WriteAction>(&action)) return host_.write(std::move(*write));
  if (auto* reply = std::get_if<ReplyAction>(&action)) {
    return Answer(reply->request, reply->body);
  }
  PLIMSOLL_CHECK(host_.confirm != nullptr, "an exclusive store has nothing to confirm");
  if (const auto* confirm = std::get_if<ConfirmAction>(&action)) return host_.confirm(*confirm);
  const auto* const sync = std::get_if<SyncEvent>(&event);
  const bool later = sync != nullptr && sync->message.epoch > core_->epoch();
  host_.deposed(std::get<DeposedAction>(action).why,
                later ? std::optional(sync->message.epoch) : std::nullopt);
}

Leader CoreDriver::leader() const {
  return host_.leader ? host_.leader().value_or(Leader{}) : Leader{};
}

void CoreDriver::Answer(RequestId request, const Body& body) {
  const auto found = waiting_.find(request);
  if (found == waiting_.end()) return;
  const Reply call = std::move(found->second);
  waiting_.erase(found);
  call(body);
}

void CoreDriver::TellNotices() {
  if (!host_.notice || core_ == nullptr) return;
  for (const EventType type : kNotices) {
    std::int64_t& told = told_[static_cast<std::size_t>(type)];
    const std::int64_t fresh =
        core_->log().total(type) - std::exchange(told, core_->log().total(type));
    if (fresh <= 0) continue;
    const std::vector<LogEvent> events = core_->log().Find({.type = type}, static_cast<int>(fresh));
    for (auto event = events.rbegin(); event != events.rend(); ++event) host_.notice(*event);
  }
}

}  // namespace plimsoll::internal
