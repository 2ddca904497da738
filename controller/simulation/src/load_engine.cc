#include "controller/simulation/src/load_engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

constexpr absl::Duration kSampleInterval = absl::Milliseconds(500);
constexpr std::size_t kDecisionsKept = 20'000;

// Reports often and decides often, so that a law is not slower than it has to be: what is compared
// are laws, not how patient an operator is.
CoreOptions MakeOptions(std::uint64_t seed) {
  CoreOptions options;
  options.hold_max = kLoadHoldMax;
  options.tick = kLoadTick;
  options.seed = seed;
  return options;
}

}  // namespace

LoadEngine::LoadEngine(const LoadScenario& scenario, const LawUnderTest& law,
                       const LoadOptions& options)
    : scenario_(scenario),
      law_(law),
      options_(options),
      policy_(MakePolicy(scenario, law)),
      nominal_capacity_(NominalCapacity(scenario)),
      control_random_(options.seed),
      arrival_random_(control_random_.Next()),
      service_random_(control_random_.Next()),
      meter_(scenario, ReplicasMax(scenario), run_),
      net_{queue_, control_random_, scenario.network_delay},
      deadline_ns_(absl::ToInt64Nanoseconds(scenario.deadline)) {
  run_.law = law.name;
  run_.seed = options.seed;
  replicas_.resize(static_cast<std::size_t>(ReplicasMax(scenario)));
  const std::vector<double>& traffic = scenario.traffic;
  double rest = 1;
  for (const double part : traffic) rest -= part;
  const std::size_t even = replicas_.size() - std::min(traffic.size(), replicas_.size());
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    replicas_[i].traffic = i < traffic.size() ? traffic[i] : rest / static_cast<double>(even);
  }
  const std::size_t stations = scenario.shared ? 1 : replicas_.size();
  for (std::size_t i = 0; i < stations; ++i) {
    stations_.emplace_back(scenario.station, static_cast<std::uint32_t>(i), calls_, events_);
  }
  if (law.static_limit) return;
  controller_ = std::make_unique<LoadController>(queue_, control_random_,
                                                 MakeOptions(control_random_.Next()), policy_);
}

LoadEngine::~LoadEngine() { calls_.IgnoreAll(); }

LoadRun LoadEngine::Run() {
  if (controller_) controller_->Start();
  Schedule();
  const Instant end = Instant() + scenario_.length + absl::Nanoseconds(1);
  for (;;) {
    const std::int64_t call = events_.empty() ? INT64_MAX : events_.top().at;
    const std::int64_t next = std::min(call, next_arrival_);
    const Instant control = queue_.next();
    if (std::min(next, control.ns) >= end.ns) break;
    if (control.ns <= next) {
      queue_.Step(end);
      continue;
    }
    queue_.AdvanceTo({next});
    if (next_arrival_ <= call) {
      Arrive();
    } else {
      StepCalls();
    }
  }
  meter_.Finish(scenario_.length, there_);
  CollectDecisions();
  run_.messages = net_.messages;
  run_.grants = net_.grants;
  run_.open = run_.calls - run_.good - run_.late - run_.rejected - run_.lost;
  return std::move(run_);
}

void LoadEngine::Schedule() {
  SchedulePhases();
  ScheduleFaults();
  ScheduleSample(kSampleInterval);
  if (scenario_.pause_every != absl::InfiniteDuration()) SchedulePause(scenario_.pause_every);
  if (scenario_.noise_every != absl::InfiniteDuration()) {
    ScheduleNoise(scenario_.noise_every, scenario_.noise_factor);
  }
}

void LoadEngine::SchedulePhases() {
  for (std::size_t i = 1; i < scenario_.phases.size(); ++i) {
    queue_.After(scenario_.phases[i].start, [this, i] { BeginPhase(i); });
  }
  for (int i = 0; i < ReplicasAt(scenario_, 0); ++i) {
    if (i != scenario_.late_replica) Join(i);
  }
  BeginPhase(0);
}

void LoadEngine::ScheduleFaults() {
  if (scenario_.late_replica) {
    queue_.After(scenario_.late_at, [this] { Join(*scenario_.late_replica); });
  }
  for (const plimsoll::Crash& crash : scenario_.crashes) {
    queue_.After(crash.at, [this, crash] {
      Crash(crash.replica);
      queue_.After(crash.down, [this, crash] { Join(crash.replica); });
    });
  }
  if (controller_ == nullptr || scenario_.controller_away_at == absl::InfiniteDuration()) return;
  queue_.After(scenario_.controller_away_at, [this] {
    CollectDecisions();
    controller_->Crash();
    queue_.After(scenario_.controller_away, [this] { controller_->Start(); });
  });
}

