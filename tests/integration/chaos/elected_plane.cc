// Several controllers, of which one leads, and the members of their etcd.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/examples/demo/controller_process.h"
#include "plimsoll/core/clock.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/chaos/etcd_member.h"
#include "tests/integration/chaos/leader_watch.h"

namespace plimsoll::chaos {
namespace {

constexpr int kApiPort = 7480;
constexpr int kAgentPort = 7481;
constexpr absl::Duration kStartTimeout = absl::Seconds(60);

enum class Trouble { kNone, kDisturbed, kCut };

struct Controller {
  std::unique_ptr<demo::ControllerProcess> process;
  ProcessState state;
  Trouble agents = Trouble::kNone;  // its links
  Trouble etcd = Trouble::kNone;
  std::string config_hash;  // of the newest configuration
};

struct Member {
  std::unique_ptr<EtcdMember> process;
  ProcessState state;
  bool disturbed = false;  // its links
};

// As the controller has it: 64-bit FNV-1a of the text.
std::string HashOfFile(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (auto at = std::istreambuf_iterator<char>(file); at != std::istreambuf_iterator<char>();
       ++at) {
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3;
  }
  return absl::StrFormat("%016x", hash);
}

class ElectedPlane final : public ControlPlane {
 public:
  explicit ElectedPlane(const PlaneOptions& options);

  absl::Status Start() override;
  std::vector<std::string> Urls() const override;
  absl::Status Begin(const Fault& fault) override;
  absl::Status Mend(const Fault& fault) override;
  absl::Status Check() override;
  absl::Status Stop() override;

  void SetConfig(const std::string& config) override;
  bool IsUp() const override;
  int ShownQuota() override;
  const char* Excuse() const override;
  PlaneFigures Figures() const override {
    return {watch_->epochs(), watch_->stalls(), absl::ToDoubleSeconds(watch_->longest_stall())};
  }
  std::int64_t ResidentKib() override;

 private:
  int Place(int controller) const { return kPlaces + controller; }
  int MemberPlace(int member) const { return kPlaces + options_.controllers + member; }
  // Under which others find a place in a net, and this process finds it.
  std::string Address(int place, Net net) const;
  std::string DataAddress(int place) const;
  std::string ConfigOf(int controller, const std::string& config) const;
  void Write(int controller, const std::string& config);
  void MakeMembers();
  void MakeControllers();
  absl::Status StartController(int index);
  absl::Status StartMember(int index);
  absl::Status In(int place, const std::function<absl::Status()>& start) const;

  std::vector<int> Resolve(const Fault& fault) const;
  absl::Status BeginAtController(const Fault& fault, int index);
  void BeginAtMember(const Fault& fault, int index);
  absl::Status MendController(const Fault& fault, int index);
  absl::Status MendMember(const Fault& fault, int index);
  void SetLinks(const Fault& fault, int index, bool on);
  void Say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Controller& controller(int index) { return controllers_[static_cast<std::size_t>(index)]; }
  Member& member(int index) { return members_[static_cast<std::size_t>(index)]; }

