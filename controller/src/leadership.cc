// Where the store can change hands: nothing that extends a lease is sent before this reign has been
// confirmed by a round that began after the sync arrived (C6); until then an answer may only lower
// (C7).
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"

namespace plimsoll {
namespace {

// How long a sync waits for its confirmation before it is answered without one.
constexpr absl::Duration kUnconfirmedAfter = absl::Seconds(1);

}  // namespace

// One round serves all syncs that wait when it starts.
void Core::Impl::AskForConfirmation() {
  if (exclusive_ || deposed_ || confirm_failed_) return;
  if (!confirming_.empty() || unconfirmed_.empty()) return;
  const auto waiting = std::exchange(unconfirmed_, {});
  confirming_.assign(waiting.begin(), waiting.end());
  last_confirm_ = ConfirmId(last_confirm_.value + 1);
  actions_.push_back(ConfirmAction{last_confirm_});
}

void Core::Impl::On(const ConfirmedEvent& event) {
  if (deposed_ || event.confirm != last_confirm_) return;
  if (absl::IsFailedPrecondition(event.status)) return Depose(std::string(event.status.message()));
  const auto syncs = std::exchange(confirming_, {});
  if (event.status.ok()) return Confirm(syncs);
  // Nothing is known: ask again with the next tick.
  confirm_failed_ = true;
  for (const auto& [id, n] : syncs) {
    const SessionState* const session = sessions_.Find(id);
    if (session == nullptr || !session->held.has_value()) continue;
    unconfirmed_[id] = session->held->n;
  }
}

void Core::Impl::Confirm(const std::vector<std::pair<SessionId, SyncNumber>>& syncs) {
  for (const auto& [id, n] : syncs) {
    SessionState* const found = sessions_.Find(id);
    if (found == nullptr) continue;
    SessionState& session = *found;
    session.confirmed_n = std::max(session.confirmed_n, n);
    if (!session.held.has_value() || session.held->n != n) continue;
    session.held->confirmed = true;
    Consider(session);
  }
}

std::vector<std::pair<SessionId, SyncNumber>> Core::Impl::AwaitConfirmation() const {
  if (exclusive_) return {};
  auto waiting = confirming_;
  waiting.insert(waiting.end(), unconfirmed_.begin(), unconfirmed_.end());
  return waiting;
}

// A write that landed was guarded by the reign, so the reign stood since the write began.
void Core::Impl::ConfirmByWrite() {
  const auto syncs = std::exchange(write_confirms_, {});
  for (const auto& [id, n] : syncs) {
    const auto found = unconfirmed_.find(id);
    if (found != unconfirmed_.end() && found->second == n) unconfirmed_.erase(found);
  }
  Confirm(syncs);
}

void Core::Impl::AnswerUnconfirmed() {
  if (exclusive_ || learning_) return;
  for (auto& [id, session] : sessions_) {
    if (!session.held.has_value() || session.held->confirmed) continue;
    if (now_ - session.held->since >= kUnconfirmedAfter) LowerUnconfirmed(session);
  }
}

// C7: anchored at the last confirmed sync, so it extends nothing; and nothing above what is
// installed by the agent's own word, so that it cannot carry a raise that was never committed.
void Core::Impl::LowerUnconfirmed(SessionState& session) {
  if (session.confirmed_n.value < 0) return;
  SyncAnswer answer;
  answer.epoch = epoch_;
  answer.protocol = session.protocol;
  for (const auto& [dependency, member] : session.dependencies) {
    const Steps steps = Lowest(Allowed(*dependency, *member), member->in_force);
    if (member->installed.epoch != epoch_ || steps.limit >= member->in_force.limit) continue;
    Grant grant = MakeGrant(*dependency, *member, steps);
    grant.anchor = session.confirmed_n;
    answer.grants.push_back(std::move(grant));
  }
  if (answer.grants.empty()) return;
  Reply(session.held->request, std::move(answer));
  ForgetHeld(session);
}

// A controller whose reign is over knows nothing that counts any more.
void Core::Impl::Depose(const std::string& why) {
  deposed_ = true;
  RefuseHeld(RefusalCode::kNotLeader, "another controller reigns");
  Log(EventType::kDeposed, nullptr, DependencyId(),
      absl::StrCat("The reign of epoch ", epoch_.value, " is over: ", why));
  actions_.push_back(DeposedAction{why});
}

}  // namespace plimsoll
