#include "tests/scale/simulation.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/scale/rounds.h"
#include "tests/scale/shard_run.h"
#include "tests/scale/timetable.h"
#include "tests/scale/workload.h"

namespace plimsoll::scale {
namespace {

std::size_t SampleSize(const Options& options) {
  return static_cast<std::size_t>(options.sample > 0 ? std::min(options.sample, options.shards)
                                                     : options.shards);
}

double SampledPart(const Options& options, const Workload& workload) {
  std::int64_t sessions = 0;
  for (std::size_t i = 0; i < SampleSize(options); ++i) {
    sessions += std::ssize(workload.shards[i].agents);
  }
  if (workload.sessions == 0) return 1;
  return static_cast<double>(sessions) / static_cast<double>(workload.sessions);
}

// Those of one controller for all its shards, which are simulated one after the other.
void AddRounds(const Options& options, Figures& sum) {
  for (std::size_t i = 0; i < sum.asked.size(); ++i) {
    const Random random(options.seed * 1'000'003 + i);
    for (const Instant at : RoundsOf(sum.asked[i], options, random)) sum.Add(Count::kRounds, at);
  }
}

}  // namespace

absl::Status Validate(const Options& options) {
  const auto bad = [](const char* what) { return absl::InvalidArgumentError(what); };
  if (options.controllers < 1 || options.controllers > 99'999)
    return bad("controllers: 1 to 99999");
  if (options.agents < 1) return bad("agents: at least 1");
  if (options.shards < 1 || options.shards > 100'000) return bad("shards: 1 to 100000");
  if (options.per_agent < 1 || options.dependencies < options.per_agent) {
    return bad("dependencies: at least as many as one agent may use, and that is at least 1");
  }
  if (options.length < absl::Seconds(10)) return bad("seconds: at least 10");
  if (options.lease < absl::Seconds(1) || options.hold_max * 10 > options.lease) {
    return bad("lease: at least a second and ten times the hold");
  }
  if (options.watch_max > absl::Seconds(1)) return bad("a watch sees changes within a second");
  if (options.threads < 1 || options.threads > 64) return bad("threads: 1 to 64");
  if (options.sample < 0) return bad("sample: at least 0");
  if (!(options.failures_per_minute > 0)) return bad("failures per minute: more than 0");
  return absl::OkStatus();
}

Figures Simulate(const Options& options) {
  const Timetable timetable(options);
  const Workload workload = MakeWorkload(options);
  const std::size_t shards = SampleSize(options);
  std::vector<Figures> figures(shards);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < shards; i = next++) {
      ShardRun(options, timetable, workload.shards[i], static_cast<int>(i), figures[i]).Run();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  Figures sum;
  for (const Figures& one : figures) sum.Merge(one);
  AddRounds(options, sum);
  const double part = SampledPart(options, workload);
  if (part < 1 && part > 0) sum.Scale(1 / part);
  return sum;
}

double SampledPart(const Options& options) { return SampledPart(options, MakeWorkload(options)); }

}  // namespace plimsoll::scale
