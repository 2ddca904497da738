#include "controller/src/sizing_words.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/src/explain_words.h"

namespace plimsoll {

std::string_view ToString(SizingFinding finding) {
  constexpr std::array<std::string_view, kSizingFindings> kNames = {
      "TOO_LITTLE_TRAFFIC", "NEVER_USED",           "ALWAYS_FULL",        "MEASURED_UNDER_LOAD",
      "QUOTA_BELOW_NEED",   "QUOTA_FAR_ABOVE_NEED", "FLOORS_ABOVE_QUOTA", "FLOOR_ABOVE_NEED",
      "CEILING_BELOW_NEED", "DEPENDENCY_IS_FULL"};
  return kNames[static_cast<std::size_t>(finding)];
}

namespace internal {
namespace {

// So many times what is needed is more than anybody's headroom.
constexpr double kFarAbove = 4;
// Of the calls: so many refused, all the time, and latency is that of a full dependency.
constexpr double kRefusedMuch = 0.05;

std::string Rate(double per_second) { return absl::StrFormat("%.3g calls/s", per_second); }

void Add(SizingAdvice& advice, SizingFinding finding, std::string message) {
  advice.remarks.push_back({finding, std::move(message)});
}

void RemarkOnUse(SizingAdvice& advice) {
  if (advice.utilisation_peak < kUseLow) {
    Add(advice, SizingFinding::kNeverUsed,
        absl::StrCat("At most ", Percent(advice.utilisation_peak),
                     " of the limits in force were ever used: they would stop nothing before it is "
                     "too late. Lower the ceiling or the quota."));
  }
  if (advice.full_share > kMostSteps) {
    Add(advice, SizingFinding::kAlwaysFull,
        absl::StrCat("More than 90 % of the limits were in use for ", Percent(advice.full_share),
                     " of the time: the next burst is refused."));
  }
  if (advice.refused_share > kRefusedMuch) {
    Add(advice, SizingFinding::kMeasuredUnderLoad,
        absl::StrCat(Percent(advice.refused_share),
                     " of the calls were refused: the latency may hold queueing, so take the sizes "
                     "as upper bounds, and measure again on a calm day."));
  }
}

void RemarkOnQuota(Calls quota, SizingAdvice& advice) {
  if (quota < *advice.critical) {
    Add(advice, SizingFinding::kQuotaBelowNeed,
        absl::StrCat("The quota of ", quota, " is below the ", *advice.critical,
                     " that critical work needs. Raise it if the dependency can take more; else "
                     "refusals at the peak are right."));
  }
  if (quota > kFarAbove * *advice.critical) {
    Add(advice, SizingFinding::kQuotaFarAboveNeed,
        absl::StrCat("The quota of ", quota, " is more than four times the ", *advice.critical,
                     " that critical work needs."));
  }
}

void RemarkOnBounds(const Policy& policy, SizingAdvice& advice) {
  const AlgorithmConfig& bounds = policy.algorithm;
  const std::int64_t floors = std::int64_t{bounds.floor} * advice.instances;
  if (policy.quota.has_value() && floors > *policy.quota) {
    Add(advice, SizingFinding::kFloorsAboveQuota,
        absl::StrCat("The floors of ", advice.instances, " instances are ", floors,
                     " together, above the quota of ", *policy.quota,
                     ": shares rotate, and the floor is not kept."));
  }
  if (floors > *advice.critical && bounds.floor > *advice.floor) {
    Add(advice, SizingFinding::kFloorAboveNeed,
        absl::StrCat("The floor of ", bounds.floor, " keeps ", floors,
                     " calls admitted whatever the law measures, more than critical work needs (",
                     *advice.critical, "). Lower it to ", *advice.floor, "."));
  }
  if (bounds.ceiling * std::int64_t{advice.instances} < *advice.in_flight_by_mean) {
    Add(advice, SizingFinding::kCeilingBelowNeed,
        absl::StrCat("The ceiling of ", bounds.ceiling, " lets ", advice.instances,
                     " instances carry less than the ", *advice.in_flight_by_mean,
                     " calls of the peak. Raise it to ", *advice.ceiling, "."));
  }
}

void RemarkOnKnee(const DependencyRow& row, SizingAdvice& advice) {
  if (!row.last_decision.has_value() || row.policy.algorithm.kind == AlgorithmKind::kFixed) return;
  if (row.algorithm_limit <= 0 || row.algorithm_limit >= *advice.in_flight_by_mean) return;
  Add(advice, SizingFinding::kDependencyIsFull,
      absl::StrCat("The law found that more than ", row.algorithm_limit,
                   " calls in flight bring nothing, and the peak needs ", *advice.in_flight_by_mean,
                   ": more quota won't help, the dependency must become faster or larger."));
}

}  // namespace

void AddReasons(SizingAdvice& advice) {
  if (!advice.critical.has_value()) return;
  advice.reasons = {
      absl::StrCat("At the peak ", Rate(advice.arrivals_peak), " come, and a call takes ",
                   Time(advice.latency_mean), " on average and ", Time(advice.latency_p99),
                   " at the 99th percentile: ", *advice.in_flight_by_mean, " calls are in flight, ",
                   *advice.in_flight_by_p99, " when all are slow."),
      absl::StrCat("Critical work gets twice the mean, and at least the slow moment: ",
                   *advice.critical, ". Optional work gets the mean: ", *advice.optional, "."),
      absl::StrCat("A floor of ", *advice.floor, " is the part of one of ", advice.instances,
                   " instances in an average moment; a ceiling of ", *advice.ceiling,
                   " lets half of them carry everything.")};
}

void AddRemarks(const DependencyRow& row, SizingAdvice& advice) {
  if (!advice.critical.has_value()) {
    Add(advice, SizingFinding::kTooLittleTraffic,
        "Too little traffic was seen to advise anything: a minute of it and 100 calls are needed.");
    return;
  }
  RemarkOnUse(advice);
  if (row.policy.quota.has_value()) RemarkOnQuota(*row.policy.quota, advice);
  RemarkOnBounds(row.policy, advice);
  RemarkOnKnee(row, advice);
}

}  // namespace internal
}  // namespace plimsoll
