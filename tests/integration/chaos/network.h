#pragma once

#include <cstdint>
#include <memory>
#include <string>
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

// The network of one run. Each place has two links: control, through a switch in this process that
// can be told to disturb it, and data, a veth pair to this process, which is left alone:
//
//   place i   control 10.90.0.(10+i)  data 10.91.i.2
//   test      data 10.92.0.1, from every place
//
// LeaveTheNetwork() comes first. Confined to the thread that made it.
class ChaosNetwork {
 public:
  // `places`: how many processes get a namespace of their own.
  static absl::StatusOr<std::unique_ptr<ChaosNetwork>> Make(int places, std::uint64_t seed);

  const NetworkNamespace& home() const { return *home_; }
  const NetworkNamespace& place(int index) const {
    return *places_[static_cast<std::size_t>(index)];
  }
  void Set(int index, const LinkState& state) {
    switch_.Set(static_cast<std::size_t>(index), state);
  }
  const PacketSwitch& packets() const { return switch_; }

  static std::string ControlAddress(int index);
  static std::string DataAddress(int index);
  static std::string HomeAddress() { return "10.92.0.1"; }

 private:
  explicit ChaosNetwork(std::uint64_t seed) : switch_(seed) {}
  absl::Status AddPlace(int index);
  absl::Status Furnish(int index);

  std::unique_ptr<NetworkNamespace> home_;
  std::vector<std::unique_ptr<NetworkNamespace>> places_;
  PacketSwitch switch_;
};

}  // namespace plimsoll::chaos
