#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/simulation/src/controller_host.h"
#include "controller/simulation/src/etcd_caller.h"
#include "controller/simulation/src/store_port.h"
#include "controller/simulation/src/virtual_etcd.h"
#include "plimsoll/store/etcd_plan.h"

namespace plimsoll::internal {

// One controller's way to etcd: stands for election, reigns, and does both again, as the program
// does with EtcdLeadership, EtcdReign and ReignLoop. What to ask and what an answer means is the
// real planner's. Of the blocking calls and the threads there are events here: campaigner, writer,
// confirmer and keeper of the lease have a call under way each at most. Thread-compatible.
class EtcdSeat {
 public:
  EtcdSeat(World& world, VirtualEtcd& etcd, ControllerHost& host, int index, std::string prefix,
           EtcdCounts& counts);

  // A process starts, without a memory, and stands for election.
  void Start();
  // The process is gone, with all it knew; what it has sent is on its way.
  void Crash();
  // It is told to stop: says good-bye to its agents, gives its lease back, and ends.
  void Stop();
  bool running() const { return running_; }
  // Nothing happens in the process until then.
  void PauseUntil(Instant until);

  // What the leader key says of it.
  static std::string NameOf(int controller);

  void Commit(const WriteBatch& batch, StorePort::Done done);
  void Confirm(StorePort::Done done);
  // Who leads, as far as this controller knows.
  std::optional<std::size_t> leader() const { return leader_; }

 private:
  using Then = std::function<void(const EtcdAnswer&)>;

  // Standing for election.
  void Look();
  void OnLook(const EtcdAnswer& answer);
  void LookAgain();
  void TakeOver(const EtcdLook& look);
  void StepTakeOver();
  void EndTakeOver();
  EtcdTakeOverOptions HowToTakeOver(std::int64_t lease);

  // Reigning.
  void BeginReign(EtcdReignStart start);
  void KeepAlive(std::int64_t reign);
  void Watch(std::int64_t reign);
  void StepCommit(StorePort::Done done);
  // It is known to be over; Watch() sees it soon.
  void EndReign();
  void Finish();
  void FinishIfIdle();

  void Ask(EtcdCaller& caller, EtcdPurpose purpose, decltype(EtcdRequest::what) what, Then then);
  void Later(StorePort::Done done, absl::Status status);
  void Deliver(EventQueue::Action action);
  void After(absl::Duration time, EventQueue::Action action);

  World& world_;
  ControllerHost& host_;
  const int index_;
  const std::string prefix_;
  const EtcdDay day_;
  EtcdCounts& counts_;
  EtcdCaller campaigner_;
  EtcdCaller writer_;
  EtcdCaller confirmer_;
  EtcdCaller keeper_;

  // Of the process.
  bool running_ = false;
  bool stopping_ = false;
  std::int64_t process_ = 0;  // what was meant for an earlier one comes to nothing
  std::optional<VirtualClock> clock_;
  EtcdMemory memory_;
  std::optional<std::size_t> leader_;
  Instant seen_at_;

  // Of the attempt to take over.
  std::int64_t lease_ = 0;
  std::optional<EtcdTakeOver> take_over_;
  bool taken_ = false;

  // Of the reign; counted, as processes are.
  std::int64_t reign_ = 0;
  std::optional<EtcdReignPlan> plan_;
  std::vector<WriteBatch> batches_;  // of the commit under way, to come
  EtcdTxn confirm_;
  EtcdTxn last_;   // that was sent
  int steps_ = 0;  // transactions of the commit under way
  bool committing_ = false;
  bool over_ = false;
  bool finishing_ = false;
};

}  // namespace plimsoll::internal
