#include <cstdio>
#include <string>
#include <vector>

#include "agent/examples/demo/lane.h"
#include "agent/examples/demo/options.h"
#include "agent/examples/demo/replica.h"
#include "agent/examples/demo/scoreboard.h"
#include "agent/examples/demo/story.h"

namespace plimsoll::demo {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kInterrupted = 130;

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "plimsoll-demo: %s\n", std::string(status.message()).c_str());
  if (status.code() == absl::StatusCode::kInvalidArgument) return kUsageError;
  return status.code() == absl::StatusCode::kCancelled ? kInterrupted : kFailed;
}

int Judge(const DemoOptions& options, const std::vector<LaneResult>& lanes) {
  if (options.json) std::printf("%s\n", ScoreboardJson(lanes, options.seed).c_str());
  if (!options.json && !options.plimsoll_lane) {
    std::printf("\n%s", ScoreboardText(lanes).c_str());
  }
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
  const absl::StatusOr<std::vector<LaneResult>> lanes = Story(*options).Tell();
  return lanes.ok() ? Judge(*options, *lanes) : Fail(lanes.status());
}

}  // namespace
}  // namespace plimsoll::demo

int main(int argc, char** argv) {
  return plimsoll::demo::Run(std::vector<std::string>(argv + 1, argv + argc));
}
