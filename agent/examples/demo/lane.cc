#include "agent/examples/demo/lane.h"

#include "agent/examples/demo/acts.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/stage.h"
#include "agent/examples/demo/temporary_folder.h"

namespace plimsoll::demo {

absl::StatusOr<LaneResult> RunUnlimitedLane(const LaneOptions& options, Screen& screen) {
  Stage stage("unlimited", options, screen);
  absl::Status status = stage.Start(0);
  while (status.ok() && stage.seconds() < options.seconds) status = stage.Step();
  if (!status.ok()) return status;
  return stage.Finish();
}

absl::StatusOr<LaneResult> RunPlimsollLane(const LaneOptions& options, Screen& screen) {
  const TemporaryFolder folder;
  ControllerProcess controller(options.controller, folder.path(), DemoConfig());
  absl::Status status = controller.Start();
  if (!status.ok()) return status;
  Stage stage("plimsoll", options, screen);
  status = stage.Start(controller.agent_port());
  Acts acts(MakeSchedule(options.seconds), stage, controller);
  while (status.ok() && stage.seconds() < options.seconds) {
    status = stage.Step();
    if (status.ok()) status = acts.Step();
  }
  if (!status.ok()) return status;
  LaneResult result = stage.Finish();
  result.facts = acts.facts();
  return result;
}

}  // namespace plimsoll::demo
