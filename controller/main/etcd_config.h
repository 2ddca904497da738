#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "controller/config/faults.h"
#include "controller/config/map_reader.h"
#include "plimsoll/controller/options.h"
#include "plimsoll/http/server.h"

namespace plimsoll {

// What the file says of etcd, with `state.mode: etcd`.
struct EtcdSettings {
  std::vector<std::string> endpoints;
  std::string prefix = "/plimsoll";
  absl::Duration lease = absl::Seconds(5);
  std::int32_t shards = 1;  // fixed when the log is made
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  std::string user;
  std::string password_file;
};

// Where others find this controller: "http://10.0.0.5:7481"; empty: where it listens.
struct AdvertiseSettings {
  std::string agents;
  std::string api;
};

void ReadEtcd(MapReader etcd, EtcdSettings& settings, Faults& faults);
void ReadAdvertise(MapReader advertise, AdvertiseSettings& settings, Faults& faults);
// What goes beyond single keys: that there are endpoints, that leaders are elected before leases of
// agents end, and that others can find this controller.
void CheckEtcd(const EtcdSettings& settings, const AdvertiseSettings& advertise,
               const ServerOptions& server, const CoreOptions& core, Faults& faults);

// How long after the last answer a leader that no agent asks any more hands over: as long as an
// agent waits for an answer that is late, and longer where leases allow for it, so that all is over
// before they end.
absl::Duration UnheardAfter(const CoreOptions& core);

// The password in the file, without the line's end; empty if none is named. Errors say which file.
absl::StatusOr<std::string> LoadEtcdPassword(const EtcdSettings& settings);

}  // namespace plimsoll
