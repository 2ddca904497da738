// What a sync does: checks, acknowledgement, measurements, the fence on older processes of its
// name.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"

namespace plimsoll {
namespace {

// What agents round.
constexpr absl::Duration kRounding = absl::Milliseconds(1);

// An integral that the window cannot hold would rule the mean of the whole pool: it is cut to what
// the window can hold, and rounding forgiven.
Window Possible(const Window& claimed) {
  Window window = claimed;
  window.in_flight_max = std::clamp(claimed.in_flight_max, 0, kCallsMax);
  const absl::Duration most = window.in_flight_max * window.length + kRounding;
  window.in_flight = std::clamp(claimed.in_flight, absl::ZeroDuration(), most);
  window.at_limit = std::clamp(claimed.at_limit, absl::ZeroDuration(), window.length + kRounding);
  return window;
}

}  // namespace

void Core::Impl::On(const SyncEvent& event) {
  std::optional<Refusal> refusal = Check(event.message);
  if (!refusal.has_value()) refusal = CheckFence(sessions_.at(event.message.session));
  if (refusal.has_value()) {
    const SyncResult result = refusal->code == RefusalCode::kSessionUnknown
                                  ? SyncResult::kUnknownSession
                              : refusal->code == RefusalCode::kStaleSync ? SyncResult::kStale
                                                                         : SyncResult::kRejected;
    ++syncs_total_[static_cast<std::size_t>(result)];
    Reply(event.request, *std::move(refusal));
    return;
  }
  ++syncs_total_[static_cast<std::size_t>(SyncResult::kOk)];
  Accept(event, sessions_.at(event.message.session));
}

std::optional<Refusal> Core::Impl::Check(const SyncRequest& request) {
  if (std::optional<Refusal> refusal = CheckReign()) return refusal;
  const ProtocolRange spoken{request.protocol, request.protocol};
  if (std::optional<Refusal> refusal = CheckProtocol(spoken)) return refusal;
  if (std::optional<Refusal> refusal = CheckEpoch(request)) return refusal;
  if (std::optional<Refusal> refusal = CheckReports(request)) return refusal;
  const SessionState* const session = sessions_.Find(request.session);
  if (session == nullptr) return CheckUnknown(request);
  if (session->evicted) {
    return Refusal{RefusalCode::kSessionUnknown,
                   "an operator has ended this session; register again", epoch_};
  }
  if (request.n <= session->n) {
    return Refusal{RefusalCode::kStaleSync,
                   absl::StrCat("n ", request.n.value, " is not above ", session->n.value,
                                ", which was accepted already"),
                   epoch_};
  }
  return std::nullopt;
}

std::optional<Refusal> Core::Impl::CheckReports(const SyncRequest& request) {
  if (static_cast<int>(request.dependencies.size()) > options_.dependencies_max) {
    return Refusal{RefusalCode::kRateLimited,
                   absl::StrCat("more than ", options_.dependencies_max, " dependencies"), epoch_};
  }
  for (const DependencyReport& report : request.dependencies) {
    const GrantStamp& installed = report.installed;
    const auto grant = [&] {
      return absl::StrCat("grant ", installed.epoch.value, "/", installed.seq.value, " of ",
                          report.dependency.value);
    };
    if (installed.epoch > epoch_) {
      return Refusal{RefusalCode::kInvalidArgument, absl::StrCat(grant(), " was never sent"),
                     epoch_};
    }
    if (installed.epoch == epoch_ && installed.seq.value > last_seq_) {
      // Another reign had the same epoch: this one's store is a copy from before it.
      BeginNewReign(Epoch(epoch_.value + 1),
                    absl::StrCat(grant(), " was sent by another controller"));
      return Refusal{RefusalCode::kNotReady, "a new reign begins, which will learn", epoch_};
    }
  }
  return std::nullopt;
}

// C11: a session that was thought dead speaks. Two processes share its name.
std::optional<Refusal> Core::Impl::CheckFence(SessionState& session) {
  if (!session.fenced) return std::nullopt;
  session.fenced = false;
  shared_names_.emplace(session.service, session.instance);
  for (const Membership& joined : session.dependencies) {
    joined.dependency->ledger.CancelFence(session.id);
  }
  Log(EventType::kDuplicateInstance, &session, DependencyId(),
      absl::StrCat("Two live processes of ", session.service.value, " call themselves ",
                   session.instance.value, ", which is declared unique: the quota is at risk."));
  return Refusal{RefusalCode::kSessionSuperseded,
                 "another process registered under this instance name; use another", epoch_};
}

void Core::Impl::Accept(const SyncEvent& event, SessionState& session) {
  const SyncRequest& message = event.message;
  Supersede(session);
  session.n = message.n;
  session.protocol = message.protocol;
  session.seen_at = now_;
  session.leaving = session.leaving || message.leaving;
  std::vector<DependencyState*> freed;
  std::vector<DependencyState*> complete;
  for (std::size_t i = 0; i < message.dependencies.size(); ++i) {
    const DependencyReport& report = message.dependencies[i];
    const Membership* const joined = JoinDependency(session, report.dependency, i);
    if (joined == nullptr) continue;
    DependencyState& dependency = *joined->dependency;
    if (TakeReport(session, *joined, report)) freed.push_back(&dependency);
    if (dependency.knee == nullptr) continue;
    if (dependency.knee->NoteReport(*joined->member)) complete.push_back(&dependency);
  }
  if (!session.spoken) {
    session.spoken = true;
    FenceOlder(session);
  }
  Hold(session, event);
  for (DependencyState* const dependency : freed) ConsiderHungry(*dependency);
  for (DependencyState* const dependency : complete) FinishKneeEpoch(*dependency);
  TakeBreakers(session, message);
  Consider(session);
}

// True if the report freed capacity.
bool Core::Impl::TakeReport(SessionState& session, const Membership& joined,
                            const DependencyReport& report) {
  DependencyState& dependency = *joined.dependency;
  Member& member = *joined.member;
  Calls freed = 0;
  if (learning_ && session.adopted && report.installed.epoch != epoch_) {
    BookClaim(dependency, session, report);
  }
  // C2: a stamp of another reign says nothing of this one's grants.
  if (report.installed.epoch == epoch_) {
    freed = Acknowledge(dependency, member, report);
    Touch(report.dependency, session.id);
  }
  NoteUnbooked(dependency, member, report);
  GatherWindows(dependency, member, report);
  NotePush(member, report);
  member.reported = true;
  member.reported_at = now_;
  member.installed = report.installed;
  member.in_force = report.in_force;
  member.in_flight = report.in_flight;
  member.in_flight_max = report.in_flight_max;
  member.epoch_in_flight_max = std::max(member.epoch_in_flight_max, report.in_flight_max);
  return freed > 0;
}

// Only the newest limit is waited for: one that was replaced on the way is no longer of interest.
void Core::Impl::NotePush(const Member& member, const DependencyReport& report) {
  const auto has = [&](const GrantStamp& installed) {
    return installed.epoch == epoch_ && installed.seq >= member.changed_seq;
  };
  if (member.changed_seq == Seq() || has(member.installed) || !has(report.installed)) return;
  push_latencies_.Record(now_ - member.changed_at);
}

// In observe mode the books say what would be: that nobody is above the limit in force. Who was
// told to observe is charged with all that runs, from when its policy enforces.
Calls Core::Impl::Acknowledge(DependencyState& dependency, Member& member,
                              const DependencyReport& report) {
  const SessionId& id = member.session->id;
  const Seq installed = report.installed.seq;
  if (dependency.policy.mode != Mode::kEnforce) {
    return dependency.ledger.Acknowledge(id, installed,
                                         std::min(report.in_flight, report.in_force.limit));
  }
  const Calls before = dependency.ledger.Reserved(id);
  dependency.ledger.Acknowledge(id, installed, report.in_flight);
  if (member.unbounded) {
    dependency.ledger.Charge(id, report.in_flight);
    member.unbounded = !KnowsToEnforce(member, report);
  }
  return std::max(0, before - dependency.ledger.Reserved(id));
}

bool Core::Impl::KnowsToEnforce(const Member& member, const DependencyReport& report) const {
  return member.enforced_from.has_value() && report.installed.epoch == epoch_ &&
         report.installed.seq >= *member.enforced_from;
}

void Core::Impl::NoteUnbooked(DependencyState& dependency, Member& member,
                              const DependencyReport& report) {
  const double error = options_.clock_rate_error;
  if (member.mode_unknown && KnowsToEnforce(member, report)) {
    member.mode_unknown = false;
    member.unbooked_until = now_ + dependency.policy.call_deadline * ((1 + error) / (1 - error));
  }
  const bool may_run = dependency.policy.mode == Mode::kEnforce &&
                       (member.mode_unknown || now_ < member.unbooked_until);
  const Calls more = report.in_flight - dependency.ledger.Reserved(member.session->id);
  dependency.SetUnbooked(member, may_run ? std::max(0, more) : 0);
}

// What has been let in before has ended at last, or its session is silent for so long (C3).
void Core::Impl::ForgetUnbooked() {
  for (auto& [name, dependency] : dependencies_) {
    if (dependency.unbooked == 0) continue;
    for (auto& [id, member] : dependency.members) {
      const bool over = !member.mode_unknown && now_ >= member.unbooked_until;
      if (over || !dependency.ledger.LimitHeld(id, now_)) dependency.SetUnbooked(member, 0);
    }
  }
}

namespace {

void AddCalls(const Window& window, CallTotals& totals) {
  totals.admitted += window.admitted;
  totals.failed += window.dropped;
  for (const std::int64_t rejected : window.rejected) totals.rejected += rejected;
}

// Of whatever limit: it happened.
void CountCalls(const Window& window, internal::DependencyState& dependency,
                internal::Member& member) {
  AddCalls(window, member.totals);
  AddCalls(window, dependency.totals);
  if (window.completed() == 0) return;
  for (std::size_t i = window.latency.begin(); i < window.latency.end(); ++i) {
    dependency.latencies[i] += window.latency.count(i);
  }
}

}  // namespace

void Core::Impl::GatherWindows(DependencyState& dependency, Member& member,
                               const DependencyReport& report) {
  Window sum;
  for (const Window& claimed : report.windows) {
    const Window window = Possible(claimed);
    const absl::Duration length = sum.length + window.length;
    sum.MergeParallel(window);
    sum.length = length;
    if (IsStale(dependency, member, window)) {
      ++dependency.windows_total[static_cast<std::size_t>(WindowOutcome::kStale)];
      continue;
    }
    member.epoch_measured += window.length;
    if (dependency.knee != nullptr) {
      dependency.knee->Gather(member, window);
    } else {
      (member.law != nullptr ? *member.law : *dependency.pool).Add(window);
    }
  }
  CountCalls(sum, dependency, member);
  // Who was let in for being observed is in flight, and not to be counted as refused as well.
  if (member.unbounded) sum.rejected[static_cast<std::size_t>(RejectReason::kLimit)] = 0;
  member.demand.Report(report.in_flight_max, report.waiting, sum, report.in_force.limit,
                       dependency.last_window.MeanLatency(), now_);
}

// With scope instance, a window under an older limit would tell the law of the wrong limit. The
// pool's limit is not that of the instance, so there only other reigns' windows are foreign.
bool Core::Impl::IsStale(const DependencyState& dependency, const Member& member,
                         const Window& window) const {
  if (window.stamp.epoch != epoch_) return true;
  if (dependency.knee != nullptr) return false;
  return dependency.policy.scope == Scope::kInstance && window.stamp.seq < member.changed_seq;
}

void Core::Impl::FenceOlder(const SessionState& session) {
  if (!session.unique || shared_names_.contains({session.service, session.instance})) return;
  for (const SessionId& id : by_name_[{session.service, session.instance}]) {
    SessionState& other = sessions_.at(id);
    if (other.order >= session.order || !other.unique || other.fenced) continue;
    other.fenced = true;
    for (const Membership& joined : other.dependencies) joined.dependency->ledger.Fence(id, now_);
  }
}

}  // namespace plimsoll
