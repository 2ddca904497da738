#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "plimsoll/store/etcd_client.h"
#include "tests/integration/chaos/etcd_member.h"

namespace plimsoll {

// An etcd of one member on loopback, without fsync: a process of the test's own. It cannot be told
// to take any port, so it gets two that were free a moment ago, and others if somebody was faster.
// Confined to the thread that starts it.
class EtcdProcess {
 public:
  // Starts it in a new folder `folder`, and waits until it answers. kUnavailable, with the end of
  // its log, if it does not within half a minute.
  static absl::StatusOr<std::unique_ptr<EtcdProcess>> Start(const std::string& folder);

  std::string url() const { return address_.ClientUrl(); }
  // Where etcdctl has to put what it restores, and as what.
  const std::string& data() const { return member_->data(); }
  const std::string& name() const { return address_.name; }
  std::string peer_url() const { return address_.PeerUrl(); }
  std::unique_ptr<Etcd> Client() const;

  void Signal(int signal) { member_->Signal(signal); }
  void Kill() { member_->Kill(); }
  // In good order.
  void Stop() { member_->Stop(); }
  // After Kill() or Stop(): the same data, the same address.
  absl::Status Restart();

 private:
  explicit EtcdProcess(std::string folder) : folder_(std::move(folder)) {}

  void MakeMember();
  // Whether it answers, as soon as it does; kAborted if the process has ended.
  absl::Status WaitUntilItAnswers();

  const std::string folder_;
  chaos::EtcdAddress address_;
  std::unique_ptr<chaos::EtcdMember> member_;
};

}  // namespace plimsoll
