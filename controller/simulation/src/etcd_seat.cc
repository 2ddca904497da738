#include "controller/simulation/src/etcd_seat.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace plimsoll::internal {
namespace {

// As in etcd_leadership.cc and reign_loop.cc.
constexpr absl::Duration kLookEvery = absl::Milliseconds(250);
constexpr absl::Duration kLookAtLease = absl::Milliseconds(200);
// Far below Unix time, far above what a test counts by hand.
constexpr std::int64_t kFirstEpoch = 1000;
constexpr char kName[] = "controller-";
// A process that goes on after a pause lets its threads run in any order.
constexpr DurationRange kWakes = {absl::ZeroDuration(), absl::Milliseconds(500)};
constexpr DurationRange kServes = {absl::ZeroDuration(), absl::Milliseconds(20)};
constexpr DurationRange kServesLate = {absl::Milliseconds(20), absl::Seconds(3)};
constexpr double kIsLate = 0.1;

std::optional<std::size_t> IndexOf(const Leader& leader) {
  std::size_t index = 0;
  if (!absl::SimpleAtoi(absl::StripPrefix(leader.id, kName), &index)) return std::nullopt;
  return index;
}

}  // namespace

EtcdSeat::EtcdSeat(World& world, VirtualEtcd& etcd, ControllerHost& host, int index,
                   std::string prefix, EtcdCounts& counts)
    : world_(world),
      host_(host),
      index_(index),
      prefix_(std::move(prefix)),
      day_(*world.scenario.etcd),
      counts_(counts),
      campaigner_(world, etcd, index, counts,
                  [this](EventQueue::Action action) { Deliver(std::move(action)); }),
      writer_(world, etcd, index, counts,
              [this](EventQueue::Action action) { Deliver(std::move(action)); }),
      confirmer_(world, etcd, index, counts,
                 [this](EventQueue::Action action) { Deliver(std::move(action)); }),
      keeper_(world, etcd, index, counts,
              [this](EventQueue::Action action) { Deliver(std::move(action)); }) {
  host_.set_leader([this] { return leader_; });
  host_.OnDeposed([this](Epoch seen) {
    memory_.Note("", seen.value);
    Finish();
  });
}

std::string EtcdSeat::NameOf(int controller) { return absl::StrCat(kName, controller); }

void EtcdSeat::PauseUntil(Instant until) {
  world_.trace.Note(world_.queue.now(), {49, index_},
                    [this] { return absl::StrCat("controller ", index_, " pauses"); });
  host_.PauseUntil(until);
}

void EtcdSeat::Start() {
  ++process_;
  running_ = true;
  stopping_ = false;
  clock_.emplace(MakeClock(world_, Role::kController));
  memory_ = {};
  leader_.reset();
  seen_at_ = clock_->Now();
  host_.StandBy();
  Look();
}

void EtcdSeat::Crash() {
  if (!running_) return;
  ++process_;
  ++reign_;
  running_ = false;
  for (EtcdCaller* const caller : {&campaigner_, &writer_, &confirmer_, &keeper_}) caller->Reset();
  take_over_.reset();
  plan_.reset();
  batches_.clear();
  committing_ = over_ = finishing_ = false;
  host_.Leave();
}

void EtcdSeat::Stop() {
  Deliver([this] {
    if (stopping_) return;
    stopping_ = true;
    if (!plan_.has_value()) return Crash();
    host_.ShutDown();
    Finish();
  });
}

void EtcdSeat::Look() {
  Ask(campaigner_, EtcdPurpose::kLook, LookTxn(prefix_),
      [this](const EtcdAnswer& answer) { OnLook(answer); });
}

void EtcdSeat::OnLook(const EtcdAnswer& answer) {
  absl::StatusOr<EtcdLook> look =
      answer.status.ok() ? ReadLook(prefix_, answer.txn) : absl::StatusOr<EtcdLook>(answer.status);
  if (!look.ok()) {
    if (clock_->Now() - seen_at_ > day_.lease) leader_.reset();
    return LookAgain();
  }
  seen_at_ = clock_->Now();
  leader_ = look->leader.has_value() ? IndexOf(*look->leader) : std::nullopt;
  if (!look->leader.has_value()) return TakeOver(*look);
  memory_.Note(look->log_id, look->epoch);
  LookAgain();
}

