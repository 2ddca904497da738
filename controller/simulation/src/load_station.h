#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "controller/simulation/src/load_calls.h"
#include "plimsoll/core/random.h"
#include "plimsoll/simulation/load_scenario.h"

namespace plimsoll::internal {

// The mean work of a call, in seconds of one server.
double MeanService(const Station& station);
// Calls per second that the servers of the station can do.
double Capacity(const Station& station);
// Draws how much work a call is, in seconds of one server.
double DrawService(const Station& station, Random& random);
// Draws how long a call takes to get to the servers, in ns, if the mean delay is `delay_seconds`.
std::int64_t DrawDelay(double delay_seconds, Random& random);

// The servers of a modelled dependency, and the calls in front of them. It schedules the events
// kServed and kSharedDone for itself, and tells by the results of its methods which calls have
// ended. All times are ns of true time. Thread-compatible.
class StationModel {
 public:
  // Both must outlive the station; `index` is what it calls itself in events.
  StationModel(const Station& station, std::uint32_t index, CallPool& calls, CallEvents& events)
      : station_(station), index_(index), calls_(calls), events_(events) {}

  // The station is another from now on.
  void Change(const Station& station, std::int64_t now);
  const Station& station() const { return station_; }

  // A call was admitted: it makes retrograde work slower from here on.
  void Admit() { ++present_; }
  // It has come to the servers.
  void Enter(CallIndex call, std::int64_t now);

  // kServed: the call has ended if true; else its end is put off until the pause is over.
  bool OnServed(CallIndex call, std::int64_t now);
  // kSharedDone: which call has ended, or kNoCall.
  CallIndex OnSharedDone(std::int64_t event_at);

  // Nothing starts or ends meanwhile.
  void Pause(std::int64_t until, std::int64_t now);
  void Resume(std::int64_t now);

 private:
  // Processor sharing: a call ends when the virtual time, which passes at the rate that each call
  // is served at, reaches its tag.
  struct Tag {
    double virtual_end = 0;
    CallIndex call = kNoCall;
    bool operator<(const Tag& other) const { return virtual_end > other.virtual_end; }
  };

  bool sharing() const { return station_.discipline == Discipline::kSharing; }
  void StartNext(std::int64_t now);
  double Slowness(int calls) const;
  double SharedRate() const;
  void AdvanceShared(std::int64_t now);
  void ScheduleShared(std::int64_t now);

  Station station_;
  const std::uint32_t index_;
  CallPool& calls_;
  CallEvents& events_;
  int present_ = 0;  // admitted and not ended, those under way to the servers included
  bool paused_ = false;
  std::int64_t paused_until_ = 0;

  // FIFO.
  CallList queue_;
  int busy_ = 0;

  // Sharing.
  std::vector<Tag> served_;  // a heap
  double virtual_now_ = 0;   // s
  std::int64_t advanced_to_ = 0;
  std::int64_t due_ = kNever;        // when the first tag is reached at the present rate
  std::int64_t scheduled_ = kNever;  // the event that stands for it; never later than that
  static constexpr std::int64_t kNever = INT64_MAX;
};

}  // namespace plimsoll::internal