  const PlaneOptions options_;
  ChaosNetwork* const network_;
  const std::string loopback_;  // the first three bytes, without a network
  std::vector<Controller> controllers_;
  std::vector<Member> members_;
  // Whom the present faults hit: one of the controllers and one of etcd at a time.
  std::vector<int> hit_controllers_;
  std::vector<int> hit_members_;
  std::unique_ptr<LeaderWatch> watch_;
};

ElectedPlane::ElectedPlane(const PlaneOptions& options)
    : options_(options),
      network_(options.network),
      loopback_(absl::StrCat("127.", 100 + getpid() / 250 % 100, ".", 1 + getpid() % 250, ".")) {
  MakeMembers();
  MakeControllers();
}

std::string ElectedPlane::Address(int place, Net net) const {
  return network_ != nullptr ? ChaosNetwork::Address(place, net)
                             : absl::StrCat(loopback_, 10 + place);
}

std::string ElectedPlane::DataAddress(int place) const {
  return network_ != nullptr ? ChaosNetwork::DataAddress(place)
                             : absl::StrCat(loopback_, 10 + place);
}

void ElectedPlane::MakeMembers() {
  std::vector<EtcdAddress> all;
  for (int i = 0; i < options_.members; ++i) {
    const int place = MemberPlace(i);
    const std::string own = network_ != nullptr ? "0.0.0.0" : Address(place, Net::kEtcd);
    all.push_back(
        {absl::StrCat("etcd-", i), own, Address(place, Net::kEtcd), Address(place, Net::kPeers)});
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    members_.push_back(
        {std::make_unique<EtcdMember>(i, all, options_.folder, options_.slow_election), {}});
  }
}

void ElectedPlane::MakeControllers() {
  std::vector<std::string> endpoints;
  for (int i = 0; i < options_.members; ++i) {
    endpoints.push_back(
        absl::StrCat("\"http://", Address(MemberPlace(i), Net::kEtcd), ":", kEtcdClientPort, "\""));
  }
  const std::string state =
      absl::StrCat("{mode: etcd, etcd: {endpoints: [", absl::StrJoin(endpoints, ", "),
                   "], lease: ", absl::FormatDuration(options_.timing.leader_lease), "}}");
  for (int i = 0; i < options_.controllers; ++i) {
    const std::string folder = absl::StrCat(options_.folder, "/controller-", i);
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    controllers_.emplace_back();
    controllers_.back().process = std::make_unique<demo::ControllerProcess>(
        options_.programs + "/plimsoll-controller", folder, ConfigOf(i, options_.config),
        network_ != nullptr ? "0.0.0.0" : Address(Place(i), Net::kControl), state);
    controllers_.back().process->set_ports(kAgentPort, kApiPort);
    Write(i, options_.config);
  }
}

std::string ElectedPlane::ConfigOf(int controller, const std::string& config) const {
  return absl::StrCat("advertise: {agents: \"http://", Address(Place(controller), Net::kControl),
                      ":", kAgentPort, "\", api: \"http://", DataAddress(Place(controller)), ":",
                      kApiPort, "\"}\n", config);
}

void ElectedPlane::Write(int index, const std::string& config) {
  controller(index).process->set_config(ConfigOf(index, config));
  controller(index).config_hash = HashOfFile(controller(index).process->config_file());
}

absl::Status ElectedPlane::In(int place, const std::function<absl::Status()>& start) const {
  if (network_ == nullptr) return start();
  const InNamespace there(network_->place(place), network_->home());
  return there.status().ok() ? start() : there.status();
}

absl::Status ElectedPlane::StartController(int index) {
  controller(index).state = {true, false};
  return In(Place(index), [&] { return controller(index).process->Start(); });
}

absl::Status ElectedPlane::StartMember(int index) {
  member(index).state = {true, false};
  return In(MemberPlace(index), [&] { return member(index).process->Start(); });
}

absl::Status ElectedPlane::Start() {
  std::vector<LeaderWatch::Address> controllers;
  std::vector<LeaderWatch::Address> members;
  for (int i = 0; i < options_.controllers; ++i) {
    controllers.push_back({DataAddress(Place(i)), kApiPort});
  }
  absl::Status status;
  for (int i = 0; i < options_.members && status.ok(); ++i) {
    members.push_back({DataAddress(MemberPlace(i)), kEtcdClientPort});
    status = StartMember(i);
  }
  for (int i = 0; i < options_.controllers && status.ok(); ++i) status = StartController(i);
  if (!status.ok()) return status;
  watch_ = std::make_unique<LeaderWatch>(controllers, members);
  const Instant give_up = RealClock().Now() + kStartTimeout;
  while (!watch_->controller() || !watch_->member()) {
    if (RealClock().Now() > give_up) {
      return absl::UnavailableError(
          absl::StrCat("no controller leads: see ", options_.folder, "/etcd-0.log"));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (absl::Status running = Check(); !running.ok()) return running;
  }
  return absl::OkStatus();
}

std::vector<std::string> ElectedPlane::Urls() const {
  std::vector<std::string> urls;
  for (int i = 0; i < options_.controllers; ++i) {
    urls.push_back(absl::StrCat("http://", Address(Place(i), Net::kControl), ":", kAgentPort));
  }
  return urls;
}

std::vector<int> ElectedPlane::Resolve(const Fault& fault) const {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  const int count = etcd ? options_.members : options_.controllers;
  const int leader = (etcd ? watch_->member() : watch_->controller()).value_or(0);
  const int first = fault.targets[0] == kLeader ? leader : fault.targets[0];
  const bool two = fault.kind == FaultKind::kKillTwoControllers ||
                   fault.kind == FaultKind::kPauseQuorum || fault.kind == FaultKind::kLoseQuorum;
  return two ? std::vector<int>{first, (first + 1) % count} : std::vector<int>{first};
}

absl::Status ElectedPlane::Begin(const Fault& fault) {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  std::vector<int>& hit = etcd ? hit_members_ : hit_controllers_;
  hit = Resolve(fault);
  Say(absl::StrCat("  it is ", absl::StrJoin(hit, " and ")));
  for (const int index : hit) {
    if (etcd) {
      BeginAtMember(fault, index);
      continue;
    }
    if (absl::Status begun = BeginAtController(fault, index); !begun.ok()) return begun;
  }
  return absl::OkStatus();
}

absl::Status ElectedPlane::BeginAtController(const Fault& fault, int index) {
  Controller& target = controller(index);
  switch (fault.kind) {
    case FaultKind::kKillController:
    case FaultKind::kKillTwoControllers:
      target.state.running = false;
      target.process->Kill();
      return absl::OkStatus();
    case FaultKind::kPauseController:
      target.state.paused = true;
      target.process->Signal(SIGSTOP);
      return absl::OkStatus();
    case FaultKind::kRestartController: {
      target.state.running = false;
      const int code = target.process->Terminate();
      if (code == 0) return absl::OkStatus();
      return absl::AbortedError(
          absl::StrCat("controller ", index, " ended with exit status ", code));
    }
    default:
      SetLinks(fault, index, true);
      return absl::OkStatus();
  }
}

void ElectedPlane::BeginAtMember(const Fault& fault, int index) {
  Member& target = member(index);
  switch (fault.kind) {
    case FaultKind::kKillEtcd:
    case FaultKind::kLoseQuorum:
      target.state.running = false;
      target.process->Kill();
      return;
    case FaultKind::kPauseEtcd:
    case FaultKind::kPauseQuorum:
      target.state.paused = true;
      target.process->Signal(SIGSTOP);
      return;
    case FaultKind::kRestartEtcd:
      target.state.running = false;
      target.process->Signal(SIGTERM);
      return;
    default:
      SetLinks(fault, index, true);
  }
}

absl::Status ElectedPlane::Mend(const Fault& fault) {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  for (const int index : etcd ? hit_members_ : hit_controllers_) {
    absl::Status mended = etcd ? MendMember(fault, index) : MendController(fault, index);
    if (!mended.ok()) return mended;
  }
  return absl::OkStatus();
}

absl::Status ElectedPlane::MendController(const Fault& fault, int index) {
  Controller& target = controller(index);
  if (!FactsOf(fault.kind).process) {
    SetLinks(fault, index, false);
    return absl::OkStatus();
  }
  if (fault.kind != FaultKind::kPauseController) return StartController(index);
  target.state.paused = false;
  target.process->Signal(SIGCONT);
  return absl::OkStatus();
}

absl::Status ElectedPlane::MendMember(const Fault& fault, int index) {
  Member& target = member(index);
  if (!FactsOf(fault.kind).process) {
    SetLinks(fault, index, false);
    return absl::OkStatus();
  }
  if (target.state.paused) {
    target.state.paused = false;
    target.process->Signal(SIGCONT);
    return absl::OkStatus();
  }
  target.process->Kill();
  return StartMember(index);
}

void ElectedPlane::SetLinks(const Fault& fault, int index, bool on) {
  const LinkState link = on ? LinkUnder(fault) : LinkState{};
  if (FactsOf(fault.kind).victim == Victim::kEtcd) {
    if (fault.kind != FaultKind::kCutEtcdClients) {
      network_->Set(MemberPlace(index), Net::kPeers, link);
    }
    member(index).disturbed = on && IsDisturbance(fault.kind);
    if (fault.kind != FaultKind::kCutEtcdPeers) network_->Set(MemberPlace(index), Net::kEtcd, link);
    return;
  }
  const Trouble trouble = !on                         ? Trouble::kNone
                          : IsDisturbance(fault.kind) ? Trouble::kDisturbed
                                                      : Trouble::kCut;
  if (fault.kind != FaultKind::kCutControllerFromEtcd) {
    network_->Set(Place(index), Net::kControl, link);
    controller(index).agents = trouble;
  }
  if (fault.kind != FaultKind::kCutControllerFromAgents) {
    network_->Set(Place(index), Net::kEtcd, link);
    controller(index).etcd = trouble;
  }
}

absl::Status ElectedPlane::Check() {
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    if (!controllers_[i].state.running || controllers_[i].process->Running()) continue;
    return absl::AbortedError(absl::StrCat("controller ", i, " has ended by itself"));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].state.running || members_[i].process->Running()) continue;
    return absl::AbortedError(absl::StrCat("member ", i, " of etcd has ended by itself: see ",
                                           members_[i].process->log()));
  }
  return absl::OkStatus();
}

