#include "agent/examples/demo/acts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {
namespace {

// The limits of the others add up to this only when they have the share of the one that is gone, if
// that was large enough. A dead replica keeps its base, and one call may be on its way from one
// replica to another.
constexpr int kAllOfIt = kQuota - kFloor - 1;

// The one with the largest limit, the busy one aside.
std::size_t LargestOf(const std::vector<Replica>& replicas) {
  const auto found = std::max_element(
      replicas.begin() + 1, replicas.end(),
      [](const Replica& a, const Replica& b) { return a.total.limit < b.total.limit; });
  return static_cast<std::size_t>(found - replicas.begin());
}

// How long after a kill reports of the past may still come in.
constexpr double kReportSettles = 0.1;
// Shares that move are lowered before they are raised, so the sum of the limits is often a little
// below the quota.
constexpr double kWhole = 0.9;

}  // namespace

Schedule MakeSchedule(double seconds) {
  const double hold = absl::ToDoubleSeconds(kLease + kCallDeadline);
  Schedule schedule;
  schedule.kill_replica = 0.12 * seconds;
  schedule.restart_replica = schedule.kill_replica + std::max(hold + 0.6, 0.2 * seconds);
  schedule.kill_controller = std::max(schedule.restart_replica + 1, 0.55 * seconds);
  schedule.restart_controller =
      schedule.kill_controller + std::clamp(0.12 * seconds, 0.7, 1.5 * hold);
  schedule.release_replica = std::max(schedule.restart_controller + 1, 0.85 * seconds);
  return schedule;
}

Acts::Acts(const Schedule& schedule, Stage& stage, ControllerProcess& controller)
    : stage_(stage),
      controller_(controller),
      cues_{{schedule.release_replica, Act::kRelease},
            {schedule.restart_controller, Act::kRestartController},
            {schedule.kill_controller, Act::kKillController},
            {schedule.restart_replica, Act::kRestartReplica},
            {schedule.kill_replica, Act::kKillReplica}} {}

absl::Status Acts::Step() {
  absl::Status status;
  if (!cues_.empty() && stage_.seconds() >= cues_.back().at) {
    status = Perform(cues_.back().act);
    cues_.pop_back();
  }
  WatchReplicas(stage_.seconds());
  WatchOutage(stage_.seconds());
  return status;
}

absl::Status Acts::Perform(Act act) {
  switch (act) {
    case Act::kKillReplica:
      KillReplica();
      return absl::OkStatus();
    case Act::kRestartReplica:
      return RestartReplica();
    case Act::kKillController:
      KillController();
      return absl::OkStatus();
    case Act::kRestartController:
      return RestartController();
    case Act::kRelease:
      Release();
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

void Acts::Say(const std::string& text) {
  stage_.screen().Say(absl::StrFormat("%15.1f s  %s", stage_.seconds(), text));
}

void Acts::KillReplica() {
  victim_ = LargestOf(stage_.fleet().replicas());
  const std::string& name = stage_.fleet().replicas()[victim_].name;
  Say(absl::StrFormat("kill -9 of %s", name));
  stage_.screen().Look("quota", name +
                                    " falls silent; its share stays reserved until its lease and "
                                    "the call deadline have ended, then the others have it");
  stage_.fleet().Kill(victim_);
  killed_at_ = stage_.seconds();
}

absl::Status Acts::RestartReplica() {
  const std::string& name = stage_.fleet().replicas()[victim_].name;
  Say(absl::StrFormat("%s starts again", name));
  stage_.screen().Look("instances", name + " is back under its name, with a share of its own");
  restarted_at_ = stage_.seconds();
  return stage_.fleet().Restart(victim_);
}

void Acts::KillController() {
  facts_.limits_before_outage = facts_.limits_lowest = stage_.recent_limits();
  facts_.goodput_before_outage = stage_.recent_goodput();
  succeeded_before_outage_ = stage_.fleet().Total().succeeded;
  Say("kill -9 of the controller");
  stage_.screen().Look("",
                       "nobody answers: the console says since when, and turns grey; the calls "
                       "go on");
  controller_.Kill();
  controller_killed_at_ = stage_.seconds();
}

absl::Status Acts::RestartController() {
  const double now = stage_.seconds();
  facts_.outage_seconds = now - controller_killed_at_;
  const std::int64_t succeeded = stage_.fleet().Total().succeeded - succeeded_before_outage_;
  facts_.goodput_in_outage = static_cast<double>(succeeded) / *facts_.outage_seconds;
  Say("the controller starts again");
  stage_.screen().Look("events",
                       "STARTED, then limits rise again as shares move; events and graphs begin "
                       "anew, they are kept in memory");
  controller_restarted_at_ = broken_at_ = now;
  return controller_.Start();
}

void Acts::Release() {
  leaver_ = LargestOf(stage_.fleet().replicas());
  const std::string& name = stage_.fleet().replicas()[leaver_].name;
  Say(absl::StrFormat("%s is told to leave", name));
  stage_.screen().Look(absl::StrCat("dependencies/", kDependency),
                       name +
                           " gives its share back at once: a mark for each limit that rises, "
                           "QUOTA_REBALANCED");
  stage_.fleet().Terminate(leaver_);
  released_at_ = stage_.seconds();
}

void Acts::WatchReplicas(double now) {
  const int limits = stage_.fleet().Total().limit;
  if (killed_at_ >= 0 && restarted_at_ < 0 && !facts_.regrant_seconds && limits >= kAllOfIt) {
    facts_.regrant_seconds = now - killed_at_;
    Say("the others have its share");
  }
  if (restarted_at_ >= 0 && !facts_.return_seconds &&
      stage_.fleet().replicas()[victim_].has_succeeded) {
    facts_.return_seconds = now - restarted_at_;
    Say("it serves again");
  }
  if (released_at_ >= 0 && !facts_.release_seconds &&
      stage_.fleet().replicas()[leaver_].total.limit == 0 && limits >= kAllOfIt) {
    facts_.release_seconds = now - released_at_;
    Say("the others have its share");
  }
}

// Agents that had lost their lease come back one by one, so the limits count as whole from the last
// moment on at which they were not.
void Acts::WatchOutage(double now) {
  if (controller_killed_at_ < 0 || released_at_ >= 0) return;
  if (now < controller_killed_at_ + kReportSettles) return;
  const int limits = stage_.fleet().Total().limit;
  facts_.limits_lowest = std::min(facts_.limits_lowest, limits);
  if (controller_restarted_at_ < 0) {
    facts_.limits_in_outage_max = std::max(facts_.limits_in_outage_max, limits);
    return;
  }
  if (limits >= kWhole * facts_.limits_before_outage) {
    facts_.recovery_seconds = broken_at_ - controller_restarted_at_;
  } else {
    facts_.recovery_seconds.reset();
    broken_at_ = now;
  }
}

}  // namespace plimsoll::demo
