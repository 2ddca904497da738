#include "tests/integration/chaos/world.h"

#include <httplib.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/setup.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr double kCallsPerSecond = 30;  // of a replica; all together want more than the quota
constexpr double kClockDrift = 0.01;
constexpr double kStretch = (1 + kClockDrift) / (1 - kClockDrift);
constexpr absl::Duration kStartTimeout = absl::Seconds(20);
constexpr absl::Duration kEndTimeout = absl::Seconds(10);
constexpr absl::Duration kLookInterval = absl::Milliseconds(250);
constexpr absl::Duration kAnswerTimeout = absl::Milliseconds(300);
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

absl::Duration Hold() { return (demo::kLease + demo::kCallDeadline) * kStretch + absl::Seconds(1); }
absl::Duration BaseHold() {
  return (demo::kBaseLease + demo::kCallDeadline) * kStretch + absl::Seconds(1);
}

World::World(const WorldOptions& options)
    : options_(options),
      network_(options.network),
      provider_(Model(options.careless_provider), kFirstQuota, options.seed),
      controller_(options.programs + "/plimsoll-controller", options.folder, Config(kFirstQuota),
                  options.network != nullptr ? "0.0.0.0" : "127.0.0.1"),
      quota_(kFirstQuota, Hold()) {}

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
                         absl::FormatDuration(demo::kLease), kClockDrift, demo::kDependency,
                         demo::kFloor, quota, absl::FormatDuration(demo::kCallDeadline), quota,
                         absl::FormatDuration(demo::kBaseLease));
}

absl::Status World::Start() {
  demo::FleetOptions fleet;
  fleet.program = options_.programs + "/plimsoll-demo";
  fleet.seed = options_.seed;
  if (options_.keep_logs) fleet.log_folder = options_.folder;
  if (network_ != nullptr) {
    fleet.provider_host = ChaosNetwork::HomeAddress();
    fleet.controller_host = ChaosNetwork::ControlAddress(kControllerPlace);
  }
  absl::Status status = provider_.Start(fleet.provider_host);
  if (status.ok()) status = StartController();
  if (!status.ok()) return status;
  fleet.provider_port = provider_.port();
  fleet.controller_port = controller_.agent_port();
  fleet_ = std::make_unique<demo::Fleet>(fleet);
  for (int i = 0; i < kMembers && status.ok(); ++i) status = StartReplica(i);
  const Instant give_up = RealClock().Now() + kStartTimeout;
  while (status.ok() && !fleet_->AllHaveSpoken()) {
    if (RealClock().Now() > give_up) return absl::UnavailableError("not all replicas started");
    status = fleet_->Read(absl::Milliseconds(10));
  }
  return status;
}

absl::Status World::StartController() {
  controller_state_.wanted = controller_state_.running = true;
  if (network_ == nullptr) return controller_.Start();
  const InNamespace there(network_->place(kControllerPlace), network_->home());
  return there.status().ok() ? controller_.Start() : there.status();
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
    case FaultKind::kKillController:
    case FaultKind::kPauseController:
    case FaultKind::kRestartController:
      return BeginAtController(fault);
    default:
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
    case FaultKind::kKillController:
    case FaultKind::kRestartController:
      return StartController();
    case FaultKind::kPauseController:
      controller_state_.paused = false;
      controller_.Signal(SIGCONT);
      break;
    default:
      Disturb(fault, false);
  }
  return absl::OkStatus();
}

