// More load than a service can carry, then less: with nothing in between, and with a bulkhead that
// finds its limit by itself.
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "agent/examples/demonstrations/overload_lane.h"
#include "agent/examples/demonstrations/overload_report.h"
#include "agent/examples/demonstrations/run_options.h"
#include "plimsoll/agent/local_bulkhead.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll::demonstrations {
namespace {

constexpr double kSecondsLeast = 6;
constexpr double kOverloadShare = 0.4;  // of the run
constexpr double kOverload = 1.5;       // of the capacity
constexpr double kAfterwards = 0.7;
constexpr char kUsage[] =
    "usage: plimsoll-overload [--seconds N] [--seed S] [--json]\n"
    "\n"
    "Calls arrive by schedule at a service of 400 calls a second: for two fifths of the time 600, "
    "then\n"
    "280 a second. Their latency counts from the scheduled arrival. The same arrivals go to two "
    "such\n"
    "services, one of them behind a local bulkhead.\n"
    "\n"
    "  --seconds N  for how long calls arrive, 6 to 3600 (default 20)\n"
    "  --seed S     of arrivals and service times (default 1)\n"
    "  --json       the result as one JSON object on standard output\n"
    "\n"
    "Exit status: 0 as claimed, 1 not so, 2 usage.\n";

// Callers say what is too slow, and aimd is the law that can be told. It looks at the 90th
// percentile, of which windows of 200 calls tell more than of the 99th. With exponential service
// of 20 ms that is 46 ms above it, so half of the target leaves room. gradient2 stays below the
// target here, too, but at a limit that follows from where it began, not from the target. There is
// no queue: to refuse at once is the cheapest answer, and overload is no burst.
absl::StatusOr<std::unique_ptr<LocalBulkhead>> MakeBulkhead() {
  LocalBulkheadOptions options;
  options.dependency = "service";
  options.algorithm = "aimd";
  options.settings = {{"latency_threshold", "100ms"}};
  options.floor = 8;
  return MakeLocalBulkhead(options);
}

// The next arrival, exponentially after the last.
Instant Next(Instant last, Instant fall, double capacity, Random& random) {
  const double rate = capacity * (last < fall ? kOverload : kAfterwards);
  return last + absl::Seconds(random.Exponential(1 / rate));
}

OverloadResult RunLanes(const RunOptions& options, std::unique_ptr<LocalBulkhead> bulkhead) {
  OverloadResult result;
  const auto seconds = static_cast<std::size_t>(options.seconds);
  result.overload_seconds =
      static_cast<std::size_t>(std::llround(options.seconds * kOverloadShare));
  result.capacity = ServerModel().capacity();
  Random random(options.seed);
  const Instant begin = RealClock().Now();
  const Instant fall = begin + absl::Seconds(result.overload_seconds);
  const Instant end = begin + absl::Seconds(seconds);
  OverloadLane without(seconds, begin, options.seed + 1, nullptr);
  OverloadLane with(seconds, begin, options.seed + 2, std::move(bulkhead));
  Instant scheduled = begin;
  while ((scheduled = Next(scheduled, fall, result.capacity, random)) < end) {
    SleepUntil(scheduled);
    without.Offer(scheduled);
    with.Offer(scheduled);
  }
  SleepUntil(end);
  result.without = without.timeline();
  result.with = with.timeline();
  return result;
}

absl::StatusOr<Report> Run(const RunOptions& options) {
  absl::StatusOr<std::unique_ptr<LocalBulkhead>> bulkhead = MakeBulkhead();
  if (!bulkhead.ok()) return bulkhead.status();
  return OverloadReport(RunLanes(options, *std::move(bulkhead)));
}

}  // namespace
}  // namespace plimsoll::demonstrations

int main(int argc, char** argv) {
  using namespace plimsoll::demonstrations;
  return RunWithOptions(argc, argv, kSecondsLeast, kUsage, Run);
}
