#pragma once

#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/core/random.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

// What a law is told of the windows of one process.
struct LocalWindowConfig {
  absl::Duration length = absl::Milliseconds(500);
  std::int64_t samples_min = 10;
  std::optional<double> percentile;  // none: the mean
  double drop_tolerance = 0.05;
};

// Tells a law what the windows of one bulkhead saw. A window with too few calls goes on, up to ten
// lengths; one that was left open for longer than that, because no call ended, is forgotten: what
// is in it happened before and after a silence, and says nothing of the limit. Pure but for chance,
// which is handed in. Thread-compatible.
class LocalLaw {
 public:
  LocalLaw(std::unique_ptr<LimitAlgorithm> law, const LocalWindowConfig& config, Random random,
           Instant now);

  // The law has decided if there were enough calls. `window` follows the one before; its length is
  // up to the caller.
  std::optional<Decision> Add(const Window& window, Instant now);
  // What was gathered was measured under a limit that is not the law's.
  void Forget() { gathered_ = Window(); }
  // In force now, between floor and ceiling.
  Calls limit() const { return law_->Limit(state_); }
  absl::Duration window_length() const { return config_.length; }

 private:
  void Gather(const Window& window);
  absl::Duration Latency() const;
  Observation Observe(absl::Duration latency, Instant now);

  std::unique_ptr<LimitAlgorithm> law_;
  LocalWindowConfig config_;
  Random random_;
  LawState state_;
  Window gathered_;
  Instant observed_at_;
};

}  // namespace plimsoll::internal
