#include "plimsoll/controller/core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/src/allocation.h"
#include "controller/src/core_impl.h"
#include "plimsoll/core/check.h"

namespace plimsoll {

using internal::DependencyState;
using internal::LedgerTerms;
using internal::Member;
using internal::SessionState;

namespace {

AlgorithmConfig LawConfig(const Policy& policy) {
  AlgorithmConfig config = policy.algorithm;
  if (policy.scope == Scope::kFleet) {
    config.ceiling = policy.quota_or_max();
    config.initial = policy.initial.value_or(policy.quota.value_or(config.initial));
  } else {
    config.initial =
        policy.initial.value_or(std::clamp(config.initial, config.floor, config.ceiling));
  }
  return config;
}

std::size_t RaisesPerWrite(const CoreOptions& options) {
  return static_cast<std::size_t>(options.raises_per_write);
}

// Of a dependency that only the store knows any more.
Policy RetiredPolicy(const Bound& bound, absl::Duration lease) {
  Policy policy;
  policy.name = bound.key.dependency;
  policy.call_deadline = std::max(bound.call_deadline, absl::Milliseconds(1));
  policy.outage.base_lease = std::max(bound.base_lease, lease);
  return policy;
}

}  // namespace

namespace internal {

std::optional<std::pair<std::int64_t, std::int64_t>> OrderOf(const SessionId& id) {
  const std::size_t dash = id.value.find('-');
  std::int64_t epoch = 0;
  std::int64_t counter = 0;
  const bool valid = dash != std::string::npos &&
                     absl::SimpleAtoi(id.value.substr(0, dash), &epoch) &&
                     absl::SimpleAtoi(id.value.substr(dash + 1), &counter);
  if (!valid || epoch < 0 || counter < 0) return std::nullopt;
  return std::pair(epoch, counter);
}

std::unique_ptr<LimitAlgorithm> MakeLaw(const Policy& policy) {
  if (policy.algorithm.kind == AlgorithmKind::kFleetKnee) return nullptr;
  auto law = MakeAlgorithm(LawConfig(policy));
  PLIMSOLL_CHECK(law.ok(), "a valid policy has a valid algorithm");
  return *std::move(law);
}

}  // namespace internal

Core::Core(const CoreOptions& options, PolicySet policies, const StoreState& inherited, Instant now,
           TemplateSet templates)
    : impl_(std::make_unique<Impl>(options, std::move(policies), inherited, now,
                                   std::move(templates))) {}
Core::~Core() = default;
std::vector<Action> Core::Apply(const Event& event, Instant now) {
  std::vector<Action> actions = impl_->Apply(event, now);
  if (const std::optional<Epoch> next = impl_->successor()) {
    impl_ = std::make_unique<Impl>(*impl_, *next);
  }
  return actions;
}
Epoch Core::epoch() const { return impl_->epoch(); }
std::optional<Instant> Core::next_due() const { return impl_->next_due(); }
bool Core::learning() const { return impl_->learning(); }
std::int64_t Core::sessions() const { return impl_->sessions(); }
Snapshot Core::TakeSnapshot(Instant now) const { return impl_->TakeSnapshot(now); }
const EventLog& Core::log() const { return impl_->log(); }
absl::StatusOr<std::vector<TrialDecision>> Core::Try(
    const DependencyId& dependency, const SessionId& session,
    const std::vector<TrialWindow>& windows) const {
  return impl_->Try(dependency, session, windows);
}
std::int64_t Core::Reserved(const DependencyId& dependency, Instant /*now*/) const {
  return impl_->Reserved(dependency);
}
Calls Core::Reserved(const DependencyId& dependency, const SessionId& session,
                     Instant /*now*/) const {
  return impl_->Reserved(dependency, session);
}

Core::Impl::Impl(const CoreOptions& options, PolicySet policies, const StoreState& inherited,
                 Instant now, TemplateSet templates)
    : options_(options),
      epoch_(inherited.epoch),
      exclusive_(inherited.exclusive),
      started_at_(now),
      random_(options.seed),
      law_seeds_(options.seed),
      log_(inherited.epoch, options.events_keep),
      now_(now),
      templates_(std::move(templates)),
      durable_(inherited.bounds, RaisesPerWrite(options)) {
  PLIMSOLL_CHECK(Validate(options).ok(), "the core needs valid options");
  for (const auto& [name, policy] : policies) AddDependency(name, policy);
  Begin(inherited);
}

Core::Impl::Impl(const Impl& former, Epoch epoch)
    : options_(former.options_),
      epoch_(epoch),
      exclusive_(former.exclusive_),
      started_at_(former.started_at_),
      random_(former.random_),
      law_seeds_(former.law_seeds_),
      log_(former.log_),
      now_(former.now_),
      templates_(former.templates_),
      overrides_(former.overrides_),
      durable_({}, RaisesPerWrite(options_)),
      observe_all_(former.observe_all_) {
  for (const auto& [name, dependency] : former.dependencies_) {
    if (dependency.retired) continue;
    DependencyState& added = AddDependency(name, dependency.policy);
    added.configured_mode = dependency.configured_mode;
    added.pin = dependency.pin;
    SetTemplate(added, dependency.made_from);
    if (added.knee != nullptr) added.knee->Succeed(*dependency.knee);
  }
  StoreState lost;
  lost.epoch = epoch;
  lost.condition = StoreCondition::kLost;
  lost.why = former.lost_why_;
  lost.longest_hold = former.longest_hold_;
  Begin(lost);
}

void Core::Impl::Begin(const StoreState& inherited) {
  Log(EventType::kStarted, nullptr, DependencyId(),
      absl::StrCat("Reign ", epoch_.value, " began with ", inherited.bounds.size(),
                   " reservations of the reign before."));
  if (!exclusive_ && !inherited.exclusive) {
    Log(EventType::kLeaderChanged, nullptr, DependencyId(),
        absl::StrCat("This controller leads, from epoch ", epoch_.value, " on; ",
                     inherited.led_before.empty()
                         ? "who led before it is not known."
                         : absl::StrCat(inherited.led_before, " led before it.")));
  }
  new_store_ = inherited.condition == StoreCondition::kNew;
  durable_longest_hold_ = longest_hold_ = inherited.longest_hold;
  NoteLongestHold();
  if (inherited.condition == StoreCondition::kLost) {
    PLIMSOLL_CHECK(inherited.bounds.empty(), "a lost store has no bounds to be trusted");
    BeginLearning(inherited.why);
  }
  for (const Bound& bound : inherited.bounds) Inherit(bound);
  ResumeKnees(inherited.bounds);
  // The quota may have been cut while nobody reigned.
  if (!inherited.bounds.empty()) hasty_until_ = now_ + longest_hold_;
  for (auto& [name, dependency] : dependencies_) {
    internal::Allocate(dependency, sessions_, now_);
    NoteExcess(dependency);
    dependency.rates.Note(now_, dependency.totals, dependency.latencies);
  }
}

DependencyState& Core::Impl::AddDependency(const DependencyId& name, const Policy& policy) {
  PLIMSOLL_CHECK(Validate(policy, options_.lease).ok(), "the core needs valid policies");
  DependencyState& state = dependencies_.try_emplace(name, policy, TermsOf(policy)).first->second;
  state.algorithm = internal::MakeLaw(policy);
  MakePool(state);
  FollowBreaker(state);
  return state;
}

Member& Core::Impl::AddMember(DependencyState& dependency, SessionState& session) {
  Member& member = dependency.members.Emplace(session.id, now_);
  member.session = &session;
  // A newcomer is told with its registration. Of who was with the reign before, the store does not
  // know what it was told.
  member.unbounded = dependency.policy.mode != Mode::kEnforce;
  member.mode_unknown = !member.unbounded && session.inherited;
  member.base = dependency.policy.base();
  if (dependency.knee != nullptr) {
    dependency.knee->Join(member);
  } else if (dependency.policy.scope == Scope::kInstance) {
    member.law = MakeRunner(dependency, nullptr);
  }
  session.dependencies.push_back({&dependency, &member});
  return member;
}

// A name that has no policy of its own has that of its template, as before the restart.
DependencyState& Core::Impl::Inherited(const Bound& bound) {
  const DependencyId& name = bound.key.dependency;
  const auto found = dependencies_.find(name);
  if (found != dependencies_.end()) return found->second;
  const TemplateSet::value_type* const made_from = FindTemplate(templates_, name);
  DependencyState& dependency =
      AddDependency(name, made_from == nullptr ? RetiredPolicy(bound, options_.lease)
                                               : MadeFrom(made_from->second, name));
  dependency.retired = made_from == nullptr;
  if (made_from != nullptr) SetTemplate(dependency, made_from->first);
  return dependency;
}

// C9: what the reign before may have sent counts in full, for full holds from now.
void Core::Impl::Inherit(const Bound& bound) {
  DependencyState& dependency = Inherited(bound);
  SessionState& session = Adopt(bound);
  dependency.ledger.Inherit(
      bound.key.session, bound.steps,
      {bound.lease, bound.base_lease, bound.call_deadline, options_.clock_rate_error}, now_);
  Member& member = AddMember(dependency, session);
  member.sent = bound.steps;
  member.demand.AssumeAtLeast(bound.steps.limit);
}

SessionState& Core::Impl::Adopt(const Bound& bound) {
  SessionState& session = sessions_.Emplace(bound.key.session);
  session.id = bound.key.session;
  const auto order = internal::OrderOf(session.id);
  PLIMSOLL_CHECK(order.has_value(), "session ids are <epoch>-<counter>");
  session.order = *order;
  session.inherited = true;
  session.service = bound.service;
  session.instance = bound.instance;
  session.unique = bound.unique_instance;
  session.joined_at = session.seen_at = now_;
  by_name_[{session.service, session.instance}].insert(session.id);
  return session;
}

std::vector<Action> Core::Impl::Apply(const Event& event, Instant now) {
  PLIMSOLL_CHECK(now >= now_, "time does not go back in the core");
  now_ = now;
  std::visit([this](const auto& what) { On(what); }, event);
  if (NeedsWrite(event)) StartWrite();
  AskForConfirmation();
  return std::exchange(actions_, {});
}

void Core::Impl::On(const AbandonEvent& event) {
  const auto found = by_held_request_.find(event.request);
  if (found != by_held_request_.end()) ForgetHeld(*found->second);
}

void Core::Impl::On(const TickEvent& /*event*/) {
  if (deposed_ || AwaitsNewReign()) return;
  EndLearningIfOver();
  confirm_failed_ = false;
  ExpireAll();
  ForgetUnbooked();
  ForgetUnused();
  for (auto& [name, dependency] : dependencies_) {
    AdvanceLaws(dependency);
    internal::Allocate(dependency, sessions_, now_);
    NoteExcess(dependency);
  }
  NoteReportAges();
  AdvanceBreakers();
  ConsiderAll();
  AnswerUnconfirmed();
}

// Every tick decides on the newest reports there are.
void Core::Impl::NoteReportAges() {
  for (const auto& [id, session] : sessions_) {
    const absl::Duration age = now_ - session.seen_at;
    if (session.spoken && age <= options_.lease) report_ages_.Record(age);
  }
}

// Reservations may rise above a quota by a cut, by what ran before a policy enforced, and by claims
// while the controller learns. Otherwise what is above it can only fall.
void Core::Impl::NoteExcess(DependencyState& dependency) {
  internal::Excess& excess = dependency.excess;
  const std::int64_t now = internal::ExcessOf(dependency);
  const bool may_rise = learning_ || dependency.retired ||
                        dependency.policy.mode != Mode::kEnforce ||
                        excess.quota != dependency.policy.quota ||
                        std::any_of(dependency.members.begin(), dependency.members.end(),
                                    [](const auto& pair) { return pair.second.unbounded; });
  excess.allowed = may_rise ? now : std::min(excess.allowed, now);
  excess.quota = dependency.policy.quota;
}

void Core::Impl::On(const ShutdownEvent& /*event*/) {
  shutting_down_ = true;
  RefuseHeld(RefusalCode::kNotReady, "shutting down");
}

void Core::Impl::RefuseHeld(RefusalCode code, const std::string& detail) {
  for (auto& [id, session] : sessions_) {
    if (!session.held.has_value()) continue;
    Reply(session.held->request, Refusal{code, detail, epoch_});
    ForgetHeld(session);
  }
}

void Core::Impl::Log(EventType type, const SessionState* session, const DependencyId& dependency,
                     std::string message) {
  LogEvent event;
  event.type = type;
  event.at = now_;
  event.dependency = dependency;
  if (session != nullptr) {
    event.service = session->service;
    event.instance = session->instance;
  }
  event.message = std::move(message);
  log_.Append(std::move(event));
}

LedgerTerms Core::Impl::TermsOf(const Policy& policy) const {
  return {options_.lease, policy.outage.base_lease, policy.call_deadline,
          options_.clock_rate_error};
}

std::int64_t Core::Impl::Reserved(const DependencyId& dependency) const {
  const auto found = dependencies_.find(dependency);
  return found == dependencies_.end() ? 0 : found->second.ledger.Reserved();
}

Calls Core::Impl::Reserved(const DependencyId& dependency, const SessionId& session) const {
  const auto found = dependencies_.find(dependency);
  return found == dependencies_.end() ? 0 : found->second.ledger.Reserved(session);
}

}  // namespace plimsoll
