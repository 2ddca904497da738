// Four calls to a dependency that hangs, then eight to one that is healthy. In one pool of threads
// the healthy ones wait until the others have ended; with a bulkhead they do not notice. Those that
// find no thread wait for others of their own kind: 8 calls on 4 threads take 2 rounds.
#include <plimsoll/agent/local_bulkhead.h>
#include <plimsoll/agent/thread_pool.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "agent/examples/demonstrations/report.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

constexpr int kHung = 4;
constexpr int kHealthy = 8;
constexpr absl::Duration kHangs = absl::Milliseconds(300);
constexpr absl::Duration kAnswers = absl::Milliseconds(20);
constexpr int kThreads = 4;
// Machines are busy: a time may be so many times of what it would be.
constexpr int kGenerous = 3;

struct Lane {
  std::string name;
  int left = 0;  // threads that calls which hang cannot take
  int refused = 0;
  absl::Duration fastest = absl::InfiniteDuration();
  absl::Duration slowest = absl::ZeroDuration();
};

// A client that blocks until the dependency has answered; says when that was.
auto Client(absl::Duration time, std::optional<Permit> permit = std::nullopt) {
  return [time, permit = std::move(permit)]() mutable {
    std::this_thread::sleep_for(absl::ToChronoNanoseconds(time));
    if (permit) permit->Succeed();
    return RealClock().Now();
  };
}
using Call = PoolCall<decltype(Client(kAnswers))>;

absl::StatusOr<std::unique_ptr<ThreadPool>> StartPool(int threads) {
  ThreadPoolOptions options;
  options.dependency = "demonstration";
  options.threads = threads;
  options.timeout = std::chrono::seconds(10);
  return ThreadPool::Start(std::move(options));
}

// Nobody looks at what becomes of these calls; their pool waits for them at its end. Returns how
// many were refused.
int SubmitHung(ThreadPool& pool, Bulkhead* bulkhead) {
  int refused = 0;
  for (int i = 0; i < kHung; ++i) {
    std::optional<Permit> permit;
    if (bulkhead != nullptr) {
      Admission admission = bulkhead->TryAcquire();
      if (!admission) {
        ++refused;
        continue;
      }
      permit.emplace(*std::move(admission));
    }
    const Call call = pool.Submit(Client(kHangs, std::move(permit)));
    if (call.rejection()) ++refused;
  }
  return refused;
}

void SubmitHealthy(ThreadPool& pool, Lane& lane) {
  const Instant start = RealClock().Now();
  std::vector<Call> calls;
  for (int i = 0; i < kHealthy; ++i) calls.push_back(pool.Submit(Client(kAnswers)));
  for (Call& call : calls) {
    const auto result = call.Get();
    const absl::Duration latency = result.value ? *result.value - start : absl::InfiniteDuration();
    lane.fastest = std::min(lane.fastest, latency);
    lane.slowest = std::max(lane.slowest, latency);
  }
}

absl::StatusOr<Lane> RunShared() {
  const auto pool = StartPool(kThreads);
  if (!pool.ok()) return pool.status();
  Lane lane{"one pool of 4 threads", 0, SubmitHung(**pool, nullptr)};
  SubmitHealthy(**pool, lane);
  return lane;
}

absl::StatusOr<Lane> RunWithBulkhead() {
  LocalBulkheadOptions options;
  options.dependency = "hung";
  options.algorithm = "fixed";
  options.initial = kThreads / 2;
  const auto local = MakeLocalBulkhead(options);
  if (!local.ok()) return local.status();
  const auto pool = StartPool(kThreads);
  if (!pool.ok()) return pool.status();
  const int refused = SubmitHung(**pool, &(*local)->bulkhead());
  Lane lane{"the same, hung ones in a bulkhead of 2", kThreads - options.initial, refused};
  SubmitHealthy(**pool, lane);
  return lane;
}

absl::StatusOr<Lane> RunApart(int threads) {
  const auto for_hung = StartPool(threads);
  if (!for_hung.ok()) return for_hung.status();
  const auto for_healthy = StartPool(threads);
  if (!for_healthy.ok()) return for_healthy.status();
  Lane lane{absl::StrFormat("two pools of %d threads", threads), threads,
            SubmitHung(**for_hung, nullptr)};
  SubmitHealthy(**for_healthy, lane);
  return lane;
}

void Judge(const std::vector<Lane>& lanes, Report& report) {
  for (const Lane& lane : lanes) {
    if (lane.left == 0) {
      report.Claim(lane.name + ": the healthy calls wait until the hung ones have ended",
                   lane.fastest > kHangs / kGenerous && lane.refused == 0);
      continue;
    }
    const int rounds = kHealthy / lane.left;
    report.Claim(
        absl::StrFormat("%s: 8 healthy calls on %d threads take %d rounds of 20 ms, and no"
                        " more",
                        lane.name, lane.left, rounds),
        lane.fastest < kGenerous * kAnswers && lane.slowest < kGenerous * kAnswers * rounds);
  }
}

absl::StatusOr<Report> Run() {
  Report report("bulkheads: 4 calls that hang for 300 ms, then 8 healthy ones of 20 ms",
                {"pools", "threads left", "hung refused", "fastest healthy", "slowest healthy"});
  std::vector<Lane> lanes;
  for (auto lane : {RunShared(), RunWithBulkhead(), RunApart(kThreads / 2), RunApart(kThreads)}) {
    if (!lane.ok()) return lane.status();
    report.AddRow({lane->name, lane->left, lane->refused, lane->fastest, lane->slowest});
    lanes.push_back(*std::move(lane));
  }
  Judge(lanes, report);
  return report;
}

}  // namespace
}  // namespace plimsoll::demonstrations

int main(int argc, char** argv) {
  return plimsoll::demonstrations::RunDemonstration(argc, argv, plimsoll::demonstrations::Run);
}
