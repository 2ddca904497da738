#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/examples/demo/child_process.h"
#include "plimsoll/store/etcd_client.h"

namespace plimsoll {

// An etcd of one member on loopback, without fsync: a process of the test's own. It cannot be told
// to take any port, so it gets two that were free a moment ago, and others if somebody was faster.
// Confined to the thread that starts it.
class EtcdProcess {
 public:
  // Debian's, or one that was installed by hand; empty if there is none.
  static std::string Path();

  // Starts it in a new folder `folder`, and waits until it answers. kUnavailable, with the end of
  // its log, if it does not within half a minute.
  static absl::StatusOr<std::unique_ptr<EtcdProcess>> Start(const std::string& folder);

  const std::string& url() const { return client_url_; }
  std::unique_ptr<Etcd> Client() const;

  void Signal(int signal) { process_->Signal(signal); }
  void Kill() { process_.reset(); }
  // After Kill(): the same data, the same address.
  absl::Status Restart();

 private:
  explicit EtcdProcess(std::string folder) : folder_(std::move(folder)) {}

  absl::Status Launch();
  // Whether it answers, as soon as it does; kAborted if the process has ended.
  absl::Status WaitUntilItAnswers();

  const std::string folder_;
  std::string client_url_;
  std::string peer_url_;
  std::unique_ptr<demo::ChildProcess> process_;
};

}  // namespace plimsoll
