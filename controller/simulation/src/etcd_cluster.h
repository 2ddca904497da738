#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/etcd_seat.h"
#include "controller/simulation/src/store_port.h"
#include "controller/simulation/src/virtual_etcd.h"

namespace plimsoll::internal {

// The controllers of a day on which they share an etcd, that etcd, and what is done to both.
// Thread-compatible.
class EtcdCluster final : public StorePort {
 public:
  // Requires a scenario with `etcd`. `counts` must outlive it.
  EtcdCluster(World& world, EtcdCounts& counts);

  // All start, one after the other, and the adversary does. `controllers` must outlive it.
  void Begin(const std::vector<std::unique_ptr<ControllerHost>>& controllers);

  Epoch epoch() const override { return etcd_.epoch(); }
  void Commit(int controller, Epoch reign, const WriteBatch& batch, Done done) override;
  void Confirm(int controller, Epoch reign, Done done) override;

 private:
  EtcdSeat& At(int controller) { return *seats_[static_cast<std::size_t>(controller)]; }
  void Strike();
  void Do(EtcdFault fault);
  // The leader more often than any other.
  int PickController();
  void RestartLater(int controller);
  // Half of the agents see only this controller, the others only the others, until then.
  void Split(int controller, Instant until);
  void CompactOften();

  World& world_;
  const EtcdDay day_;
  EtcdCounts& counts_;
  VirtualEtcd etcd_;
  std::vector<std::unique_ptr<EtcdSeat>> seats_;
};

}  // namespace plimsoll::internal
