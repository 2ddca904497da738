#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "agent/src/breaker_port.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll::internal {

// The breaker of a dependency as one instance of the fleet has it: it opens by what it sees itself,
// and obeys the controller. While no controller is heard, it goes on alone: an order to be open
// ends by time, and is followed by probes of its own.
//
// breaker() and Use() are thread-safe; the rest is confined to the agent's thread.
class FleetBreaker final : public BreakerPort {
 public:
  // `clock` must outlive it. `urgent` is called when the controller should hear at once of what has
  // been found out here: by whichever thread found it out, and it must not block.
  FleetBreaker(const Clock& clock, Random random, std::function<void()> urgent);

  Breaker& breaker() { return *breaker_; }
  // Somebody asks it before calls. Without, it takes no part in the fleet's.
  void Use() { used_.store(true, std::memory_order_relaxed); }
  bool used() const { return used_.load(std::memory_order_relaxed); }

  void Configure(const std::optional<BreakerSettings>& settings) override;
  void Obey(const BreakerOrder& order, Instant now) override;
  std::optional<BreakerReport> Report(Instant now) override;

 private:
  std::unique_ptr<BreakerImpl> MakeImpl(const BreakerSettings& settings);
  void Follow(const BreakerOrder& order, Instant now);
  Instant EndOf(const BreakerOrder& order, Instant now);

  const Clock& clock_;
  const std::function<void()> urgent_;
  Random random_;
  const std::unique_ptr<Breaker> breaker_;
  std::atomic<bool> used_{false};
  std::optional<BreakerSettings> settings_;
  BreakerOrder obeyed_;
  std::int64_t refused_told_ = 0;
};

}  // namespace plimsoll::internal
