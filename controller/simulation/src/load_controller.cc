#include "controller/simulation/src/load_controller.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include "controller/simulation/src/messages.h"

namespace plimsoll::internal {
namespace {

Scenario SoundDisk() {
  Scenario scenario;
  scenario.disk.commit = {absl::Milliseconds(1), absl::Milliseconds(3)};
  return scenario;
}

}  // namespace

LoadController::LoadController(EventQueue& queue, Random& random, const CoreOptions& options,
                               const Policy& policy)
    : queue_(queue),
      options_(options),
      policy_(policy),
      disk_(SoundDisk()),
      store_(disk_, queue, random),
      clock_(queue.time(), 1, Instant()) {}

void LoadController::Start() {
  ++reign_;
  epoch_ = store_.TakeOver();
  decisions_collected_.fill(0);
  core_ = std::make_unique<Core>(options_, PolicySet{{policy_.name, policy_}}, store_.Read(),
                                 clock_.Now());
  Tick();
}

void LoadController::Crash() {
  ++reign_;
  core_.reset();
  waiting_.clear();
}

void LoadController::Receive(std::int64_t exchange, const AgentMessage& message, Reply reply) {
  if (core_ == nullptr) return reply(NoAnswer{absl::UnavailableError("connection refused")});
  last_request_ = RequestId(last_request_.value + 1);
  waiting_[last_request_] = {exchange, std::move(reply)};
  Apply(MakeEvent(last_request_, message));
}

void LoadController::Abandon(std::int64_t exchange) {
  std::vector<RequestId> abandoned;
  for (const auto& [request, waiting] : waiting_) {
    if (waiting.exchange == exchange) abandoned.push_back(request);
  }
  for (const RequestId request : abandoned) {
    waiting_.erase(request);
    Apply(AbandonEvent{request});
  }
}

void LoadController::CollectDecisions(std::vector<LogEvent>& decisions) {
  if (core_ == nullptr) return;
  const std::size_t before = decisions.size();
  for (const EventType type : {EventType::kLimitChanged, EventType::kDecision}) {
    std::int64_t& collected = decisions_collected_[static_cast<std::size_t>(type)];
    const std::int64_t total = core_->log().total(type);
    const auto fresh = static_cast<int>(total - std::exchange(collected, total));
    if (fresh == 0) continue;
    std::vector<LogEvent> newest = core_->log().Find({.type = type}, fresh);
    decisions.insert(decisions.end(), std::make_move_iterator(newest.rbegin()),
                     std::make_move_iterator(newest.rend()));
  }
  std::stable_sort(decisions.begin() + static_cast<std::ptrdiff_t>(before), decisions.end(),
                   [](const LogEvent& a, const LogEvent& b) { return a.at < b.at; });
}

void LoadController::Apply(const Event& event) {
  for (Action& action : core_->Apply(event, clock_.Now())) Perform(std::move(action));
  epoch_ = core_->epoch();
}

void LoadController::Perform(Action action) {
  if (auto* reply = std::get_if<ReplyAction>(&action)) PerformReply(std::move(*reply));
  if (auto* write = std::get_if<WriteAction>(&action)) {
    store_.Commit(0, epoch_, write->batch, LetKnow([id = write->write](absl::Status status) {
                    return WrittenEvent{id, std::move(status)};
                  }));
  }
  if (auto* confirm = std::get_if<ConfirmAction>(&action)) {
    store_.Confirm(0, epoch_, LetKnow([id = confirm->confirm](absl::Status status) {
                     return ConfirmedEvent{id, std::move(status)};
                   }));
  }
}

void LoadController::PerformReply(ReplyAction reply) {
  const auto waiting = waiting_.find(reply.request);
  if (waiting == waiting_.end()) return;
  const Reply send = std::move(waiting->second.reply);
  waiting_.erase(waiting);
  send(MakeAnswer(reply));
}

VirtualStore::Done LoadController::LetKnow(std::function<Event(absl::Status)> event) {
  return [this, event = std::move(event), reign = reign_](const absl::Status& status) {
    if (reign == reign_) Apply(event(status));
  };
}

void LoadController::Tick() {
  Apply(TickEvent{});
  queue_.After(options_.tick, [this, reign = reign_] {
    if (reign == reign_) Tick();
  });
}

}  // namespace plimsoll::internal
