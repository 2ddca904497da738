#include "agent/examples/demonstrations/overload_report.h"

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace plimsoll::demonstrations {
namespace {

constexpr double kP99FactorMost = 2;        // of kTarget
constexpr double kGoodputShareLeast = 0.6;  // of the capacity
constexpr double kRefusedMost = 0.1;        // of what is offered, when the load has fallen
constexpr std::size_t kRecoveryMost = 2;    // seconds

using Timeline = std::vector<OverloadSpan>;

double Ms(absl::Duration duration) { return absl::ToDoubleMilliseconds(duration); }

// All seconds of a phase as one.
OverloadSpan PhaseOf(const Timeline& timeline, std::size_t from, std::size_t to) {
  OverloadSpan whole;
  for (std::size_t second = from; second < to; ++second) whole.Merge(timeline[second]);
  return whole;
}

void AddRow(std::size_t second, const OverloadSpan& without, const OverloadSpan& with,
            Report& report) {
  report.AddRow({absl::StrCat(second + 1), static_cast<int>(without.offered),
                 static_cast<int>(without.in_time), without.p99(), static_cast<int>(with.in_time),
                 with.p99(), static_cast<int>(with.refused), with.limit});
}

void JudgeOverload(const OverloadResult& result, Report& report) {
  const std::size_t split = result.overload_seconds;
  const OverloadSpan without = PhaseOf(result.without, 0, split);
  const OverloadSpan with = PhaseOf(result.with, 0, split);
  report.Claim(absl::StrFormat("overload: the bulkhead keeps the p99 at %.0f ms (at most %.0f "
                               "times the target)",
                               Ms(with.p99()), kP99FactorMost),
               with.p99() <= kP99FactorMost * kTarget);
  report.Claim(absl::StrFormat("overload: unbounded, the p99 is %.0f ms (at least %.0f times that)",
                               Ms(without.p99()), kP99FactorMost),
               without.p99() >= kP99FactorMost * with.p99());
  const double goodput = static_cast<double>(with.in_time) / static_cast<double>(split);
  report.Claim(absl::StrFormat("overload: the bulkhead lets through what the service can do: %.0f "
                               "calls/s in time (at least %.0f)",
                               goodput, kGoodputShareLeast * result.capacity),
               goodput >= kGoodputShareLeast * result.capacity);
  report.Claim(absl::StrFormat("overload: in time are %d calls with the bulkhead, %d without",
                               with.in_time, without.in_time),
               with.in_time > without.in_time);
}

std::string RecoveryText(const std::optional<std::size_t>& seconds) {
  if (!seconds) return "not in this run";
  return *seconds == 0 ? "at once" : absl::StrCat("after ", *seconds, " s");
}

void JudgeRecovery(const OverloadResult& result, Report& report) {
  const std::size_t split = result.overload_seconds;
  const std::optional<std::size_t> with = SecondsToRecover(result.with, split);
  const std::optional<std::size_t> without = SecondsToRecover(result.without, split);
  const OverloadSpan after = PhaseOf(result.with, split, result.with.size());
  report.Claim(absl::StrFormat("afterwards: with the bulkhead the p99 is good again %s (at most "
                               "after %d s)",
                               RecoveryText(with), kRecoveryMost),
               with && *with <= kRecoveryMost);
  report.Claim(
      absl::StrFormat("afterwards: unbounded that takes longer: %s", RecoveryText(without)),
      with && (!without || *without > *with));
  report.Claim(
      absl::StrFormat("afterwards: the bulkhead is not in the way: %d of %d calls are "
                      "refused (at most %.0f %%)",
                      after.refused, after.offered, 100 * kRefusedMost),
      static_cast<double>(after.refused) <= kRefusedMost * static_cast<double>(after.offered));
}

}  // namespace

std::optional<std::size_t> SecondsToRecover(const Timeline& timeline,
                                            std::size_t overload_seconds) {
  std::size_t good_from = timeline.size();
  while (good_from > overload_seconds && timeline[good_from - 1].answered > 0 &&
         timeline[good_from - 1].p99() <= kTarget) {
    --good_from;
  }
  if (good_from == timeline.size()) return std::nullopt;
  return good_from - overload_seconds;
}

Report OverloadReport(const OverloadResult& result) {
  Report report(
      absl::StrFormat("overload: %.0f calls/s are what the service can do; the load falls after "
                      "second %d; target %.0f ms",
                      result.capacity, result.overload_seconds, Ms(kTarget)),
      {"second", "offered", "unbounded in time", "unbounded p99", "bulkhead in time",
       "bulkhead p99", "refused", "limit"});
  for (std::size_t second = 0; second < result.with.size(); ++second) {
    AddRow(second, result.without[second], result.with[second], report);
  }
  JudgeOverload(result, report);
  JudgeRecovery(result, report);
  return report;
}

}  // namespace plimsoll::demonstrations
