#include "controller/simulation/src/load_agent.h"

#include <utility>
#include <variant>

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kPatienceAtLeaving = absl::Seconds(8);
// A caller at a limit of 0 makes the agent break off a held sync to say so, but not more often.
constexpr absl::Duration kPauseOfInterrupts = absl::Milliseconds(200);

SessionOptions MakeOptions(const InstanceId& name) {
  SessionOptions options;
  options.service = ServiceId("checkout");
  options.instance = name;
  options.answer_timeout = kPatience;
  return options;
}

}  // namespace

class LoadAgent::Port final : public GrantPort {
 public:
  Port(LoadNet& net, Limiter& limiter) : net_(net), limiter_(limiter) {}

  void Install(const StepFunction& function, Instant now) override {
    if (function.InForce(now) != limiter_.limit()) ++net_.grants;
    limiter_.Install(function, now);
  }
  void SetObserve(bool observe) override { limiter_.SetObserve(observe); }
  void StopAdmitting() override { limiter_.StopAdmitting(); }
  Measurement Measure(Instant now, absl::Duration interval) override {
    return limiter_.Measure(now, interval);
  }

 private:
  LoadNet& net_;
  Limiter& limiter_;
};

LoadAgent::LoadAgent(LoadNet& net, LoadController& controller, const DependencyId& dependency,
                     const InstanceId& name)
    : net_(net),
      controller_(controller),
      clock_(net.queue.time(), 1, Instant()),
      random_(net.random.Next()),
      limiter_(Limiter::Make(clock_)),
      port_(std::make_unique<Port>(net, *limiter_)),
      session_(MakeOptions(name), random_) {
  session_.Add(dependency, *port_);
  Drive();
}

LoadAgent::~LoadAgent() {
  if (alive_) limiter_->Abandon();
}

void LoadAgent::Drive() {
  while (alive_ && !exchanging_) {
    SessionStep step = session_.Next(now());
    if (const auto* wait = std::get_if<WaitUntil>(&step)) {
      return net_.queue.At(clock_.TrueTimeOf(wait->at), [this, wake = ++wake_] {
        if (wake == wake_) Drive();
      });
    }
    if (std::holds_alternative<Finished>(step)) return End();
    Send(std::get<SendMessage>(std::move(step)));
  }
}

void LoadAgent::Send(SendMessage step) {
  syncing_ = std::holds_alternative<SyncRequest>(step.message);
  exchanging_ = true;
  exchange_ = net_.messages + 1;
  sent_at_ = now();
  const std::int64_t exchange = exchange_;
  const auto reply = [this, exchange](const Answer& answer) {
    net_.Send([this, exchange, answer] { OnAnswer(exchange, answer); });
  };
  net_.Send([this, exchange, message = std::move(step.message), reply] {
    controller_.Receive(exchange, message, reply);
  });
  net_.queue.After(step.timeout, [this, exchange] { OnTimeout(exchange); });
}

void LoadAgent::OnAnswer(std::int64_t exchange, const Answer& answer) {
  struct Handler {
    void operator()(const RegisterAnswer& a) const { session.OnRegistered(a, now); }
    void operator()(const SyncAnswer& a) const { session.OnSynced(a, now); }
    void operator()(const ReleaseAnswer&) const { session.OnReleased(now); }
    void operator()(const Refusal& a) const { session.OnRefused(a, now); }
    void operator()(const NoAnswer&) const { session.OnUnreachable(now); }
    Session& session;
    Instant now;
  };
  if (!alive_ || !exchanging_ || exchange != exchange_) return;
  exchanging_ = false;
  std::visit(Handler{session_, now()}, answer);
  Drive();
}

void LoadAgent::OnTimeout(std::int64_t exchange) {
  if (!alive_ || !exchanging_ || exchange != exchange_) return;
  BreakOff();
  session_.OnUnreachable(now());
  Drive();
}

void LoadAgent::BreakOff() {
  exchanging_ = false;
  net_.Send([this, exchange = exchange_] { controller_.Abandon(exchange); });
}

void LoadAgent::OnRefused() {
  if (!exchanging_ || !syncing_ || !admitting() || limiter_->limit() > 0) return;
  if (now() - sent_at_ < kPauseOfInterrupts) return;
  BreakOff();
  session_.OnInterrupted(now());
  Drive();
}

void LoadAgent::Leave() {
  if (!admitting()) return;
  session_.Leave(now());
  if (exchanging_ && syncing_) {
    BreakOff();
    session_.OnInterrupted(now());
  }
  Drive();
  net_.queue.After(kPatienceAtLeaving, [this] { Crash(); });
}

void LoadAgent::Crash() {
  if (alive_) End();
}

// The connection of a process that ends is closed by its system, and the controller notices.
void LoadAgent::End() {
  if (exchanging_) BreakOff();
  alive_ = false;
  limiter_->Abandon();
  limiter_ = nullptr;
}

}  // namespace plimsoll::internal
