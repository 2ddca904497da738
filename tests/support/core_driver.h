#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "plimsoll/controller/core.h"

namespace plimsoll::testing {

inline Policy TestPolicy(const std::string& name, Calls quota) {
  Policy policy;
  policy.name = DependencyId(name);
  policy.quota = quota;
  policy.algorithm.floor = 1;
  policy.algorithm.ceiling = 20;
  policy.outage.base = 1;
  policy.outage.base_lease = absl::Seconds(60);
  policy.call_deadline = absl::Seconds(3);
  return policy;
}

inline PolicySet Policies(const std::vector<Policy>& policies) {
  PolicySet set;
  for (const Policy& policy : policies) set[policy.name] = policy;
  return set;
}

// Drives a Core by hand: a clock that moves when told to, a disk that is written at once unless it
// is told to wait, and the replies by request. Thread-compatible.
class CoreDriver {
 public:
  explicit CoreDriver(PolicySet policies, CoreOptions options = {}, StoreState state = Fresh())
      : options_(options), core_(options, std::move(policies), state, now_) {
    for (const Bound& bound : state.bounds) disk_[bound.key] = bound;
  }

  static StoreState Fresh() { return {Epoch(7), {}, StoreCondition::kNew, "", {}, true}; }

  RequestId Send(Event event) {
    const RequestId request(++last_request_);
    std::visit([request](auto& what) { SetRequest(what, request); }, event);
    Apply(event);
    return request;
  }
  void Apply(const Event& event) { Do(core_.Apply(event, now_)); }

  // Moves time in ticks.
  void Pass(absl::Duration duration) {
    const Instant end = now_ + duration;
    while (now_ < end) {
      now_ = std::min(end, now_ + options_.tick);
      Apply(TickEvent{});
    }
  }

  // Moves time, and tells the core nothing of it.
  void Wait(absl::Duration duration) { now_ = now_ + duration; }

  // Moves time by less than a tick; the core is told when one is over.
  void PassStep(absl::Duration step) {
    now_ = now_ + step;
    since_tick_ += step;
    if (since_tick_ < options_.tick) return;
    since_tick_ = absl::ZeroDuration();
    Apply(TickEvent{});
  }
  void PassTo(Instant now) { Pass(now - now_); }

  SessionId Join(const std::string& instance, const std::string& dependency = "db") {
    RegisterRequest request;
    request.service = ServiceId("shop");
    request.instance = InstanceId(instance);
    request.nonce = "nonce-" + std::to_string(++last_nonce_);
    request.dependencies = {DependencyId(dependency)};
    return std::get<RegisterAnswer>(Reply(Send(RegisterEvent{{}, request}))).session;
  }

  // What an agent remembers, so that tests can talk like one.
  struct AgentMemory {
    std::int64_t n = 0;
    GrantStamp installed;
    Steps steps;
    Calls in_flight = 0;
    Calls in_flight_max = 0;
    Calls refused = 0;
    std::string dependency = "db";
    Epoch epoch{1};
    std::optional<Identity> identity;
    bool observes = false;  // as it was told last
    // What it claims instead of what its calls in flight make.
    std::optional<absl::Duration> in_flight_integral;
    absl::Duration at_limit;
    std::optional<BreakerReport> breaker;
  };
  AgentMemory& memory(const SessionId& session) { return agents_[session]; }

  // A sync that reports what the memory holds; the grants of its answer are installed by Take().
  RequestId Sync(const SessionId& session, absl::Duration hold = absl::Seconds(1)) {
    AgentMemory& agent = agents_[session];
    SyncRequest request;
    request.session = session;
    request.n = SyncNumber(++agent.n);
    request.epoch = agent.epoch;
    request.identity = agent.identity;
    request.hold = hold;
    DependencyReport report;
    report.dependency = DependencyId(agent.dependency);
    report.installed = agent.installed;
    report.in_force = agent.steps;
    report.in_flight = agent.in_flight;
    report.in_flight_max = agent.in_flight_max;
    report.windows.push_back(MakeWindow(agent));
    report.breaker = agent.breaker;
    request.dependencies.push_back(report);
    return Send(SyncEvent{{}, request});
  }

  // Installs what the answer to `request` granted, if it is there. True if it was.
  bool Take(const SessionId& session, RequestId request) {
    const auto found = replies_.find(request);
    if (found == replies_.end()) return false;
    const auto* answer = std::get_if<SyncAnswer>(&found->second);
    if (answer == nullptr) return false;
    for (const DependencySettings& settings : answer->settings) {
      agents_[session].observes = settings.observe;
    }
    for (const Grant& grant : answer->grants) {
      agents_[session].installed = grant.stamp;
      agents_[session].steps = grant.steps;
    }
    return true;
  }

