#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/examples/demo/child_process.h"

namespace plimsoll::chaos {

inline constexpr int kEtcdClientPort = 2379;
inline constexpr int kEtcdPeerPort = 2380;

// Where one member of an etcd listens and is found.
struct EtcdAddress {
  std::string name;
  std::string listen;   // address, for clients and peers
  std::string clients;  // address at which clients find it
  std::string peers;    // address at which members find it
  int client_port = kEtcdClientPort;
  int peer_port = kEtcdPeerPort;

  std::string ClientUrl() const;
  std::string PeerUrl() const;
};

// A member of an etcd, as a process with its data in a folder, and its log beside them. Nothing
// here forces data to the disk: processes die, not the machine. Confined to the thread that made
// it.
class EtcdMember {
 public:
  // `all`: every member; `self` is one of them. `slow`: elections, and so the shortest lease, last
  // for many seconds.
  EtcdMember(std::size_t self, const std::vector<EtcdAddress>& all, const std::string& folder,
             bool slow);

  // Also again, after an end of whatever kind.
  absl::Status Start();
  void Signal(int signal) { process_->Signal(signal); }
  void Kill() { process_.reset(); }
  bool Running() { return process_ != nullptr && process_->Running(); }
  // SIGTERM, and SIGKILL if that takes too long.
  void Stop();
  const std::string& log() const { return log_; }
  // The folder that etcd itself makes.
  const std::string& data() const { return data_; }

 private:
  const std::string log_;
  const std::string data_;
  std::vector<std::string> command_;
  std::unique_ptr<demo::ChildProcess> process_;
};

}  // namespace plimsoll::chaos
