#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "agent/src/breaker_impl.h"
#include "plimsoll/agent/breaker.h"
#include "plimsoll/core/breaker.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/time.h"

namespace plimsoll::internal {

// The other door of a breaker, for the controller's word. Where an operator has spoken in the
// process itself (kForcedOpen, kDisabled), that word stands. Thread-safe, except Replace().
class BreakerControl {
 public:
  static std::unique_ptr<Breaker> Make(std::unique_ptr<BreakerImpl> impl);

  // Puts another one in place, which goes on with an operator's word; calls that the former let in
  // end there. From one thread at a time.
  static void Replace(Breaker& breaker, std::unique_ptr<BreakerImpl> impl);

  static void HoldOpen(Breaker& breaker, Instant until);
  // Holds it open for longer, if it is open.
  static void Prolong(Breaker& breaker, Instant until);
  // Half-open, and nobody is out: the next call is the probe.
  static void AllowProbe(Breaker& breaker);
  static void Close(Breaker& breaker);

  static BreakerView View(const Breaker& breaker);
  static BreakerEvidence Evidence(const Breaker& breaker, Instant now);
  // Calls, since it was put in place.
  static std::int64_t Refused(const Breaker& breaker);

 private:
  static BreakerImpl& Of(const Breaker& breaker) {
    return *breaker.impl_.load(std::memory_order_acquire);
  }
};

}  // namespace plimsoll::internal
