#pragma once

namespace plimsoll::chaos {

enum class FaultKind {
  kKillReplica,        // SIGKILL, started again under the same name
  kPauseReplica,       // SIGSTOP, SIGCONT
  kRestartReplica,     // SIGTERM, started again under the same name
  kCutReplica,         // from the controller, both ways
  kCutFromReplica,     // only what it sends is lost
  kCutToReplica,       // only what it is sent is lost
  kDisturbReplica,     // delay, loss, duplicates, reordering between it and the controller
  kKillController,     // SIGKILL, started again on the same state
  kPauseController,    // SIGSTOP, SIGCONT
  kRestartController,  // SIGTERM, started again on the same state
  kCutController,      // from everybody
  kDisturbController,  // delay, loss, duplicates, reordering between it and everybody
  kSurge,              // two replicas join, two others leave in good order; and back again
  kQuota,              // another quota in the configuration file, SIGHUP
  // Only with several controllers.
  kCutControllerFromEtcd,    // not from the agents; both ways or one
  kCutControllerFromAgents,  // not from etcd; both ways or one
  kKillTwoControllers,       // SIGKILL, started again
  kKillEtcd,                 // a member: SIGKILL, started again on the same data
  kPauseEtcd,                // SIGSTOP, SIGCONT
  kRestartEtcd,              // SIGTERM, started again on the same data
  kCutEtcdPeers,             // a member from the other members; both ways or one
  kCutEtcdClients,           // a member from the controllers; both ways or one
  kDisturbEtcd,              // a member's links to members and controllers
  kPauseQuorum,              // two members, for less than the lease of agents
  kLoseQuorum,               // two members killed, for longer than the lease of agents
};
inline constexpr int kFaultKinds = static_cast<int>(FaultKind::kLoseQuorum) + 1;

// Whom a fault happens to.
enum class Victim { kReplica, kController, kEtcd, kPolicy };

struct KindFacts {
  const char* name;  // of static storage
  int cards;         // in the deck
  double seconds_min;
  double seconds_max;
  Victim victim;
  bool process;  // it happens to a process, otherwise to its network
  bool network;  // it needs a network of our own
  bool elected;  // it needs several controllers
};

const KindFacts& FactsOf(FaultKind kind);

// "kill replica", "cut from replica", …; of static storage.
inline const char* Name(FaultKind kind) { return FactsOf(kind).name; }
inline bool NeedsNetwork(FaultKind kind) { return FactsOf(kind).network; }
inline bool IsDisturbance(FaultKind kind) {
  return kind == FaultKind::kDisturbReplica || kind == FaultKind::kDisturbController ||
         kind == FaultKind::kDisturbEtcd;
}
// Whether it is a link of several that is cut, in one direction or both.
inline bool HasWay(FaultKind kind) {
  return kind == FaultKind::kCutControllerFromEtcd || kind == FaultKind::kCutControllerFromAgents ||
         kind == FaultKind::kCutEtcdPeers || kind == FaultKind::kCutEtcdClients;
}

}  // namespace plimsoll::chaos
