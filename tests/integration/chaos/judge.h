#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "plimsoll/core/time.h"
#include "tests/integration/chaos/schedule.h"
#include "tests/integration/chaos/world.h"

namespace plimsoll::chaos {

// What is seen at one moment.
struct Sight {
  double at = 0;  // seconds since the first call
  int in_flight = 0;
  int in_flight_max = 0;  // since the last sight
  int allowed = 0;
  int excess_max = 0;  // of all calls so far
  std::vector<PlaceView> places;

  int limits() const;
};

// Watches a run. Thread-compatible.
class Judge {
 public:
  void See(const Sight& sight);
  // From now on nothing goes wrong any more.
  void Healed(double at, int quota);

  // The first moment at which more calls were in flight than allowed.
  std::optional<double> breached_at() const { return breached_at_; }
  // What was seen around it, one line each.
  std::vector<std::string> Breach() const;

  int in_flight_max() const { return in_flight_max_; }
  int allowed_at_max() const { return allowed_at_max_; }
  // The longest time that a member was undisturbed and had no call succeed, which it was,
  // and when it ended.
  double longest_drought() const { return longest_drought_; }
  int drought_place() const { return drought_place_; }
  double drought_end() const { return drought_end_; }
  // From the healing until each member has had a call succeed, and until the limits add up to all
  // of the quota but kKeptBack.
  std::optional<double> all_serve_after() const;
  std::optional<double> whole_after() const { return whole_after_; }
  int last_limits() const { return last_limits_; }

  // For newcomers, and on its way from one to another.
  static constexpr int kKeptBack = 4;

 private:
  struct Member {
    std::int64_t succeeded = 0;
    double last = 0;  // success, or the end of a disturbance
    std::optional<double> served_after;
  };

  void WatchMembers(const Sight& sight);

  std::array<Member, kMembers> members_;
  std::deque<Sight> recent_;  // until some time after a breach
  std::optional<double> breached_at_;
  std::optional<double> healed_at_;
  std::optional<double> whole_after_;
  int quota_ = 0;
  int in_flight_max_ = 0;
  int allowed_at_max_ = 0;
  int last_limits_ = 0;
  double longest_drought_ = 0;
  int drought_place_ = 0;
  double drought_end_ = 0;
};

}  // namespace plimsoll::chaos