  // Lets all sessions talk for a while, one sync held by each, as agents do.
  void Converse(const std::vector<SessionId>& sessions, absl::Duration duration) {
    const Instant end = now_ + duration;
    while (now_ < end) {
      for (const SessionId& session : sessions) Exchange(session);
      Pass(options_.tick);
    }
    for (const SessionId& session : sessions) Exchange(session);
  }

  Calls limit(const SessionId& session) { return agents_[session].steps.limit; }
  std::int64_t reserved(const std::string& dependency = "db") const {
    return core_.Reserved(DependencyId(dependency), now_);
  }
  Calls reserved(const SessionId& session) const {
    return core_.Reserved(DependencyId("db"), session, now_);
  }

  using ReplyBody = std::variant<RegisterAnswer, SyncAnswer, Released, Refusal>;
  const ReplyBody& Reply(RequestId request) const { return replies_.at(request); }
  bool Replied(RequestId request) const { return replies_.contains(request); }

  // The disk.
  void HoldWrites() { hold_writes_ = true; }
  bool writing() const { return write_.has_value(); }
  void FinishWrite(absl::Status status = absl::OkStatus()) {
    WriteAction write = *std::exchange(write_, std::nullopt);
    if (status.ok()) Store(write.batch);
    Apply(WrittenEvent{write.write, status});
  }
  StoreState Successor(std::int64_t epoch) const {
    StoreState state;
    state.epoch = Epoch(epoch);
    for (const auto& [key, bound] : disk_) state.bounds.push_back(bound);
    return state;
  }
  Calls DurableSum() const {
    Calls sum = 0;
    for (const auto& [key, bound] : disk_) sum += bound.steps.limit;
    return sum;
  }

  // Leadership, if the store can change hands.
  void HoldConfirmations() { hold_confirmations_ = true; }
  bool confirming() const { return confirm_.has_value(); }
  void FinishConfirm(absl::Status status = absl::OkStatus()) {
    const ConfirmAction confirm = *std::exchange(confirm_, std::nullopt);
    Apply(ConfirmedEvent{confirm.confirm, std::move(status)});
  }
  bool deposed() const { return deposed_; }
  // What the write under way is about; requires writing().
  const WriteBatch& batch() const { return write_->batch; }

  Instant now() const { return now_; }
  Core& core() { return core_; }

 private:
  template <typename What>
  static void SetRequest(What& what, RequestId request) {
    if constexpr (requires { what.request; }) what.request = request;
  }

  static Window MakeWindow(const AgentMemory& agent) {
    Window window;
    window.stamp = agent.installed;
    window.length = absl::Seconds(1);
    window.in_flight_max = agent.in_flight_max;
    window.in_flight = agent.in_flight_integral.value_or(absl::Seconds(1) * agent.in_flight_max);
    window.at_limit = agent.at_limit;
    window.admitted = window.succeeded = 10 * agent.in_flight_max;
    for (std::int64_t i = 0; i < window.succeeded; ++i) {
      window.latency.Record(absl::Milliseconds(100));
    }
    window.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = agent.refused;
    return window;
  }

  void Exchange(const SessionId& session) {
    const auto open = open_.find(session);
    if (open != open_.end() && !Take(session, open->second)) return;
    open_[session] = Sync(session);
    // A lowered limit is acknowledged at once; one round is enough to settle.
    if (Take(session, open_[session])) open_[session] = Sync(session);
  }

  void Do(const std::vector<Action>& actions) {
    for (const Action& action : actions) {
      if (const auto* reply = std::get_if<ReplyAction>(&action)) {
        replies_[reply->request] = reply->body;
        continue;
      }
      if (const auto* write = std::get_if<WriteAction>(&action)) {
        write_ = *write;
        if (!hold_writes_) FinishWrite();
      } else if (const auto* confirm = std::get_if<ConfirmAction>(&action)) {
        confirm_ = *confirm;
        if (!hold_confirmations_) FinishConfirm();
      } else {
        deposed_ = true;
      }
    }
  }

  void Store(const WriteBatch& batch) {
    for (const Bound& bound : batch.put) disk_[bound.key] = bound;
    for (const BoundKey& key : batch.erase) disk_.erase(key);
    if (batch.new_epoch.has_value()) disk_.clear();
  }

  CoreOptions options_;
  Instant now_{1'000'000'000};
  absl::Duration since_tick_;
  Core core_;
  std::int64_t last_request_ = 0;
  int last_nonce_ = 0;
  std::map<RequestId, ReplyBody> replies_;
  std::map<SessionId, AgentMemory> agents_;
  std::map<SessionId, RequestId> open_;
  std::map<BoundKey, Bound> disk_;
  std::optional<WriteAction> write_;
  bool hold_writes_ = false;
  std::optional<ConfirmAction> confirm_;
  bool hold_confirmations_ = false;
  bool deposed_ = false;
};

}  // namespace plimsoll::testing