absl::Status ElectedPlane::Stop() {
  absl::Status status;
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    controllers_[i].state.running = false;
    const int code = controllers_[i].process->Terminate();
    if (code != 0 && status.ok()) {
      status = absl::AbortedError(absl::StrCat("controller ", i, " ended with exit status ", code));
    }
  }
  for (Member& member : members_) {
    member.state.running = false;
    member.process->Stop();
  }
  return status;
}

void ElectedPlane::SetConfig(const std::string& config) {
  for (int i = 0; i < options_.controllers; ++i) {
    Write(i, config);
    if (controller(i).state.running) controller(i).process->Signal(SIGHUP);
  }
}

bool ElectedPlane::IsUp() const {
  const bool all = std::all_of(controllers_.begin(), controllers_.end(),
                               [](const Controller& c) { return !c.state.paused; });
  return all && Excuse() == nullptr && watch_->etcd_answers();
}

// One that is stopped, and has not read the newest configuration, might lead with it for a moment.
int ElectedPlane::ShownQuota() {
  const std::optional<int> leader = watch_->controller();
  if (!leader.has_value() || !controller(*leader).state.active()) return 0;
  for (int i = 0; i < options_.controllers; ++i) {
    const Controller& one = controller(i);
    if (one.state.running && watch_->config_hash(i) != one.config_hash) return 0;
  }
  return QuotaAt(DataAddress(Place(*leader)), kApiPort);
}

