#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/store/etcd_api.h"

namespace plimsoll {

// Where etcd is, and who may vouch for it or for us.
struct EtcdAccess {
  std::vector<std::string> endpoints = {};  // "http://10.0.0.1:2379" or https://; at least one
  // For https://. PEM files; empty: those that the system trusts, and no certificate of our own.
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  // For an etcd with authentication; empty: none.
  std::string user = {};
  std::string password = {};
};

// Lists every violation as name, value and rule. OK if there is none.
absl::Status Validate(const EtcdAccess& access);

// Over etcd's JSON gateway. A call tries one endpoint after the other, beginning with the one that
// answered last, and takes no longer than `call_time_max`; a single endpoint is tried twice.
// `clock` must outlive it. `access` must be valid. Thread-compatible: make one for each thread.
std::unique_ptr<Etcd> MakeEtcdClient(const EtcdAccess& access, absl::Duration call_time_max,
                                     const Clock& clock);

}  // namespace plimsoll