void EtcdSeat::LookAgain() {
  After(std::min(kLookEvery, day_.lease / 10), [this] { Look(); });
}

// A lease is used for one attempt only.
void EtcdSeat::TakeOver(const EtcdLook& look) {
  Ask(campaigner_, EtcdPurpose::kGrant, EtcdGrantLease{}, [this, look](const EtcdAnswer& answer) {
    if (!answer.status.ok()) return LookAgain();
    lease_ = answer.lease;
    take_over_.emplace(look, HowToTakeOver(lease_));
    taken_ = false;
    StepTakeOver();
  });
}

EtcdTakeOverOptions EtcdSeat::HowToTakeOver(std::int64_t lease) {
  EtcdTakeOverOptions options;
  options.prefix = prefix_;
  options.self = {NameOf(index_), absl::StrCat("http://", index_, ":7481"),
                  absl::StrCat("http://", index_, ":7480")};
  options.lease = lease;
  options.first_epoch = kFirstEpoch;
  options.fresh_log_id = absl::StrFormat("%016x", world_.random.Next());
  options.memory = memory_;
  return options;
}

void EtcdSeat::StepTakeOver() {
  const std::optional<EtcdTakeOver::Request> request = take_over_->Next();
  if (!request.has_value()) return EndTakeOver();
  if (const auto* range = std::get_if<EtcdRange>(&*request)) {
    return Ask(campaigner_, EtcdPurpose::kPage, *range, [this](const EtcdAnswer& answer) {
      take_over_->On(RangeOf(answer));
      StepTakeOver();
    });
  }
  const EtcdPurpose purpose = std::exchange(taken_, true) ? EtcdPurpose::kMark : EtcdPurpose::kTake;
  Ask(campaigner_, purpose, std::get<EtcdTxn>(*request), [this](const EtcdAnswer& answer) {
    take_over_->On(TxnOf(answer));
    StepTakeOver();
  });
}

void EtcdSeat::EndTakeOver() {
  if (take_over_->outcome().ok()) {
    EtcdReignStart start = take_over_->TakeStart();
    take_over_.reset();
    return BeginReign(std::move(start));
  }
  ++counts_.takes_failed;
  take_over_.reset();
  Ask(campaigner_, EtcdPurpose::kRevoke, EtcdRevokeLease{lease_},
      [this](const EtcdAnswer&) { LookAgain(); });
}

void EtcdSeat::BeginReign(EtcdReignStart start) {
  ++counts_.reigns;
  memory_.Note(start.log_id, start.state.epoch.value);
  leader_ = static_cast<std::size_t>(index_);
  const std::int64_t reign = ++reign_;
  start.ops_max = day_.ops_max;
  confirm_ = EtcdReignPlan::ConfirmTxn(start);
  over_ = finishing_ = false;
  const StoreState found = start.state;
  plan_.emplace(std::move(start));
  KeepAlive(reign);
  const bool late = world_.random.Chance(kIsLate);
  After(Draw(world_.random, late ? kServesLate : kServes), [this, reign, found] {
    if (reign != reign_ || finishing_) return;
    host_.Lead(found);
    Watch(reign);
  });
}

void EtcdSeat::KeepAlive(std::int64_t reign) {
  After(day_.lease / 4, [this, reign] {
    if (reign != reign_ || over_ || finishing_) return;
    Ask(keeper_, EtcdPurpose::kKeepAlive, EtcdKeepLeaseAlive{lease_},
        [this, reign](const EtcdAnswer& answer) {
          if (reign != reign_) return;
          if (absl::IsNotFound(answer.status)) EndReign();
          finishing_ ? FinishIfIdle() : KeepAlive(reign);
        });
  });
}

void EtcdSeat::Watch(std::int64_t reign) {
  if (reign != reign_ || finishing_) return;
  if (over_) return Finish();
  After(kLookAtLease, [this, reign] { Watch(reign); });
}

void EtcdSeat::EndReign() {
  over_ = true;
  if (leader_ == static_cast<std::size_t>(index_)) leader_.reset();
}

// The core first; then the lease is given back, once no call of this reign is under way.
void EtcdSeat::Finish() {
  if (finishing_ || !plan_.has_value()) return;
  finishing_ = true;
  host_.StandBy();
  FinishIfIdle();
}

