#include "tests/integration/chaos/run.h"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "plimsoll/core/clock.h"
#include "tests/integration/chaos/judge.h"
#include "tests/integration/chaos/schedule.h"
#include "tests/integration/chaos/stall_watch.h"
#include "tests/integration/chaos/world.h"

namespace plimsoll::chaos {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(10);
// Said in the trace from here on.
constexpr double kNotableStall = 0.2;

constexpr double kNotableStep = 1;

std::atomic<bool> interrupted{false};

void OnSignal(int) { interrupted.store(true); }

struct Cue {
  double at = 0;
  bool mend = false;
  Fault fault;
};

std::vector<Cue> Cues(const std::vector<Fault>& schedule) {
  std::vector<Cue> cues;
  for (const Fault& fault : schedule) {
    cues.push_back({fault.at, false, fault});
    if (fault.seconds > 0) cues.push_back({fault.end(), true, fault});
  }
  std::stable_sort(cues.begin(), cues.end(),
                   [](const Cue& a, const Cue& b) { return a.at < b.at; });
  return cues;
}

WorldOptions OptionsFor(const RunOptions& options, const Timing& timing) {
  WorldOptions world;
  world.programs = options.programs;
  world.folder = options.folder;
  world.keep_logs = options.keep_logs;
  world.seed = options.seed;
  world.network = options.network;
  world.controllers = options.controllers;
  world.members = options.members;
  world.timing = timing;
  world.say = options.trace;
  world.careless_provider = options.careless_provider;
  world.slow_election = options.slow_election;
  return world;
}

class Director {
 public:
  explicit Director(const RunOptions& options)
      : options_(options),
        timing_(TimingOf(options.controllers)),
        world_(OptionsFor(options, timing_)),
        cues_(
            Cues(MakeSchedule({options.seed, options.seconds - SettleSeconds(options.controllers),
                               options.network != nullptr, options.controllers, options.members}))),
        grants_(absl::ToDoubleSeconds(timing_.lease)) {}

  absl::StatusOr<Result> Run() {
    absl::Status status = world_.Start();
    if (!status.ok()) return status;
    started_ = RealClock().Now();
    result_.controller_kib_first = world_.controller_kib();
    while (status.ok() && Now() < options_.seconds) {
      if (interrupted.load()) return absl::CancelledError("interrupted");
      status = PlayDue();
      if (status.ok()) status = world_.Step(kStep);
      Look();
    }
    result_.seconds = Now();
    result_.controller_kib_last = world_.controller_kib();
    plane_ = world_.plane();
    result_.succeeded = world_.Total().succeeded;
    if (status.ok()) status = world_.Stop();
    if (!status.ok()) {
      result_.trouble = std::string(status.message());
      Say(result_.trouble);
    }
    Fill();
    return std::move(result_);
  }

 private:
  double Now() const { return absl::ToDoubleSeconds(RealClock().Now() - started_); }

  void Say(const std::string& text) const {
    options_.trace(absl::StrFormat("%9.3f  %s", Now(), text));
  }

  absl::Status PlayDue() {
    for (; next_ < cues_.size() && cues_[next_].at <= Now(); ++next_) {
      const Cue& cue = cues_[next_];
      Say((cue.mend ? "mended: " : "") + Describe(cue.fault));
      if (!cue.mend) ++result_.faults[static_cast<std::size_t>(cue.fault.kind)];
      // Until now it has excused what it hit.
      if (cue.mend) grants_.See(Now(), world_.Grants(started_), 0);
      absl::Status status = cue.mend ? world_.Mend(cue.fault) : world_.Begin(cue.fault);
      if (!status.ok()) return status;
    }
    if (next_ == cues_.size() && !healed_) {
      healed_ = true;
      // What a controller that cannot reload has in its file is not in force.
      judge_.Healed(Now(), std::min(world_.quota().current(), world_.quota().written()));
      Say("all is mended");
    }
    return absl::OkStatus();
  }

