#include "plimsoll/agent/agent.h"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "agent/src/agent_factory.h"
#include "agent/src/bulkhead_factory.h"
#include "agent/src/fleet_breaker.h"
#include "agent/src/fork_registry.h"
#include "agent/src/limiter.h"
#include "agent/src/shard_loops.h"
#include "agent/src/snapshot.h"
#include "plimsoll/agent/guard.h"
#include "plimsoll/agent/retry_budget.h"
#include "plimsoll/core/check.h"
#include "plimsoll/core/mutex.h"
#include "plimsoll/core/types.h"

namespace plimsoll {
namespace {

using internal::Limiter;

constexpr char kAgentVersion[] = "0.1.0";
constexpr std::size_t kNameLengthMax = 63;
constexpr std::size_t kSuffixLength = 17;  // '~' and 16 digits

void LogToStderr(std::string_view line) {
  std::fprintf(stderr, "plimsoll: %.*s\n", static_cast<int>(line.size()), line.data());
}

internal::SessionOptions MakeSessionOptions(const AgentOptions& options, Random& random) {
  internal::SessionOptions session;
  session.service = ServiceId(options.service);
  session.unique_instance = !options.instance.empty();
  session.instance = InstanceId(options.instance);
  if (options.instance.empty()) {
    const std::string prefix = options.service.substr(0, kNameLengthMax - kSuffixLength);
    session.instance = InstanceId(absl::StrFormat("%s~%016x", prefix, random.Next()));
  }
  session.zone = options.zone;
  session.agent_version = kAgentVersion;
  session.controllers = static_cast<int>(options.controllers.size());
  session.answer_timeout = absl::FromChrono(options.answer_timeout);
  return session;
}

absl::Status InChildError() {
  return absl::FailedPreconditionError(
      "this agent belongs to the parent process: start another one after fork()");
}

}  // namespace

class Agent::Impl final : private internal::ForkObserver {
 public:
  Impl(const AgentOptions& options, AgentParts parts);
  ~Impl() override;

  absl::Status Start() { return loop_->Start(); }
  Bulkhead& GetBulkhead(const std::string& dependency);
  absl::StatusOr<Bulkhead*> GetBulkhead(const std::string& dependency,
                                        const BulkheadOptions& options);
  Breaker& GetBreaker(const std::string& dependency);
  RetryBudget& GetRetryBudget(const std::string& dependency);
  absl::Status Drain(absl::Duration timeout);
  absl::Status WaitUntilGranted(absl::Duration timeout);
  bool connected() const { return !InChild() && loop_->connected(); }
  std::string instance() const;
  AgentSnapshot Snapshot() const;

 private:
  // What belongs to one dependency.
  struct Compartment {
    BulkheadOptions options;
    Limiter* limiter;  // the bulkhead's
    std::unique_ptr<Bulkhead> bulkhead;
    std::unique_ptr<internal::FleetBreaker> breaker;
    std::unique_ptr<RetryBudget> retry_budget;  // made when it is first asked for
  };

  // ForkObserver: nobody may be changing the map while the process is copied.
  void BeforeFork() override ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void AfterFork() override ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

  bool InChild() const { return internal::ForkGeneration() != generation_; }
  // A compartment stays where it is for as long as the agent lives, and so do its parts.
  Compartment* Find(const std::string& dependency);
  Compartment& FindOrMake(const std::string& dependency, const BulkheadOptions& options);
  Compartment Make(const std::string& dependency, const BulkheadOptions& options);
  void StopAdmitting();
  std::int64_t CallsInFlight() const;
  bool AllGranted() const;

  // Fixed at construction.
  const int generation_;
  const Clock& clock_;
  internal::Timers* const timers_;
  const absl::Duration release_timeout_;
  std::string first_instance_;
  std::uint64_t seed_ = 0;  // of breakers

  // Guarded by mutex_.
  mutable Mutex mutex_;
  std::map<std::string, Compartment> compartments_ ABSL_GUARDED_BY(mutex_);
  // In the order in which they were made, so that a metric does not lose its label to a newcomer.
  std::vector<const Compartment*> in_order_ ABSL_GUARDED_BY(mutex_);
  bool leaving_ ABSL_GUARDED_BY(mutex_) = false;