absl::Status World::BeginAtController(const Fault& fault) {
  if (fault.kind == FaultKind::kPauseController) {
    controller_state_.paused = true;
    controller_.Signal(SIGSTOP);
    return absl::OkStatus();
  }
  controller_state_.wanted = controller_state_.running = false;
  if (fault.kind == FaultKind::kKillController) {
    controller_.Kill();
    return absl::OkStatus();
  }
  const int code = controller_.Terminate();
  if (code == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the controller ended with exit status ", code));
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
  const bool controller =
      fault.kind == FaultKind::kCutController || fault.kind == FaultKind::kDisturbController;
  const int place = controller ? kControllerPlace : fault.targets[0];
  (controller ? controller_state_ : replicas_[static_cast<std::size_t>(place)]).disturbed = on;
  const bool cut = fault.kind == FaultKind::kCutReplica || fault.kind == FaultKind::kCutController;
  LinkState state;
  if (on) {
    state.cut_from = cut || fault.kind == FaultKind::kCutFromReplica;
    state.cut_to = cut || fault.kind == FaultKind::kCutToReplica;
    state.delay_max = absl::Seconds(fault.delay_max);
    state.loss = fault.loss;
    state.duplicates = fault.duplicates;
  }
  network_->Set(place, state);
}

void World::ChangeQuota(int quota) {
  ++quota_changes_;
  quota_.Written(quota);
  provider_.set_quota(quota_.Allowed(RealClock().Now()));
  counted_unsupported_ = false;
  asked_in_vain_ = absl::ZeroDuration();
  looked_at_ = RealClock().Now();
  controller_.set_config(Config(quota));
  if (controller_state_.running) controller_.Signal(SIGHUP);
}

absl::Status World::Step(absl::Duration wait) {
  absl::Status status = fleet_->Read(wait);
  for (int i = 0; i < kPlaces && status.ok(); ++i) status = CheckReplica(i);
  if (!status.ok()) return status;
  if (controller_state_.running && !controller_.Running()) return Crashed("the controller");
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

bool World::ControllerIsUp() const {
  return controller_state_.running && !controller_state_.paused;
}

void World::LookAtQuota() {
  const Instant now = RealClock().Now();
  const absl::Duration passed = now - looked_at_;
  if (passed < kLookInterval) return;
  looked_at_ = now;
  if (!ControllerIsUp()) return;
  const int shown = ShownQuota();
  if (shown > 0) quota_.Shown(shown, RealClock().Now());
  asked_in_vain_ += passed;
  if (quota_.Settled() || counted_unsupported_ || asked_in_vain_ < kReloadTimeout) return;
  counted_unsupported_ = true;
  ++unsupported_changes_;
}

// 0 if the controller does not say.
int World::ShownQuota() const {
  const std::string host =
      network_ == nullptr ? "127.0.0.1" : ChaosNetwork::DataAddress(kControllerPlace);
  httplib::Client client(host, controller_.api_port());
  const auto timeout = absl::ToChronoMicroseconds(kAnswerTimeout);
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout);
  const httplib::Result answer =
      client.Get(absl::StrCat("/v1/dependencies/", demo::kDependency).c_str());
  if (!answer || answer->status != 200) return 0;
  const auto view = nlohmann::json::parse(answer->body, nullptr, false);
  const auto capacity = nlohmann::json::json_pointer("/quota/capacity");
  return view.is_object() && view.contains(capacity) ? view.value(capacity, 0) : 0;
}

std::vector<PlaceView> World::Places() const {
  std::vector<PlaceView> views;
  const bool reachable = ControllerIsUp() && !controller_state_.disturbed;
  for (int i = 0; i < kMembers; ++i) {
    const Process& state = replicas_[static_cast<std::size_t>(i)];
    const demo::Replica& replica = fleet_->replicas()[static_cast<std::size_t>(i)];
    const bool fine = state.running && !state.paused && !state.disturbed;
    views.push_back({fine && reachable, replica.total.succeeded, replica.total.limit});
  }
  return views;
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
  const int code = controller_.Terminate();
  if (code == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the controller ended with exit status ", code));
}

std::int64_t World::packets_carried() const {
  return network_ == nullptr ? 0 : network_->packets().carried();
}
std::int64_t World::packets_lost() const {
  return network_ == nullptr ? 0 : network_->packets().lost();
}

std::int64_t World::controller_kib() {
  if (!controller_.Running()) return 0;
  std::ifstream status(absl::StrCat("/proc/", controller_.pid(), "/status"));
  std::int64_t kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) std::istringstream(line.substr(6)) >> kib;
  }
  return kib;
}

}  // namespace plimsoll::chaos
