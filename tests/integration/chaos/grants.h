#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/chaos/schedule.h"

namespace plimsoll::chaos {

// What a replica has reported. Times are seconds since the first call.
struct GrantReport {
  double granted_at = 0;          // when a lease was last granted to it; before the run: never
  double written_at = 0;          // when it said so
  std::int64_t stepped_down = 0;  // how often, in the life of this process
};

// What is known of the grants of one replica at one moment.
struct GrantSight {
  int place = 0;
  // Something that is no fault of the controllers keeps grants from it, and `excuse` says what; of
  // static storage. Null: nothing does.
  const char* excuse = nullptr;
  int starts = 0;                  // which of the processes under its name this is
  std::vector<GrantReport> notes;  // since the last sight
};

// A limit that stepped down because its lease had ended.
struct StepDown {
  int place = 0;
  double at = 0;
  double since_grant = 0;
  std::string because;  // empty: nothing excuses it
};
// "replica 3 at 12.1 s, 5.9 s after its last grant".
std::string Describe(const StepDown& step);

// Judges whether replicas are granted leases in time: a window is the time from one grant to the
// next, without what lies before the end of an excuse. It must not be longer than the lease, and no
// limit may step down if nothing excused it since the last grant; or, if that came so late that
// most of its lease was over, since the lease began. Stalls of this machine add to what is allowed.
// Thread-compatible.
class GrantWatch {
 public:
  explicit GrantWatch(double lease) : lease_(lease) {}

  // `stall`: how long this machine stood still since the last call, if notably.
  void See(double now, const std::vector<GrantSight>& sights, double stall);

  double longest() const { return longest_; }
  int longest_place() const { return longest_place_; }
  double longest_end() const { return longest_end_; }
  // By how much the worst one was too long, stalls taken into account; 0 or less if none was.
  double excess() const { return excess_; }
  // Of all windows from grant to grant; 0 if there was none.
  double Quantile(double quantile) const;
  const std::vector<StepDown>& step_downs() const { return step_downs_; }

 private:
  struct Member {
    int starts = 0;
    double grant = 0;    // the last one
    double excused = 0;  // when an excuse last held
    const char* excuse = nullptr;
    double stalls_at_grant = 0;  // how long stalls had lasted in all by then
    double stalls_at_excuse = 0;
    std::int64_t stepped_down = 0;
  };

  void SeeOne(double now, const GrantSight& sight);
  void SeeReport(double now, int place, const GrantReport& report);
  void NoteWindow(int place, const Member& member, double end);
  void NoteStepDown(double now, int place, const Member& member);

  const double lease_;
  std::array<Member, kMembers> members_;
  double stalls_ = 0;
  double longest_ = 0;
  int longest_place_ = 0;
  double longest_end_ = 0;
  double excess_ = 0;
  std::vector<double> windows_;
  std::vector<StepDown> step_downs_;
};

}  // namespace plimsoll::chaos
