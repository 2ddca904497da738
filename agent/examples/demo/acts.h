#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/lane.h"
#include "agent/examples/demo/stage.h"

namespace plimsoll::demo {

// When what happens, in seconds since the start of the lane.
struct Schedule {
  double kill_replica = 0;
  double restart_replica = 0;
  double kill_controller = 0;
  double restart_controller = 0;
  double release_replica = 0;
};

// Spreads the acts over a lane of that length. A killed replica is restarted no earlier than its
// share is free again, which takes lease and call deadline; so at least 8 s are needed.
Schedule MakeSchedule(double seconds);

// What goes wrong in the lane `plimsoll`, and how long it takes to mend. Confined to the thread
// that made it.
class Acts {
 public:
  Acts(const Schedule& schedule, Stage& stage, ControllerProcess& controller);

  // Does what is due, and watches.
  absl::Status Step();
  const Facts& facts() const { return facts_; }

 private:
  enum class Act { kKillReplica, kRestartReplica, kKillController, kRestartController, kRelease };
  struct Cue {
    double at;
    Act act;
  };

  absl::Status Perform(Act act);
  void Say(const std::string& text);
  void KillReplica();
  absl::Status RestartReplica();
  void KillController();
  absl::Status RestartController();
  void Release();
  void WatchReplicas(double now);
  void WatchOutage(double now);

  Stage& stage_;
  ControllerProcess& controller_;
  std::vector<Cue> cues_;  // what is left, the next one last
  Facts facts_;

  std::size_t victim_ = 0;  // the replica that is killed
  std::size_t leaver_ = 0;  // the one that leaves in good order
  // When it happened; negative: not yet.
  double killed_at_ = -1;
  double restarted_at_ = -1;
  double released_at_ = -1;
  double controller_killed_at_ = -1;
  double controller_restarted_at_ = -1;
  double broken_at_ = -1;  // the last moment since then at which limits were missing
  std::int64_t succeeded_before_outage_ = 0;
};

}  // namespace plimsoll::demo
