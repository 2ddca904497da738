#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/lane.h"
#include "agent/examples/demo/options.h"
#include "agent/examples/demo/replica.h"
#include "agent/examples/demo/scoreboard.h"
#include "agent/examples/demo/screen.h"

namespace plimsoll::demo {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kInterrupted = 130;
// The lane `plimsoll` gets the rest of the time, and needs at least 8 s for its acts.
constexpr double kUnlimitedPart = 0.3;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "plimsoll-demo: %s\n", std::string(status.message()).c_str());
  if (status.code() == absl::StatusCode::kInvalidArgument) return kUsageError;
  return status.code() == absl::StatusCode::kCancelled ? kInterrupted : kFailed;
}

ScreenMode ModeOf(const DemoOptions& options) {
  if (options.json) return ScreenMode::kQuiet;
  const bool live = !options.plain && isatty(STDERR_FILENO) == 1;
  return live ? ScreenMode::kLive : ScreenMode::kPlain;
}

absl::StatusOr<std::vector<LaneResult>> RunLanes(const DemoOptions& options) {
  const double unlimited_seconds =
      options.plimsoll_lane ? kUnlimitedPart * options.seconds : options.seconds;
  LaneOptions lane{OwnFolder() + "/plimsoll-demo", options.controller, 0, options.seed};
  if (lane.controller.empty()) lane.controller = OwnFolder() + "/plimsoll-controller";
  Screen screen(ModeOf(options));
  std::vector<LaneResult> results;
  if (options.unlimited_lane) {
    screen.Say("eight replicas, each with a hand-set limit of 20:");
    lane.seconds = unlimited_seconds;
    absl::StatusOr<LaneResult> result = RunUnlimitedLane(lane, screen);
    if (!result.ok()) return result.status();
    results.push_back(*std::move(result));
  }
  if (options.plimsoll_lane) {
    screen.Say("the same replicas, with a controller and a quota of 50:");
    lane.seconds = options.seconds - (options.unlimited_lane ? unlimited_seconds : 0);
    absl::StatusOr<LaneResult> result = RunPlimsollLane(lane, screen);
    if (!result.ok()) return result.status();
    results.push_back(*std::move(result));
  }
  return results;
}

int Show(const DemoOptions& options, const std::vector<LaneResult>& lanes) {
  const std::string text =
      options.json ? ScoreboardJson(lanes, options.seed) + "\n" : "\n" + ScoreboardText(lanes);
  std::fputs(text.c_str(), stdout);
  if (Violations(lanes) == 0) return 0;
  std::fprintf(stderr, "plimsoll-demo: the quota was exceeded\n");
  return kFailed;
}

int Run(const std::vector<std::string>& arguments) {
  const absl::StatusOr<DemoOptions> options = ParseOptions(arguments);
  if (!options.ok()) {
    std::fputs(kUsage, stderr);
    return Fail(options.status());
  }
  if (options->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  if (options->is_replica) {
    const absl::Status status = RunReplica(options->replica);
    return status.ok() ? 0 : Fail(status);
  }
  CatchSignals();
  const absl::StatusOr<std::vector<LaneResult>> lanes = RunLanes(*options);
  return lanes.ok() ? Show(*options, *lanes) : Fail(lanes.status());
}

}  // namespace
}  // namespace plimsoll::demo

int main(int argc, char** argv) {
  return plimsoll::demo::Run(std::vector<std::string>(argv + 1, argv + argc));
}
