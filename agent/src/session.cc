#include "agent/src/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

// Anchors remembered. Older ones can only be named by answers that were very late.
constexpr std::size_t kAnchorsKept = 64;
// While more calls run than the limit allows, each that ends frees capacity for others: report
// soon.
constexpr absl::Duration kHoldWhileAbove = absl::Milliseconds(100);
constexpr absl::Duration kDrainPause = absl::Milliseconds(50);

std::string DrawNonce(Random& random) {
  return absl::StrFormat("%016x%016x", random.Next(), random.Next());
}

}  // namespace

Session::Session(SessionOptions options, Random& random)
    : options_(std::move(options)),
      random_(random),
      nonce_(DrawNonce(random)),
      backoff_(options_.backoff_min) {}

void Session::Add(const DependencyId& dependency, GrantPort& port, BreakerPort* breaker) {
  Dependency& added = dependencies_[dependency];
  PLIMSOLL_CHECK(added.port == nullptr, "a dependency is added to a session once");
  added.port = &port;
  added.breaker = breaker;
  if (leaving_) port.StopAdmitting();
}

SessionStep Session::Next(Instant now) {
  PLIMSOLL_CHECK(!under_way_, "a session sends one message at a time");
  if (finished_) return Finished{};
  if (leaving_ && session_.empty()) {
    finished_ = true;
    return Finished{};
  }
  if (now < next_at_ && !acknowledge_now_) return WaitUntil{next_at_};
  if (session_.empty()) return MakeRegister(now);
  return leaving_ ? LeaveStep(now) : SessionStep(MakeSync(now));
}

SendMessage Session::MakeRegister(Instant now) {
  under_way_ = true;
  // A1: a repeated registration is anchored at its first attempt, which is the one that may have
  // been granted something.
  sent_at_.try_emplace(SyncNumber(0), now);
  RegisterRequest request;
  request.service = options_.service;
  request.instance = options_.instance;
  request.unique_instance = options_.unique_instance;
  request.zone = options_.zone;
  request.agent_version = options_.agent_version;
  request.protocol = options_.protocol;
  request.nonce = nonce_;
  for (const auto& [name, dependency] : dependencies_) request.dependencies.push_back(name);
  return {controller_, std::move(request), options_.answer_timeout};
}

SessionStep Session::LeaveStep(Instant now) {
  SendMessage sync = MakeSync(now);
  if (HasCallsInFlight()) return sync;
  // A8: the release frees everything at once, so it is sent when nothing runs any more.
  return SendMessage{controller_, ReleaseRequest{session_}, options_.answer_timeout};
}

SendMessage Session::MakeSync(Instant now) {
  under_way_ = true;
  acknowledge_now_ = false;
  n_ = SyncNumber(n_.value + 1);
  sent_at_[n_] = now;  // A1: before the message is even composed
  if (sent_at_.size() > kAnchorsKept) sent_at_.erase(sent_at_.begin());
  SyncRequest request;
  request.session = session_;
  request.n = n_;
  request.protocol = protocol_;
  request.epoch = epoch_;
  request.leaving = leaving_;
  if (introduce_) {
    request.identity = Identity{options_.service, options_.instance, options_.unique_instance};
  }
  for (auto& [name, dependency] : dependencies_) {
    request.dependencies.push_back(MakeReport(name, dependency, now));
  }
  request.hold = HoldTime(now);
  const absl::Duration timeout = request.hold + options_.answer_timeout;
  return {controller_, std::move(request), timeout};
}

DependencyReport Session::MakeReport(const DependencyId& name, Dependency& dependency,
                                     Instant now) {
  Measurement measured = dependency.port->Measure(now, dependency.window);
  dependency.in_flight = measured.in_flight;
  DependencyReport report;
  report.dependency = name;
  report.installed = dependency.installed.stamp;
  report.in_force = dependency.installed.Remaining(now);
  report.in_flight = measured.in_flight;
  report.in_flight_max = measured.in_flight_max;
  report.waiting = measured.waiting;
  report.windows = std::move(measured.windows);
  if (dependency.breaker != nullptr) report.breaker = dependency.breaker->Report(now);
  return report;
}

absl::Duration Session::HoldTime(Instant now) const {
  if (leaving_) return absl::ZeroDuration();
  const bool above = std::any_of(dependencies_.begin(), dependencies_.end(), [now](const auto& d) {
    return !d.second.observe && d.second.in_flight > d.second.installed.InForce(now);
  });
  return above ? std::min(kHoldWhileAbove, hold_max_) : hold_max_;
}

bool Session::HasCallsInFlight() const {
  return std::any_of(dependencies_.begin(), dependencies_.end(),
                     [](const auto& d) { return d.second.in_flight > 0; });
}

