#include "controller/simulation/src/agent_process.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "controller/simulation/src/describe.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kAnswerTimeout = absl::Milliseconds(700);
constexpr absl::Duration kLeaveTimeout = absl::Seconds(8);
// A caller at a limit of 0 makes the agent break off a held sync to say so, but not more often.
constexpr absl::Duration kInterruptPause = absl::Milliseconds(200);
constexpr double kAbandonNoticed = 0.5;

SessionOptions MakeOptions(const Scenario& scenario, const InstanceId& name) {
  SessionOptions options;
  options.service = ServiceId("checkout");
  options.instance = name;
  options.unique_instance = scenario.unique_instances;
  options.answer_timeout = kAnswerTimeout;
  options.backoff_max = absl::Seconds(2);
  options.controllers = scenario.controllers;
  return options;
}

}  // namespace

// Between session and limiter, so that a saboteur can come between them.
class AgentProcess::Port final : public GrantPort {
 public:
  Port(AgentProcess& process, Limiter& limiter) : process_(process), limiter_(limiter) {}

  void Install(const StepFunction& function, Instant now) override {
    StepFunction changed = function;
    const absl::Duration delay = process_.world_.sabotage.OnInstall(changed, limiter_.limit());
    if (delay <= absl::ZeroDuration()) return PutInForce(changed, now);
    process_.world_.queue.After(delay, [this, changed] {
      process_.Deliver([this, changed] { PutInForce(changed, process_.now()); });
    });
  }
  void SetObserve(bool observe) override { limiter_.SetObserve(observe); }
  void StopAdmitting() override { limiter_.StopAdmitting(); }
  Measurement Measure(Instant now, absl::Duration interval) override {
    Measurement measured = limiter_.Measure(now, interval);
    if (process_.world_.scenario.callers == Callers::kWait && !process_.session_.leaving()) {
      measured.waiting = std::max(0, process_.demand_ - measured.in_flight);
    }
    return measured;
  }

 private:
  void PutInForce(const StepFunction& function, Instant now) {
    process_.world_.raised = true;
    limiter_.Install(function, now);
  }

  AgentProcess& process_;
  Limiter& limiter_;
};

AgentProcess::AgentProcess(World& world,
                           const std::vector<std::unique_ptr<ControllerHost>>& controllers,
                           int index, const InstanceId& name, const Calls& demand,
                           std::function<void()> ended)
    : world_(world),
      controllers_(controllers),
      index_(index),
      demand_(demand),
      ended_(std::move(ended)),
      clock_(MakeClock(world, Role::kAgent)),
      random_(world.random.Next()),
      process_(world.queue),
      limiter_(Limiter::Make(clock_)),
      port_(std::make_unique<Port>(*this, *limiter_)),
      session_(MakeOptions(world.scenario, name), random_) {
  ++world_.agent_starts;
  Note(10, [] { return "starts"; });
  session_.Add(SimulatedDependency(), *port_);
  Drive();
}

AgentProcess::~AgentProcess() {
  if (!alive_) return;
  limiter_->Abandon();
  calls_.clear();
}

void AgentProcess::Drive() {
  while (alive_ && !exchanging_) {
    SessionStep step = session_.Next(now());
    if (auto* wait = std::get_if<internal::WaitUntil>(&step)) return WaitUntil(wait->at);
    if (std::holds_alternative<Finished>(step)) return End();
    Send(std::get<SendMessage>(std::move(step)));
  }
}

void AgentProcess::WaitUntil(Instant at) {
  world_.queue.At(clock_.TrueTimeOf(at), [this, wake = ++wake_] {
    Deliver([this, wake] {
      if (wake == wake_) Drive();
    });
  });
}

void AgentProcess::Send(SendMessage step) {
  AgentMessage message = std::move(step.message);
  syncing_ = std::holds_alternative<SyncRequest>(message);
  world_.sabotage.OnSend(message);
  const std::int64_t exchange = ++world_.messages;
  exchanging_ = true;
  exchange_ = exchange;
  controller_ = static_cast<int>(step.controller);
  sent_at_ = now();
  Note(11, [&] { return Describe(message); });
  const auto reply = [this, exchange, from = controller_](const Answer& answer,
                                                          std::optional<std::size_t> leader) {
    world_.network.Send(index_, from, Direction::kToAgent, [this, exchange, answer, leader] {
      Deliver([this, exchange, answer, leader] { OnAnswer(exchange, answer, leader); });
    });
  };
  world_.network.Send(
      index_, controller_, Direction::kToController,
      [&to = controller(), exchange, message, reply] { to.Receive(exchange, message, reply); });
  world_.queue.At(clock_.TrueTimeOf(sent_at_ + step.timeout),
                  [this, exchange] { Deliver([this, exchange] { OnTimeout(exchange); }); });
}

void AgentProcess::OnAnswer(std::int64_t exchange, Answer answer,
                            std::optional<std::size_t> leader) {
  if (!exchanging_ || exchange != exchange_) return;
  exchanging_ = false;
  world_.sabotage.OnAnswer(answer, now() - sent_at_);
  Note(12, [&] { return Describe(answer); });
  HandToSession(answer, leader);
  Drive();
}

