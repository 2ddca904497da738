#include "agent/examples/demo/scoreboard.h"

#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {
namespace {

constexpr char kManaged[] = "plimsoll";

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

std::string Milliseconds(absl::Duration duration) {
  return absl::StrFormat("%.0f ms", Seconds(duration) * 1e3);
}

std::string Microseconds(absl::Duration duration) {
  return absl::StrFormat("%.2f us", Seconds(duration) * 1e6);
}

std::string Row(const std::string& name, const std::vector<LaneResult>& lanes,
                const std::function<std::string(const LaneResult&)>& cell) {
  std::string row = absl::StrFormat("%-38s", name);
  for (const LaneResult& lane : lanes) absl::StrAppendFormat(&row, "%14s", cell(lane));
  return row + "\n";
}

std::string Table(const std::vector<LaneResult>& lanes) {
  using Lane = const LaneResult&;
  return absl::StrCat(
      Row("", lanes, [](Lane lane) { return lane.name; }),
      Row("highest concurrency at the provider", lanes,
          [](Lane lane) { return absl::StrCat(lane.provider_max); }),
      Row("calls that met more than the quota", lanes,
          [](Lane lane) { return absl::StrCat(lane.violations); }),
      Row("goodput", lanes, [](Lane lane) { return absl::StrFormat("%.0f/s", lane.goodput()); }),
      Row("p50 of admitted calls", lanes,
          [](Lane lane) { return Milliseconds(lane.total.latency.Quantile(0.5)); }),
      Row("p99 of admitted calls", lanes,
          [](Lane lane) { return Milliseconds(lane.total.latency.Quantile(0.99)); }),
      Row("failed or timed out", lanes, [](Lane lane) { return absl::StrCat(lane.total.errors); }),
      Row("refused at once", lanes, [](Lane lane) { return absl::StrCat(lane.total.rejected); }),
      Row("time to refuse, p50", lanes,
          [](Lane lane) { return Microseconds(lane.total.RefusalQuantile(0.5)); }),
      Row("time to refuse, p99", lanes,
          [](Lane lane) { return Microseconds(lane.total.RefusalQuantile(0.99)); }));
}

std::string Shares(const LaneResult& lane) {
  std::string text =
      absl::StrFormat("\n%-14s%12s%14s%14s\n", lane.name, "offered", "mean limit", "admitted");
  for (const Share& share : lane.shares) {
    absl::StrAppendFormat(&text, "%-14s%10.0f/s%14.1f%12.0f/s\n", share.replica,
                          share.calls_per_second, share.mean_limit, share.admitted_per_second);
  }
  return text;
}

std::string Time(const std::optional<double>& seconds) {
  return seconds ? absl::StrFormat("%.2f s", *seconds) : "more time than the run had";
}

std::string Story(const Facts& facts) {
  return absl::StrCat(
      "\nkill -9 of a replica: the others had its share after ", Time(facts.regrant_seconds),
      "; restarted, it served again after ", Time(facts.return_seconds),
      "\na replica that left in good order: the others had its share after ",
      Time(facts.release_seconds), "\nkill -9 of the controller, away for ",
      Time(facts.outage_seconds),
      absl::StrFormat(": goodput %.0f/s before, %.0f/s meanwhile; sum of limits %d before, "
                      "at most %d meanwhile, %d at the lowest, whole again after ",
                      facts.goodput_before_outage, facts.goodput_in_outage,
                      facts.limits_before_outage, facts.limits_in_outage_max, facts.limits_lowest),
      Time(facts.recovery_seconds), "\n");
}

std::string Number(const std::optional<double>& seconds) {
  return seconds ? absl::StrFormat("%.3f", *seconds) : "null";
}

std::string LaneJson(const LaneResult& lane) {
  const Report& total = lane.total;
  return absl::StrFormat(
      R"("%s":{"seconds":%.3f,"goodput_per_second":%.3f,"p50_seconds":%.6f,"p99_seconds":%.6f,)"
      R"("admitted":%d,"succeeded":%d,"rejected":%d,"errors":%d,"provider_max_in_flight":%d,)"
      R"("refusal_p50_seconds":%.9f,"refusal_p99_seconds":%.9f,"shares":[%s]})",
      lane.name, lane.seconds, lane.goodput(), Seconds(total.latency.Quantile(0.5)),
      Seconds(total.latency.Quantile(0.99)), total.sent, total.succeeded, total.rejected,
      total.errors, lane.provider_max, Seconds(total.RefusalQuantile(0.5)),
      Seconds(total.RefusalQuantile(0.99)),
      absl::StrJoin(lane.shares, ",", [](std::string* out, const Share& share) {
        absl::StrAppendFormat(out,
                              R"({"replica":"%s","offered_per_second":%.1f,"mean_limit":%.2f,)"
                              R"("admitted_per_second":%.1f})",
                              share.replica, share.calls_per_second, share.mean_limit,
                              share.admitted_per_second);
      }));
}

std::string FactsJson(const Facts& facts) {
  return absl::StrFormat(R"("regrant_seconds":%s,"return_seconds":%s,"release_seconds":%s,)"
                         R"("controller_outage":{"seconds":%s,"recovery_seconds":%s,)"
                         R"("goodput_before_per_second":%.1f,"goodput_during_per_second":%.1f,)"
                         R"("limits_before":%d,"limits_min":%d,"limits_max":%d})",
                         Number(facts.regrant_seconds), Number(facts.return_seconds),
                         Number(facts.release_seconds), Number(facts.outage_seconds),
                         Number(facts.recovery_seconds), facts.goodput_before_outage,
                         facts.goodput_in_outage, facts.limits_before_outage, facts.limits_lowest,
                         facts.limits_in_outage_max);
}

}  // namespace

std::string ScoreboardText(const std::vector<LaneResult>& lanes) {
  std::string text = Table(lanes);
  for (const LaneResult& lane : lanes) {
    if (lane.name == kManaged) absl::StrAppend(&text, Shares(lane), Story(lane.facts));
  }
  return text;
}

std::string ScoreboardJson(const std::vector<LaneResult>& lanes, std::uint64_t seed) {
  std::vector<std::string> parts;
  std::string facts;
  for (const LaneResult& lane : lanes) {
    parts.push_back(LaneJson(lane));
    if (lane.name == kManaged) facts = "," + FactsJson(lane.facts);
  }
  return absl::StrFormat(R"({"quota":%d,"violations":%d,"seed":%d,"lanes":{%s}%s})", kQuota,
                         Violations(lanes), seed, absl::StrJoin(parts, ","), facts);
}

std::int64_t Violations(const std::vector<LaneResult>& lanes) {
  std::int64_t violations = 0;
  for (const LaneResult& lane : lanes) {
    if (lane.name == kManaged) violations += lane.violations;
  }
  return violations;
}

}  // namespace plimsoll::demo
