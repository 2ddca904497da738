// A healthy dependency behind a broken one: one pool of threads for both, against one for each and
// a breaker.
#include <thread>

#include "agent/examples/demonstrations/cascade_lane.h"
#include "agent/examples/demonstrations/cascade_report.h"
#include "agent/examples/demonstrations/run_options.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

constexpr double kSecondsLeast = 7;
constexpr char kUsage[] =
    "usage: plimsoll-cascade [--seconds N] [--seed S] [--json]\n"
    "\n"
    "A process calls A, healthy, 60 times a second, and B 200 times a second, which answers 90, 40 "
    "%\n"
    "of them with an error, and lets the others hang until the time-out of 3 s. With 20 threads "
    "for\n"
    "both, and beside it with 10 for each and a breaker for B. The first 3 s are not counted.\n"
    "\n"
    "  --seconds N  for how long calls arrive, 7 to 3600 (default 20)\n"
    "  --seed S     of arrivals and failures (default 1)\n"
    "  --json       the result as one JSON object on standard output\n"
    "\n"
    "Exit status: 0 as claimed, 1 not so, or something did not start, 2 usage.\n";

// Both lanes at the same time: they share nothing but the machine.
absl::StatusOr<CascadeResult> RunLanes(const RunOptions& options) {
  const CascadeRun run = {RealClock().Now(), absl::Seconds(options.seconds), options.seed};
  absl::StatusOr<CascadeLane> shared = absl::UnknownError("did not run");
  std::thread beside([&] { shared = RunSharedPool(run); });
  const absl::StatusOr<CascadeLane> split = RunSplitPools(run);
  beside.join();
  if (!shared.ok()) return shared.status();
  if (!split.ok()) return split.status();
  return CascadeResult{*shared, *split};
}

absl::StatusOr<Report> Run(const RunOptions& options) {
  const absl::StatusOr<CascadeResult> result = RunLanes(options);
  if (!result.ok()) return result.status();
  return CascadeReport(*result);
}

}  // namespace
}  // namespace plimsoll::demonstrations

int main(int argc, char** argv) {
  using namespace plimsoll::demonstrations;
  return RunWithOptions(argc, argv, kSecondsLeast, kUsage, Run);
}
