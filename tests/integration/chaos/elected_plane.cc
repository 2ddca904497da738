#include "tests/integration/chaos/elected_plane.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::chaos {
namespace {

constexpr int kApiPort = 7480;
constexpr int kAgentPort = 7481;
constexpr absl::Duration kStartTimeout = absl::Seconds(60);

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

}  // namespace

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
  LookAtQuorum();
  return absl::OkStatus();
}

// Members that are back need a moment to elect one of them.
void ElectedPlane::LookAtQuorum() {
  const auto running = std::count_if(members_.begin(), members_.end(),
                                     [](const Member& member) { return member.state.running; });
  const bool lost = running <= static_cast<std::ptrdiff_t>(members_.size() / 2);
  if (watch_ == nullptr) return;
  quorum_lost_ = lost || (quorum_lost_ && !watch_->AnsweredSince(quorum_back_at_));
  if (lost) quorum_back_at_ = RealClock().Now();
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
  if (quorum_lost_) return "etcd had no quorum";
  // A member that is only slow goes on to lead the others.
  const std::optional<int> etcd_leader = watch_->member();
  if (etcd_leader.has_value() && members_[static_cast<std::size_t>(*etcd_leader)].disturbed) {
    return "the network of the member that led etcd was disturbed";
  }
  const std::optional<int> leader = watch_->controller();
  if (!leader.has_value()) return nullptr;
  // Who hears something of agents and of etcd goes on to lead, though little of it gets through.
  const Controller& one = controllers_[static_cast<std::size_t>(*leader)];
  const bool disturbed = one.state.active() && one.agents == Trouble::kDisturbed;
  return disturbed ? "the network of the controller that led was disturbed" : nullptr;
}

std::int64_t ElectedPlane::ResidentKib() {
  demo::ControllerProcess& first = *controllers_[0].process;
  return first.Running() ? ResidentKibOf(first.pid()) : 0;
}

std::unique_ptr<ControlPlane> MakeElectedPlane(const PlaneOptions& options) {
  return std::make_unique<ElectedPlane>(options);
}

}  // namespace plimsoll::chaos
