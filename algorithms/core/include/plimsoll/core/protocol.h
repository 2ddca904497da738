#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/grant.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/window.h"

namespace plimsoll {

// The messages between agent and controller, as values. They stand here and not beside the JSON
// codec (api/wire) because the controller core speaks them and must not know of JSON. The rules
// that these messages serve are numbered (A1…, C1…) in controller/README.md.

// The versions of the protocol that this build speaks; api/wire/README.md tells what may change
// within one. Agent and controller agree on one when the agent registers, and each later message
// says which it is in: whoever takes over a session can tell whether it would understand it.
inline constexpr int kProtocolVersionMin = 1;
inline constexpr int kProtocolVersion = 1;

struct ProtocolRange {
  int min = kProtocolVersionMin;
  int max = kProtocolVersion;  // >= min

  bool Contains(int version) const { return min <= version && version <= max; }
  friend bool operator==(const ProtocolRange&, const ProtocolRange&) = default;
};

// The highest version that both speak; 0 if there is none.
int Agree(const ProtocolRange& ours, const ProtocolRange& theirs);

struct RegisterRequest {
  ServiceId service;
  InstanceId instance;
  bool unique_instance = true;  // by contract no other live process has this (service, instance)
  std::string zone;             // may be empty
  std::string agent_version;
  ProtocolRange protocol;  // what the agent speaks
  std::string nonce;       // drawn per registration; a repeated request keeps it
  std::vector<DependencyId> dependencies;

  friend bool operator==(const RegisterRequest&, const RegisterRequest&) = default;
};

// What the agent must know of a dependency beside its grants.
struct DependencySettings {
  DependencyId dependency;
  bool known = true;             // false: the controller has no policy for it and grants nothing
  absl::Duration call_deadline;  // every call is cut at this age
  absl::Duration window;         // how long a window lasts if nothing closes it earlier
  // The bulkhead admits every call, whatever the grants say, and counts whom it would have refused.
  // An agent keeps the mode it was told last: while it cannot reach a controller, across sessions,
  // and if `known` is false. Before it was told, it enforces, with a limit of 0.
  bool observe = false;
  // The policy has a breaker. Only then does the agent report on it: an older controller, which
  // would refuse a report with it, never asks.
  std::optional<BreakerSettings> breaker = std::nullopt;

  friend bool operator==(const DependencySettings&, const DependencySettings&) = default;
};

struct RegisterAnswer {
  SessionId session;
  Epoch epoch;
  absl::Duration hold_max;  // the longest hold of a sync
  absl::Duration sync_min;  // the shortest time between an answer and the next sync
  std::vector<DependencySettings> settings;
  std::vector<Grant> grants;  // anchored at sync 0: the first time this registration was sent
  int protocol = kProtocolVersionMin;  // of this session: what both speak

  friend bool operator==(const RegisterAnswer&, const RegisterAnswer&) = default;
};

// One dependency in a sync: what is in force at the moment of sending. Naming a dependency that the
// registration did not name joins it.
struct DependencyReport {
  DependencyId dependency;
  GrantStamp installed;  // the acknowledgement: everything older is superseded at the agent
  Steps in_force;        // limit: in force now; base, reserve: what the steps can still fall to
  Calls in_flight = 0;
  Calls in_flight_max = 0;  // since the last sync
  Calls waiting = 0;
  std::vector<Window> windows;
  std::optional<BreakerReport> breaker = std::nullopt;

  friend bool operator==(const DependencyReport&, const DependencyReport&) = default;
};

// Who speaks.
struct Identity {
  ServiceId service;
  InstanceId instance;
  bool unique_instance = true;

  friend bool operator==(const Identity&, const Identity&) = default;
};

struct SyncRequest {
  SessionId session;
  // Only after the refusal kIdentityRequired: a controller that lost its store learns from agents.
  std::optional<Identity> identity;
  SyncNumber n;          // >= 1, rises with every transmission
  Epoch epoch;           // the highest epoch the agent has seen
  absl::Duration hold;   // how long the controller may hold the answer if nothing changes
  bool leaving = false;  // admits nothing any more and will release soon
  std::vector<DependencyReport> dependencies;
  // The version of this message and of the answer to it. One that the controller does not speak is
  // refused, and nothing else of the message is looked at.
  int protocol = kProtocolVersionMin;

  friend bool operator==(const SyncRequest&, const SyncRequest&) = default;
};

struct SyncAnswer {
  Epoch epoch;
  bool superseded = false;   // a newer sync of this session arrived: no grants, do nothing
  absl::Duration next_sync;  // wait this long before the next sync
  std::vector<DependencySettings> settings;  // only what changed
  std::vector<Grant> grants;                 // only what changed or is renewed
  std::vector<BreakerOrder> breakers;        // likewise
  int protocol = kProtocolVersionMin;        // as that of the request

  friend bool operator==(const SyncAnswer&, const SyncAnswer&) = default;
};

struct ReleaseRequest {
  SessionId session;
};

// Why the controller refused a message. The names are the problem codes of the REST API.
enum class RefusalCode {
  kInvalidArgument,    // 400
  kAgentTooOld,        // 400: speaks no version that is as new as what the controller needs
  kControllerTooOld,   // 400: the controller speaks no version that is as new as the message
  kSessionUnknown,     // 404: register again
  kIdentityRequired,   // 409: say who you are and sync again; the session goes on
  kSessionSuperseded,  // 409: another process has this instance name; register under another
  kStaleSync,          // 409: n is not newer than what was accepted
  kRateLimited,        // 429: too many sessions or dependencies
  kNotLeader,          // 421: another controller reigns; try the others
  kNotReady,           // 503: shutting down, or the store has not been read
};

struct Refusal {
  RefusalCode code = RefusalCode::kInvalidArgument;
  std::string detail;  // what is wrong and what to do
  Epoch epoch;

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

// "SESSION_UNKNOWN" and so on, of static storage.
std::string_view ToString(RefusalCode code);

}  // namespace plimsoll
