#include "tests/integration/chaos/grants.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace plimsoll::chaos {
namespace {

// So much of it, since the last grant, is reason enough for a limit to step down.
constexpr double kStallThatCounts = 1;
// An answer may be held for a second, and be asked again after another: a grant that has less of
// its lease left than that lacks came late.
constexpr double kLate = 2;
constexpr char kStalled[] = "this machine stood still";

}  // namespace

std::string Describe(const StepDown& step) {
  return absl::StrFormat(
      "the limit of replica %d stepped down at %.1f s, %.1f s after its last grant", step.place,
      step.at, step.since_grant);
}

void GrantWatch::See(double now, const std::vector<GrantSight>& sights, double stall) {
  stalls_ += stall;
  for (const GrantSight& sight : sights) SeeOne(now, sight);
}

void GrantWatch::SeeOne(double now, const GrantSight& sight) {
  Member& member = members_[static_cast<std::size_t>(sight.place)];
  if (sight.starts != member.starts) {
    member = Member{};
    member.starts = sight.starts;
    member.grant = member.excused = now;
    member.excuse = "it was started";
    member.stalls_at_grant = member.stalls_at_excuse = stalls_;
  }
  if (sight.excuse != nullptr) {
    member.excused = now;
    member.excuse = sight.excuse;
    member.stalls_at_excuse = stalls_;
  }
  for (const GrantReport& report : sight.notes) SeeReport(now, sight.place, report);
}

void GrantWatch::SeeReport(double now, int place, const GrantReport& report) {
  Member& member = members_[static_cast<std::size_t>(place)];
  if (report.stepped_down > member.stepped_down) NoteStepDown(now, place, member);
  member.stepped_down = report.stepped_down;
  if (report.granted_at > member.grant) {
    NoteWindow(place, member, report.granted_at);
    if (report.granted_at > member.excused) {
      windows_.push_back(report.granted_at - std::max(member.grant, member.excused));
    }
    member.grant = report.granted_at;
    member.stalls_at_grant = stalls_;
  }
  // It has not ended: so long, at least.
  NoteWindow(place, member, report.written_at);
}

void GrantWatch::NoteWindow(int place, const Member& member, double end) {
  const bool by_excuse = member.excused > member.grant;
  const double window = end - std::max(member.grant, member.excused);
  const double stalled = stalls_ - (by_excuse ? member.stalls_at_excuse : member.stalls_at_grant);
  excess_ = std::max(excess_, window - lease_ - stalled);
  if (window <= longest_) return;
  longest_ = window;
  longest_place_ = place;
  longest_end_ = end;
}

void GrantWatch::NoteStepDown(double now, int place, const Member& member) {
  StepDown step{place, now, now - member.grant, ""};
  // A lease counts from when the grant was asked for: if that was before the excuse, it holds.
  const bool late = step.since_grant < lease_ - kLate;
  const double since = late ? now - lease_ : member.grant;
  if (member.excused >= since && member.excuse != nullptr) {
    step.because = member.excuse;
  } else if (stalls_ - member.stalls_at_grant >= kStallThatCounts) {
    step.because = kStalled;
  }
  step_downs_.push_back(step);
}

double GrantWatch::Quantile(double quantile) const {
  if (windows_.empty()) return 0;
  std::vector<double> sorted = windows_;
  const auto rank = static_cast<std::ptrdiff_t>(quantile * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  return sorted[static_cast<std::size_t>(rank)];
}

}  // namespace plimsoll::chaos
