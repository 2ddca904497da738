#include "controller/src/knee_runner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "controller/src/census.h"
#include "controller/src/state.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// With too few samples an epoch is prolonged, but not beyond this many lengths.
constexpr int kProlongedAtMost = 8;
// A settle time below this part of the epoch is not worth a report of its own.
constexpr double kWorthSettling = 0.1;
// While there is nothing to learn, agents are not asked more often than they report by themselves.
constexpr absl::Duration kUnhurried = absl::Seconds(1);
constexpr absl::Duration kPatienceMin = absl::Milliseconds(300);
constexpr absl::Duration kPatienceMax = absl::Seconds(1);
// Who measured less than this part of the epoch says nothing of it; nor does who measured more than
// that, and a late report, by a clock that cannot be right.
constexpr double kMeasuredPart = 0.5;
constexpr double kMeasuredMost = 1.5;

FleetKnee MakePoolLaw(const Policy& policy) {
  AlgorithmConfig config = policy.algorithm;
  const bool shared = policy.scope == Scope::kFleet;
  if (shared) {
    config.ceiling = policy.quota_or_max();
    config.floor = std::min(config.floor, config.ceiling);
    config.initial = policy.initial.value_or(policy.quota.value_or(config.initial));
  } else {
    config.initial =
        policy.initial.value_or(std::clamp(config.initial, config.floor, config.ceiling));
  }
  auto law = MakeFleetKnee(config, shared ? KneeMode::kShared : KneeMode::kPerReplica);
  PLIMSOLL_CHECK(law.ok(), "a valid policy has a valid algorithm");
  return *std::move(law);
}

// Whoever has not been heard of lately is not waited for.
bool IsThere(const DependencyState& dependency, const Member& member, Instant now) {
  return member.reported_at.has_value() &&
         now - *member.reported_at < 2 * SyncMax(dependency) + kPatienceMax;
}

int CountLive(const DependencyState& dependency, Instant now) {
  return static_cast<int>(std::ranges::count_if(dependency.members, [&](const auto& entry) {
    return IsThere(dependency, entry.second, now);
  }));
}

Calls MedianOf(std::vector<Calls> calls) {
  const auto middle = calls.begin() + std::ssize(calls) / 2;
  std::ranges::nth_element(calls, middle);
  return *middle;
}

void AddAfter(Window& sum, const Window& window) {
  const absl::Duration length = sum.length + window.length;
  const Calls peak = std::max(sum.in_flight_max, window.in_flight_max);
  sum.MergeParallel(window);
  sum.length = length;
  sum.in_flight_max = peak;
}

}  // namespace

KneeRunner::KneeRunner(const Policy& policy, Epoch reign, std::uint64_t seed, Instant now)
    : policy_(policy),
      reign_(reign),
      law_(MakePoolLaw(policy)),
      state_(law_.InitialState(seed)),
      since_(now),
      began_(now) {}

void KneeRunner::Continue(const KneeRunner& former) {
  state_ = former.state_;
  last_decision_ = former.last_decision_;
}

void KneeRunner::Succeed(const KneeRunner& former) {
  state_.level = former.state_.level;
  state_.baseline = former.state_.baseline;
  state_.latency = former.state_.latency;
}

void KneeRunner::Resume(std::vector<Calls> granted) {
  std::erase(granted, 0);
  if (policy_.initial.has_value() || granted.empty()) return;
  const std::int64_t sum = std::accumulate(granted.begin(), granted.end(), std::int64_t{0});
  const std::int64_t ceilings = std::ssize(granted) * policy_.algorithm.ceiling;
  const Calls quota = policy_.quota_or_max() - policy_.join_reserve_or_default();
  const bool free = sum < std::min<std::int64_t>(ceilings, quota);
  const double level = shared() ? static_cast<double>(sum) : MedianOf(std::move(granted));
  // As much as there was is no more than the level.
  state_.level = free ? level : std::max(state_.level, level);
}

void KneeRunner::Join(Member& member) { member.knee.replica = law_.Add(state_); }

void KneeRunner::Leave(Member& member) {
  law_.Remove(state_, member.knee.replica);
  NoteReport(member);
}

void KneeRunner::Gather(Member& member, const Window& window) const {
  const bool measures = phase_ == Phase::kMeasuring || phase_ == Phase::kCollecting;
  if (!measures || !member.knee.counting || window.stamp.seq < member.knee.from) return;
  AddAfter(member.knee.gathered, window);
}

bool KneeRunner::NoteReport(Member& member) {
  member.knee.asked = false;
  member.knee.counting = true;
  if (!std::exchange(member.knee.missing, false)) return false;
  return --missing_ == 0;
}

Calls KneeRunner::LimitOf(const Member& member) const {
  return law_.Limit(state_, member.knee.replica);
}

Reason KneeRunner::reason() const {
  if (!last_decision_.has_value()) return Reason::kInitial;
  return last_decision_->after != last_decision_->before ? last_decision_->reason : Reason::kProbe;
}

absl::Duration KneeRunner::Patience() const {
  return std::clamp(law_.EpochLength(state_) / 2, kPatienceMin, kPatienceMax);
}

void KneeRunner::Enter(Phase phase, Instant now) {
  phase_ = phase;
  since_ = now;
}

