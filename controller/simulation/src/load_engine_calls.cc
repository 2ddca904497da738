#include <algorithm>
#include <utility>

#include "controller/simulation/src/load_engine.h"

namespace plimsoll::internal {
namespace {

constexpr double kNsPerSecond = 1e9;

}  // namespace

void LoadEngine::StepCalls() {
  const CallEvent event = events_.Pop();
  switch (event.kind) {
    case CallEventKind::kRetry:
      return Retry(event.index);
    case CallEventKind::kEnter:
      return StationOf(calls_[event.index].replica).Enter(event.index, event.at);
    case CallEventKind::kServed:
      if (StationOf(calls_[event.index].replica).OnServed(event.index, event.at)) {
        Finish(event.index);
      }
      return;
    case CallEventKind::kSharedDone: {
      const CallIndex done = stations_[event.index].OnSharedDone(event.at);
      if (done != kNoCall) Finish(done);
      return;
    }
  }
}

void LoadEngine::Arrive() {
  DrawNextArrival();
  meter_.Offered();
  if (there_.empty()) return meter_.Rejected();
  Offer(PickReplica(), now(), 0);
}

void LoadEngine::DrawNextArrival() {
  if (arrivals_per_second_ <= 0) {
    next_arrival_ = INT64_MAX;
    return;
  }
  const double gap = arrival_random_.Exponential(kNsPerSecond / arrivals_per_second_);
  next_arrival_ = now() + static_cast<std::int64_t>(gap);
}

int LoadEngine::PickReplica() {
  const double draw = arrival_random_.Uniform();
  if (scenario_.traffic.empty()) {
    return there_[static_cast<std::size_t>(draw * static_cast<double>(there_.size()))];
  }
  double left = draw * traffic_there_;
  for (const int index : there_) {
    left -= replica(index).traffic;
    if (left < 0) return index;
  }
  return there_.back();
}

void LoadEngine::Offer(int index, std::int64_t first_arrival, int attempt) {
  std::optional<Permit> permit;
  if (Admit(process(replica(index).process), permit)) {
    Begin(index, first_arrival, attempt, std::move(permit));
  } else {
    Refuse(index, first_arrival, attempt);
  }
}

bool LoadEngine::Admit(Process& process, std::optional<Permit>& permit) {
  if (process.agent == nullptr) {
    if (process.in_flight >= *law_.static_limit) return false;
    ++process.in_flight;
    return true;
  }
  Admission admission = process.agent->limiter().TryAcquire();
  if (!admission) {
    process.agent->OnRefused();
    return false;
  }
  permit.emplace(*std::move(admission));
  return true;
}

void LoadEngine::Begin(int index, std::int64_t first_arrival, int attempt,
                       std::optional<Permit> permit) {
  StationModel& station = StationOf(index);
  const CallIndex made = calls_.Make();
  LoadCall& call = calls_[made];
  call.first_arrival = first_arrival;
  call.admitted = now();
  call.work = DrawService(station.station(), service_random_);
  call.replica = index;
  call.process = replica(index).process;
  call.attempt = attempt;
  if (permit) call.permit.emplace(*std::move(permit));
  ++in_flight_;
  run_.in_flight_max = std::max(run_.in_flight_max, in_flight_);
  if (policy_.quota && in_flight_ > *policy_.quota) ++run_.quota_violations;
  station.Admit();
  const std::int64_t delay = DrawDelay(delay_seconds_ * delay_factor_, service_random_);
  if (delay == 0) return station.Enter(made, now());
  events_.Push({now() + delay, made, CallEventKind::kEnter});
}

void LoadEngine::Refuse(int index, std::int64_t first_arrival, int attempt) {
  ++run_.refusals;
  if (attempt >= scenario_.retries) return meter_.Rejected();
  const CallIndex waiting = calls_.Make();
  LoadCall& call = calls_[waiting];
  call.first_arrival = first_arrival;
  call.replica = index;
  call.attempt = attempt + 1;
  const absl::Duration backoff = scenario_.backoff * service_random_.Uniform(0.5, 1.5);
  events_.Push({now() + absl::ToInt64Nanoseconds(backoff), waiting, CallEventKind::kRetry});
}

void LoadEngine::Retry(CallIndex waiting) {
  const std::int64_t first_arrival = calls_[waiting].first_arrival;
  const int attempt = calls_[waiting].attempt;
  int index = calls_[waiting].replica;
  calls_.Free(waiting);
  if (!scenario_.shared && !there_.empty()) index = PickReplica();
  if (replica(index).process < 0) return meter_.Rejected();
  Offer(index, first_arrival, attempt);
}

void LoadEngine::Finish(CallIndex done) {
  LoadCall& call = calls_[done];
  Process& caller = process(call.process);
  --in_flight_;
  if (caller.Lives()) {
    if (call.permit) call.permit->Succeed();
    meter_.Completed(call.replica, now() - call.admitted,
                     now() - call.first_arrival <= deadline_ns_);
  } else {
    if (call.permit) call.permit->Ignore();
    ++run_.lost;
  }
  --caller.in_flight;
  calls_.Free(done);
}

}  // namespace plimsoll::internal
