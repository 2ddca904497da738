#include "agent/examples/demonstrations/cascade_caller.h"

#include "agent/examples/demonstrations/run_options.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/core/random.h"

namespace plimsoll::demonstrations {

std::pair<Outcome, Instant> Caller::Task::operator()() {
  const Outcome outcome = dependency->Call(kPatience);
  if (ticket) ticket->Finish(outcome);
  return {outcome, RealClock().Now()};
}

Caller::Caller(const Route& route, std::uint64_t seed, Instant begin, Instant counted_from,
               Instant end)
    : route_(route),
      seed_(seed),
      begin_(begin),
      counted_from_(counted_from),
      end_(end),
      offering_([this] { OfferAll(); }),
      collecting_([this] { CollectAll(); }) {}

Caller::~Caller() { Finish(); }

CallTally Caller::Finish() {
  if (offering_.joinable()) offering_.join();
  if (collecting_.joinable()) collecting_.join();
  const MutexLock lock(mutex_);
  return tally_;
}

void Caller::OfferAll() {
  Random random(seed_);
  const double mean_gap_seconds = 1 / route_.calls_per_second;
  Instant scheduled = begin_;
  while (true) {
    scheduled = scheduled + absl::Seconds(random.Exponential(mean_gap_seconds));
    if (scheduled >= end_) break;
    SleepUntil(scheduled);
    Offer(scheduled);
  }
  const MutexLock lock(mutex_);
  offered_all_ = true;
  changed_.NotifyOne();
}

// The breaker is asked first: an open one costs neither a thread nor a place in the queue.
void Caller::Offer(Instant scheduled) {
  Task task{route_.dependency, std::nullopt};
  if (route_.breaker != nullptr) {
    BreakerEntry entry = route_.breaker->TryEnter();
    if (!entry) return Refused(Rejection::kBreakerOpen, scheduled);
    task.ticket.emplace(*std::move(entry));
  }
  PoolCall<Task> call = route_.pool->Submit(std::move(task));
  if (call.rejection() == Rejection::kQueueFull) return Refused(Rejection::kQueueFull, scheduled);
  const MutexLock lock(mutex_);
  if (scheduled >= counted_from_) ++tally_.offered;
  pending_.push_back({std::move(call), scheduled});
  changed_.NotifyOne();
}

void Caller::Refused(Rejection why, Instant scheduled) {
  if (scheduled < counted_from_) return;
  const MutexLock lock(mutex_);
  ++tally_.offered;
  ++tally_.refused[static_cast<std::size_t>(why)];
}

// In the order of their arrival, which is that of their deadlines, so none is looked at too late:
// those that end earlier say when.
void Caller::CollectAll() {
  while (std::optional<Pending> next = NextPending()) Collect(*std::move(next));
}

std::optional<Caller::Pending> Caller::NextPending() {
  const MutexLock lock(mutex_);
  while (pending_.empty() && !offered_all_) changed_.Wait(mutex_);
  if (pending_.empty()) return std::nullopt;
  std::optional<Pending> next(std::move(pending_.front()));
  pending_.pop_front();
  return next;
}

void Caller::Collect(Pending pending) {
  const TaskResult<std::pair<Outcome, Instant>> result = pending.call.Get();
  if (pending.scheduled < counted_from_) return;
  const MutexLock lock(mutex_);
  const bool done = result.end == TaskEnd::kDone;
  tally_.latency.Record(done ? result.value->second - pending.scheduled : kPatience);
  if (result.rejection) {
    ++tally_.refused[static_cast<std::size_t>(*result.rejection)];
  } else if (!done || result.value->first == Outcome::kTimeout) {
    ++tally_.timed_out;
  } else {
    ++(result.value->first == Outcome::kSuccess ? tally_.succeeded : tally_.errors);
  }
}

}  // namespace plimsoll::demonstrations