  // Its threads use the limiters, so it goes first. Its lock is taken before mutex_.
  std::unique_ptr<internal::ShardLoops> loop_;
};

Agent::Impl::Impl(const AgentOptions& options, AgentParts parts)
    : generation_((internal::RegisterForkObserver(*this), internal::ForkGeneration())),
      clock_(parts.clock),
      timers_(parts.timers),
      release_timeout_(absl::FromChrono(options.release_timeout)) {
  internal::SessionOptions session = MakeSessionOptions(options, parts.random);
  first_instance_ = session.instance.value;
  seed_ = parts.random.Next();
  loop_ = std::make_unique<internal::ShardLoops>(
      std::move(session), clock_, parts.random, std::move(parts.transport),
      std::move(parts.shard_transport),
      options.log ? options.log : internal::LogFunction(&LogToStderr));
}

Agent::Impl::~Impl() {
  internal::UnregisterForkObserver(*this);
  if (InChild()) {
    // The threads do not exist here, its locks may be taken for ever, and closing its connection
    // would close the parent's.
    static_cast<void>(loop_.release());
    return;
  }
  Drain(release_timeout_).IgnoreError();
  loop_->Stop();
}

Agent::Impl::Compartment* Agent::Impl::Find(const std::string& dependency) {
  const MutexLock lock(mutex_);
  const auto found = compartments_.find(dependency);
  return found == compartments_.end() ? nullptr : &found->second;
}

Bulkhead& Agent::Impl::GetBulkhead(const std::string& dependency) {
  return *FindOrMake(dependency, BulkheadOptions()).bulkhead;
}

absl::StatusOr<Bulkhead*> Agent::Impl::GetBulkhead(const std::string& dependency,
                                                   const BulkheadOptions& options) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  const Compartment& compartment = FindOrMake(dependency, options);
  if (compartment.options == options) return compartment.bulkhead.get();
  return absl::FailedPreconditionError(
      absl::StrCat("the bulkhead of '", dependency,
                   "' has other options: they are set where it is first asked for"));
}

Breaker& Agent::Impl::GetBreaker(const std::string& dependency) {
  internal::FleetBreaker& breaker = *FindOrMake(dependency, BulkheadOptions()).breaker;
  breaker.Use();
  return breaker.breaker();
}

RetryBudget& Agent::Impl::GetRetryBudget(const std::string& dependency) {
  Compartment& compartment = FindOrMake(dependency, BulkheadOptions());
  const MutexLock lock(mutex_);
  if (compartment.retry_budget == nullptr) {
    compartment.retry_budget = std::make_unique<RetryBudget>();
  }
  return *compartment.retry_budget;
}

Agent::Impl::Compartment Agent::Impl::Make(const std::string& dependency,
                                           const BulkheadOptions& options) {
  Limiter* limiter = Limiter::Make(clock_, options, timers_);
  return {options, limiter, BulkheadFactory::Make(dependency, limiter),
          std::make_unique<internal::FleetBreaker>(
              clock_, Random(seed_ + std::hash<std::string>()(dependency)),
              [this, name = DependencyId(dependency)] {
                if (!InChild()) loop_->Wake(name);
              }),
          nullptr};
}

Agent::Impl::Compartment& Agent::Impl::FindOrMake(const std::string& dependency,
                                                  const BulkheadOptions& options) {
  PLIMSOLL_CHECK(IsValidName(dependency), "the name of a dependency must be valid");
  if (Compartment* found = Find(dependency)) return *found;

  // Made, and thrown away if another thread was faster, without the lock: making and unmaking a
  // limiter takes the lock of the fork registry, which comes before mutex_.
  Compartment made = Make(dependency, options);
  Compartment* compartment = nullptr;
  {
    const MutexLock lock(mutex_);
    const auto [place, inserted] = compartments_.try_emplace(dependency, std::move(made));
    compartment = &place->second;
    if (!inserted) return *compartment;
    in_order_.push_back(compartment);
    if (leaving_ || InChild()) compartment->limiter->StopAdmitting();
  }
  if (!InChild()) {
    loop_->Add(DependencyId(dependency), *compartment->limiter, compartment->breaker.get());
  }
  return *compartment;
}

absl::Status Agent::Impl::Drain(absl::Duration timeout) {
  if (InChild()) return InChildError();
  StopAdmitting();
  loop_->Leave();
  if (loop_->WaitFor(timeout, [this] { return loop_->finished() && CallsInFlight() == 0; }) &&
      loop_->released()) {
    return absl::OkStatus();
  }
  const std::int64_t calls = CallsInFlight();
  if (calls > 0) {
    return absl::DeadlineExceededError(
        absl::StrCat(calls, " calls are still in flight: their share is freed by time"));
  }
  return absl::DeadlineExceededError(
      "no controller could be told: the share of this instance is freed by time");
}

