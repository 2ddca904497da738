#include "tests/scale/shard_agent.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace plimsoll::scale {
namespace {

// A caller at a limit of 0 makes the agent break off a held sync, but not more often.
constexpr absl::Duration kInterruptPause = absl::Milliseconds(200);
constexpr std::uint64_t kWantedMax = 4;

internal::SessionOptions MakeOptions(const ShardWorld& world, int agent) {
  internal::SessionOptions options;
  options.service = ServiceId(absl::StrCat("service-", agent % 50));
  options.instance = InstanceId(absl::StrCat("instance-", agent));
  options.controllers = world.options.controllers;
  return options;
}

}  // namespace

ShardAgent::ShardAgent(ShardWorld& world, const AgentPart& part,
                       const std::vector<Policy>& policies, const Reach& reach)
    : world_(world),
      reach_(reach),
      first_controller_(static_cast<int>(
          world.random.Below(static_cast<std::uint64_t>(world.options.controllers)))),
      clock_(world.MakeClock()),
      random_(world.random.Next()),
      session_(MakeOptions(world, part.agent), random_) {
  for (const int dependency : part.dependencies) {
    const auto index = static_cast<std::size_t>(dependency);
    shares_.push_back(std::make_unique<Share>(world_, clock_, index));
    Share& share = *shares_.back();
    session_.Add(policies[index].name, share);
    share.Want(static_cast<Calls>(world_.random.Below(kWantedMax + 1)));
    world_.After(UntilNextDemand(), [this, &share] { ChangeDemand(share); });
  }
}

absl::Duration ShardAgent::UntilNextDemand() {
  return absl::Seconds(
      world_.random.Exponential(absl::ToDoubleSeconds(world_.options.demand_every)));
}

void ShardAgent::ChangeDemand(Share& share) {
  share.Want(static_cast<Calls>(world_.random.Below(kWantedMax + 1)));
  world_.After(UntilNextDemand(), [this, &share] { ChangeDemand(share); });
  const bool starving = share.has().wanted > 0 && share.has().limit == 0;
  if (!starving || !exchanging_ || !syncing_ || clock_.Now() - sent_at_ < kInterruptPause) return;
  exchanging_ = false;
  session_.OnInterrupted(clock_.Now());
  Drive();
}

int ShardAgent::Controller(std::size_t address) const {
  return (first_controller_ + static_cast<int>(address)) % world_.options.controllers;
}

void ShardAgent::Drive() {
  while (!exchanging_) {
    internal::SessionStep step = session_.Next(clock_.Now());
    if (const auto* wait = std::get_if<internal::WaitUntil>(&step)) {
      world_.queue.At(clock_.TrueTimeOf(wait->at), [this, wake = ++wake_] {
        if (wake == wake_) Drive();
      });
      return;
    }
    if (std::holds_alternative<internal::Finished>(step)) return;
    Send(std::get<internal::SendMessage>(std::move(step)));
  }
}

void ShardAgent::Send(internal::SendMessage step) {
  exchanging_ = true;
  ++exchange_;
  syncing_ = std::holds_alternative<SyncRequest>(step.message);
  controller_ = Controller(step.controller);
  sent_at_ = clock_.Now();
  world_.Send([this, exchange = exchange_, to = controller_,
               message = std::make_shared<AgentMessage>(std::move(step.message))] {
    reach_(*this, to, exchange, *message);
  });
  world_.queue.At(clock_.TrueTimeOf(sent_at_ + step.timeout),
                  [this, exchange = exchange_] { OnTimeout(exchange); });
}

void ShardAgent::OnTimeout(std::int64_t exchange) {
  if (!exchanging_ || exchange != exchange_) return;
  exchanging_ = false;
  session_.OnUnreachable(clock_.Now());
  Drive();
}

void ShardAgent::OnConnectionLost(int controller) {
  if (!exchanging_ || controller_ != controller) return;
  OnTimeout(exchange_);
}

void ShardAgent::OnAnswer(std::int64_t exchange, const internal::Answer& answer, int leader) {
  if (!exchanging_ || exchange != exchange_) return;
  exchanging_ = false;
  const bool answered = !std::holds_alternative<internal::NoAnswer>(answer);
  connected_to_ = answered ? controller_ : -1;
  const Instant now = clock_.Now();
  if (const auto* registered = std::get_if<RegisterAnswer>(&answer)) {
    session_.OnRegistered(*registered, now);
  } else if (const auto* synced = std::get_if<SyncAnswer>(&answer)) {
    session_.OnSynced(*synced, now);
  } else if (const auto* refusal = std::get_if<Refusal>(&answer)) {
    const int n = world_.options.controllers;
    std::optional<std::size_t> address;
    if (leader >= 0) address = static_cast<std::size_t>((leader - first_controller_ + n) % n);
    session_.OnRefused(*refusal, now, address);
  } else {
    session_.OnUnreachable(now);
  }
  Drive();
}

}  // namespace plimsoll::scale
