#include "tests/integration/chaos/control_plane.h"

#include <httplib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::chaos {
namespace {

constexpr double kStretch = (1 + kClockDrift) / (1 - kClockDrift);
constexpr absl::Duration kQuotaTimeout = absl::Milliseconds(300);

}  // namespace

// Three controllers: the leader's lease, an election of a second, and what an agent needs to find
// who leads, come to less than the lease of agents.
Timing TimingOf(int controllers) {
  if (controllers == 1) return {demo::kLease, demo::kBaseLease, absl::ZeroDuration()};
  return {absl::Seconds(6), absl::Seconds(8), absl::Seconds(2)};
}

absl::Duration Hold(const Timing& timing) {
  return (timing.lease + demo::kCallDeadline) * kStretch + absl::Seconds(1);
}
absl::Duration BaseHold(const Timing& timing) {
  return (timing.base_lease + demo::kCallDeadline) * kStretch + absl::Seconds(1);
}

std::vector<std::vector<Net>> PlacesFor(int controllers, int members) {
  std::vector<std::vector<Net>> places(kPlaces, {Net::kControl});
  for (int i = 0; i < controllers; ++i) {
    places.push_back(members == 0 ? std::vector<Net>{Net::kControl}
                                  : std::vector<Net>{Net::kControl, Net::kEtcd});
  }
  for (int i = 0; i < members; ++i) places.push_back({Net::kEtcd, Net::kPeers});
  return places;
}

LinkState LinkUnder(const Fault& fault) {
  LinkState state;
  if (IsDisturbance(fault.kind)) {
    state.delay_max = absl::Seconds(fault.delay_max);
    state.loss = fault.loss;
    state.duplicates = fault.duplicates;
    return state;
  }
  state.cut_from = fault.way != Way::kTo && fault.kind != FaultKind::kCutToReplica;
  state.cut_to = fault.way != Way::kFrom && fault.kind != FaultKind::kCutFromReplica;
  return state;
}

std::string EtcdProgram() {
  for (const char* path : {"/usr/bin/etcd", "/usr/local/bin/etcd"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

std::int64_t ResidentKibOf(int process) {
  std::ifstream status(absl::StrCat("/proc/", process, "/status"));
  std::int64_t kib = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) std::istringstream(line.substr(6)) >> kib;
  }
  return kib;
}

int QuotaAt(const std::string& host, int port) {
  httplib::Client client(host, port);
  const auto timeout = absl::ToChronoMicroseconds(kQuotaTimeout);
  client.set_connection_timeout(timeout);
  client.set_read_timeout(timeout);
  const httplib::Result answer =
      client.Get(absl::StrCat("/v1/dependencies/", demo::kDependency).c_str());
  if (!answer || answer->status != 200) return 0;
  const auto view = nlohmann::json::parse(answer->body, nullptr, false);
  const auto capacity = nlohmann::json::json_pointer("/quota/capacity");
  return view.is_object() && view.contains(capacity) ? view.value(capacity, 0) : 0;
}

}  // namespace plimsoll::chaos
