#pragma once

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/lane.h"
#include "agent/examples/demo/provider.h"
#include "agent/examples/demo/screen.h"
#include "plimsoll/core/time.h"

namespace plimsoll::demo {

// What both lanes have in common: a provider, replicas that call it, and the time that passes.
// Confined to the thread that made it.
class Stage {
 public:
  Stage(std::string lane, const LaneOptions& options, Screen& screen);

  // Starts the provider and the replicas; time and counts begin when all replicas have spoken.
  absl::Status Start(int controller_port);
  // Lets a moment pass. kCancelled after a signal.
  absl::Status Step();
  // What has come out so far.
  LaneResult Result() const;
  // Ends the replicas. Calls that met more than the quota are counted until here.
  void Stop();

  double seconds() const;  // since the start
  std::int64_t violations() const { return provider_.violations(); }
  Fleet& fleet() { return *fleet_; }
  Screen& screen() { return screen_; }
  // Over the last second: the usual sum of the limits, and successful calls per second.
  int recent_limits() const;
  double recent_goodput() const;

 private:
  struct Sample {
    double at = 0;
    int limits = 0;
    std::int64_t succeeded = 0;
  };

  const std::string lane_;
  const LaneOptions options_;
  Screen& screen_;
  Provider provider_;
  std::unique_ptr<Fleet> fleet_;
  Instant started_;
  std::deque<Sample> samples_;
};

}  // namespace plimsoll::demo
