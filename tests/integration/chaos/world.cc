#include "tests/integration/chaos/world.h"

#include <signal.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr double kCallsPerSecond = 30;  // of a replica; all together want more than the quota
constexpr absl::Duration kStartTimeout = absl::Seconds(20);
constexpr absl::Duration kEndTimeout = absl::Seconds(10);
constexpr absl::Duration kLookInterval = absl::Milliseconds(250);
constexpr absl::Duration kReloadTimeout = absl::Seconds(5);

// Calls of very different lengths, the longest near the deadline, so that many outlive a limit.
demo::ProviderModel Model(bool careless) {
  demo::ProviderModel model;
  model.capacity = 1000;
  model.fails_from = 1000;
  model.fails_all = 2000;
  model.service_min = absl::Milliseconds(40);
  model.service_max = absl::Milliseconds(600);
  model.deadline = absl::Milliseconds(700);
  if (!careless) return model;
  model.obeys_callers = false;
  model.service_max = model.deadline = absl::Seconds(6);
  return model;
}

absl::Status Crashed(const std::string& who) {
  return absl::AbortedError(absl::StrCat(who, " has ended by itself"));
}

}  // namespace

World::World(const WorldOptions& options)
    : options_(options),
      network_(options.network),
      provider_(Model(options.careless_provider), kFirstQuota, options.seed),
      quota_(kFirstQuota, Hold(options.timing)) {
  PlaneOptions plane{options.programs,    options.folder,      options.network,
                     Config(kFirstQuota), options.controllers, options.members,
                     options.timing,      options.say,         options.slow_election};
  plane_ = options.members == 0 ? MakeSinglePlane(plane) : MakeElectedPlane(plane);
}

std::string World::Config(int quota) const {
  return absl::StrFormat(R"(auth: {allow_anonymous: [viewer, agent]}
agents:
  lease: %s
  hold_max: 200ms
  sync_min: 20ms
  tick: 50ms
  clock_drift: %g
log: {level: debug}
dependencies:
  - name: %s
    scope: fleet
    algorithm: fixed
    floor: %d
    initial: %d
    ceiling: 100
    call_deadline: %s
    quota: {capacity: %d}
    outage: {base_lease: %s}
)",
                         absl::FormatDuration(options_.timing.lease), kClockDrift,
                         demo::kDependency, demo::kFloor, quota,
                         absl::FormatDuration(demo::kCallDeadline), quota,
                         absl::FormatDuration(options_.timing.base_lease));
}

absl::Status World::Start() {
  demo::FleetOptions fleet;
  fleet.program = options_.programs + "/plimsoll-demo";
  fleet.seed = options_.seed;
  if (options_.keep_logs) fleet.log_folder = options_.folder;
  if (network_ != nullptr) {
    fleet.provider_host = ChaosNetwork::HomeAddress();
  }
  absl::Status status = provider_.Start(fleet.provider_host);
  if (status.ok()) status = plane_->Start();
  if (!status.ok()) return status;
  fleet.provider_port = provider_.port();
  fleet.controllers = plane_->Urls();
  fleet_ = std::make_unique<demo::Fleet>(fleet);
  for (int i = 0; i < kMembers && status.ok(); ++i) status = StartReplica(i);
  const Instant give_up = RealClock().Now() + kStartTimeout;
  while (status.ok() && !fleet_->AllHaveSpoken()) {
    if (RealClock().Now() > give_up) return absl::UnavailableError("not all replicas started");
    status = fleet_->Read(absl::Milliseconds(10));
  }
  return status;
}

absl::Status World::StartReplica(int place) {
  const auto index = static_cast<std::size_t>(place);
  replicas_[index].wanted = replicas_[index].running = true;
  const auto start = [&] {
    if (index < fleet_->replicas().size()) return fleet_->Restart(index);
    return fleet_->Start(absl::StrCat(demo::kService, "-", place), kCallsPerSecond);
  };
  if (network_ == nullptr) return start();
  const InNamespace there(network_->place(place), network_->home());
  return there.status().ok() ? start() : there.status();
}

const demo::ChildProcess* World::child(int place) const {
  const auto index = static_cast<std::size_t>(place);
  return index < fleet_->replicas().size() ? fleet_->replicas()[index].process.get() : nullptr;
}

absl::Status World::Begin(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kKillReplica:
      KillReplica(fault.targets[0]);
      break;
    case FaultKind::kPauseReplica:
      Pause(fault.targets[0], true);
      break;
    case FaultKind::kRestartReplica:
      EndReplica(fault.targets[0]);
      break;
    case FaultKind::kSurge:
      for (int i = kMembers; i < kPlaces; ++i) replicas_[static_cast<std::size_t>(i)].wanted = true;
      for (const int place : fault.targets) EndReplica(place);
      break;
    case FaultKind::kQuota:
      ChangeQuota(fault.quota);
      break;
    default:
      if (FactsOf(fault.kind).victim != Victim::kReplica) return plane_->Begin(fault);
      Disturb(fault, true);
  }
  return absl::OkStatus();
}

absl::Status World::Mend(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kKillReplica:
    case FaultKind::kRestartReplica:
      replicas_[static_cast<std::size_t>(fault.targets[0])].wanted = true;
      break;
    case FaultKind::kPauseReplica:
      Pause(fault.targets[0], false);
      break;
    case FaultKind::kSurge:
      for (int i = kMembers; i < kPlaces; ++i) EndReplica(i);
      for (const int i : fault.targets) replicas_[static_cast<std::size_t>(i)].wanted = true;
      break;
    case FaultKind::kQuota:
      break;
    default:
      if (FactsOf(fault.kind).victim != Victim::kReplica) return plane_->Mend(fault);
      Disturb(fault, false);
  }
  return absl::OkStatus();
}

