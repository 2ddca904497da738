#include "agent/examples/fleet/traffic.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "plimsoll/agent/breaker.h"
#include "plimsoll/agent/retry_budget.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::fleet {
namespace {

// Parts of the story.
constexpr double kSlowFrom = 0.30;
constexpr double kSlowTo = 0.55;
constexpr double kBrokenFrom = 0.75;
constexpr double kBrokenTo = 0.85;

constexpr double kHealthyFailures = 0.002;
constexpr double kIgnored = 0.003;
constexpr int kQueueCapacity = 8;
constexpr std::chrono::milliseconds kWait{150};
constexpr absl::Duration kCallDeadline = absl::Milliseconds(1800);

BulkheadOptions OptionsOf(const Profile& profile) {
  BulkheadOptions options;
  options.classes = {{"critical", 1.0}, {"optional", 0.8}};
  if (profile.waits) options.queue.capacity = kQueueCapacity;
  return options;
}

bool Within(double story, double from, double to) { return story >= from && story < to; }

}  // namespace

Traffic::Traffic(Agent& agent, std::uint64_t seed, absl::Duration period)
    : period_(period), began_(RealClock().Now()), random_(seed) {
  for (const Profile& profile : kProfiles) {
    Line line;
    line.profile = profile;
    line.bulkhead = agent.bulkhead(profile.dependency, OptionsOf(profile)).value();
    line.retries = &agent.retry_budget(profile.dependency);
    if (profile.breaks) line.breaker = &agent.breaker(profile.dependency);
    line.arrival = began_;
    lines_.push_back(line);
  }
}

Traffic::~Traffic() {
  for (; !calls_.empty(); calls_.pop()) {
    calls_.top().permit->Finish(Outcome::kCancelled);
    if (calls_.top().ticket != nullptr) calls_.top().ticket->Finish(Outcome::kCancelled);
  }
  const MutexLock lock(inbox_->mutex);
  for (const Waited& one : inbox_->waited) one.permit->Ignore();
  inbox_->waited.clear();
}

void Traffic::Advance(Instant now) {
  std::vector<Waited> waited;
  {
    const MutexLock lock(inbox_->mutex);
    waited.swap(inbox_->waited);
  }
  for (Waited& one : waited) Begin(one.line, std::move(one.permit), nullptr, now);
  while (!calls_.empty() && calls_.top().end <= now) {
    End(calls_.top());
    calls_.pop();
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (Line& line = lines_[i]; line.arrival <= now;) {
      Arrive(i, now);
      const double gap = random_.Exponential(1 / line.profile.calls_per_second);
      line.arrival = line.arrival + absl::Seconds(gap);
    }
  }
}

Instant Traffic::next() const {
  Instant next = calls_.empty() ? lines_.front().arrival : calls_.top().end;
  for (const Line& line : lines_) next = std::min(next, line.arrival);
  return next;
}

void Traffic::Arrive(std::size_t index, Instant now) {
  Line& line = lines_[index];
  line.retries->CountCall();
  std::shared_ptr<BreakerTicket> ticket;
  if (line.breaker != nullptr) {
    BreakerEntry entry = line.breaker->TryEnter();
    if (!entry) return;
    ticket = std::make_shared<BreakerTicket>(*std::move(entry));
  }
  CallOptions options;
  options.priority = random_.Chance(0.3) ? 1 : 0;
  if (line.profile.waits) {
    options.wait = kWait;
    line.bulkhead->AcquireAsync(options, [index, inbox = inbox_](Admission admission) {
      if (!admission) return;
      const MutexLock lock(inbox->mutex);
      inbox->waited.push_back({index, std::make_shared<Permit>(*std::move(admission))});
    });
    return;
  }
  Admission admission = line.bulkhead->TryAcquire(options);
  if (admission) {
    Begin(index, std::make_shared<Permit>(*std::move(admission)), std::move(ticket), now);
  } else if (ticket != nullptr) {
    ticket->Finish(Outcome::kIgnored);
  }
}

void Traffic::Begin(std::size_t index, std::shared_ptr<Permit> permit,
                    std::shared_ptr<BreakerTicket> ticket, Instant now) {
  Line& line = lines_[index];
  ++line.running;
  const double crowd = std::max(1.0, line.running / line.profile.capacity);
  double seconds = line.profile.latency_seconds * (0.5 + 0.5 * random_.Exponential(1)) * crowd;
  if (Within(Story(now), kSlowFrom, kSlowTo)) seconds *= line.profile.slowdown;
  const absl::Duration length = absl::Seconds(seconds);
  const bool late = length > kCallDeadline;
  calls_.push({now + std::min(length, kCallDeadline), index,
               late ? Outcome::kTimeout : Fate(line, now), std::move(permit), std::move(ticket)});
}

void Traffic::End(const Call& call) {
  Line& line = lines_[call.line];
  --line.running;
  call.permit->Finish(call.outcome);
  if (call.ticket != nullptr) call.ticket->Finish(call.outcome);
  // A retry that is allowed is not made: what counts here is whether it would be.
  if (call.outcome == Outcome::kError) line.retries->TryTake();
}

Outcome Traffic::Fate(const Line& line, Instant now) {
  if (random_.Chance(kIgnored)) return Outcome::kIgnored;
  const bool broken = Within(Story(now), kBrokenFrom, kBrokenTo);
  if (!random_.Chance(broken ? line.profile.failures : kHealthyFailures)) return Outcome::kSuccess;
  return random_.Chance(0.2) ? Outcome::kOverload : Outcome::kError;
}

// 0 to 1.
double Traffic::Story(Instant now) const {
  return std::fmod(absl::FDivDuration(now - began_, period_), 1.0);
}

}  // namespace plimsoll::fleet
