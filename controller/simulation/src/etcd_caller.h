#pragma once

#include <cstdint>
#include <functional>

#include "controller/simulation/src/etcd_call.h"
#include "controller/simulation/src/virtual_etcd.h"
#include "plimsoll/simulation/virtual_clock.h"

namespace plimsoll::internal {

// Calls etcd as a client of controller/store/src/etcd_client.cc does: one endpoint after the other,
// beginning with the one that answered last, and no longer than the scenario's lease allows. One
// call at a time. Thread-compatible.
class EtcdCaller {
 public:
  using Done = std::function<void(const EtcdAnswer&)>;
  // Lets something happen in the process that calls: later if that is paused, never if it has
  // ended.
  using Deliver = std::function<void(EventQueue::Action)>;

  EtcdCaller(World& world, VirtualEtcd& etcd, int controller, EtcdCounts& counts, Deliver deliver);

  // kUnavailable: nobody answered in time, and what was asked may have been done, or may still be.
  void Ask(const VirtualClock& clock, EtcdRequest request, Done done);
  // The process has ended: what it asked for is on its way all the same.
  void Reset();
  bool busy() const { return done_ != nullptr; }

 private:
  void Try();
  void OnAnswer(std::int64_t attempt, const EtcdAnswer& answer);
  void OnTimeout(std::int64_t attempt);
  void GiveUp();
  void End(const EtcdAnswer& answer);

  World& world_;
  VirtualEtcd& etcd_;
  EtcdCounts& counts_;
  const Deliver deliver_;
  int member_;
  const VirtualClock* clock_ = nullptr;
  EtcdSending sending_;
  Done done_;
  Instant deadline_;
  int tries_ = 0;
  std::int64_t attempt_ = 0;  // the newest; what older ones come to is not heard any more
};

// So long a call may take: as EtcdCallTimeMax() of the store.
absl::Duration EtcdCallTime(const EtcdDay& day);

}  // namespace plimsoll::internal
