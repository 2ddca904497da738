#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "controller/simulation/src/etcd_call.h"
#include "controller/simulation/src/etcd_state.h"
#include "controller/simulation/src/world.h"
#include "plimsoll/simulation/fleet_simulator.h"

namespace plimsoll::internal {

// An etcd of one member for each controller, on the world's clock and behind a network of its own.
// What a quorum does is linearizable: it happens when it arrives, however late that is. A member
// without a quorum answers only what any member may answer from what it has. Leases end by etcd's
// own clock, never early by it, often late; who begins to lead in etcd extends them all.
// Thread-compatible.
class VirtualEtcd {
 public:
  using Answered = std::function<void(const EtcdAnswer&)>;

  // `counts` must outlive it.
  VirtualEtcd(World& world, std::string prefix, EtcdCounts& counts);

  // One sending of a request by its controller to a member. Lost, late and doubled as the scenario
  // says; `answered` is called each time an answer arrives, maybe never.
  void Send(int member, const EtcdSending& sending, const Answered& answered);

  // Nothing between this controller and any member arrives that is sent before then.
  void CutOff(int controller, Instant until);
  // This controller and its member see each other, and no other member, until then.
  void Isolate(int controller, Instant until);
  // No member has a quorum until then. What arrives meanwhile is lost, or is done afterwards.
  void LoseQuorum(Instant until);
  void SlowDown(Instant until) { slow_until_ = until; }
  // All that was overwritten up to now is forgotten. Another user of this etcd has written before.
  void Compact();
  // Somebody ends the lease of the leader key.
  void RevokeLeader();

  // By its own word, and by no controller's.
  Epoch epoch() const;
  // The id of who holds the leader key; empty if nobody does.
  std::string leader() const;
  const EtcdState& state() const { return state_; }

 private:
  struct Lease {
    Instant ends;
    std::int64_t version = 0;  // of its end
  };

  static std::size_t Index(int controller) { return static_cast<std::size_t>(controller); }
  bool IsCut(int controller, int member) const;
  bool HasQuorum(int member) const;
  absl::Duration DrawWay();
  absl::Duration DrawWork();
  void Arrive(int member, const EtcdSending& sending, const Answered& answered);
  EtcdAnswer Do(int member, const EtcdSending& sending);
  EtcdAnswer DoTxn(int member, const EtcdSending& sending, const EtcdTxn& txn);
  EtcdAnswer DoRange(const EtcdRange& range);
  EtcdAnswer DoGrant();
  EtcdAnswer DoKeepAlive(std::int64_t lease);
  EtcdAnswer DoRevoke(std::int64_t lease);
  // Asked for by a reign that is over, or that never began.
  bool IsStale(const EtcdTxn& txn) const;
  void CountWrite(const EtcdSending& sending, bool succeeded, bool stale);
  void ExtendLease(std::int64_t id, Lease& lease);
  void EndLeaseIfDue(std::int64_t id, std::int64_t version);
  void Lead();
  void Note(std::int64_t kind, std::int64_t fact, const std::function<std::string()>& text);

  World& world_;
  const EtcdDay day_;
  const std::string prefix_;
  EtcdCounts& counts_;
  EtcdState state_;
  const double clock_rate_;
  std::vector<Instant> cut_until_;       // by controller and member
  std::vector<Instant> isolated_until_;  // by member
  std::vector<std::int64_t> heard_;      // by member: up to which revision it has, while isolated
  Instant no_quorum_until_;
  Instant slow_until_;
  std::map<std::int64_t, Lease> leases_;
  std::int64_t last_lease_ = 0;
  std::int64_t neighbours_ = 0;
  mutable std::int64_t epoch_revision_ = 0;  // of the state that `epoch_` was read from
  mutable Epoch epoch_;
};

}  // namespace plimsoll::internal
