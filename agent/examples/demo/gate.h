#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demo {

enum class Outcome {
  kSucceeded,
  kFailed,   // the provider refused it, failed or took too long
  kNotSent,  // it was too late to send it
};

// The right to one call, whoever gave it. Ends once. Thread-compatible.
class Pass {
 public:
  virtual ~Pass() = default;
  // Until the call must have ended.
  virtual absl::Duration time_left() const = 0;
  virtual void End(Outcome outcome) = 0;
};

// What a gate knows of the grants it rests on.
struct GrantFacts {
  std::optional<Instant> granted_at;  // when a lease was last granted
  std::int64_t stepped_down = 0;      // how often a step ended without a newer grant
};

// What decides in a replica whether a call may start: the one difference between the two lanes.
// Thread-safe.
class Gate {
 public:
  virtual ~Gate() = default;
  // Null if the call is refused.
  virtual std::unique_ptr<Pass> TryEnter() = 0;
  virtual int limit() const = 0;
  virtual int in_flight() const = 0;
  virtual GrantFacts grants() const { return {}; }
  // Admits nothing any more, and waits until what runs has ended.
  virtual void Leave() = 0;
};

// The lane `unlimited`: a bulkhead with a number that somebody chose once, blind to all others.
std::unique_ptr<Gate> MakeFixedGate(int limit, absl::Duration call_deadline);

// The lane `plimsoll`: the agent library. Returns when the first limit is there, after a while
// without one, or when it is told to end. If `verbose`, the agent writes to standard error what it
// has to say.
absl::StatusOr<std::unique_ptr<Gate>> MakePlimsollGate(const std::vector<std::string>& controllers,
                                                       const std::string& instance, bool verbose,
                                                       const std::string& dependency,
                                                       const std::atomic<bool>& told_to_end);

// Lets `gate` decide, and tells `observer` of what it lets through, whatever that would have said.
std::unique_ptr<Gate> MakeObservedGate(std::unique_ptr<Gate> gate, std::unique_ptr<Gate> observer);

}  // namespace plimsoll::demo
