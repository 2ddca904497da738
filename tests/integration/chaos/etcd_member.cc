#include "tests/integration/chaos/etcd_member.h"

#include <signal.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/integration/chaos/control_plane.h"

namespace plimsoll::chaos {
namespace {

constexpr absl::Duration kStopTimeout = absl::Seconds(5);

std::string Url(const std::string& address, int port) {
  return absl::StrCat("http://", address, ":", port);
}

std::string Peers(const std::vector<EtcdAddress>& all) {
  return absl::StrJoin(all, ",", [](std::string* text, const EtcdAddress& member) {
    absl::StrAppend(text, member.name, "=", member.PeerUrl());
  });
}

}  // namespace

std::string EtcdAddress::ClientUrl() const { return Url(clients, client_port); }
std::string EtcdAddress::PeerUrl() const { return Url(peers, peer_port); }

// etcd makes no lease shorter than one and a half times the timeout of its elections.
EtcdMember::EtcdMember(std::size_t self, const std::vector<EtcdAddress>& all,
                       const std::string& folder, bool slow)
    : log_(absl::StrCat(folder, "/", all[self].name, ".log")),
      data_(absl::StrCat(folder, "/", all[self].name)) {
  const EtcdAddress& own = all[self];
  command_ = {EtcdProgram(),
              "--name=" + own.name,
              "--data-dir=" + data_,
              "--log-level=warn",
              "--listen-client-urls=" + Url(own.listen, own.client_port),
              "--advertise-client-urls=" + own.ClientUrl(),
              "--listen-peer-urls=" + Url(own.listen, own.peer_port),
              "--initial-advertise-peer-urls=" + own.PeerUrl(),
              "--initial-cluster=" + Peers(all),
              "--heartbeat-interval=100",
              "--pre-vote",
              absl::StrCat("--election-timeout=", slow ? 10000 : 1000),
              "--unsafe-no-fsync"};
}

absl::Status EtcdMember::Start() {
  absl::StatusOr<std::unique_ptr<demo::ChildProcess>> process =
      demo::ChildProcess::Start(command_, log_);
  if (!process.ok()) return process.status();
  process_ = *std::move(process);
  return absl::OkStatus();
}

void EtcdMember::Stop() {
  if (process_ == nullptr) return;
  process_->Signal(SIGTERM);
  process_->WaitFor(kStopTimeout);
  process_.reset();
}

}  // namespace plimsoll::chaos
