// What is done to controllers and members of etcd.
#include <signal.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/integration/chaos/elected_plane.h"

namespace plimsoll::chaos {

std::vector<int> ElectedPlane::Resolve(const Fault& fault) const {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  const int count = etcd ? options_.members : options_.controllers;
  const int leader = (etcd ? watch_->member() : watch_->controller()).value_or(0);
  const int first = fault.targets[0] == kLeader ? leader : fault.targets[0];
  const bool two = fault.kind == FaultKind::kKillTwoControllers ||
                   fault.kind == FaultKind::kPauseQuorum || fault.kind == FaultKind::kLoseQuorum;
  return two ? std::vector<int>{first, (first + 1) % count} : std::vector<int>{first};
}

absl::Status ElectedPlane::Begin(const Fault& fault) {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  std::vector<int>& hit = etcd ? hit_members_ : hit_controllers_;
  hit = Resolve(fault);
  Say(absl::StrCat("  it is ", absl::StrJoin(hit, " and ")));
  for (const int index : hit) {
    if (etcd) {
      BeginAtMember(fault, index);
      continue;
    }
    if (absl::Status begun = BeginAtController(fault, index); !begun.ok()) return begun;
  }
  return absl::OkStatus();
}

absl::Status ElectedPlane::BeginAtController(const Fault& fault, int index) {
  Controller& target = controller(index);
  switch (fault.kind) {
    case FaultKind::kKillController:
    case FaultKind::kKillTwoControllers:
      target.state.running = false;
      target.process->Kill();
      return absl::OkStatus();
    case FaultKind::kPauseController:
      target.state.paused = true;
      target.process->Signal(SIGSTOP);
      return absl::OkStatus();
    case FaultKind::kRestartController: {
      target.state.running = false;
      const int code = target.process->Terminate();
      if (code == 0) return absl::OkStatus();
      return absl::AbortedError(
          absl::StrCat("controller ", index, " ended with exit status ", code));
    }
    default:
      SetLinks(fault, index, true);
      return absl::OkStatus();
  }
}

void ElectedPlane::BeginAtMember(const Fault& fault, int index) {
  Member& target = member(index);
  switch (fault.kind) {
    case FaultKind::kKillEtcd:
    case FaultKind::kLoseQuorum:
      target.state.running = false;
      target.process->Kill();
      return;
    case FaultKind::kPauseEtcd:
    case FaultKind::kPauseQuorum:
      target.state.paused = true;
      target.process->Signal(SIGSTOP);
      return;
    case FaultKind::kRestartEtcd:
      target.state.running = false;
      target.process->Signal(SIGTERM);
      return;
    default:
      SetLinks(fault, index, true);
  }
}

absl::Status ElectedPlane::Mend(const Fault& fault) {
  const bool etcd = FactsOf(fault.kind).victim == Victim::kEtcd;
  for (const int index : etcd ? hit_members_ : hit_controllers_) {
    absl::Status mended = etcd ? MendMember(fault, index) : MendController(fault, index);
    if (!mended.ok()) return mended;
  }
  return absl::OkStatus();
}

absl::Status ElectedPlane::MendController(const Fault& fault, int index) {
  Controller& target = controller(index);
  if (!FactsOf(fault.kind).process) {
    SetLinks(fault, index, false);
    return absl::OkStatus();
  }
  if (fault.kind != FaultKind::kPauseController) return StartController(index);
  target.state.paused = false;
  target.process->Signal(SIGCONT);
  return absl::OkStatus();
}

absl::Status ElectedPlane::MendMember(const Fault& fault, int index) {
  Member& target = member(index);
  if (!FactsOf(fault.kind).process) {
    SetLinks(fault, index, false);
    return absl::OkStatus();
  }
  if (target.state.paused) {
    target.state.paused = false;
    target.process->Signal(SIGCONT);
    return absl::OkStatus();
  }
  target.process->Kill();
  return StartMember(index);
}

void ElectedPlane::SetLinks(const Fault& fault, int index, bool on) {
  const LinkState link = on ? LinkUnder(fault) : LinkState{};
  if (FactsOf(fault.kind).victim == Victim::kEtcd) {
    if (fault.kind != FaultKind::kCutEtcdClients) {
      network_->Set(MemberPlace(index), Net::kPeers, link);
    }
    member(index).disturbed = on && IsDisturbance(fault.kind);
    if (fault.kind != FaultKind::kCutEtcdPeers) network_->Set(MemberPlace(index), Net::kEtcd, link);
    return;
  }
  const Trouble trouble = !on                         ? Trouble::kNone
                          : IsDisturbance(fault.kind) ? Trouble::kDisturbed
                                                      : Trouble::kCut;
  if (fault.kind != FaultKind::kCutControllerFromEtcd) {
    network_->Set(Place(index), Net::kControl, link);
    controller(index).agents = trouble;
  }
  if (fault.kind != FaultKind::kCutControllerFromAgents) {
    network_->Set(Place(index), Net::kEtcd, link);
    controller(index).etcd = trouble;
  }
}

}  // namespace plimsoll::chaos