void AgentProcess::HandToSession(const Answer& answer, std::optional<std::size_t> leader) {
  struct Handler {
    void operator()(const RegisterAnswer& a) const { session.OnRegistered(a, now); }
    void operator()(const SyncAnswer& a) const { session.OnSynced(a, now); }
    void operator()(const ReleaseAnswer&) const { session.OnReleased(now); }
    void operator()(const Refusal& a) const { session.OnRefused(a, now, leader); }
    void operator()(const NoAnswer&) const { session.OnUnreachable(now); }
    Session& session;
    Instant now;
    std::optional<std::size_t> leader;
  };
  std::visit(Handler{session_, now(), leader}, answer);
}

void AgentProcess::OnTimeout(std::int64_t exchange) {
  if (!exchanging_ || exchange != exchange_) return;
  Note(13, [] { return "gets no answer"; });
  BreakOff();
  session_.OnUnreachable(now());
  Drive();
}

void AgentProcess::BreakOff() {
  exchanging_ = false;
  if (!world_.random.Chance(kAbandonNoticed)) return;
  world_.network.Send(index_, controller_, Direction::kToController,
                      [&to = controller(), exchange = exchange_] { to.Abandon(exchange); });
}

// Only a sync is broken off: a registration whose answer is lost would leave a session behind.
void AgentProcess::Interrupt() {
  BreakOff();
  session_.OnInterrupted(now());
}

void AgentProcess::SuspectClock() {
  Deliver([this] {
    Note(14, [] { return "suspects its clock"; });
    session_.OnClockSuspect(now());
    Drive();
  });
}

void AgentProcess::Leave() {
  Deliver([this] {
    if (session_.leaving()) return;
    Note(15, [] { return "leaves"; });
    session_.Leave(now());
    if (exchanging_ && syncing_) Interrupt();
    Drive();
    world_.queue.After(kLeaveTimeout, [this] { Deliver([this] { End(); }); });
  });
}

void AgentProcess::Crash() {
  if (!alive_) return;
  Note(16, [] { return "crashes"; });
  End();
}

void AgentProcess::End() {
  Note(17, [this] {
    return absl::StrCat("is gone, leaving ", calls_.size(), " calls at the provider");
  });
  alive_ = false;
  ended_at_ = world_.queue.now();
  limiter_->Abandon();
  calls_.clear();
  ended_();
}

void AgentProcess::Arrive() {
  if (process_.paused() || !alive_) return;
  const bool waits = world_.scenario.callers == Callers::kWait;
  if (waits && limiter_->in_flight() >= demand_) return;
  // A caller that waits is no call that is refused: it tries when there is room.
  const bool full = waits && limiter_->in_flight() >= limiter_->limit();
  if (!full && Admit()) return;
  ++world_.calls_refused;
  const bool starving = limiter_->limit() == 0 && !session_.leaving();
  if (exchanging_ && syncing_ && starving && now() - sent_at_ >= kInterruptPause) {
    Interrupt();
    Drive();
  }
}

bool AgentProcess::Admit() {
  Admission admission = limiter_->TryAcquire();
  if (!admission) return false;
  ++world_.calls_admitted;
  BeginCall(*std::move(admission));
  return true;
}

void AgentProcess::BeginCall(Permit permit) {
  const Scenario& scenario = world_.scenario;
  absl::Duration lasts = scenario.call_deadline;
  if (!scenario.extreme_clocks && !world_.random.Chance(scenario.calls_full_length)) {
    const double mean = absl::ToDoubleSeconds(scenario.call_mean);
    lasts = std::min(lasts, absl::Seconds(world_.random.Exponential(mean)));
  }
  const SessionId session = session_.session();
  const std::int64_t call = world_.calls_admitted;
  world_.provider.Begin(session);
  world_.raised = true;
  calls_.emplace(call, std::move(permit));
  // One nanosecond less: TrueTimeOf rounds up, and a call may not outlive its deadline.
  world_.queue.At(clock_.TrueTimeOf(now() + lasts - absl::Nanoseconds(2)), [this, session, call] {
    world_.provider.End(session);
    Deliver([this, call] {
      calls_.at(call).Succeed();
      calls_.erase(call);
    });
  });
}

Calls AgentProcess::InForce() const {
  return alive_ && !session_.leaving() ? limiter_->limit() : 0;
}

void AgentProcess::Deliver(EventQueue::Action action) {
  process_.Deliver([this, action = std::move(action)] {
    if (alive_) action();
  });
}

void AgentProcess::Note(std::int64_t kind, const std::function<std::string()>& text) {
  world_.trace.Note(world_.queue.now(), {kind, index_, limiter_->limit(), limiter_->in_flight()},
                    [&] {
                      return absl::StrCat("agent ", index_, " [limit ", InForce(), " running ",
                                          limiter_->in_flight(), "] ", text());
                    });
}

}  // namespace plimsoll::internal
