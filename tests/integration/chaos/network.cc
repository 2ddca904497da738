#include "tests/integration/chaos/network.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/examples/demo/child_process.h"

namespace plimsoll::chaos {
namespace {

struct NetFacts {
  const char* device;
  std::uint32_t second;  // byte of the addresses
};

// In the order of Net.
constexpr std::array<NetFacts, kNets> kNetFacts = {{{"control", 90}, {"etcd", 93}, {"peers", 94}}};
constexpr std::uint32_t kFirstHost = 10;
constexpr char kIp[] = "/sbin/ip";

const NetFacts& FactsOf(Net net) { return kNetFacts[static_cast<std::size_t>(net)]; }

absl::Status Failed(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::generic_category().message(errno)));
}

// The `ip` program, in the namespace of this thread.
absl::Status Ip(const std::string& arguments) {
  std::vector<std::string> command = {kIp};
  for (const auto word : absl::StrSplit(arguments, ' ')) command.emplace_back(word);
  auto process = demo::ChildProcess::Start(command);
  if (!process.ok()) return process.status();
  if ((*process)->WaitFor(absl::Seconds(10)) && (*process)->exit_code() == 0) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat("failed: ip ", arguments));
}

absl::Status IpAll(const std::vector<std::string>& commands) {
  for (const std::string& command : commands) {
    absl::Status status = Ip(command);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Of the namespace of this thread.
absl::StatusOr<int> OpenTun(const char* name) {
  const int device = open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (device < 0) return Failed("cannot open /dev/net/tun");
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (ioctl(device, TUNSETIFF, &request) == 0) return device;
  absl::Status status = Failed("cannot make a TUN device");
  close(device);
  return status;
}

// In a user namespace of its own, a user may have a network.
absl::Status BecomeRootOfOwn() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return Failed("no network namespace");
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return absl::OkStatus();
}

}  // namespace

NetworkNamespace::~NetworkNamespace() { close(descriptor_); }

absl::StatusOr<std::unique_ptr<NetworkNamespace>> NetworkNamespace::Current() {
  const int descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Failed("cannot open /proc/thread-self/ns/net");
  return std::make_unique<NetworkNamespace>(descriptor);
}

absl::Status NetworkNamespace::Enter() const {
  return setns(descriptor_, CLONE_NEWNET) == 0 ? absl::OkStatus()
                                               : Failed("cannot enter a network namespace");
}

InNamespace::InNamespace(const NetworkNamespace& there, const NetworkNamespace& home)
    : home_(home), status_(there.Enter()) {}

InNamespace::~InNamespace() { home_.Enter().IgnoreError(); }

absl::Status LeaveTheNetwork() {
  if (access(kIp, X_OK) != 0) return Failed(kIp);
  if (unshare(CLONE_NEWNET) != 0) {
    absl::Status status = BecomeRootOfOwn();
    if (!status.ok()) return status;
  }
  return Ip("link set lo up");
}

absl::StatusOr<std::unique_ptr<ChaosNetwork>> ChaosNetwork::Make(
    const std::vector<std::vector<Net>>& places, std::uint64_t seed) {
  std::unique_ptr<ChaosNetwork> network(new ChaosNetwork(seed));
  absl::StatusOr<std::unique_ptr<NetworkNamespace>> home = NetworkNamespace::Current();
  if (!home.ok()) return home.status();
  network->home_ = *std::move(home);
  absl::Status status = Ip(absl::StrCat("addr add ", HomeAddress(), "/32 dev lo"));
  for (std::size_t i = 0; i < places.size() && status.ok(); ++i) {
    status = network->AddPlace(static_cast<int>(i), places[i]);
  }
  if (!status.ok()) return status;
  network->switch_.Start();
  return network;
}

absl::Status ChaosNetwork::AddPlace(int index, const std::vector<Net>& nets) {
  if (unshare(CLONE_NEWNET) != 0) return Failed("no network namespace");
  absl::StatusOr<std::unique_ptr<NetworkNamespace>> place = NetworkNamespace::Current();
  if (!place.ok()) return place.status();
  places_.push_back(*std::move(place));
  absl::Status furnished = Furnish(index, nets);
  absl::Status returned = home_->Enter();
  if (!furnished.ok()) return furnished;
  if (!returned.ok()) return returned;
  return IpAll({absl::StrCat("addr add 10.91.", index, ".1/30 dev data", index),
                absl::StrCat("link set data", index, " up")});
}

absl::Status ChaosNetwork::AddLink(int index, Net net) {
  const NetFacts& facts = FactsOf(net);
  absl::StatusOr<int> device = OpenTun(facts.device);
  if (!device.ok()) return device.status();
  const std::uint32_t host = kFirstHost + static_cast<std::uint32_t>(index);
  ports_[{index, net}] = switch_.Add(*device, 10U << 24 | facts.second << 16 | host);
  return IpAll({absl::StrCat("addr add ", Address(index, net), "/24 dev ", facts.device),
                absl::StrCat("link set ", facts.device, " up")});
}

absl::Status ChaosNetwork::Furnish(int index, const std::vector<Net>& nets) {
  absl::Status status = Ip("link set lo up");
  for (const Net net : nets) {
    if (status.ok()) status = AddLink(index, net);
  }
  if (!status.ok()) return status;
  // `ip` is another process, so it finds the namespace by the descriptor in this one.
  const std::string home = absl::StrCat("/proc/", getpid(), "/fd/", home_->descriptor());
  return IpAll({absl::StrCat("link add data type veth peer name data", index, " netns ", home),
                absl::StrCat("addr add ", DataAddress(index), "/30 dev data"), "link set data up",
                absl::StrCat("route add default via 10.91.", index, ".1")});
}

std::string ChaosNetwork::Address(int index, Net net) {
  return absl::StrCat("10.", FactsOf(net).second, ".0.",
                      kFirstHost + static_cast<std::uint32_t>(index));
}

std::string ChaosNetwork::DataAddress(int index) { return absl::StrCat("10.91.", index, ".2"); }

}  // namespace plimsoll::chaos