const char* ElectedPlane::Excuse() const {
  const auto running = std::count_if(members_.begin(), members_.end(),
                                     [](const Member& member) { return member.state.running; });
  if (running <= static_cast<std::ptrdiff_t>(members_.size() / 2)) {
    return "etcd had no quorum";
  }
  // A member that is only slow goes on to lead the others.
  const std::optional<int> etcd_leader = watch_->member();
  if (etcd_leader.has_value() && members_[static_cast<std::size_t>(*etcd_leader)].disturbed) {
    return "the network of the member that led etcd was disturbed";
  }
  const std::optional<int> leader = watch_->controller();
  if (!leader.has_value()) return nullptr;
  // Whom etcd hears goes on to lead, also if agents do not.
  const Controller& one = controllers_[static_cast<std::size_t>(*leader)];
  const bool hidden = one.state.active() && one.agents != Trouble::kNone;
  return hidden && one.etcd != Trouble::kCut ? "agents could not reach the controller that led"
                                             : nullptr;
}

std::int64_t ElectedPlane::ResidentKib() {
  demo::ControllerProcess& first = *controllers_[0].process;
  return first.Running() ? ResidentKibOf(first.pid()) : 0;
}

}  // namespace

std::unique_ptr<ControlPlane> MakeElectedPlane(const PlaneOptions& options) {
  return std::make_unique<ElectedPlane>(options);
}

}  // namespace plimsoll::chaos