bool KneeRunner::HasInstalled(const Member& member) const {
  if (member.sent.limit != member.offer) return false;
  if (member.sent_seq.value == 0) return member.sent.limit == 0;
  return member.installed.epoch == reign_ && member.installed.seq >= member.sent_seq;
}

KneeRunner::Step KneeRunner::Advance(DependencyState& dependency, Instant now, bool enforced) {
  const absl::Duration passed = now - since_;
  switch (phase_) {
    case Phase::kInstalling: {
      const bool installed = std::ranges::all_of(dependency.members, [&](const auto& entry) {
        return !IsThere(dependency, entry.second, now) || HasInstalled(entry.second);
      });
      if (!installed && passed < Patience()) return Step::kNothing;
      if (law_.Settle(state_) < kWorthSettling * law_.EpochLength(state_)) {
        return Begin(dependency, now);
      }
      Enter(Phase::kSettling, now);
      return Step::kNothing;
    }
    case Phase::kSettling:
      return passed < law_.Settle(state_) ? Step::kNothing : Begin(dependency, now);
    case Phase::kMeasuring:
      if (passed < length_) return Step::kNothing;
      Enter(Phase::kCollecting, now);
      missing_ = 0;
      for (auto& [id, member] : dependency.members) {
        member.knee.missing = IsThere(dependency, member, now);
        if (member.knee.missing) ++missing_;
      }
      return Ask(dependency);
    case Phase::kCollecting:
      if (missing_ > 0 && passed < Patience()) return Step::kNothing;
      return Collect(dependency, now, enforced);
  }
  return Step::kNothing;
}

// Where there was something to settle, what agents measured meanwhile must be reported apart.
KneeRunner::Step KneeRunner::Begin(DependencyState& dependency, Instant now) {
  const bool settled = phase_ == Phase::kSettling;
  for (auto& [id, member] : dependency.members) {
    member.knee.gathered = Window();
    member.knee.counting = !settled && IsThere(dependency, member, now) && HasInstalled(member);
    member.knee.from = shared() ? Seq() : member.changed_seq;
  }
  Enter(Phase::kMeasuring, now);
  began_ = now;
  length_ = law_.EpochLength(state_);
  if (!state_.dithering) length_ = std::max(length_, kUnhurried);
  return settled ? Ask(dependency) : Step::kNothing;
}

KneeRunner::Step KneeRunner::Ask(DependencyState& dependency) {
  for (auto& [id, member] : dependency.members) member.knee.asked = true;
  return Step::kAsk;
}

KneeRunner::Step KneeRunner::Collect(DependencyState& dependency, Instant now, bool enforced) {
  std::int64_t samples = 0;
  for (const auto& [id, member] : dependency.members) samples += member.knee.gathered.completed();
  const bool enough = samples >= law_.SamplesMin(CountLive(dependency, now));
  if (!enough && now - began_ < kProlongedAtMost * law_.EpochLength(state_)) {
    Enter(Phase::kMeasuring, now);
    length_ = std::max(law_.EpochLength(state_) / 2, kUnhurried);
    return Step::kNothing;
  }
  KneeEpoch epoch = MakeEpoch(dependency, now);
  epoch.enforced = enforced;
  last_decision_ = law_.Close(state_, epoch);
  Enter(Phase::kInstalling, now);
  return Step::kDecided;
}

KneeEpoch KneeRunner::MakeEpoch(DependencyState& dependency, Instant now) const {
  KneeEpoch epoch;
  epoch.replicas.resize(state_.replicas.size());
  const absl::Duration least = (now - began_) * kMeasuredPart;
  const absl::Duration most = (now - began_) * kMeasuredMost + kPatienceMax;
  Window pooled;
  for (const auto& [id, member] : dependency.members) {
    const absl::Duration length = member.knee.gathered.length;
    if (length > most) continue;
    pooled.MergeParallel(member.knee.gathered);
    if (length >= least) epoch.replicas[member.knee.replica] = MakeReplicaEpoch(member);
  }
  dependency.last_window = pooled;
  dependency.last_epoch = pooled.length;
  epoch.latency = pooled.latency.Quantile(policy_.window.percentile);
  epoch.drop_tolerance = policy_.window.drop_tolerance;
  epoch.live = CountLive(dependency, now);
  const Calls members = std::max(1, *epoch.live);
  const auto quota = static_cast<std::int64_t>(policy_.quota_or_max());
  // A shared level does not shrink because few are there to use it: the rest come back.
  epoch.cap =
      static_cast<Calls>(shared() ? quota
                                  : std::min<std::int64_t>(policy_.algorithm.ceiling,
                                                           (quota + members - 1) / members));
  return epoch;
}

ReplicaEpoch KneeRunner::MakeReplicaEpoch(const Member& member) const {
  const Window& window = member.knee.gathered;
  ReplicaEpoch replica;
  replica.length = window.length;
  replica.limit = member.in_force.limit;
  replica.succeeded = window.succeeded;
  replica.failed = window.dropped;
  replica.rejected = window.rejected_by(RejectReason::kLimit);
  replica.in_flight = window.in_flight;
  replica.at_limit = window.at_limit;
  // Who was sent another limit meanwhile measured under two.
  replica.steady = shared() || member.changed_seq == member.knee.from;
  return replica;
}

}  // namespace plimsoll::internal
