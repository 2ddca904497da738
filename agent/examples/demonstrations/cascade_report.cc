#include "agent/examples/demonstrations/cascade_report.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include "plimsoll/agent/permit.h"

namespace plimsoll::demonstrations {
namespace {

constexpr double kPercentSharedMost = 60;
constexpr double kPercentSplitLeast = 98;
constexpr absl::Duration kP99SharedLeast = absl::Seconds(2);
constexpr absl::Duration kP99SplitMost = absl::Milliseconds(250);

double Percent(const CallTally& tally) { return 100 * tally.success(); }
absl::Duration P99(const CallTally& tally) { return tally.latency.Quantile(0.99); }

int RefusedBy(Rejection why, const CallTally& tally) {
  return static_cast<int>(tally.refused_by(why));
}

// No limit is asked in either lane, and nobody drains, so there are no other rejections.
void AddRow(std::string calls, const CallTally& tally, Cell openings, Report& report) {
  report.AddRow({std::move(calls), static_cast<int>(tally.offered),
                 static_cast<int>(std::lround(Percent(tally))), tally.latency.Quantile(0.5),
                 P99(tally), static_cast<int>(tally.errors + tally.timed_out),
                 RefusedBy(Rejection::kDeadline, tally), RefusedBy(Rejection::kQueueFull, tally),
                 RefusedBy(Rejection::kBreakerOpen, tally), std::move(openings)});
}

void JudgeShared(const CascadeLane& lane, Report& report) {
  report.Claim(absl::StrFormat("shared: A suffers from B: %.1f %% of its calls succeed (at most "
                               "%.0f %%)",
                               Percent(lane.a), kPercentSharedMost),
               Percent(lane.a) <= kPercentSharedMost);
  report.Claim(
      absl::StrFormat("shared: the p99 of A is near the time-out of 3 s: %.0f ms (at least "
                      "%.0f ms)",
                      absl::ToDoubleMilliseconds(P99(lane.a)),
                      absl::ToDoubleMilliseconds(kP99SharedLeast)),
      P99(lane.a) >= kP99SharedLeast);
}

void JudgeSplit(const CascadeLane& lane, Report& report) {
  report.Claim(absl::StrFormat("split: A does not notice: %.1f %% of its calls succeed (at least "
                               "%.0f %%)",
                               Percent(lane.a), kPercentSplitLeast),
               Percent(lane.a) >= kPercentSplitLeast);
  report.Claim(absl::StrFormat("split: the p99 of A is its own: %.1f ms (at most %.0f ms)",
                               absl::ToDoubleMilliseconds(P99(lane.a)),
                               absl::ToDoubleMilliseconds(kP99SplitMost)),
               P99(lane.a) <= kP99SplitMost);
  const int refused = RefusedBy(Rejection::kBreakerOpen, lane.b);
  report.Claim(absl::StrFormat("split: the breaker of B opens, %d times, and refuses %d calls",
                               lane.breaker_openings, refused),
               lane.breaker_openings > 0 && refused > 0);
}

}  // namespace

Report CascadeReport(const CascadeResult& result) {
  Report report(
      "cascade: A is healthy; B answers 90 of 200 calls/s, 40 % with an error, others hang for 3 s",
      {"pools", "offered", "percent ok", "p50", "p99", "failed", "deadline", "queue full",
       "breaker open", "openings"});
  AddRow("A shared", result.shared.a, std::monostate(), report);
  AddRow("B shared", result.shared.b, std::monostate(), report);
  AddRow("A split", result.split.a, std::monostate(), report);
  AddRow("B split", result.split.b, static_cast<int>(result.split.breaker_openings), report);
  JudgeShared(result.shared, report);
  JudgeSplit(result.split, report);
  return report;
}

}  // namespace plimsoll::demonstrations
