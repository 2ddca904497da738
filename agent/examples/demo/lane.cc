#include "agent/examples/demo/lane.h"

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/acts.h"
#include "agent/examples/demo/setup.h"
#include "agent/examples/demo/stage.h"

namespace plimsoll::demo {
namespace {

// A signal is how it is meant to end.
absl::Status Keep(Stage& stage, double seconds) {
  absl::Status status;
  for (const double end = stage.seconds() + seconds; status.ok() && stage.seconds() < end;) {
    status = stage.Step();
  }
  return absl::IsCancelled(status) ? absl::OkStatus() : status;
}

}  // namespace

absl::StatusOr<LaneResult> RunUnlimitedLane(LaneOptions options, ControllerProcess& controller,
                                            Screen& screen) {
  options.observed = true;
  Stage stage("unlimited", options, screen);
  absl::Status status = stage.Start(controller.agent_port());
  screen.Look(absl::StrCat("dependencies/", kObservedDependency),
              "only observed: more and more in flight, far above the quota of 50, and latency "
              "follows");
  while (status.ok() && stage.seconds() < options.seconds) status = stage.Step();
  if (!status.ok()) return status;
  LaneResult result = stage.Result();
  stage.Stop();
  return result;
}

absl::StatusOr<LaneResult> RunPlimsollLane(const LaneOptions& options,
                                           ControllerProcess& controller, Screen& screen,
                                           const Finale& finale) {
  Stage stage("plimsoll", options, screen);
  absl::Status status = stage.Start(controller.agent_port());
  screen.Look(absl::StrCat("dependencies/", kDependency),
              "in flight stays below the quota of 50; what is too much is refused, and the page "
              "says why");
  Acts acts(MakeSchedule(options.seconds), stage, controller);
  while (status.ok() && stage.seconds() < options.seconds) {
    status = stage.Step();
    if (status.ok()) status = acts.Step();
  }
  if (!status.ok()) return status;
  LaneResult result = stage.Result();
  result.facts = acts.facts();
  finale(result, stage.fleet().replicas());
  status = Keep(stage, options.keep_seconds);
  stage.Stop();
  if (!status.ok()) return status;
  result.violations = stage.violations();
  return result;
}

}  // namespace plimsoll::demo
