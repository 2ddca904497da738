#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/algorithms/fleet_knee.h"
#include "plimsoll/controller/policy.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/window.h"

namespace plimsoll::internal {

struct DependencyState;
struct Member;

// What the pool law needs to know of one session.
struct KneeMember {
  std::size_t replica = 0;  // its index in the law
  bool counting = false;    // its windows belong to the epoch that is measured
  bool missing = false;     // its report for the end of the epoch is being waited for
  bool asked = false;       // its held sync is to be answered, so that it reports
  Seq from;         // the grant with its limit, as the epoch began; older ones are not of it
  Window gathered;  // of the epoch, one window after the other
};

// The pool law at work: makes measurement epochs of what comes and goes in a fleet.
//
//   installing ──► settling ──► measuring ──► collecting ──► the law decides ──► installing …
//   until agents    until the    for the       until agents
//   have the        calls of     length of     have reported
//   limits          before end   the epoch
//
// Agents report when their held sync is answered, so an epoch is ended by answering them. Nobody is
// waited for without end: whoever is late is left out of the estimate. Pure. Thread-compatible.
class KneeRunner {
 public:
  // Cuts windows this short, so that every report ends one.
  static constexpr absl::Duration kWindow = absl::Milliseconds(20);

  // For the reign of `reign`: stamps of another say nothing of what was installed.
  KneeRunner(const Policy& policy, Epoch reign, std::uint64_t seed, Instant now);

  // Goes on where `former` stood, which ran the same scope under other settings. Members keep their
  // indexes.
  void Continue(const KneeRunner& former);
  // Takes over what `former` found, but not its members: it ran the same policy in another reign.
  void Succeed(const KneeRunner& former);
  // What is known of a reign before is only how much it had granted to each of those who were
  // there. Of that the level is made, unless the policy says where to begin, or all had as much as
  // quota and ceiling allow, which says nothing of the level.
  void Resume(std::vector<Calls> granted);

  void Join(Member& member);
  void Leave(Member& member);

  // One window of one member, which must be of this reign.
  void Gather(Member& member, const Window& window) const;
  // All windows of a report have been gathered. True if it was the last that was waited for.
  bool NoteReport(Member& member);

  enum class Step {
    kNothing,
    kAsk,     // members have been asked: answer their held syncs
    kDecided  // an epoch has ended: the limits of the next are to be installed
  };
  // `enforced`: limits follow the law, and agents follow their limits.
  Step Advance(DependencyState& dependency, Instant now, bool enforced);

  // The limit of one instance; with scope instance only.
  Calls LimitOf(const Member& member) const;
  // The limit of all together; with scope fleet only.
  Calls total() const { return law_.Total(state_); }
  bool shared() const { return law_.mode() == KneeMode::kShared; }

  // Of the last epoch; nothing before the first.
  const std::optional<KneeDecision>& last_decision() const { return last_decision_; }
  // Why limits are changed now: the last decision that moved the level, or the probe.
  Reason reason() const;

 private:
  enum class Phase { kInstalling, kSettling, kMeasuring, kCollecting };

  void Enter(Phase phase, Instant now);
  Step Begin(DependencyState& dependency, Instant now);
  Step Ask(DependencyState& dependency);
  Step Collect(DependencyState& dependency, Instant now, bool enforced);
  KneeEpoch MakeEpoch(DependencyState& dependency, Instant now) const;
  ReplicaEpoch MakeReplicaEpoch(const Member& member) const;
  bool HasInstalled(const Member& member) const;
  absl::Duration Patience() const;

  Policy policy_;
  Epoch reign_;
  FleetKnee law_;
  KneeState state_;
  Phase phase_ = Phase::kInstalling;
  Instant since_;
  Instant began_;          // the epoch that is measured
  absl::Duration length_;  // of this stretch of it
  int missing_ = 0;
  std::optional<KneeDecision> last_decision_;
};

}  // namespace plimsoll::internal