void World::KillReplica(int place) {
  Process& state = replicas_[static_cast<std::size_t>(place)];
  state.wanted = state.running = false;
  fleet_->Kill(static_cast<std::size_t>(place));
}

void World::EndReplica(int place) {
  Process& state = replicas_[static_cast<std::size_t>(place)];
  state.wanted = state.running = false;
  state.told_to_end = RealClock().Now();
  if (child(place) != nullptr) fleet_->Terminate(static_cast<std::size_t>(place));
}

void World::Pause(int place, bool paused) {
  replicas_[static_cast<std::size_t>(place)].paused = paused;
  const auto& process = fleet_->replicas()[static_cast<std::size_t>(place)].process;
  if (process != nullptr) process->Signal(paused ? SIGSTOP : SIGCONT);
}

void World::Disturb(const Fault& fault, bool on) {
  const int place = fault.targets[0];
  replicas_[static_cast<std::size_t>(place)].disturbed = on;
  network_->Set(place, Net::kControl, on ? LinkUnder(fault) : LinkState{});
}

void World::ChangeQuota(int quota) {
  ++quota_changes_;
  quota_.Written(quota);
  provider_.set_quota(quota_.Allowed(RealClock().Now()));
  counted_unsupported_ = false;
  asked_in_vain_ = absl::ZeroDuration();
  looked_at_ = RealClock().Now();
  plane_->SetConfig(Config(quota));
}

absl::Status World::Step(absl::Duration wait) {
  absl::Status status = fleet_->Read(wait);
  for (int i = 0; i < kPlaces && status.ok(); ++i) status = CheckReplica(i);
  if (!status.ok()) return status;
  if (status = plane_->Check(); !status.ok()) return status;
  if (!quota_.Settled()) LookAtQuota();
  provider_.set_quota(quota_.Allowed(RealClock().Now()));
  return absl::OkStatus();
}

absl::Status World::CheckReplica(int place) {
  Process& state = replicas_[static_cast<std::size_t>(place)];
  const bool exists = child(place) != nullptr;
  if (state.running && !exists) return Crashed(absl::StrCat("replica ", place));
  if (!state.running && exists && RealClock().Now() > state.told_to_end + kEndTimeout) {
    return absl::AbortedError(absl::StrCat("replica ", place, " does not end after SIGTERM"));
  }
  return state.wanted && !exists ? StartReplica(place) : absl::OkStatus();
}

void World::LookAtQuota() {
  const Instant now = RealClock().Now();
  const absl::Duration passed = now - looked_at_;
  if (passed < kLookInterval) return;
  looked_at_ = now;
  if (!plane_->IsUp()) return;
  const int shown = plane_->ShownQuota();
  if (shown > 0) quota_.Shown(shown, RealClock().Now());
  asked_in_vain_ += passed;
  if (quota_.Settled() || counted_unsupported_ || asked_in_vain_ < kReloadTimeout) return;
  counted_unsupported_ = true;
  ++unsupported_changes_;
}

std::vector<PlaceView> World::Places() const {
  std::vector<PlaceView> views;
  const bool reachable = plane_->Excuse() == nullptr;
  for (int i = 0; i < kMembers; ++i) {
    const Process& state = replicas_[static_cast<std::size_t>(i)];
    const demo::Replica& replica = fleet_->replicas()[static_cast<std::size_t>(i)];
    const bool fine = state.running && !state.paused && !state.disturbed;
    views.push_back({fine && reachable, replica.total.succeeded, replica.total.limit});
  }
  return views;
}

std::vector<GrantSight> World::Grants(Instant start) const {
  std::vector<GrantSight> sights;
  const char* const excuse = plane_->Excuse();
  for (int i = 0; i < kMembers; ++i) {
    const Process& state = replicas_[static_cast<std::size_t>(i)];
    const demo::Replica& replica = fleet_->replicas()[static_cast<std::size_t>(i)];
    GrantSight sight;
    sight.excuse = excuse;
    if (state.disturbed) sight.excuse = "its network was disturbed";
    if (state.paused) sight.excuse = "it was paused";
    if (!state.running || !replica.has_spoken) sight.excuse = "it did not run";
    sight.starts = replica.starts;
    const auto seconds = [start](std::int64_t ns) {
      return absl::ToDoubleSeconds(Instant{ns} - start);
    };
    sight.granted_at = seconds(replica.total.granted_ns);
    sight.written_at = seconds(replica.total.written_ns);
    sight.stepped_down = replica.total.stepped_down;
    sights.push_back(sight);
  }
  return sights;
}

absl::Status World::Stop() {
  for (int i = 0; i < kPlaces; ++i) EndReplica(i);
  const Instant give_up = RealClock().Now() + kEndTimeout;
  const auto any_runs = [&] {
    for (int i = 0; i < kPlaces; ++i) {
      if (child(i) != nullptr) return true;
    }
    return false;
  };
  while (any_runs() && RealClock().Now() < give_up) {
    absl::Status status = fleet_->Read(absl::Milliseconds(10));
    if (!status.ok()) return status;
  }
  if (any_runs()) return absl::AbortedError("a replica does not end after SIGTERM");
  return plane_->Stop();
}

std::int64_t World::packets_carried() const {
  return network_ == nullptr ? 0 : network_->packets().carried();
}
std::int64_t World::packets_lost() const {
  return network_ == nullptr ? 0 : network_->packets().lost();
}

}  // namespace plimsoll::chaos