  void Look() {
    if (Now() - looked_at_ > kNotableStep) {
      Say(absl::StrFormat("this program was busy for %.2f s", Now() - looked_at_));
    }
    looked_at_ = Now();
    demo::Provider& provider = world_.provider();
    const int allowed = world_.quota().Allowed(RealClock().Now());
    judge_.See({Now(), provider.in_flight(), provider.TakeRecentMax(), allowed,
                provider.excess_max(), world_.Places()});
    if (judge_.breached_at() && !said_breach_) {
      said_breach_ = true;
      Say("MORE CALLS IN FLIGHT THAN ALLOWED");
    }
    const int quota = world_.quota().current();
    if (quota != quota_said_) Say(absl::StrFormat("the controller shows a quota of %d", quota));
    quota_said_ = quota;
    grants_.See(Now(), world_.Grants(started_), LookAtMachine());
    SayStepDowns();
  }

  void SayStepDowns() {
    for (; step_downs_said_ < grants_.step_downs().size(); ++step_downs_said_) {
      const StepDown& step = grants_.step_downs()[step_downs_said_];
      if (step.because.empty()) Say("UNEXCUSED: " + Describe(step));
    }
  }

  // The stall since the last look, if it is notable.
  double LookAtMachine() {
    const double stall = absl::ToDoubleSeconds(stalls_.TakeLongest());
    result_.longest_stall = std::max(result_.longest_stall, stall);
    if (stall < kNotableStall) return 0;
    Say(absl::StrFormat("this machine stood still for %.2f s, or had no processor", stall));
    return stall;
  }

  void Fill() {
    const demo::Provider& provider = world_.provider();
    result_.seed = options_.seed;
    result_.network = options_.network != nullptr;
    result_.no_network_because = options_.no_network_because;
    result_.quota_changes = world_.quota_changes();
    result_.unsupported_changes = world_.unsupported_changes();
    result_.packets_carried = world_.packets_carried();
    result_.packets_lost = world_.packets_lost();
    result_.calls = provider.calls();
    result_.in_flight_max = judge_.in_flight_max();
    result_.allowed_at_max = judge_.allowed_at_max();
    result_.violations = provider.violations();
    result_.excess_max = provider.excess_max();
    result_.late_calls = provider.late_calls();
    result_.lateness_max = absl::ToDoubleSeconds(provider.lateness_max());
    result_.longest_drought = judge_.longest_drought();
    result_.drought_place = judge_.drought_place();
    result_.drought_end = judge_.drought_end();
    result_.all_serve_after = judge_.all_serve_after();
    result_.whole_after = judge_.whole_after();
    result_.last_limits = judge_.last_limits();
    result_.last_quota = world_.quota().current();
    result_.breach = judge_.Breach();
    FillGrants();
  }

  void FillGrants() {
    result_.controllers = options_.controllers;
    result_.members = options_.members;
    result_.timing = timing_;
    result_.refused = world_.Total().rejected;
    result_.plane = plane_;
    GrantFigures& grants = result_.grants;
    grants.longest = grants_.longest();
    grants.longest_place = grants_.longest_place();
    grants.longest_end = grants_.longest_end();
    grants.excess = grants_.excess();
    grants.p99 = grants_.Quantile(0.99);
    for (const StepDown& step : grants_.step_downs()) {
      if (step.because.empty()) grants.unexcused.push_back(Describe(step));
      ++grants.step_downs[step.because];
    }
  }

  const RunOptions& options_;
  const Timing timing_;
  World world_;
  const std::vector<Cue> cues_;
  std::size_t next_ = 0;
  Judge judge_;
  GrantWatch grants_;
  std::size_t step_downs_said_ = 0;
  PlaneFigures plane_;
  Result result_;
  StallWatch stalls_;
  Instant started_;
  double looked_at_ = 0;
  bool healed_ = false;
  bool said_breach_ = false;
  int quota_said_ = kFirstQuota;
};

}  // namespace

double SettleSeconds(int controllers) {
  return absl::ToDoubleSeconds(BaseHold(TimingOf(controllers))) + 4;
}

absl::StatusOr<Result> Run(const RunOptions& options) { return Director(options).Run(); }

void CatchSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace plimsoll::chaos
