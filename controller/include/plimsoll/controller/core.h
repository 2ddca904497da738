#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/controller/event_log.h"
#include "plimsoll/controller/options.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/controller/snapshot.h"
#include "plimsoll/controller/store.h"
#include "plimsoll/controller/templates.h"
#include "plimsoll/controller/trial.h"
#include "plimsoll/core/protocol.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// Names a request that waits for a reply. Made by whoever feeds the core; never used twice.
using RequestId = StrongInt<struct RequestTag>;
// Names a write under way. Made by the core.
using WriteId = StrongInt<struct WriteTag>;
// Names a confirmation under way. Made by the core.
using ConfirmId = StrongInt<struct ConfirmTag>;

// What happens to the core.
struct RegisterEvent {
  RequestId request;
  RegisterRequest message;
};
struct SyncEvent {
  RequestId request;
  SyncRequest message;
};
struct ReleaseEvent {
  RequestId request;
  ReleaseRequest message;
};
// Nobody waits for this reply any more: the connection is gone.
struct AbandonEvent {
  RequestId request;
};
// The write is durable, or has failed. kFailedPrecondition: somebody else reigns.
struct WrittenEvent {
  WriteId write;
  absl::Status status;
};
// The answer to a ConfirmAction. OK: this reign stood at some time after the action.
// kFailedPrecondition: somebody else reigns. Anything else: nothing is known.
struct ConfirmedEvent {
  ConfirmId confirm;
  absl::Status status;
};
// The operator has changed policies or overrides: these hold from now on, and those that are not
// here have none any more. They must be valid. Grants follow by the rules: a cut is reached when
// those that hold too much have acknowledged it, or their holds have run out. What has not changed
// is left alone. Overrides of dependencies without a policy do nothing.
//
// A dependency without a policy that agents ask for gets one from the template that fits, and loses
// it when the last session that has joined it is gone and nothing of it is reserved any more. Those
// that templates have made are at most CoreOptions::dependencies_max; more have no policy.
struct PolicyEvent {
  PolicySet policies;
  OverrideSet overrides = {};
  // Who changed something of a dependency and why, as a sentence for the log.
  std::map<DependencyId, std::string> notes = {};
  TemplateSet templates = {};
  // The emergency switch: whatever policies and overrides say, nothing is enforced.
  bool observe_all = false;
};
// The operator wants the law to forget what it has found, and to start from its initial limit.
// Does nothing if there is no such dependency.
struct ResetEvent {
  DependencyId dependency;
  std::string note = {};
};
// The operator ends a session. Its agent is told to register again, and is held to 0 until it has
// been granted something anew; what the session holds stays reserved until its holds have run out,
// or the call deadline after a successor of its unique name has spoken. The reign after this one
// does not know of it. Does nothing if there is no such session.
struct EvictEvent {
  SessionId session;
  std::string note = {};
};
// Something about the whole controller that operators should find in the log.
struct NoteEvent {
  EventType type;
  std::string message;
};
// Time has passed. Send one every CoreOptions::tick.
struct TickEvent {};
// Some holds may be over: their syncs are answered. Send one at Core::next_due(), or a little
// later; without it they are answered by the next tick, all at once.
struct HoldsEvent {};
// The process is about to end: held syncs are answered with kNotReady, so that agents move on.
struct ShutdownEvent {};
using Event = std::variant<RegisterEvent, SyncEvent, ReleaseEvent, AbandonEvent, WrittenEvent,
                           ConfirmedEvent, PolicyEvent, ResetEvent, EvictEvent, NoteEvent,
                           TickEvent, HoldsEvent, ShutdownEvent>;

// What the core wants done, in this order.
struct Released {};
struct ReplyAction {
  RequestId request;
  std::variant<RegisterAnswer, SyncAnswer, Released, Refusal> body;
};
// Commit `batch` and report with a WrittenEvent. There is never more than one write under way.
struct WriteAction {
  WriteId write;
  WriteBatch batch;
};
// Ask the store whether this reign still stands, in a round that starts after this action, and
// report with a ConfirmedEvent. Never more than one under way, and none if the store is exclusive.
struct ConfirmAction {
  ConfirmId confirm;
};
// Somebody else reigns: this core refuses everything from now on. Take the store over anew, and
// make a new core.
struct DeposedAction {
  std::string why;
};
using Action = std::variant<ReplyAction, WriteAction, ConfirmAction, DeposedAction>;

// The controller without its surroundings: sessions, pools, decisions, apportionment, reservations,
// and the log of why. A pure state machine: no thread, no socket, no clock, no disk. The same
// events at the same instants give the same actions, so a recorded day can be replayed.
// Thread-compatible.
class Core {
 public:
  // `inherited` is what Store::TakeOver() returned, `now` an instant read *after* it returned: the
  // holds of the previous reign are counted from it. Options, policies and templates must be valid.
  // What was inherited of a dependency without a policy is under that of the template that fits.
  Core(const CoreOptions& options, PolicySet policies, const StoreState& inherited, Instant now,
       TemplateSet templates = {});
  ~Core();

  // Handles one event. `now` must not be smaller than in earlier calls.
  std::vector<Action> Apply(const Event& event, Instant now);

  // Of the reign that goes on. It changes when agents have shown that the store is older than they
  // are: then a new reign begins, in learning mode.
  Epoch epoch() const;
  // The store was lost, and what agents hold is still being learnt.
  bool learning() const;
  // When the first of the holds is over; nothing if no sync is held. See HoldsEvent.
  std::optional<Instant> next_due() const;
  // How many sessions it knows.
  std::int64_t sessions() const;

  // The read model, as of `now`: O(number of instances).
  Snapshot TakeSnapshot(Instant now) const;
  const EventLog& log() const;

  // What the law of this instance, or with scope fleet that of the pool, would do if it saw these
  // windows now, one after the other: in the core nothing changes. The pool counts as one. Laws
  // that draw lots draw the same ones each time. Returns kNotFound without such an instance,
  // kFailedPrecondition for fleet_knee, which judges pairs of windows of all instances.
  absl::StatusOr<std::vector<TrialDecision>> Try(const DependencyId& dependency,
                                                 const SessionId& session,
                                                 const std::vector<TrialWindow>& windows) const;

  // For checks: the sum of the reservations of a dependency, and the reservation of one session in
  // it; 0 for what is not known.
  std::int64_t Reserved(const DependencyId& dependency, Instant now) const;
  Calls Reserved(const DependencyId& dependency, const SessionId& session, Instant now) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
