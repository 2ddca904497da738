#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace plimsoll {

// The closed lists that the API, metrics, logs and people share. Names are UPPER_SNAKE in JSON and
// the same word in lower case as a metric label.

// Why a limit changed.
enum class Reason {
  kLatencyRose,      // down, algorithm: latency is above the tolerated baseline
  kLatencyFell,      // up, algorithm: latency is tolerable and the limit was in use
  kThroughputGrew,   // up, algorithm: more calls in flight still brought more throughput
  kThroughputFlat,   // down, algorithm: more calls in flight brought nothing
  kErrors,           // down, algorithm: too many admitted calls failed by overload
  kTimeouts,         // down, algorithm: calls took longer than the law's time-out
  kUnderused,        // down, algorithm: the limit was not used and drifts towards what was
  kProbe,            // both, algorithm: moved on purpose, to learn
  kFloor,            // down: the step was cut short by the floor
  kCeiling,          // up: the step was cut short by the ceiling
  kQuotaRebalanced,  // both, controller: shares moved between instances
  kQuotaChanged,     // both, controller: the quota itself or its policy changed
  kOverrideSet,      // both, operator
  kOverrideCleared,  // both, operator
  kConfigReloaded,   // both, operator
  kReset,            // both, operator
  kFallbackEntered,  // down, agent: a lease ran out
  kFallbackLeft,     // up, agent: the controller is back
  kInitial,          // up: the first limit of a new instance or dependency
};
inline constexpr std::size_t kReasons = 19;

// Which of the numbers decides the limit in force.
enum class BindingConstraint { kAlgorithm, kQuota, kFloor, kCeiling, kOverride, kFallback };
inline constexpr std::size_t kBindingConstraints = 6;

// Why a call was refused.
enum class RejectReason { kLimit, kQueueFull, kDeadline, kBreakerOpen, kDraining, kTenant };
inline constexpr std::size_t kRejectReasons = 6;

// What became of a window in the controller.
enum class WindowOutcome { kUsed, kTooFewSamples, kNotSaturated, kStale };
inline constexpr std::size_t kWindowOutcomes = 4;

// The UPPER_SNAKE name, of static storage.
std::string_view ToString(Reason reason);
std::string_view ToString(BindingConstraint constraint);
std::string_view ToString(RejectReason reason);
std::string_view ToString(WindowOutcome outcome);

// The reverse, in either case of letters; nothing for a word that is not in the list.
std::optional<Reason> ReasonFromString(std::string_view name);
std::optional<BindingConstraint> BindingConstraintFromString(std::string_view name);
std::optional<RejectReason> RejectReasonFromString(std::string_view name);

}  // namespace plimsoll
