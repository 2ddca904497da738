#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "agent/src/breaker_port.h"
#include "agent/src/grant_port.h"
#include "plimsoll/core/protocol.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll::internal {

struct SessionOptions {
  ServiceId service;
  InstanceId instance;
  bool unique_instance = true;
  std::string zone;
  std::string agent_version;
  ProtocolRange protocol;  // spoken here: all that the build knows, but in tests of mixed versions
  int controllers = 1;     // how many addresses there are
  absl::Duration answer_timeout = absl::Seconds(1);  // beyond the hold
  // Between attempts while no controller answers: uniform in [0, b), b doubling from the first to
  // the second ("full jitter"), so that a fleet does not come back in one second.
  absl::Duration backoff_min = absl::Milliseconds(300);
  absl::Duration backoff_max = absl::Seconds(2);
};

// What the session wants its owner to do.
struct WaitUntil {
  Instant at;  // or until something happens: a new dependency, leaving
};
struct SendMessage {
  std::size_t controller = 0;  // index of the address
  std::variant<RegisterRequest, SyncRequest, ReleaseRequest> message;
  absl::Duration timeout;  // for the whole exchange
};
struct Finished {};  // released, or given up: nothing will be sent any more
using SessionStep = std::variant<WaitUntil, SendMessage, Finished>;

// The agent's side of the quota protocol, rules A1 to A8 of controller/README.md: which message to
// send when, and what an answer puts in force. A pure state machine: time and chance are handed in,
// the network is whoever carries the messages. At most one message is under way. The same object
// runs in the agent's thread and in the simulator. Confined to the agent's thread.
class Session {
 public:
  // `random` must outlive the session.
  Session(SessionOptions options, Random& random);

  // From now on the dependency is reported. `port` and `breaker`, if there is one, must outlive the
  // session. At most once a name.
  void Add(const DependencyId& dependency, GrantPort& port, BreakerPort* breaker = nullptr);

  // What to do now. Must not be called while a message is under way. After SendMessage, report how
  // it ended by exactly one of the On… methods.
  SessionStep Next(Instant now);

  void OnRegistered(const RegisterAnswer& answer, Instant now);
  void OnSynced(const SyncAnswer& answer, Instant now);
  void OnReleased(Instant now);
  // `leader` is the index of the address that the refusal named as the leader's, if it is one of
  // those there are: no other is believed. Without it the pauses grow, slowly.
  void OnRefused(const Refusal& refusal, Instant now,
                 std::optional<std::size_t> leader = std::nullopt);
  // No answer, or none that could be understood.
  void OnUnreachable(Instant now);
  // The owner broke the message off, to send something more urgent.
  void OnInterrupted(Instant now);

  // Admits nothing any more; drains, then releases. Never undone.
  void Leave(Instant now);
  // The clock cannot be trusted: time may have passed that it did not count. Limits fall to their
  // reserve until a sync sent after this succeeds (rule A6).
  void OnClockSuspect(Instant now);

  bool leaving() const { return leaving_; }
  bool connected() const { return connected_; }
  const InstanceId& instance() const { return options_.instance; }
  const SessionId& session() const { return session_; }
  // What is installed for a dependency, if anything ever was.
  std::optional<StepFunction> Installed(const DependencyId& dependency) const;
  // Calls `look(name, function)` for each dependency that has a grant.
  template <typename Look>
  void ForEachInstalled(const Look& look) const {
    for (const auto& [name, dependency] : dependencies_) {
      if (dependency.has_grant) look(name, dependency.installed);
    }
  }
  // Dependencies for which the controller has no policy, as of the last answer.
  std::vector<DependencyId> UnknownDependencies() const;

 private:
  struct Dependency {
    GrantPort* port = nullptr;
    BreakerPort* breaker = nullptr;
    StepFunction installed;
    bool has_grant = false;
    bool known = true;      // the controller has a policy for it
    bool reported = false;  // to this session
    bool observe = false;   // refuses nobody
    absl::Duration window = absl::Seconds(1);
    absl::Duration call_deadline = absl::InfiniteDuration();
    Calls in_flight = 0;    // at the last measurement
    bool starving = false;  // refused calls while its limit was 0
  };

  SendMessage MakeRegister(Instant now);
  SessionStep LeaveStep(Instant now);
  SendMessage MakeSync(Instant now);
  DependencyReport MakeReport(const DependencyId& name, Dependency& dependency, Instant now);
  absl::Duration HoldTime(Instant now) const;
  bool HasCallsInFlight() const;

  void Apply(const std::vector<DependencySettings>& settings);
  void SetObserve(Dependency& dependency, bool observe);
  void Install(const std::vector<Grant>& grants, Instant now);
  void Obey(const std::vector<BreakerOrder>& orders, Instant now);
  void InstallOne(const Grant& grant, Dependency& dependency, Instant now);
  void ForgetSession(Instant now);
  void Reset(const Refusal& refusal, Instant now);
  bool ExtendsNothing(const std::vector<Grant>& grants) const;
  void LookElsewhere(Instant now);
  void Fail(Instant now);
  void GoToLeader(std::optional<std::size_t> leader, Instant now);
  void Succeed(Instant next_at);

  SessionOptions options_;
  Random& random_;
  std::map<DependencyId, Dependency> dependencies_;

  SessionId session_;  // empty: not registered
  std::string nonce_;
  Epoch epoch_;                         // the highest seen
  int protocol_ = kProtocolVersionMin;  // of this session
  SyncNumber n_;
  std::map<SyncNumber, Instant> sent_at_;  // the anchors of this session
  absl::Duration hold_max_ = absl::Seconds(1);
  absl::Duration sync_min_ = absl::Milliseconds(50);

  Instant next_at_;  // nothing is sent before
  std::size_t controller_ = 0;
  absl::Duration backoff_;
  bool under_way_ = false;
  bool connected_ = false;
  bool acknowledge_now_ = false;  // a limit was lowered (A5)
  bool introduce_ = false;        // the controller lost its store and wants to know who we are
  bool leaving_ = false;
  bool finished_ = false;
};

}  // namespace plimsoll::internal