absl::Status Agent::Impl::WaitUntilGranted(absl::Duration timeout) {
  if (InChild()) return InChildError();
  if (loop_->WaitFor(timeout, [this] { return AllGranted(); })) return absl::OkStatus();
  return absl::DeadlineExceededError(
      loop_->connected() ? "the controller has granted nothing yet: is there a policy for each "
                           "dependency, and quota left?"
                         : "no controller answers: see AgentOptions::controllers");
}

std::string Agent::Impl::instance() const {
  return InChild() ? first_instance_ : loop_->instance();
}

AgentSnapshot Agent::Impl::Snapshot() const {
  AgentSnapshot snapshot;
  snapshot.has_controller = true;
  snapshot.connected = connected();
  snapshot.syncs = loop_->syncs();
  snapshot.version = kAgentVersion;
  std::vector<std::pair<const Compartment*, const RetryBudget*>> in_order;
  {
    const MutexLock lock(mutex_);
    for (const Compartment* one : in_order_) in_order.emplace_back(one, one->retry_budget.get());
  }
  for (const auto& [one, retry_budget] : in_order) {
    BulkheadSnapshot bulkhead = internal::TakeSnapshot(one->bulkhead->dependency(), *one->limiter);
    if (one->breaker->used()) {
      const BreakerSnapshot breaker = one->breaker->breaker().Snapshot();
      bulkhead.breaker = BreakerFacts{ToString(breaker.state), breaker.opened};
    }
    if (retry_budget != nullptr) bulkhead.retries_denied = retry_budget->stats().denied;
    snapshot.bulkheads.push_back(std::move(bulkhead));
  }
  return snapshot;
}

// Those who wait are told without the lock, since their callbacks may ask for a bulkhead.
void Agent::Impl::StopAdmitting() {
  std::vector<Limiter*> limiters;
  {
    const MutexLock lock(mutex_);
    leaving_ = true;
    for (auto& [name, compartment] : compartments_) limiters.push_back(compartment.limiter);
  }
  for (Limiter* limiter : limiters) limiter->Drain();
}

std::int64_t Agent::Impl::CallsInFlight() const {
  const MutexLock lock(mutex_);
  std::int64_t calls = 0;
  for (const auto& [name, compartment] : compartments_) calls += compartment.limiter->in_flight();
  return calls;
}

bool Agent::Impl::AllGranted() const {
  const MutexLock lock(mutex_);
  for (const auto& [name, compartment] : compartments_) {
    if (!compartment.limiter->granted()) return false;
  }
  return true;
}

absl::StatusOr<std::unique_ptr<Agent>> AgentFactory::Start(const AgentOptions& options,
                                                           AgentParts parts) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  auto impl = std::make_unique<Agent::Impl>(options, std::move(parts));
  if (absl::Status started = impl->Start(); !started.ok()) return started;
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Agent>> Agent::Start(const AgentOptions& options) {
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  const auto make = [options](std::optional<int> shard) {
    return internal::MakeHttpTransport(
        options.controllers, absl::FromChrono(options.connect_timeout),
        {options.token, options.ca_file, options.client_cert_file, options.client_key_file}, shard);
  };
  return AgentFactory::Start(
      options, {RealClock(), Random::FromEntropy(), make(std::nullopt), nullptr, make});
}

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Bulkhead& Agent::bulkhead(std::string_view dependency) {
  return impl_->GetBulkhead(std::string(dependency));
}

absl::StatusOr<Bulkhead*> Agent::bulkhead(std::string_view dependency,
                                          const BulkheadOptions& options) {
  return impl_->GetBulkhead(std::string(dependency), options);
}

Breaker& Agent::breaker(std::string_view dependency) {
  return impl_->GetBreaker(std::string(dependency));
}

RetryBudget& Agent::retry_budget(std::string_view dependency) {
  return impl_->GetRetryBudget(std::string(dependency));
}

GuardLayers Agent::layers(std::string_view dependency) {
  return {&breaker(dependency), &bulkhead(dependency), &retry_budget(dependency)};
}

absl::Status Agent::Drain(std::chrono::nanoseconds timeout) {
  return impl_->Drain(absl::FromChrono(timeout));
}

bool Agent::connected() const { return impl_->connected(); }
std::string Agent::instance() const { return impl_->instance(); }
AgentSnapshot Agent::Snapshot() const { return impl_->Snapshot(); }

absl::Status Agent::WaitUntilGranted(std::chrono::nanoseconds timeout) {
  return impl_->WaitUntilGranted(absl::FromChrono(timeout));
}

}  // namespace plimsoll
