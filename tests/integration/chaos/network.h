#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/integration/chaos/packet_switch.h"

namespace plimsoll::chaos {

// A network namespace without a name: it goes away with this object and the processes in it,
// whatever ends them.
class NetworkNamespace {
 public:
  explicit NetworkNamespace(int descriptor) : descriptor_(descriptor) {}
  ~NetworkNamespace();

  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;

  // The one this thread is in.
  static absl::StatusOr<std::unique_ptr<NetworkNamespace>> Current();
  // Moves this thread there. Processes that it starts then are there too.
  absl::Status Enter() const;
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

// This thread is in another namespace while the object lives.
class InNamespace {
 public:
  InNamespace(const NetworkNamespace& there, const NetworkNamespace& home);
  ~InNamespace();

  InNamespace(const InNamespace&) = delete;
  InNamespace& operator=(const InNamespace&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  const NetworkNamespace& home_;
  absl::Status status_;
};

// Moves this process into a network of its own, which nobody else sees. Call it before any other
// thread exists. As root, or where users may have namespaces.
absl::Status LeaveTheNetwork();

// The networks that a switch in this process carries, and can be told to disturb.
enum class Net {
  kControl,  // agents and controllers
  kEtcd,     // controllers and members of etcd
  kPeers,    // members of etcd
};
inline constexpr int kNets = 3;

// The network of one run. Each place has links through the switch, to one Net or more, and one for
// data, a veth pair to this process, which is left alone:
//
//   place i   control 10.90.0.(10+i)  etcd 10.93.0.(10+i)  peers 10.94.0.(10+i)  data 10.91.i.2
//   test      data 10.92.0.1, from every place
//
// LeaveTheNetwork() comes first. Confined to the thread that made it.
class ChaosNetwork {
 public:
  // For each process that gets a namespace of its own, the networks that it has a link to.
  static absl::StatusOr<std::unique_ptr<ChaosNetwork>> Make(
      const std::vector<std::vector<Net>>& places, std::uint64_t seed);

  const NetworkNamespace& home() const { return *home_; }
  const NetworkNamespace& place(int index) const {
    return *places_[static_cast<std::size_t>(index)];
  }
  // Of the link of a place to a net, which it must have.
  void Set(int index, Net net, const LinkState& state) {
    switch_.Set(ports_.at({index, net}), state);
  }
  const PacketSwitch& packets() const { return switch_; }

  static std::string Address(int index, Net net);
  static std::string ControlAddress(int index) { return Address(index, Net::kControl); }
  static std::string DataAddress(int index);
  static std::string HomeAddress() { return "10.92.0.1"; }

 private:
  explicit ChaosNetwork(std::uint64_t seed) : switch_(seed) {}
  absl::Status AddPlace(int index, const std::vector<Net>& nets);
  absl::Status Furnish(int index, const std::vector<Net>& nets);
  absl::Status AddLink(int index, Net net);

  std::unique_ptr<NetworkNamespace> home_;
  std::vector<std::unique_ptr<NetworkNamespace>> places_;
  std::map<std::pair<int, Net>, std::size_t> ports_;
  PacketSwitch switch_;
};

}  // namespace plimsoll::chaos
