#include "controller/simulation/src/load_station.h"

#include <algorithm>
#include <cmath>

#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

constexpr double kNsPerSecond = 1e9;
// Of a delay; the rest is exponential.
constexpr double kFixedShare = 0.7;
// The Pareto distribution of exponent 2 has its minimum at half its mean.
constexpr double kParetoMinimum = 0.5;
constexpr double kParetoMaximum = 50;

std::int64_t ToNs(double seconds) { return static_cast<std::int64_t>(seconds * kNsPerSecond); }

}  // namespace

double MeanService(const Station& station) {
  return absl::ToDoubleSeconds(station.service) * (1 - station.long_share) +
         absl::ToDoubleSeconds(station.long_service) * station.long_share;
}

double Capacity(const Station& station) { return station.servers / MeanService(station); }

double DrawService(const Station& station, Random& random) {
  const bool is_long = station.long_share > 0 && random.Chance(station.long_share);
  const double mean = absl::ToDoubleSeconds(is_long ? station.long_service : station.service);
  switch (station.service_time) {
    case plimsoll::ServiceTime::kFixed:
      return mean;
    case plimsoll::ServiceTime::kPareto:
      return mean * std::min(kParetoMaximum, kParetoMinimum / std::sqrt(1 - random.Uniform()));
    case plimsoll::ServiceTime::kExponential:
      break;
  }
  return random.Exponential(mean);
}

std::int64_t DrawDelay(double delay_seconds, Random& random) {
  if (delay_seconds <= 0) return 0;
  return ToNs(kFixedShare * delay_seconds + random.Exponential((1 - kFixedShare) * delay_seconds));
}

double StationModel::Slowness(int calls) const {
  if (station_.retrograde <= 0) return 1;
  return 1 + station_.retrograde * std::max(0, calls - station_.servers);
}

void StationModel::Change(const Station& station, std::int64_t now) {
  if (sharing()) AdvanceShared(now);
  station_ = station;
  if (sharing()) {
    ScheduleShared(now);
  } else {
    StartNext(now);
  }
}

void StationModel::Enter(CallIndex call, std::int64_t now) {
  if (!sharing()) {
    queue_.PushBack(call, calls_);
    return StartNext(now);
  }
  AdvanceShared(now);
  served_.push_back({virtual_now_ + calls_[call].work, call});
  std::push_heap(served_.begin(), served_.end());
  ScheduleShared(now);
}

void StationModel::StartNext(std::int64_t now) {
  while (!paused_ && busy_ < station_.servers && !queue_.empty()) {
    const CallIndex call = queue_.PopFront(calls_);
    ++busy_;
    events_.Push(
        {now + ToNs(calls_[call].work * Slowness(present_)), call, CallEventKind::kServed});
  }
}

bool StationModel::OnServed(CallIndex call, std::int64_t now) {
  if (paused_) {
    events_.Push({paused_until_, call, CallEventKind::kServed});
    return false;
  }
  --busy_;
  --present_;
  StartNext(now);
  return true;
}

double StationModel::SharedRate() const {
  const int calls = static_cast<int>(served_.size());
  if (paused_ || calls == 0) return 0;
  return std::min(1.0, static_cast<double>(station_.servers) / calls) / Slowness(calls);
}

void StationModel::AdvanceShared(std::int64_t now) {
  virtual_now_ += static_cast<double>(now - advanced_to_) / kNsPerSecond * SharedRate();
  advanced_to_ = now;
}

// An event that stands is left alone if the call will be done later than it: it is looked at again
// then. Most arrivals only put the end of others off, so this halves the events.
void StationModel::ScheduleShared(std::int64_t now) {
  const double rate = SharedRate();
  if (rate <= 0) {
    due_ = kNever;
    return;
  }
  const double left = std::max(0.0, served_.front().virtual_end - virtual_now_);
  due_ = now + static_cast<std::int64_t>(std::ceil(left / rate * kNsPerSecond));
  if (due_ >= scheduled_) return;
  scheduled_ = due_;
  events_.Push({due_, index_, CallEventKind::kSharedDone});
}

CallIndex StationModel::OnSharedDone(std::int64_t event_at) {
  if (event_at != scheduled_) return kNoCall;  // an earlier one took its place
  scheduled_ = kNever;
  if (due_ > event_at) {
    if (due_ != kNever) {
      scheduled_ = due_;
      events_.Push({due_, index_, CallEventKind::kSharedDone});
    }
    return kNoCall;
  }
  AdvanceShared(event_at);
  const CallIndex done = served_.front().call;
  std::pop_heap(served_.begin(), served_.end());
  served_.pop_back();
  --present_;
  ScheduleShared(event_at);
  return done;
}

void StationModel::Pause(std::int64_t until, std::int64_t now) {
  if (sharing()) AdvanceShared(now);
  paused_ = true;
  paused_until_ = until;
  if (sharing()) ScheduleShared(now);
}

void StationModel::Resume(std::int64_t now) {
  if (sharing()) AdvanceShared(now);
  paused_ = false;
  if (sharing()) {
    ScheduleShared(now);
  } else {
    StartNext(now);
  }
}

}  // namespace plimsoll::internal
