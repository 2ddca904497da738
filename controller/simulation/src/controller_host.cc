#include "controller/simulation/src/controller_host.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_format.h"
#include "controller/simulation/src/describe.h"
#include "controller/simulation/src/messages.h"

namespace plimsoll::internal {
namespace {

// Holds that end within this time are answered together.
constexpr absl::Duration kHoldsStep = absl::Milliseconds(5);
// Both fit the dependency, the first one better.
constexpr char kBestPattern[] = "???*";
constexpr char kOtherPattern[] = "*";

CoreOptions MakeOptions(World& world) {
  CoreOptions options;
  options.lease = world.scenario.lease;
  options.hold_max = world.scenario.hold_max;
  options.clock_rate_error = world.scenario.clock_rate_error;
  options.seed = world.random.Next();
  // Few, so that small fleets have raises that wait.
  options.raises_per_write = static_cast<int>(1 + options.seed % 3);
  return options;
}

Policy MakePolicy(const World& world) {
  const Scenario& scenario = world.scenario;
  Policy policy;
  policy.name = SimulatedDependency();
  policy.quota = world.quota;
  policy.algorithm.floor = 1;
  policy.join_reserve = scenario.join_reserve;
  policy.algorithm.ceiling = scenario.ceiling;
  policy.algorithm.initial = scenario.ceiling;
  policy.call_deadline = scenario.call_deadline;
  policy.outage.base = scenario.base;
  policy.outage.base_lease = scenario.base_lease;
  policy.outage.reserve = scenario.reserve;
  return policy;
}

// What the operator has set: the policy by the name of the dependency, or as a template. Then
// another one fits as well, which would grant far too much, and must never be taken.
void Put(const World& world, const Policy& policy, PolicyEvent& event) {
  if (!world.scenario.from_template) {
    event.policies = {{policy.name, policy}};
    return;
  }
  Policy made_from = MadeFrom(policy, DependencyId());
  event.templates[kBestPattern] = made_from;
  made_from.quota = 4 * world.scenario.quota;
  event.templates[kOtherPattern] = made_from;
}

PolicyEvent MakePolicies(const World& world) {
  PolicyEvent event;
  if (world.deleted) return event;
  Policy policy = MakePolicy(world);
  // A quota that is drawn again is told again all the same, as part of another change.
  const bool by_operator = world.scenario.operator_every.max < absl::InfiniteDuration();
  if (!by_operator) policy.description = absl::StrFormat("since %d", world.queue.now().ns);
  Put(world, policy, event);
  if (world.pin != Override{}) event.overrides = {{policy.name, world.pin}};
  return event;
}

}  // namespace

// Where there are several they stand by when they do not lead.
ControllerHost::ControllerHost(World& world, StorePort& store, int index)
    : world_(world),
      store_(store),
      index_(index),
      process_(world.queue),
      running_(world.scenario.controllers > 1) {}

void ControllerHost::Start(const StoreState& found) {
  process_.PauseUntil({});
  Lead(found);
}

void ControllerHost::StartInPlace(Epoch epoch, std::function<StoreState()> read) {
  process_.Deliver([this, epoch, read = std::move(read)] {
    if (epoch == store_.epoch()) Lead(read());
  });
}

void ControllerHost::StandBy() {
  End();
  running_ = true;
}

void ControllerHost::Leave() {
  Crash();
  End();
  running_ = false;
  process_.PauseUntil({});
}

void ControllerHost::Lead(StoreState found) {
  End();
  world_.raised = true;
  ++world_.controller_starts;
  epoch_ = found.epoch;
  CoreOptions options = MakeOptions(world_);
  Policy policy = MakePolicy(world_);
  clock_.emplace(MakeClock(world_, Role::kController));
  Instant now = clock_->Now();
  world_.sabotage.OnStart(options, policy, found, now);
  tick_ = options.tick;
  world_.trace.Note(world_.queue.now(), {1, epoch_.value}, [&] {
    return absl::StrFormat("controller %d reigns, epoch %d, finds %s %s", index_, epoch_.value,
                           ToString(found.condition), Describe(found.bounds));
  });
  if (epoch_ == store_.epoch()) world_.AdoptQuota();
  PolicyEvent set;
  if (!world_.deleted) Put(world_, policy, set);
  world_.sabotage.OnTemplates(set.templates);
  core_ = std::make_unique<Core>(options, set.policies, found, now, set.templates);
  CountStart();
  if (world_.pin != Override{}) Apply(MakePolicies(world_));
  Tick();
}

// Before anybody has asked for the dependency.
void ControllerHost::CountStart() {
  if (!world_.scenario.from_template) return;
  world_.templates.learning += core_->learning() ? 1 : 0;
  for (const DependencyRow& row : core_->TakeSnapshot(clock_->Now()).dependencies) {
    world_.templates.inherited += row.made_from == kBestPattern ? 1 : 0;
  }
}

void ControllerHost::CountTemplates() {
  if (core_ == nullptr || !world_.scenario.from_template) return;
  world_.templates.made += core_->log().total(EventType::kDependencyCreated);
  world_.templates.forgotten += core_->log().total(EventType::kDependencyDeleted);
}

void ControllerHost::End() {
  CountTemplates();
  ++reign_;
  core_.reset();
  deposed_ = false;
  waiting_.clear();
}

void ControllerHost::Crash() {
  if (core_ == nullptr) return;
  world_.trace.Note(world_.queue.now(), {2}, [] { return "controller ends"; });
  End();
}

void ControllerHost::ShutDown() {
  if (core_ == nullptr || process_.paused()) return;
  Apply(ShutdownEvent{});
  Crash();
}

void ControllerHost::ChangePolicies() {
  process_.Deliver([this, reign = reign_] {
    if (reign != reign_ || core_ == nullptr) return;
    if (epoch_ == store_.epoch()) world_.AdoptQuota();
    Apply(MakePolicies(world_));
  });
}

void ControllerHost::Reset() {
  process_.Deliver([this, reign = reign_] {
    if (reign == reign_ && core_ != nullptr) Apply(ResetEvent{SimulatedDependency()});
  });
}

void ControllerHost::Evict(const InstanceId& instance) {
  process_.Deliver([this, instance, reign = reign_] {
    if (reign != reign_ || core_ == nullptr) return;
    for (const InstanceRow& row : core_->TakeSnapshot(clock_->Now()).instances) {
      if (core_ != nullptr && row.instance == instance) Apply(EvictEvent{row.session});
    }
  });
}

void ControllerHost::Receive(std::int64_t exchange, const AgentMessage& message, Reply reply) {
  if (core_ == nullptr && !running_) {
    reply(NoAnswer{absl::UnavailableError("connection refused")}, std::nullopt);
    return;
  }
  process_.Deliver([this, exchange, message, reply = std::move(reply), reign = reign_] {
    if (reign != reign_) return;
    if (core_ == nullptr) return Refuse(reply);
    if (const auto* sync = std::get_if<SyncRequest>(&message)) seen_ = std::max(seen_, sync->epoch);
    last_request_ = RequestId(last_request_.value + 1);
    waiting_[last_request_] = {exchange, reply};
    Apply(MakeEvent(last_request_, message));
  });
}

void ControllerHost::Refuse(const Reply& reply) const {
  reply(Refusal{RefusalCode::kNotLeader, "stands by", epoch_},
        leader_ == nullptr ? std::nullopt : leader_());
}

void ControllerHost::Abandon(std::int64_t exchange) {
  if (core_ == nullptr) return;
  process_.Deliver([this, exchange, reign = reign_] {
    if (reign != reign_) return;
    std::vector<RequestId> abandoned;
    for (const auto& [request, waiting] : waiting_) {
      if (waiting.exchange == exchange) abandoned.push_back(request);
    }
    for (RequestId request : abandoned) {
      waiting_.erase(request);
      Apply(AbandonEvent{request});
    }
  });
}

void ControllerHost::Apply(const Event& event) {
  world_.raised = true;
  for (const Event& one : world_.sabotage.OnEvent(epoch_, event)) {
    for (Action& action : core_->Apply(one, clock_->Now())) Perform(std::move(action));
  }
  epoch_ = core_->epoch();
  if (!deposed_) return;
  Crash();
  if (on_deposed_) on_deposed_(seen_);
}

void ControllerHost::Perform(Action action) {
  if (auto* reply = std::get_if<ReplyAction>(&action)) PerformReply(std::move(*reply));
  if (auto* write = std::get_if<WriteAction>(&action)) PerformWrite(std::move(*write));
  if (auto* confirm = std::get_if<ConfirmAction>(&action)) PerformConfirm(*confirm);
  if (std::holds_alternative<DeposedAction>(action)) deposed_ = true;
}

void ControllerHost::PerformReply(ReplyAction reply) {
  world_.sabotage.OnReply(reply);
  const auto waiting = waiting_.find(reply.request);
  if (waiting == waiting_.end()) return;
  const Reply send = std::move(waiting->second.reply);
  waiting_.erase(waiting);
  const auto* refusal = std::get_if<Refusal>(&reply.body);
  const bool elsewhere = refusal != nullptr && refusal->code == RefusalCode::kNotLeader;
  send(MakeAnswer(reply), elsewhere && leader_ != nullptr ? leader_() : std::nullopt);
}

void ControllerHost::PerformWrite(WriteAction write) {
  world_.sabotage.OnCommit(write.batch);
  world_.trace.Note(world_.queue.now(), {3, write.write.value}, [&] {
    return absl::StrFormat("controller %d writes %s, erases %d", index_, Describe(write.batch.put),
                           write.batch.erase.size());
  });
  store_.Commit(index_, epoch_, write.batch, LetKnow([id = write.write](absl::Status status) {
                  return WrittenEvent{id, std::move(status)};
                }));
}

void ControllerHost::PerformConfirm(ConfirmAction confirm) {
  store_.Confirm(index_, epoch_, LetKnow([id = confirm.confirm](absl::Status status) {
                   return ConfirmedEvent{id, std::move(status)};
                 }));
}

StorePort::Done ControllerHost::LetKnow(std::function<Event(absl::Status)> event) {
  return [this, event = std::move(event), reign = reign_](const absl::Status& status) {
    process_.Deliver([this, event, status, reign] {
      if (reign == reign_ && core_ != nullptr) Apply(event(status));
    });
  };
}

void ControllerHost::Tick() {
  next_tick_ = clock_->Now() + tick_;
  Apply(TickEvent{});
  ScheduleWake();
}

// As the server does: the next tick, or before that a hold that is over.
void ControllerHost::ScheduleWake() {
  if (core_ == nullptr) return;
  const Instant due = std::max(core_->next_due().value_or(next_tick_), clock_->Now() + kHoldsStep);
  const bool ticks = due >= next_tick_;
  world_.queue.At(clock_->TrueTimeOf(std::min(due, next_tick_)), [this, ticks, reign = reign_] {
    process_.Deliver([this, ticks, reign] {
      if (reign != reign_ || core_ == nullptr) return;
      if (ticks) return Tick();
      Apply(HoldsEvent{});
      ScheduleWake();
    });
  });
}

}  // namespace plimsoll::internal