void EtcdSeat::FinishIfIdle() {
  if (!finishing_ || committing_ || confirmer_.busy() || keeper_.busy()) return;
  EndReign();
  ++reign_;
  plan_.reset();
  batches_.clear();
  Ask(keeper_, EtcdPurpose::kRevoke, EtcdRevokeLease{lease_}, [this](const EtcdAnswer&) {
    finishing_ = false;
    stopping_ ? Crash() : Look();
  });
}

void EtcdSeat::Commit(const WriteBatch& batch, StorePort::Done done) {
  if (over_ || !plan_.has_value()) {
    return Later(std::move(done), absl::FailedPreconditionError("this reign is over"));
  }
  batches_ = world_.sabotage.OnBatch(batch);
  std::reverse(batches_.begin(), batches_.end());
  if (absl::Status begun = plan_->Begin(batches_.back()); !begun.ok()) {
    return Later(std::move(done), std::move(begun));
  }
  batches_.pop_back();
  committing_ = true;
  steps_ = 0;
  StepCommit(std::move(done));
}

void EtcdSeat::StepCommit(StorePort::Done done) {
  const std::optional<EtcdTxn> txn = plan_->Next();
  if (txn.has_value()) {
    if (*txn != std::exchange(last_, *txn)) ++steps_;
    return Ask(writer_, EtcdPurpose::kWrite, *txn,
               [this, done = std::move(done)](const EtcdAnswer& answer) {
                 plan_->On(TxnOf(answer));
                 StepCommit(done);
               });
  }
  if (plan_->outcome().ok() && !batches_.empty()) {
    static_cast<void>(plan_->Begin(batches_.back()));
    batches_.pop_back();
    return StepCommit(std::move(done));
  }
  committing_ = false;
  counts_.split_batches += steps_ > 1;
  if (plan_->over()) EndReign();
  const absl::Status outcome = plan_->outcome();
  done(outcome);
  FinishIfIdle();
}

void EtcdSeat::Confirm(StorePort::Done done) {
  if (over_ || !plan_.has_value()) {
    return Later(std::move(done), absl::FailedPreconditionError("this reign is over"));
  }
  if (std::optional<absl::Status> instead = world_.sabotage.OnConfirm()) {
    return Later(std::move(done), *std::move(instead));
  }
  Ask(confirmer_, EtcdPurpose::kConfirm, confirm_,
      [this, done = std::move(done)](const EtcdAnswer& answer) {
        if (!answer.status.ok()) {
          done(absl::UnavailableError(std::string(answer.status.message())));
        } else {
          const absl::Status stands = EtcdReignPlan::ReadConfirm(answer.txn);
          if (!stands.ok()) EndReign();
          done(stands);
        }
        FinishIfIdle();
      });
}

// Whoever asks is not told before it has finished asking.
void EtcdSeat::Later(StorePort::Done done, absl::Status status) {
  world_.queue.After(absl::ZeroDuration(),
                     [done = std::move(done), status = std::move(status)] { done(status); });
}

void EtcdSeat::Ask(EtcdCaller& caller, EtcdPurpose purpose, decltype(EtcdRequest::what) what,
                   Then then) {
  EtcdRequest request{purpose, index_, std::move(what)};
  world_.sabotage.OnEtcdRequest(request);
  caller.Ask(*clock_, request, [this, request, then = std::move(then)](EtcdAnswer answer) {
    world_.sabotage.OnEtcdAnswer(request, answer);
    then(answer);
  });
}

void EtcdSeat::Deliver(EventQueue::Action action) {
  const auto deliver = [this, action = std::move(action), process = process_] {
    if (process == process_) action();
  };
  if (!host_.process().paused()) return deliver();
  world_.queue.At(host_.process().paused_until() + Draw(world_.random, kWakes),
                  [this, deliver] { Deliver(deliver); });
}

void EtcdSeat::After(absl::Duration time, EventQueue::Action action) {
  world_.queue.At(clock_->TrueTimeOf(clock_->Now() + time),
                  [this, action = std::move(action), process = process_] {
                    Deliver([this, action, process] {
                      if (process == process_) action();
                    });
                  });
}

}  // namespace plimsoll::internal
