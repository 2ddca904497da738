#include "agent/examples/demo/replica.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/examples/demo/call_pool.h"
#include "agent/examples/demo/gate.h"
#include "agent/examples/demo/report.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll::demo {
namespace {

constexpr absl::Duration kReportInterval = absl::Milliseconds(250);
constexpr absl::Duration kLookInterval = absl::Milliseconds(20);

std::atomic<bool> terminated{false};

void OnTerminate(int) { terminated.store(true); }

void SleepUntil(Instant at) {
  const absl::Duration left = at - RealClock().Now();
  if (left > absl::ZeroDuration()) std::this_thread::sleep_for(absl::ToChronoNanoseconds(left));
}

void WriteReport(Tally& tally, const Gate& gate) {
  Report report = tally.Take();
  report.limit = gate.limit();
  report.in_flight = gate.in_flight();
  const GrantFacts grants = gate.grants();
  report.granted_ns = grants.granted_at.value_or(Instant{}).ns;
  report.written_ns = RealClock().Now().ns;
  report.stepped_down = grants.stepped_down;
  const std::string line = absl::StrCat(ToLine(report), "\n");
  // A parent that is gone is noticed by other means.
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
}

void ReportUntil(const std::atomic<bool>& done, Tally& tally, const Gate& gate) {
  Instant next = RealClock().Now();
  int limit = -1;
  while (!done.load()) {
    const Instant now = RealClock().Now();
    if (now >= next || gate.limit() != limit) {
      limit = gate.limit();
      WriteReport(tally, gate);
      next = now + kReportInterval;
    }
    SleepUntil(now + kLookInterval);
  }
}

// Open loop: calls arrive when they arrive, whether or not earlier ones have been answered. One
// that is handled late counts its delay as latency.
void OfferLoad(const ReplicaOptions& options, Gate& gate, CallPool& pool, Tally& tally) {
  Random random(options.seed);
  const double mean_gap_seconds = 1 / options.calls_per_second;
  Instant scheduled = RealClock().Now();
  while (!terminated.load()) {
    scheduled = scheduled + absl::Seconds(random.Exponential(mean_gap_seconds));
    SleepUntil(scheduled);
    const Instant start = RealClock().Now();
    if (std::unique_ptr<Pass> pass = gate.TryEnter()) {
      pool.Submit(std::move(pass), scheduled);
    } else {
      tally.Rejected(RealClock().Now() - start);
    }
  }
}

absl::StatusOr<std::unique_ptr<Gate>> MakeGate(const ReplicaOptions& options) {
  std::vector<std::string> controllers = options.controllers;
  if (controllers.empty()) {
    if (options.controller_port == 0) return MakeFixedGate(kHandSetLimit, kCallDeadline);
    controllers = {absl::StrCat("http://", options.controller_host, ":", options.controller_port)};
  }
  absl::StatusOr<std::unique_ptr<Gate>> gate =
      MakePlimsollGate(controllers, options.name, options.verbose,
                       options.observed ? kObservedDependency : kDependency, terminated);
  if (!gate.ok() || !options.observed) return gate;
  return MakeObservedGate(MakeFixedGate(kHandSetLimit, kCallDeadline), *std::move(gate));
}

}  // namespace

absl::Status RunReplica(const ReplicaOptions& options) {
  struct sigaction action {};
  action.sa_handler = OnTerminate;
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGINT, SIG_IGN);  // of a terminal, it goes to the whole group; the parent decides
  signal(SIGPIPE, SIG_IGN);

  absl::StatusOr<std::unique_ptr<Gate>> gate = MakeGate(options);
  if (!gate.ok()) return gate.status();
  Tally tally;
  std::atomic<bool> done{false};
  std::thread reporter([&] { ReportUntil(done, tally, **gate); });
  {
    CallPool pool(std::max(kQuota, kHandSetLimit), {options.provider_host, options.provider_port},
                  tally);
    OfferLoad(options, **gate, pool, tally);
    (*gate)->Leave();
  }
  done.store(true);
  reporter.join();
  WriteReport(tally, **gate);
  return absl::OkStatus();
}

}  // namespace plimsoll::demo
