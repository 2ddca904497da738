#include "tests/integration/chaos/result.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/integration/chaos/judge.h"

namespace plimsoll::chaos {
namespace {

using Json = nlohmann::ordered_json;

// Beyond the hold: to connect, to register, and for a call.
constexpr double kGrace = 3;

double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

std::string After(const std::optional<double>& seconds) {
  return seconds ? absl::StrFormat("after %.1f s", *seconds) : "never";
}

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string FaultLines(const Result& result) {
  std::string text;
  for (int k = 0; k < kFaultKinds; ++k) {
    const int count = result.faults[static_cast<std::size_t>(k)];
    if (count == 0) continue;
    absl::StrAppendFormat(&text, "  %-20s %4d\n", Name(static_cast<FaultKind>(k)), count);
  }
  return text;
}

// With one controller there is nobody to take over: its outages are no failures.
void ComplainOfGrants(const Result& result, std::vector<std::string>& complaints) {
  const GrantFigures& grants = result.grants;
  if (grants.excess > 0) {
    complaints.push_back(
        absl::StrFormat("a replica had no grant for longer than its lease of %.1f s, which nothing "
                        "excuses; by %.1f "
                        "s, what this machine stood still taken off",
                        Seconds(result.timing.lease), grants.excess));
  }
  complaints.insert(complaints.end(), grants.unexcused.begin(), grants.unexcused.end());
}

std::string GrantLines(const Result& result) {
  const GrantFigures& grants = result.grants;
  std::string text;
  absl::StrAppendFormat(&text, "controllers          %d, %d members of etcd; leases %s and %s\n",
                        result.controllers, result.members,
                        absl::FormatDuration(result.timing.leader_lease),
                        absl::FormatDuration(result.timing.lease));
  absl::StrAppendFormat(&text, "failovers            %d\n", std::max(0, result.plane.epochs - 1));
  absl::StrAppendFormat(&text, "etcd silent          %d times for more than 1 s, %.1f s at most\n",
                        result.plane.stalls, result.plane.longest_stall);
  absl::StrAppendFormat(
      &text, "without a grant      %.1f s at most, of replica %d, until %.1f s; p99 %.2f s\n",
      grants.longest, grants.longest_place, grants.longest_end, grants.p99);
  for (const auto& [because, count] : grants.step_downs) {
    absl::StrAppendFormat(&text, "limits stepped down  %d times: %s\n", count,
                          because.empty() ? "NOTHING EXCUSES IT" : because);
  }
  if (grants.step_downs.empty()) absl::StrAppend(&text, "limits stepped down  never\n");
  return text;
}

Json GrantsJson(const Result& result) {
  const GrantFigures& grants = result.grants;
  Json steps = Json::object();
  for (const auto& [because, count] : grants.step_downs) {
    steps[because.empty() ? "unexcused" : because] = count;
  }
  return {{"controllers", result.controllers},
          {"etcd_members", result.members},
          {"lease_seconds", Seconds(result.timing.lease)},
          {"failovers", std::max(0, result.plane.epochs - 1)},
          {"etcd_stalls", result.plane.stalls},
          {"etcd_longest_stall_seconds", result.plane.longest_stall},
          {"longest_without_grant_seconds", grants.longest},
          {"p99_without_grant_seconds", grants.p99},
          {"too_long_by_seconds", std::max(0.0, grants.excess)},
          {"step_downs", steps}};
}

}  // namespace

std::vector<std::string> Complaints(const Result& result) {
  std::vector<std::string> complaints;
  if (!result.trouble.empty()) complaints.push_back(result.trouble);
  if (result.violations > 0) {
    complaints.push_back(absl::StrFormat("the quota was exceeded by up to %d, by %d calls",
                                         result.excess_max, result.violations));
  }
  if (result.violations > 0 && result.late_calls > 0) {
    complaints.push_back(absl::StrFormat(
        "%d calls outlived their deadline at the provider, by up to %.0f ms: the quota holds only "
        "if none does",
        result.late_calls, result.lateness_max * 1000));
  }
  if (!result.trouble.empty()) return complaints;
  const double serve = Seconds(Hold(result.timing)) + kGrace;
  const double whole = Seconds(BaseHold(result.timing)) + kGrace;
  if (result.all_serve_after.value_or(1e9) > serve) {
    complaints.push_back(absl::StrFormat("all replicas serve again %s, not within %.1f s",
                                         After(result.all_serve_after), serve));
  }
  if (result.whole_after.value_or(1e9) > whole) {
    complaints.push_back(absl::StrFormat(
        "the limits add up to the quota of %d %s, not within %.1f s; in the end to %d",
        result.last_quota, After(result.whole_after), whole, result.last_limits));
  }
  if (result.members > 0) ComplainOfGrants(result, complaints);
  return complaints;
}

std::string ToText(const Result& result) {
  std::string text;
  absl::StrAppendFormat(&text, "chaos, seed %d, %.1f s\n", result.seed, result.seconds);
  absl::StrAppend(
      &text, "network faults: ", result.network ? "on" : "off: " + result.no_network_because, "\n");
  absl::StrAppend(&text, "faults:\n", FaultLines(result));
  absl::StrAppendFormat(&text, "quota changes        %d, not shown within 5 s: %d\n",
                        result.quota_changes, result.unsupported_changes);
  absl::StrAppendFormat(&text, "control packets      %d carried, %d lost\n", result.packets_carried,
                        result.packets_lost);
  if (result.members > 0) absl::StrAppend(&text, GrantLines(result));
  absl::StrAppendFormat(&text, "calls                %d, %.0f succeeded a second; %d refused\n",
                        result.calls, result.goodput(), result.refused);
  absl::StrAppendFormat(&text,
                        "in flight            at most %d, when %d were allowed; %d calls above\n",
                        result.in_flight_max, result.allowed_at_max, result.violations);
  absl::StrAppendFormat(&text, "late at provider     %d calls, by %.0f ms at most\n",
                        result.late_calls, result.lateness_max * 1000);
  absl::StrAppendFormat(&text, "longest stall        %.0f ms, of this machine\n",
                        result.longest_stall * 1000);
  absl::StrAppendFormat(&text, "longest drought      %.1f s, of replica %d, until %.1f s\n",
                        result.longest_drought, result.drought_place, result.drought_end);
  absl::StrAppendFormat(&text, "after the last fault all serve %s, limits whole %s; %d of %d\n",
                        After(result.all_serve_after), After(result.whole_after),
                        result.last_limits, result.last_quota);
  absl::StrAppendFormat(&text, "controller memory    %d KiB at the start, %d KiB at the end\n",
                        result.controller_kib_first, result.controller_kib_last);
  for (const std::string& line : result.breach) absl::StrAppend(&text, line, "\n");
  for (const std::string& line : Complaints(result)) absl::StrAppend(&text, "FAILED: ", line, "\n");
  if (Complaints(result).empty()) absl::StrAppend(&text, "passed\n");
  return text;
}

std::string ToJson(const Result& result) {
  Json faults = Json::object();
  for (int k = 0; k < kFaultKinds; ++k) {
    faults[Name(static_cast<FaultKind>(k))] = result.faults[static_cast<std::size_t>(k)];
  }
  Json json = {
      {"seed", result.seed},
      {"seconds", result.seconds},
      {"network_faults", result.network},
      {"faults", faults},
      {"quota_changes", result.quota_changes},
      {"quota_changes_not_shown", result.unsupported_changes},
      {"control_packets", {{"carried", result.packets_carried}, {"lost", result.packets_lost}}},
      {"calls", result.calls},
      {"goodput_per_second", result.goodput()},
      {"refused", result.refused},
      {"in_flight_max", result.in_flight_max},
      {"allowed_at_max", result.allowed_at_max},
      {"calls_above_quota", result.violations},
      {"excess_max", result.excess_max},
      {"late_calls", result.late_calls},
      {"lateness_max_seconds", result.lateness_max},
      {"longest_stall_seconds", result.longest_stall},
      {"longest_drought_seconds", result.longest_drought},
      {"all_serve_after_seconds", OrNull(result.all_serve_after)},
      {"limits_whole_after_seconds", OrNull(result.whole_after)},
      {"limits_last", result.last_limits},
      {"quota_last", result.last_quota},
      {"controller_kib",
       {{"first", result.controller_kib_first}, {"last", result.controller_kib_last}}},
      {"complaints", Complaints(result)},
  };
  if (result.members > 0) json["grants"] = GrantsJson(result);
  return json.dump();
}

}  // namespace plimsoll::chaos