void Session::OnRegistered(const RegisterAnswer& answer, Instant now) {
  under_way_ = false;
  if (!options_.protocol.Contains(answer.protocol)) {
    Fail(now);  // what is not understood is not obeyed
    return;
  }
  protocol_ = answer.protocol;
  session_ = answer.session;
  epoch_ = std::max(epoch_, answer.epoch);
  hold_max_ = answer.hold_max;
  sync_min_ = answer.sync_min;
  Apply(answer.settings);
  Install(answer.grants, now);
  // The first sync follows at once: only it fences an earlier process of this name (C11).
  Succeed(now);
}

void Session::OnSynced(const SyncAnswer& answer, Instant now) {
  under_way_ = false;
  if (answer.protocol != protocol_) {
    Fail(now);  // its grants may mean something else
    return;
  }
  introduce_ = false;
  epoch_ = std::max(epoch_, answer.epoch);
  Apply(answer.settings);
  Install(answer.grants, now);
  Obey(answer.breakers, now);
  const absl::Duration pause = leaving_ ? kDrainPause : std::max(sync_min_, answer.next_sync);
  Succeed(now + pause);
  if (!leaving_ && ExtendsNothing(answer.grants)) LookElsewhere(now);
}

// As only a leader answers that cannot confirm its reign (C7).
bool Session::ExtendsNothing(const std::vector<Grant>& grants) const {
  return !grants.empty() && std::all_of(grants.begin(), grants.end(),
                                        [this](const Grant& grant) { return grant.anchor < n_; });
}

// Another one may reign meanwhile, of which this one cannot know: who stayed with it as long as it
// answers would stay until the lease is over. If none does, the others send back here.
void Session::LookElsewhere(Instant now) {
  if (options_.controllers == 1) return;
  acknowledge_now_ = false;
  controller_ = (controller_ + 1) % static_cast<std::size_t>(options_.controllers);
  next_at_ = now + random_.Uniform() * options_.backoff_min;
}

void Session::OnReleased(Instant /*now*/) {
  under_way_ = false;
  finished_ = true;
  connected_ = true;
}

void Session::OnRefused(const Refusal& refusal, Instant now, std::optional<std::size_t> leader) {
  under_way_ = false;
  switch (refusal.code) {
    case RefusalCode::kSessionUnknown:
    case RefusalCode::kSessionSuperseded:
      Reset(refusal, now);
      return;
    case RefusalCode::kStaleSync:
      Succeed(now + sync_min_);  // the next one has a larger number
      return;
    case RefusalCode::kAgentTooOld:
    case RefusalCode::kControllerTooOld:
      // Another controller has taken over, of a version in which this session is not spoken: a new
      // one may agree on an older or newer protocol.
      if (!session_.empty()) {
        Reset(refusal, now);
        return;
      }
      [[fallthrough]];
    case RefusalCode::kInvalidArgument:
      backoff_ = options_.backoff_max;  // saying it again soon does not make it right
      break;
    case RefusalCode::kIdentityRequired:
      introduce_ = true;
      Succeed(now);
      return;
    case RefusalCode::kNotLeader:
      GoToLeader(leader, now);
      return;
    case RefusalCode::kRateLimited:
    case RefusalCode::kNotReady:
      break;
  }
  Fail(now);
}

// A7: a controller that reigned before the one we know of knows less than we do.
void Session::Reset(const Refusal& refusal, Instant now) {
  if (refusal.epoch < epoch_) {
    Fail(now);
    return;
  }
  epoch_ = refusal.epoch;
  ForgetSession(now);
  if (refusal.code == RefusalCode::kSessionSuperseded) {
    // Two processes must not fight over one name.
    options_.instance =
        InstanceId(absl::StrCat(options_.instance.value.substr(0, 46), "~", nonce_.substr(0, 16)));
    options_.unique_instance = false;
  }
  next_at_ = now + random_.Uniform() * options_.backoff_min;
}

void Session::OnUnreachable(Instant now) {
  under_way_ = false;
  Fail(now);
}

void Session::OnInterrupted(Instant now) {
  under_way_ = false;
  next_at_ = now;
}

void Session::Leave(Instant now) {
  leaving_ = true;
  for (auto& [name, dependency] : dependencies_) dependency.port->StopAdmitting();
  next_at_ = now;
}

void Session::OnClockSuspect(Instant now) {
  // No anchor read before can be trusted: with none known, nothing rises and no lease is extended
  // before a sync that is sent after this has been answered.
  sent_at_.clear();
  if (session_.empty()) ForgetSession(now);
  for (auto& [name, dependency] : dependencies_) {
    if (!dependency.has_grant) continue;
    StepFunction shortened = dependency.installed;
    shortened.limit_end = std::min(shortened.limit_end, now);
    shortened.base_end = std::min(shortened.base_end, now);
    dependency.port->Install(shortened, now);
    dependency.installed = shortened;
  }
  acknowledge_now_ = !session_.empty();
}

