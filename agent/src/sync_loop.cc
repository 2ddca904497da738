#include "agent/src/sync_loop.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/src/longest_nap.h"
#include "agent/src/signals_blocked.h"

namespace plimsoll::internal {
namespace {

// Calendar time this far ahead of the lease clock means that the lease clock stood still.
constexpr absl::Duration kLostTime = absl::Seconds(1);
// Calls end without telling the loop; those who wait for that look this often.
constexpr absl::Duration kLookInterval = absl::Milliseconds(10);

// Lines about permits that are overdue, for each dependency and look.
constexpr std::size_t kOverdueLines = 8;

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

SyncLoop::SyncLoop(SessionOptions options, const Clock& clock, Random random,
                   std::unique_ptr<Transport> transport, LogFunction log)
    : clock_(clock),
      transport_(std::move(transport)),
      log_(std::move(log)),
      random_(random),
      session_(std::move(options), random_),
      looked_at_(clock.Now()),
      looked_at_wall_(clock.WallTime()),
      looked_at_wall_after_(looked_at_),
      instance_(session_.instance().value) {}

SyncLoop::~SyncLoop() { Stop(); }

absl::Status SyncLoop::Start() {
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the agent's thread cannot be started: ", error.what()));
  }
  pthread_setname_np(thread_.native_handle(), "plimsoll");
  return absl::OkStatus();
}

void SyncLoop::AskToStop() {
  const MutexLock lock(mutex_);
  stop_ = true;
  Post();
}

void SyncLoop::Stop() {
  if (!thread_.joinable()) return;
  AskToStop();
  thread_.join();
}

void SyncLoop::Add(DependencyId dependency, GrantPort& port, BreakerPort* breaker) {
  const MutexLock lock(mutex_);
  joining_.push_back({std::move(dependency), &port, breaker});
  Post();
}

void SyncLoop::Leave() {
  const MutexLock lock(mutex_);
  leave_ = true;
  Post();
}

void SyncLoop::Wake() {
  const MutexLock lock(mutex_);
  Post();
}

// Only a held sync is broken off: the other messages are answered at once, and a registration whose
// answer is lost leaves a session behind.
void SyncLoop::Post() {
  mail_ = true;
  mail_arrived_.NotifyAll();
  if (under_way_ == UnderWay::kHeldSync || (stop_ && under_way_ == UnderWay::kOther)) {
    transport_->Interrupt();
  }
}

bool SyncLoop::WaitFor(absl::Duration timeout, const std::function<bool()>& done) {
  const Instant end = clock_.Now() + timeout;
  const MutexLock lock(mutex_);
  while (!done()) {
    const absl::Duration left = end - clock_.Now();
    if (left <= absl::ZeroDuration()) return false;
    progress_.WaitFor(mutex_, std::min(left, kLookInterval));
  }
  return true;
}

std::string SyncLoop::instance() const {
  const MutexLock lock(mutex_);
  return instance_;
}

void SyncLoop::Run() {
  while (TakeMail()) {
    const Instant now = Look();
    LogOverdue(now);
    const SessionStep step = session_.Next(now);
    if (const auto* wait = std::get_if<WaitUntil>(&step)) {
      Sleep(wait->at);
    } else if (const auto* send = std::get_if<SendMessage>(&step)) {
      Carry(*send);
      Publish();
      if (!found_.has_value()) continue;
      // Others report the dependencies from now on: this thread must not touch them any more.
      found_shards_(*found_);
      return Finish();
    } else {
      return Finish();
    }
  }
}

void SyncLoop::Finish() {
  if (session_.session().empty()) released_.store(true, std::memory_order_relaxed);
  finished_.store(true, std::memory_order_relaxed);
  Publish();
}

// Returns false if the thread is to end.
bool SyncLoop::TakeMail() {
  std::vector<Joining> joining;
  bool leave = false;
  {
    const MutexLock lock(mutex_);
    if (stop_) return false;
    mail_ = false;
    joining.swap(joining_);
    leave = leave_;
  }
  for (const Joining& join : joining) {
    session_.Add(join.dependency, *join.port, join.breaker);
    ports_.push_back(join);
  }
  if (leave && !session_.leaving()) session_.Leave(Look());
  return true;
}

void SyncLoop::Sleep(Instant until) {
  const MutexLock lock(mutex_);
  while (!mail_) {
    const absl::Duration left = until - clock_.Now();
    if (left <= absl::ZeroDuration()) return;
    mail_arrived_.WaitFor(mutex_, std::min(left, kLongestNap));
  }
}

// The time. Notices if time has passed that the lease clock did not count, as it happens to virtual
// machines that are paused or moved: rule A6.
Instant SyncLoop::Look() {
  clock_.Refresh();
  // The thread may be put aside between two readings: that is no lost time.
  const Instant before = clock_.Now();
  const absl::Time wall = clock_.WallTime();
  const Instant now = clock_.Now();
  const absl::Duration lost = (wall - looked_at_wall_) - (now - looked_at_wall_after_);
  looked_at_ = now;
  looked_at_wall_ = wall;
  looked_at_wall_after_ = before;
  if (lost > kLostTime) {
    Log(absl::StrCat("calendar time went ", absl::FormatDuration(lost),
                     " ahead of the lease clock: limits fall to their reserve until the "
                     "controller has answered"));
    session_.OnClockSuspect(now);
  }
  return now;
}

void SyncLoop::Carry(const SendMessage& send) {
  if (!BeginExchange(send)) {
    session_.OnInterrupted(Look());
    return;
  }
  const Answer answer = std::visit(
      [&](const auto& message) {
        return transport_->Exchange(send.controller, message, send.timeout);
      },
      send.message);
  EndExchange();
  if (std::holds_alternative<SyncRequest>(send.message)) CountSync(answer);
  Digest(send, answer);
}

void SyncLoop::CountSync(const Answer& answer) {
  const auto* const none = std::get_if<NoAnswer>(&answer);
  if (none != nullptr && absl::IsCancelled(none->why)) return;
  const bool timed_out = none != nullptr && absl::IsDeadlineExceeded(none->why);
  auto& count = std::holds_alternative<SyncAnswer>(answer) ? syncs_ok_
                : timed_out                                ? syncs_timed_out_
                                                           : syncs_failed_;
  count.fetch_add(1, std::memory_order_relaxed);
}

SyncCounts SyncLoop::syncs() const {
  return {syncs_ok_.load(std::memory_order_relaxed), syncs_failed_.load(std::memory_order_relaxed),
          syncs_timed_out_.load(std::memory_order_relaxed)};
}

// Returns false if mail has come since it was taken.
bool SyncLoop::BeginExchange(const SendMessage& send) {
  const MutexLock lock(mutex_);
  if (mail_) return false;
  under_way_ =
      std::holds_alternative<SyncRequest>(send.message) ? UnderWay::kHeldSync : UnderWay::kOther;
  return true;
}

void SyncLoop::EndExchange() {
  const MutexLock lock(mutex_);
  under_way_ = UnderWay::kNothing;
}

void SyncLoop::Digest(const SendMessage& send, const Answer& answer) {
  const Instant now = Look();  // before the answer is believed
  std::visit(Overloaded{
                 [&](const RegisterAnswer& registered) {
                   if (shards_ == 0) shards_ = 1;
                   session_.OnRegistered(registered, now);
                 },
                 [&](const SyncAnswer& synced) { session_.OnSynced(synced, now); },
                 [&](const ReleaseAnswer&) {
                   released_.store(true, std::memory_order_relaxed);
                   session_.OnReleased(now);
                 },
                 [&](const Refusal& refusal) { OnRefused(send, refusal, now); },
                 [&](const NoAnswer& none) {
                   if (absl::IsCancelled(none.why)) {
                     session_.OnInterrupted(now);
                     return;
                   }
                   LogTrouble(std::string(none.why.message()));
                   session_.OnUnreachable(now);
                 },
             },
             answer);
  LogChanges();
  LogSteps();
}

void SyncLoop::OnRefused(const SendMessage& send, const Refusal& refusal, Instant now) {
  const std::optional<int> told = transport_->shards();
  if (told.has_value() && shards_ == 0 && found_shards_) {
    found_ = told;
    session_.OnUnreachable(now);
    return;
  }
  if (told.has_value() && shards_ != 0 && *told != shards_) {
    LogTrouble(absl::StrFormat(
        "controller %d tells of %d shards, and there are %d: it is not believed; is it of another "
        "fleet?",
        send.controller, *told, shards_));
    session_.OnUnreachable(now);
    return;
  }
  if (refusal.code != RefusalCode::kStaleSync) {
    LogTrouble(absl::StrFormat("controller %d refused: %s: %s", send.controller,
                               ToString(refusal.code), refusal.detail));
  }
  session_.OnRefused(refusal, now, transport_->leader());
}

void SyncLoop::Publish() {
  connected_.store(session_.connected(), std::memory_order_relaxed);
  const MutexLock lock(mutex_);
  instance_ = session_.instance().value;
  progress_.NotifyAll();
}

// The first of a series only: while a controller is away there is one failure after the other.
void SyncLoop::LogTrouble(const std::string& what) {
  if (!std::exchange(trouble_, true)) Log(what);
}

void SyncLoop::LogChanges() {
  if (session_.connected() && std::exchange(trouble_, false)) Log("the controller answers again");
  std::set<DependencyId> unknown;
  for (DependencyId& dependency : session_.UnknownDependencies()) {
    if (!unknown_.contains(dependency)) {
      Log(absl::StrCat("the controller has no policy for '", dependency.value,
                       "' and admits nothing to it: add one to its configuration"));
    }
    unknown.insert(std::move(dependency));
  }
  unknown_ = std::move(unknown);
}

// Each step down and the way back up, so that a log tells what was in force when.
void SyncLoop::LogSteps() {
  session_.ForEachInstalled([this](const DependencyId& name, const StepFunction& function) {
    const int step = function.StepAt(looked_at_);
    const int before = std::exchange(steps_[name], step);
    if (step == before) return;
    const Calls limit = function.InForce(looked_at_);
    if (step == 0) {
      Log(absl::StrCat("'", name.value, "': the limit is ", limit, " again"));
    } else {
      Log(absl::StrCat("'", name.value, "': the ", step == 1 ? "lease" : "base lease",
                       " has run out without a newer grant: the limit is ", limit,
                       step == 1 ? ", the base" : ", the reserve"));
    }
  });
}

// Each once, but not all when there are very many.
void SyncLoop::LogOverdue(Instant now) {
  for (const Joining& joined : ports_) {
    const std::vector<OverduePermit> overdue = joined.port->TakeOverdue(now);
    for (std::size_t i = 0; i < std::min(overdue.size(), kOverdueLines); ++i) {
      Log(absl::StrCat("'", joined.dependency.value, "': a permit taken at ", overdue[i].file, ":",
                       overdue[i].line, " has been held for ",
                       absl::FormatDuration(absl::Trunc(overdue[i].age, absl::Milliseconds(1))),
                       ": was it forgotten?"));
    }
    if (overdue.size() > kOverdueLines) {
      Log(absl::StrCat("'", joined.dependency.value, "': so have ", overdue.size() - kOverdueLines,
                       " more permits"));
    }
  }
}

void SyncLoop::Log(const std::string& line) { log_(line); }

}  // namespace plimsoll::internal
