#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/reason.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// What kinds of things the log tells.
enum class EventType {
  kLimitChanged,  // of one instance
  kDecision,      // a law changed its limit: the pool's with scope fleet, else an instance's
  kInstanceJoined,
  kInstanceLeft,       // released by itself
  kInstanceExpired,    // fell silent until everything it held had run out, or was superseded
  kDuplicateInstance,  // two live processes claim one unique name
  kUnknownDependency,  // an agent asked for a dependency without a policy
  kStoreFailed,        // a write failed: no raises until one succeeds
  kStoreRecovered,
  kStarted,        // this reign began
  kStoreLost,      // the store is missing, damaged or older than the agents: learning began
  kLearningEnded,  // everything that was granted before the loss has run out
  kQuotaChanged,   // by the operator, as the next seven
  kDeposed,        // somebody else reigns
  kBreakerOpened,  // of the fleet: the dependency fails, or still does
  kBreakerClosed,
  kOverrideSet,
  kOverrideCleared,  // taken back, or expired
  kDependencyCreated,
  kDependencyUpdated,  // other settings than the quota
  kDependencyDeleted,
  kConfigReloaded,
  kConfigReloadFailed,  // what held before still holds
  kLeaderChanged,       // of several controllers: this one leads now
};
inline constexpr std::size_t kEventTypes = 24;

// "LIMIT_CHANGED" and so on, of static storage.
std::string_view ToString(EventType type);
// In either case of letters; nothing for a word that is not in the list.
std::optional<EventType> EventTypeFromString(std::string_view name);

// What a law saw and said when it judged a window.
struct DecisionInputs {
  std::string algorithm;
  LatencySignal signal = LatencySignal::kPercentile;  // what `latency` is
  double percentile = 0.9;                            // which, if it is one
  absl::Duration latency;
  absl::Duration baseline;  // zero if the law has none
  double gradient = 1;
  Calls in_flight_max = 0;
  double in_flight_mean = 0;
  std::int64_t samples = 0;   // calls that ended and say something
  std::int64_t failed = 0;    // of these, by overload
  std::int64_t rejected = 0;  // calls refused because of the limit
  absl::Duration length;      // of the window
  double throughput = 0;      // samples per second
  double unclamped = 0;       // the limit that the law would have liked, before all bounds
  Calls algorithm_limit = 0;  // after the decision: the pool's with scope fleet, else an instance's
  Calls quota = 0;            // 0 if there is none
  std::int64_t wanted = 0;    // sum of what all instances could use
  // By how many per cent throughput grew with one per cent more in flight, and the standard error
  // of that; only of laws that measure it. Likewise the latency that is certified to be free of
  // queueing.
  std::optional<double> elasticity;
  std::optional<double> elasticity_error;
  std::optional<absl::Duration> certified_baseline;
};

// The last time a law judged, or had too little to judge by, whatever came of it.
struct LastDecision {
  Instant at;
  WindowOutcome outcome = WindowOutcome::kUsed;
  Calls from = 0;
  Calls to = 0;  // equal to `from` if the limit was held
  Reason reason = Reason::kInitial;
  std::string message;   // one sentence for people
  std::string event_id;  // of the event kDecision, if the limit changed
};

struct LogEvent {
  std::string id;  // "<epoch>-<number>", grows with time
  EventType type = EventType::kStarted;
  Instant at;
  DependencyId dependency;  // empty if it is about no single one; likewise the next two
  ServiceId service;
  InstanceId instance;
  // kLimitChanged and kDecision only. A decision has no binding constraint: what binds an instance
  // is found when the shares have been made.
  Calls from = 0;
  Calls to = 0;
  Reason reason = Reason::kInitial;
  BindingConstraint binding = BindingConstraint::kAlgorithm;
  std::optional<DecisionInputs> inputs;
  std::string message;  // one sentence for people
};

// The last events, oldest first out. Thread-compatible.
class EventLog {
 public:
  struct Filter {
    DependencyId dependency = {};  // empty fields match everything
    InstanceId instance = {};
    std::optional<EventType> type = {};
    std::optional<Reason> reason = {};
    // Only events older than this id, for paging. Empty: from the newest.
    std::string before = {};
    // Only events newer than this id, for who follows the log. Empty: from the oldest.
    std::string after = {};
    // Only events in [since, until).
    std::optional<Instant> since = {};
    std::optional<Instant> until = {};
  };

  EventLog(Epoch epoch, int keep);

  // Gives the event its id and returns it.
  std::string Append(LogEvent event);
  // Newest first, at most `limit`.
  std::vector<LogEvent> Find(const Filter& filter, int limit) const;
  std::optional<LogEvent> Get(const std::string& id) const;
  // How many events of a type there ever were in this reign.
  std::int64_t total(EventType type) const;

 private:
  std::size_t BeginOf(const Filter& filter) const;

  Epoch epoch_;
  std::size_t keep_;
  std::int64_t next_ = 1;
  std::deque<LogEvent> events_;
  std::vector<std::int64_t> totals_;
};

}  // namespace plimsoll
