// How a controller serves the shard that it owns: the core, its agents, and its writes.
#include <algorithm>
#include <utility>
#include <variant>

#include "controller/simulation/src/messages.h"
#include "tests/scale/shard_controller.h"

namespace plimsoll::scale {
namespace {

constexpr absl::Duration kEtcdTimeout = absl::Seconds(2);

}  // namespace

void ShardController::Receive(ShardAgent& agent, std::int64_t exchange,
                              const AgentMessage& message) {
  last_request_ = RequestId(last_request_.value + 1);
  const RequestId request = last_request_;
  waiting_[request] = {&agent, exchange};
  refused_ = false;
  Apply(internal::MakeEvent(request, message));
  const bool synced = std::holds_alternative<SyncRequest>(message) && !refused_;
  if (core_ != nullptr && synced) surroundings_.OnHeard(agent, *core_);
}

void ShardController::Apply(const Event& event) {
  const Instant now = world_.now();
  world_.figures.Add(Count::kCoreEvents, now);
  const auto& stopwatch = world_.options.stopwatch;
  const std::int64_t begun = stopwatch ? stopwatch() : 0;
  std::vector<Action> actions = core_->Apply(event, clock_.Now());
  if (stopwatch) {
    const auto took = static_cast<double>(stopwatch() - begun);
    Second(world_.figures.busy_ns[static_cast<std::size_t>(controller_)], now) += took;
    world_.figures.longest_ns = std::max(world_.figures.longest_ns, took);
  }
  for (std::size_t i = 0; i < world_.books.size(); ++i) {
    world_.books.CheckReserved(i, core_->Reserved(world_.books.name(i), clock_.Now()), now);
  }
  for (Action& action : actions) Perform(std::move(action));
  if (!deposed_) return;
  End();
  Later(absl::ZeroDuration(), [this] { Decide(); });
}

void ShardController::Perform(Action action) {
  if (const auto* reply = std::get_if<ReplyAction>(&action)) PerformReply(*reply);
  if (auto* write = std::get_if<WriteAction>(&action)) PerformWrite(std::move(*write));
  if (const auto* confirm = std::get_if<ConfirmAction>(&action)) PerformConfirm(*confirm);
  if (std::holds_alternative<DeposedAction>(action)) deposed_ = true;
}

void ShardController::PerformReply(const ReplyAction& reply) {
  const auto found = waiting_.find(reply.request);
  if (found == waiting_.end()) return;
  const Waiting waiting = found->second;
  waiting_.erase(found);
  const Instant now = world_.now();
  if (const auto* answer = std::get_if<SyncAnswer>(&reply.body)) {
    world_.figures.Add(Count::kAnswers, now);
    world_.figures.Add(Count::kGrants, now, std::ssize(answer->grants));
  }
  if (std::holds_alternative<Refusal>(reply.body)) {
    world_.figures.Add(Count::kRefusals, now);
    refused_ = refused_ || reply.request == last_request_;
  }
  internal::Answer answer = internal::MakeAnswer(reply);
  int leader = -1;
  const auto* const refusal = std::get_if<Refusal>(&answer);
  const bool gives_back = refusal != nullptr && refusal->code == RefusalCode::kNotReady;
  if (world_.options.names_successor && gives_back) {
    leader = Successor();
    answer = Refusal{RefusalCode::kNotLeader, "", refusal->epoch};
  }
  world_.Send([waiting, answer = std::move(answer), leader] {
    waiting.agent->OnAnswer(waiting.exchange, answer, leader);
  });
}

void ShardController::PerformWrite(WriteAction write) {
  const absl::Status begun = plan_->Begin(write.batch);
  if (begun.ok()) return SendWrite(write.write);
  Later(absl::ZeroDuration(), [this, id = write.write, begun] { Apply(WrittenEvent{id, begun}); });
}

void ShardController::SendWrite(WriteId write) {
  std::optional<EtcdTxn> txn = plan_->Next();
  if (!txn.has_value()) {
    Later(absl::ZeroDuration(), [this, write, outcome = plan_->outcome()] {
      Apply(WrittenEvent{write, outcome});
    });
    return;
  }
  const absl::Duration takes = world_.EtcdTime();
  const absl::Duration lands = takes * world_.random.Uniform();
  // It lands even if the process has died meanwhile.
  world_.After(lands, [this, write, takes, lands, reign = reign_, txn = *std::move(txn)]() mutable {
    if (!Reachable()) {
      if (reign != reign_) return;
      Later(kEtcdTimeout, [this, write] {
        plan_->On(absl::UnavailableError("etcd does not answer"));
        SendWrite(write);
      });
      return;
    }
    const Instant now = world_.now();
    world_.figures.Add(Count::kWrites, now);
    world_.figures.Add(Count::kOperations, now, std::ssize(txn.success));
    world_.figures.Add(Count::kWriteBytes, now, BytesOf(txn));
    Forge(txn);
    EtcdTxnResult result = world_.etcd.Do(txn);
    if (reign != reign_) return;
    Later(takes - lands, [this, write, result = std::move(result)] {
      plan_->On(result);
      SendWrite(write);
    });
  });
}

// It lands at some moment before its answer: that it stood then says nothing of what comes after.
void ShardController::PerformConfirm(ConfirmAction confirm) {
  if (Reachable()) {
    world_.figures.asked[static_cast<std::size_t>(controller_)].push_back(
        world_.now() + world_.options.confirm_gather);
  }
  const absl::Duration takes = world_.EtcdTime();
  const absl::Duration lands = takes * world_.random.Uniform();
  Later(world_.options.confirm_gather + lands, [this, id = confirm.confirm, rest = takes - lands] {
    absl::Status status = absl::UnavailableError("etcd does not answer");
    if (Reachable()) {
      world_.figures.Add(Count::kConfirms, world_.now());
      EtcdTxn txn = EtcdReignPlan::ConfirmTxn(*start_);
      Forge(txn);
      status = EtcdReignPlan::ReadConfirm(world_.etcd.Do(txn));
    }
    Later(Reachable() ? rest : kEtcdTimeout, [this, id, status = std::move(status)] {
      Apply(ConfirmedEvent{id, status});
    });
  });
}

void ShardController::Forge(EtcdTxn& txn) const {
  if (world_.options.sabotage == Sabotage::kOwnsByRankAlone) txn.compare.clear();
}

}  // namespace plimsoll::scale
