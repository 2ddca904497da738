// A lost store: for as long as anything granted before can last, nothing is raised and newcomers
// get nothing (L1); what an agent proves to hold is booked and renewed, bound to the grant that it
// renews (L2).
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/src/core_impl.h"

namespace plimsoll {
namespace {

// Far above any Unix time in milliseconds, and with room above for all reigns to come.
constexpr std::int64_t kEpochCredible = std::int64_t{1} << 52;

// The longest that anything granted under this policy can last.
absl::Duration HoldOf(const Policy& policy) {
  if (policy.outage.reserve > 0) return absl::InfiniteDuration();
  return policy.outage.base_lease + policy.call_deadline;
}

bool ProvesGrant(const SyncRequest& request) {
  return std::any_of(request.dependencies.begin(), request.dependencies.end(),
                     [](const DependencyReport& report) {
                       return report.in_force != Steps{} || report.in_flight > 0;
                     });
}

}  // namespace

void Core::Impl::BeginLearning(const std::string& why) {
  learning_ = true;
  lost_why_ = why;
  learning_until_ = now_ + longest_hold_;
  const std::string until =
      learning_until_ == kInfiniteFuture
          ? "until an operator vouches for the state, because a reserve never runs out."
          : absl::StrCat("for ", absl::FormatDuration(longest_hold_), ".");
  Log(EventType::kStoreLost, nullptr, DependencyId(),
      absl::StrCat(why, ". Learning: what agents prove to hold is renewed, nothing is raised, ",
                   "newcomers get nothing, ", until));
}

void Core::Impl::EndLearningIfOver() {
  if (!learning_ || now_ < learning_until_) return;
  learning_ = false;
  extra_.learned = true;
  Log(EventType::kLearningEnded, nullptr, DependencyId(),
      "Everything that was granted before the store was lost has run out or is known.");
}

// H_max of the policies in use: how long anything granted under them can last. Templates count
// before they are used: who has lost the store does not know what they made before.
absl::Duration Core::Impl::LongestHold() const {
  absl::Duration longest;
  for (const auto& [name, dependency] : dependencies_) {
    longest = std::max(longest, HoldOf(dependency.policy));
  }
  for (const auto& [pattern, policy] : templates_) longest = std::max(longest, HoldOf(policy));
  if (longest == absl::InfiniteDuration()) return longest;
  const double error = options_.clock_rate_error;
  return longest * ((1 + error) / (1 - error));
}

// It must be durable before the first grant under new terms is: with the next write.
void Core::Impl::NoteLongestHold() {
  longest_hold_ = std::max(longest_hold_, LongestHold());
  if (longest_hold_ > durable_longest_hold_) extra_.longest_hold = longest_hold_;
}

// What these books say is not all that was granted. The loss must be durable before anything else
// is said, or a restart would forget it.
void Core::Impl::BeginNewReign(Epoch epoch, const std::string& why) {
  RefuseHeld(RefusalCode::kNotReady, "the store is older than what agents know");
  extra_.new_epoch = epoch;
  lost_why_ = absl::StrCat("The store is older than the fleet: ", why);
}

// An agent knows of a later reign than this store does.
std::optional<Refusal> Core::Impl::CheckEpoch(const SyncRequest& request) {
  if (request.epoch <= epoch_) return std::nullopt;
  if (request.epoch.value > kEpochCredible) {
    return Refusal{RefusalCode::kInvalidArgument,
                   absl::StrCat("epoch ", request.epoch.value, " was never anybody's"), epoch_};
  }
  const std::string why = absl::StrCat("an agent knows of epoch ", request.epoch.value, ", above ",
                                       epoch_.value, " of this controller");
  if (!exclusive_) {
    Depose(why);
    return Refusal{RefusalCode::kNotLeader, "another controller reigns", epoch_};
  }
  BeginNewReign(Epoch(request.epoch.value + 1), why);
  return Refusal{RefusalCode::kNotReady,
                 absl::StrCat(why, ": its store is older than what agents know; it will learn"),
                 epoch_};
}

bool Core::Impl::AwaitsNewReign() const {
  return extra_.new_epoch.has_value() || extra_under_way_.new_epoch.has_value();
}

// A session that these books do not have.
std::optional<Refusal> Core::Impl::CheckUnknown(const SyncRequest& request) {
  const Refusal unknown{RefusalCode::kSessionUnknown, "no such session; register again", epoch_};
  const auto order = internal::OrderOf(request.session);
  if (!order.has_value() || order->first >= epoch_.value || !ProvesGrant(request)) return unknown;
  if (new_store_ && !learning_) {
    BeginNewReign(Epoch(epoch_.value + 1), absl::StrCat("session ", request.session.value,
                                                        " holds a grant, but the store was new"));
    return Refusal{RefusalCode::kNotReady, "a new reign begins, which will learn", epoch_};
  }
  if (!learning_) return unknown;
  if (static_cast<int>(sessions_.size()) >= options_.sessions_max) {
    return Refusal{RefusalCode::kRateLimited, "too many sessions", epoch_};
  }
  if (!request.identity.has_value()) {
    return Refusal{RefusalCode::kIdentityRequired,
                   "the store was lost: say who you are, and your grant is renewed", epoch_};
  }
  AdoptClaims(request);
  return std::nullopt;
}

void Core::Impl::AdoptClaims(const SyncRequest& request) {
  Bound bound;
  bound.key.session = request.session;
  bound.service = request.identity->service;
  bound.instance = request.identity->instance;
  bound.unique_instance = request.identity->unique_instance;
  SessionState& session = Adopt(bound);
  session.adopted = true;
  Log(EventType::kInstanceJoined, &session, DependencyId(),
      absl::StrCat(session.instance.value, " of ", session.service.value,
                   " goes on with what it holds from a reign before."));
}

// The claim of a report from another reign: booked, whatever is known already, because the agent
// may meanwhile have installed another grant of that reign.
void Core::Impl::BookClaim(DependencyState& dependency, const SessionState& session,
                           const DependencyReport& report) {
  Steps claim = report.in_force;
  // Who is observed may have any number in flight; the books say what would be.
  if (dependency.policy.mode == Mode::kEnforce) {
    claim.limit = std::max(claim.limit, report.in_flight);
  }
  claim.base = std::min(claim.base, claim.limit);
  claim.reserve = std::min(claim.reserve, claim.base);
  dependency.ledger.Claim(session.id, claim);
  Member& member = dependency.members.at(session.id);
  member.demand.AssumeAtLeast(report.in_force.limit);
  Touch(dependency.policy.name, session.id);
}

Steps Core::Impl::Renewed(const DependencyState& dependency, const Member& member) const {
  Steps steps = member.in_force;
  steps.limit = std::min(steps.limit, dependency.ledger.Reserved(member.session->id));
  // Nothing rises, but a cut is a cut.
  const bool over = dependency.ledger.Reserved() > dependency.policy.quota_or_max();
  const bool lowered = dependency.retired || over || dependency.pin.limit.has_value();
  if (lowered) steps.limit = std::min(steps.limit, member.offer);
  steps.base = std::min(steps.limit, steps.base);
  steps.reserve = std::min(steps.base, steps.reserve);
  return steps;
}

}  // namespace plimsoll