void LoadEngine::SchedulePause(absl::Duration at) {
  queue_.At(Instant() + at, [this, at] {
    const Instant until = queue_.now() + scenario_.pause;
    stations_[0].Pause(until.ns, now());
    queue_.At(until, [this] { stations_[0].Resume(now()); });
    SchedulePause(at + scenario_.pause_every);
  });
}

void LoadEngine::ScheduleNoise(absl::Duration wait, double factor) {
  queue_.After(wait, [this, factor] {
    delay_factor_ = factor;
    ScheduleNoise(scenario_.noise_every * control_random_.Uniform(0.5, 1.5),
                  factor == 1 ? scenario_.noise_factor : 1);
  });
}

void LoadEngine::ScheduleSample(absl::Duration at) {
  queue_.At(Instant() + at, [this, at] {
    Sample();
    ScheduleSample(at + kSampleInterval);
  });
}

void LoadEngine::Join(int index) {
  Replica& joining = replica(index);
  if (joining.process >= 0) return;
  joining.process = static_cast<int>(processes_.size());
  Process& made = processes_.emplace_back();
  made.replica = index;
  if (controller_) {
    const std::string again = joining.deploys > 0 ? absl::StrCat("-", joining.deploys) : "";
    made.agent = std::make_unique<LoadAgent>(net_, *controller_, policy_.name,
                                             InstanceId(absl::StrCat("replica-", index, again)));
  }
  ListThere();
}

void LoadEngine::Leave(int index) {
  Replica& leaving = replica(index);
  if (leaving.process < 0) return;
  if (controller_) process(leaving.process).agent->Leave();
  leaving.process = -1;
  ++leaving.deploys;
  ListThere();
}

void LoadEngine::Crash(int index) {
  Replica& crashing = replica(index);
  if (crashing.process < 0) return;
  Process& ending = process(crashing.process);
  ending.alive = false;
  if (controller_) ending.agent->Crash();
  crashing.process = -1;
  ListThere();
}

void LoadEngine::ListThere() {
  there_.clear();
  traffic_there_ = 0;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    if (replicas_[i].process < 0) continue;
    there_.push_back(static_cast<int>(i));
    traffic_there_ += replicas_[i].traffic;
  }
}

Calls LoadEngine::LimitOf(const Process& process) const {
  return law_.static_limit ? *law_.static_limit : process.agent->limit();
}

void LoadEngine::BeginPhase(std::size_t index) {
  meter_.BeginPhase(index, queue_.now() - Instant(), there_);
  const LoadPhase& phase = scenario_.phases[index];
  ChangeStations(index);
  if (phase.replicas) {
    for (int i = 0; i < static_cast<int>(replicas_.size()); ++i) {
      if (i >= *phase.replicas) {
        Leave(i);
      } else if (i != scenario_.late_replica || queue_.now() - Instant() >= scenario_.late_at) {
        Join(i);
      }
    }
  }
  arrivals_per_second_ = phase.load * nominal_capacity_;
  DrawNextArrival();
}

void LoadEngine::ChangeStations(std::size_t phase) {
  Station station = StationAt(scenario_, phase);
  delay_seconds_ = absl::ToDoubleSeconds(station.delay);
  for (StationModel& model : stations_) model.Change(station, now());
  if (!scenario_.slow_replica_servers) return;
  station.servers = *scenario_.slow_replica_servers;
  stations_[0].Change(station, now());
}

void LoadEngine::Sample() {
  FleetNow fleet;
  fleet.replicas = static_cast<int>(there_.size());
  fleet.in_flight = in_flight_;
  Calls in_force = 0;
  for (const Process& one : processes_) {
    if (one.Lives()) in_force += LimitOf(one);
  }
  fleet.limits = in_force;
  meter_.TakeSample(queue_.now() - Instant(), fleet);
  if (controller_ && policy_.quota && in_force > *policy_.quota) ++run_.quota_violations;
  CollectDecisions();
  if (options_.progress) {
    options_.progress(
        std::min(1.0, absl::FDivDuration(queue_.now() - Instant(), scenario_.length)));
  }
}

void LoadEngine::CollectDecisions() {
  if (controller_ == nullptr) return;
  std::vector<LogEvent>& kept = run_.decisions;
  controller_->CollectDecisions(kept);
  if (kept.size() <= kDecisionsKept) return;
  kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(kDecisionsKept));
}

}  // namespace plimsoll::internal
