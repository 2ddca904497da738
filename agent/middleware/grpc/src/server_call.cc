#include "agent/middleware/grpc/src/server_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "agent/middleware/ask.h"
#include "agent/middleware/grpc/src/grpc_deadline.h"
#include "agent/middleware/grpc/src/metadata.h"
#include "plimsoll/middleware/grpc_outcome.h"

namespace plimsoll::internal {
namespace {

using grpc::experimental::ServerRpcInfo;

std::weak_ptr<ServerCall>& LastOfThread() {
  thread_local std::weak_ptr<ServerCall> last;
  return last;
}

// The call whose handler this thread runs, and its scope.
struct Running {
  const ServerCall* call = nullptr;
  const CallScope* scope = nullptr;
};
Running& RunsHere() {
  thread_local Running running;
  return running;
}

// How much earlier than by the server's clock the caller's time may be up: gRPC rounds what it
// tells of it up by at most a hundredth or so, and then it travels.
std::chrono::nanoseconds SlackOf(Deadline deadline) {
  return deadline.never() ? std::chrono::nanoseconds(0)
                          : deadline.left() / 50 + std::chrono::milliseconds(20);
}

// A server that leaves is better left alone, and a deadline that cannot be met now will not be
// later.
bool MayComeBack(Rejection rejection) {
  return rejection != Rejection::kDraining && rejection != Rejection::kDeadline;
}

}  // namespace

ServerCall::~ServerCall() {
  if (permit_) permit_->Finish(Outcome::kCancelled);
}

std::shared_ptr<ServerCall> ServerCall::Find(const grpc_call* call) {
  auto last = LastOfThread().lock();
  return last && last->info_.server_context()->c_call() == call ? last : nullptr;
}

std::shared_ptr<ServerCall> ServerCall::Find(const ServerRpcInfo* info) {
  auto last = LastOfThread().lock();
  return last && &last->info_ == info ? last : nullptr;
}

void ServerCall::Remember(const std::shared_ptr<ServerCall>& call) { LastOfThread() = call; }

bool ServerCall::Admit() {
  if (permit_ || refused_) return permit_.has_value();
  const grpc::ServerContextBase& context = *info_.server_context();
  const auto& describe = settings_.options.call;
  CallOptions call = describe ? Bounded(describe(info_.method(), context)) : CallOptions();
  asked_ = FromGrpc(context.raw_deadline());
  slack_ = SlackOf(asked_);
  call.deadline = std::min(call.deadline, asked_);
  Admission admission = Ask(settings_.bulkhead, call, CallSite::Here());
  if (!admission) {
    refused_ = admission.rejection();
    return false;
  }
  const CallBudget said =
      ParseCallBudget({}, MetadataView(context.client_metadata(), kRetriesLeftHeader));
  tell_retries_ = said.retries != RetryScope::kUnlimited;
  budget_ = said.CutTo({std::min(call.deadline, admission->due()), settings_.options.retries_max});
  permit_.emplace(*std::move(admission));
  return true;
}

void ServerCall::Run(const std::function<void()>& handler) {
  const CallScope scope(budget_);
  const Running before = std::exchange(RunsHere(), {this, &scope});
  handler();  // lets no exception out: gRPC answers them
  RunsHere() = before;
}

std::optional<int> ServerCall::retries_used() const {
  const auto [call, scope] = RunsHere();
  return call == this && tell_retries_ ? std::optional(scope->retries_used()) : std::nullopt;
}

grpc::Status ServerCall::Refuse() {
  if (MayComeBack(*refused_)) {
    info_.server_context()->AddTrailingMetadata("grpc-retry-pushback-ms",
                                                std::to_string(settings_.pushback.Next().count()));
  }
  return StatusOf(*refused_, "the server");
}

void ServerCall::End(grpc::StatusCode code) {
  if (permit_) permit_->Finish(OutcomeOf(code));
}

Outcome ServerCall::OutcomeOf(grpc::StatusCode code) const {
  if (asked_.passed()) return Outcome::kTimeout;  // whatever it says, nobody waits for it
  if (!info_.server_context()->IsCancelled()) return OutcomeOfStatus(code);
  return asked_.left() <= slack_ ? Outcome::kTimeout : Outcome::kCancelled;
}

}  // namespace plimsoll::internal