std::optional<StepFunction> Session::Installed(const DependencyId& dependency) const {
  const auto found = dependencies_.find(dependency);
  if (found == dependencies_.end() || !found->second.has_grant) return std::nullopt;
  return found->second.installed;
}

std::vector<DependencyId> Session::UnknownDependencies() const {
  std::vector<DependencyId> unknown;
  for (const auto& [name, dependency] : dependencies_) {
    if (!dependency.known) unknown.push_back(name);
  }
  return unknown;
}

void Session::Apply(const std::vector<DependencySettings>& settings) {
  for (const DependencySettings& setting : settings) {
    const auto found = dependencies_.find(setting.dependency);
    if (found == dependencies_.end()) continue;
    found->second.known = setting.known;
    if (!setting.known) continue;
    found->second.window = setting.window;
    SetObserve(found->second, setting.observe);
    if (found->second.breaker != nullptr) found->second.breaker->Configure(setting.breaker);
  }
}

// The books of the controller want to know at once what is in flight when it begins to enforce.
void Session::SetObserve(Dependency& dependency, bool observe) {
  if (dependency.observe == observe) return;
  dependency.observe = observe;
  dependency.port->SetObserve(observe);
  if (!observe) acknowledge_now_ = true;
}

void Session::Install(const std::vector<Grant>& grants, Instant now) {
  for (const Grant& grant : grants) {
    const auto found = dependencies_.find(grant.dependency);
    if (found != dependencies_.end()) InstallOne(grant, found->second, now);
  }
}

void Session::Obey(const std::vector<BreakerOrder>& orders, Instant now) {
  for (const BreakerOrder& order : orders) {
    const auto found = dependencies_.find(order.dependency);
    if (found == dependencies_.end() || found->second.breaker == nullptr) continue;
    found->second.breaker->Obey(order, now);
  }
}

void Session::InstallOne(const Grant& grant, Dependency& dependency, Instant now) {
  if (dependency.has_grant && grant.stamp <= dependency.installed.stamp) return;  // A2
  // L2: a late sync could otherwise bring back an older, larger claim.
  if (grant.renews.has_value() && *grant.renews != dependency.installed.stamp) return;
  const Calls before = dependency.installed.InForce(now);
  StepFunction next{grant.stamp, grant.steps,         Instant{},
                    Instant{},   grant.call_deadline, grant.explanation};
  const auto anchor = sent_at_.find(grant.anchor);
  if (anchor == sent_at_.end()) {
    next.steps = Lowest(grant.steps, dependency.installed.steps);
    next.limit_end = dependency.installed.limit_end;
    next.base_end = dependency.installed.base_end;
  } else {
    next.limit_end = anchor->second + grant.lease;
    next.base_end = anchor->second + grant.base_lease;
  }
  dependency.port->Install(next, now);
  dependency.installed = next;
  dependency.has_grant = true;
  if (next.InForce(now) < before) acknowledge_now_ = true;  // A5: lowered first, told next
}

void Session::ForgetSession(Instant now) {
  for (auto& [name, dependency] : dependencies_) {
    StepFunction nothing;
    nothing.call_deadline = dependency.installed.call_deadline;  // of the calls still in flight
    dependency.port->Install(nothing, now);
    dependency.installed = nothing;
    dependency.has_grant = false;
  }
  session_ = SessionId();
  n_ = SyncNumber(0);
  sent_at_.clear();
  introduce_ = false;
  nonce_ = DrawNonce(random_);
  acknowledge_now_ = false;
}

void Session::Fail(Instant now) {
  connected_ = false;
  acknowledge_now_ = false;
  controller_ = (controller_ + 1) % static_cast<std::size_t>(options_.controllers);
  next_at_ = now + random_.Uniform() * backoff_;
  backoff_ = std::min(backoff_ * 2, options_.backoff_max);
}

// Another one reigns, and will answer: only the jitter that keeps a fleet apart, also if that one
// was silent before, for whoever takes over from it is found out by asking on. While nobody is
// named the pauses grow, but once a round and to half: who reigns again must be found before leases
// end.
void Session::GoToLeader(std::optional<std::size_t> leader, Instant now) {
  const std::size_t asked = controller_;
  if (leader.has_value()) backoff_ = options_.backoff_min;
  const absl::Duration pause = std::min(backoff_, options_.backoff_max / 2);
  backoff_ = pause;
  Fail(now);
  const bool round = controller_ == 0;
  if (leader.has_value() || !round) backoff_ = pause;
  if (leader.has_value() && *leader != asked) controller_ = *leader;
}

void Session::Succeed(Instant next_at) {
  connected_ = true;
  backoff_ = options_.backoff_min;
  next_at_ = next_at;
}

}  // namespace plimsoll::internal
