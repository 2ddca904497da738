#include "api/cli/src/describe.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/yaml_writer.h"

namespace plimsoll::cli {
namespace {

// What the healthy dependency can do per second, by its mean service time.
double Capacity(const LoadScenario& scenario) {
  const Station& station = scenario.station;
  const absl::Duration mean =
      station.service * (1 - station.long_share) + station.long_service * station.long_share;
  const double one = station.servers / absl::ToDoubleSeconds(mean);
  return scenario.shared ? one : one * scenario.replicas;
}

std::string ServiceText(const Station& station) {
  std::string text;
  switch (station.service_time) {
    case ServiceTime::kExponential:
      text = "exponential service of ";
      break;
    case ServiceTime::kFixed:
      text = "fixed service of ";
      break;
    case ServiceTime::kPareto:
      text = "Pareto service of ";
      break;
  }
  absl::StrAppend(&text, DurationText(station.service));
  if (station.long_share > 0) {
    absl::StrAppend(&text, ", of ", DurationText(station.long_service), " for ",
                    absl::StrFormat("%g", station.long_share * 100), " % of the calls");
  }
  return text;
}

std::string StationText(const LoadScenario& scenario) {
  const Station& station = scenario.station;
  std::string text = absl::StrCat(
      scenario.replicas,
      scenario.shared ? " replicas call one station: " : " replicas, each before its own station: ",
      station.servers, station.servers == 1 ? " server, " : " servers, ",
      station.discipline == Discipline::kFifo ? "first come, first served" : "shared by all calls",
      ", ", ServiceText(station));
  if (station.delay > absl::ZeroDuration()) {
    absl::StrAppend(&text, ", after a delay of ", DurationText(station.delay));
  }
  if (station.retrograde > 0) {
    absl::StrAppend(&text, "; each call beyond the servers makes work ",
                    absl::StrFormat("%g", station.retrograde * 100), " % longer");
  }
  absl::StrAppend(&text, ". Together ", absl::StrFormat("%.0f", Capacity(scenario)),
                  " calls/s when healthy.");
  return text;
}

std::string PhaseText(const LoadPhase& phase) {
  std::string text = absl::StrCat("From ", DurationText(phase.start), " (", phase.name,
                                  "): ", absl::StrFormat("%g", phase.load), " x that");
  if (phase.servers) absl::StrAppend(&text, ", ", *phase.servers, " servers");
  if (phase.service) absl::StrAppend(&text, ", service ", DurationText(*phase.service));
  if (phase.delay) absl::StrAppend(&text, ", delay ", DurationText(*phase.delay));
  if (phase.long_share) absl::StrAppend(&text, ", long share ", NumberText(*phase.long_share));
  if (phase.replicas) absl::StrAppend(&text, ", ", *phase.replicas, " replicas");
  return absl::StrCat(text, ".");
}

void AddTroubles(const LoadScenario& scenario, std::vector<std::string>& lines) {
  if (scenario.slow_replica_servers) {
    lines.push_back(
        absl::StrCat("Replica 0 is weak: ", *scenario.slow_replica_servers, " servers."));
  }
  if (scenario.pause_every != absl::InfiniteDuration()) {
    lines.push_back(absl::StrCat("The station of replica 0 stops every ",
                                 DurationText(scenario.pause_every), " for ",
                                 DurationText(scenario.pause), "."));
  }
  if (scenario.noise_every != absl::InfiniteDuration()) {
    lines.push_back(absl::StrCat("Every ", DurationText(scenario.noise_every),
                                 " or so the delay changes between once and ",
                                 NumberText(scenario.noise_factor), " times itself."));
  }
  if (scenario.late_replica) {
    lines.push_back(absl::StrCat("Replica ", *scenario.late_replica, " joins at ",
                                 DurationText(scenario.late_at), "."));
  }
  for (const Crash& crash : scenario.crashes) {
    lines.push_back(absl::StrCat("Replica ", crash.replica, " dies at ", DurationText(crash.at),
                                 " with its permits, and is back after ", DurationText(crash.down),
                                 "."));
  }
  if (scenario.controller_away_at != absl::InfiniteDuration()) {
    lines.push_back(absl::StrCat("The controller is away from ",
                                 DurationText(scenario.controller_away_at), " for ",
                                 DurationText(scenario.controller_away), "."));
  }
}

std::string CallsText(const LoadScenario& scenario) {
  std::string text = absl::StrCat("A call is good if it ends within ",
                                  DurationText(scenario.deadline), " of its arrival");
  if (scenario.retries > 0) {
    absl::StrAppend(&text, "; a refused one is tried again up to ", scenario.retries,
                    " times, after about ", DurationText(scenario.backoff));
  }
  absl::StrAppend(&text, ". ");
  if (scenario.policy.quota) {
    absl::StrAppend(&text, "Quota ", *scenario.policy.quota, ", f");
  } else {
    absl::StrAppend(&text, "No quota, f");
  }
  return absl::StrCat(text, "loor ", scenario.policy.algorithm.floor, ", ceiling ",
                      scenario.policy.algorithm.ceiling, ".");
}

std::string TrafficText(const std::vector<double>& traffic) {
  return absl::StrCat("Parts of the traffic, from replica 0 on: ", absl::StrJoin(traffic, ", "),
                      "; the rest evenly.");
}

}  // namespace

std::vector<std::string> DescribeScenario(const LoadScenario& scenario) {
  std::vector<std::string> lines;
  if (!scenario.description.empty()) lines.push_back(scenario.description);
  lines.push_back(StationText(scenario));
  for (const LoadPhase& phase : scenario.phases) lines.push_back(PhaseText(phase));
  if (!scenario.traffic.empty()) lines.push_back(TrafficText(scenario.traffic));
  AddTroubles(scenario, lines);
  lines.push_back(CallsText(scenario));
  return lines;
}

std::string LatencyText(absl::Duration latency) {
  const double ms = absl::ToDoubleMilliseconds(latency);
  return ms < 999.95 ? absl::StrFormat("%.1f ms", ms) : absl::StrFormat("%.2f s", ms / 1000);
}

}  // namespace plimsoll::cli
