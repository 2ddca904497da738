#include "agent/examples/fleet/member.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "agent/examples/fleet/metrics_page.h"
#include "agent/examples/fleet/traffic.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/prometheus.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::fleet {
namespace {

// Permits that callers have waited for are noticed after so long.
constexpr absl::Duration kLookInterval = absl::Milliseconds(10);
constexpr std::chrono::seconds kDrainTimeout{2};

std::atomic<bool> terminated{false};

void OnTerminate(int) { terminated.store(true); }

void CatchTerminate() {
  struct sigaction action {};
  action.sa_handler = OnTerminate;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

AgentOptions OptionsOf(const MemberOptions& options) {
  AgentOptions agent;
  agent.controllers = {options.controller};
  agent.service = "checkout";
  agent.instance = options.name;
  agent.log = [](std::string_view) {};
  return agent;
}

void RunTraffic(Traffic& traffic) {
  while (!terminated.load()) {
    const Instant now = RealClock().Now();
    traffic.Advance(now);
    const absl::Duration left = std::min(traffic.next() - RealClock().Now(), kLookInterval);
    if (left > absl::ZeroDuration()) std::this_thread::sleep_for(absl::ToChronoNanoseconds(left));
  }
}

}  // namespace

absl::Status RunMember(const MemberOptions& options) {
  CatchTerminate();
  absl::StatusOr<std::unique_ptr<Agent>> agent = Agent::Start(OptionsOf(options));
  if (!agent.ok()) return agent.status();
  MetricsPage page(MakePrometheusCollectable(**agent));
  if (absl::Status started = page.Start(); !started.ok()) return started;
  {
    Traffic traffic(**agent, options.seed, options.period);
    std::printf("%d\n", page.port());
    std::fflush(stdout);
    RunTraffic(traffic);
  }
  (*agent)->Drain(kDrainTimeout).IgnoreError();
  return absl::OkStatus();
}

}  // namespace plimsoll::fleet
