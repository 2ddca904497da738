#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"

namespace plimsoll {

// Decides when the service manager may be told that all is well: every half of a period, provided
// that a question asked since the last time has been answered. Whoever hangs does not answer, so
// the manager is told nothing and ends the process. Thread-compatible.
class Watchdog {
 public:
  // Asks a question that is answered, on any thread, by calling `answered`; may return before.
  using Ask = std::function<void(std::function<void()> answered)>;

  // Without a period nothing is ever asked.
  Watchdog(absl::Duration period, Ask ask) : half_(period / 2), ask_(std::move(ask)) {}

  // True if the manager is to be told now. Asks anew then, and at the first call.
  bool Look(Instant now);
  // How long to wait for the next look; at most `longest`.
  absl::Duration Pause(Instant now, absl::Duration longest) const;

 private:
  void AskAnew(Instant now);

  const absl::Duration half_;
  const Ask ask_;
  // Shared with a question that may be answered when this is gone. Null: none was asked.
  std::shared_ptr<std::atomic<bool>> answered_;
  Instant due_;
};

}  // namespace plimsoll
