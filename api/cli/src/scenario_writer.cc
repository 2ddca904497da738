#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cli/src/policy_writer.h"
#include "api/cli/src/scenario_file.h"
#include "api/cli/src/scenario_words.h"
#include "api/cli/src/yaml_writer.h"

namespace plimsoll::cli {
namespace {

void WriteStation(YamlWriter& top, const Station& station) {
  const Station usual;
  YamlWriter map = top.Open();
  map.Raw("servers", absl::StrCat(station.servers));
  map.Word("discipline", WordOf(DisciplineWords(), station.discipline),
           WordOf(DisciplineWords(), usual.discipline));
  map.Word("service_time", WordOf(ServiceTimeWords(), station.service_time),
           WordOf(ServiceTimeWords(), usual.service_time));
  map.Raw("service", DurationText(station.service));
  map.Number("long_share", station.long_share, usual.long_share);
  map.Duration("long_service", station.long_service, usual.long_service);
  map.Duration("delay", station.delay, usual.delay);
  map.Number("retrograde", station.retrograde, usual.retrograde);
  top.Close("station", map);
}

void WritePhases(YamlWriter& top, const std::vector<LoadPhase>& phases) {
  top.BeginList("phases");
  for (const LoadPhase& phase : phases) {
    YamlWriter map = top.OpenItem();
    map.Raw("name", QuotedText(phase.name));
    map.Raw("start", DurationText(phase.start));
    map.Raw("load", NumberText(phase.load));
    map.Optional("servers", phase.servers);
    map.Optional("service", phase.service);
    map.Optional("delay", phase.delay);
    map.Optional("long_share", phase.long_share);
    map.Optional("replicas", phase.replicas);
    top.CloseItem(map);
  }
}

void WriteCrashes(YamlWriter& faults, const std::vector<Crash>& crashes) {
  if (crashes.empty()) return;
  faults.BeginList("crashes");
  for (const Crash& crash : crashes) {
    YamlWriter map = faults.OpenItem();
    map.Raw("at", DurationText(crash.at));
    map.Raw("replica", absl::StrCat(crash.replica));
    map.Raw("down", DurationText(crash.down));
    faults.CloseItem(map);
  }
}

void WritePair(YamlWriter& top, const std::string& section, bool present, const std::string& first,
               const std::string& first_value, const std::string& second,
               const std::string& second_value) {
  if (!present) return;
  YamlWriter map = top.Open();
  map.Raw(first, first_value);
  map.Raw(second, second_value);
  top.Close(section, map);
}

bool IsSet(absl::Duration value) { return value != absl::InfiniteDuration(); }
std::string IfSet(absl::Duration value) { return IsSet(value) ? DurationText(value) : ""; }

void WriteFaults(YamlWriter& top, const LoadScenario& scenario) {
  YamlWriter map = top.Open();
  YamlWriter slow = map.Open();
  slow.Optional("servers", scenario.slow_replica_servers);
  map.Close("slow_replica", slow);
  WritePair(map, "pause", IsSet(scenario.pause_every), "every", IfSet(scenario.pause_every),
            "length", DurationText(scenario.pause));
  WritePair(map, "noise", IsSet(scenario.noise_every), "every", IfSet(scenario.noise_every),
            "factor", NumberText(scenario.noise_factor));
  WritePair(map, "late_replica", scenario.late_replica.has_value(), "replica",
            absl::StrCat(scenario.late_replica.value_or(0)), "at", DurationText(scenario.late_at));
  WriteCrashes(map, scenario.crashes);
  WritePair(map, "controller_away", IsSet(scenario.controller_away_at), "at",
            IfSet(scenario.controller_away_at), "length", DurationText(scenario.controller_away));
  top.Close("faults", map);
}

void WriteRetries(YamlWriter& top, const LoadScenario& scenario) {
  const LoadScenario usual;
  YamlWriter map = top.Open();
  map.Whole("count", scenario.retries, usual.retries);
  map.Duration("backoff", scenario.backoff, usual.backoff);
  top.Close("retries", map);
}

void WriteTraffic(YamlWriter& top, const std::vector<double>& traffic) {
  if (traffic.empty()) return;
  std::vector<std::string> parts;
  for (const double part : traffic) parts.push_back(NumberText(part));
  top.Raw("traffic", absl::StrCat("[", absl::StrJoin(parts, ", "), "]"));
}

}  // namespace

std::string PrintScenario(const ScenarioFile& file) {
  const LoadScenario& scenario = file.scenario;
  const LoadScenario usual;
  YamlWriter top;
  top.Raw("name", QuotedText(scenario.name));
  top.Text("description", scenario.description);
  top.Raw("replicas", absl::StrCat(scenario.replicas));
  top.Raw("shared", scenario.shared ? "true" : "false");
  top.Raw("length", DurationText(scenario.length));
  top.Raw("deadline", DurationText(scenario.deadline));
  top.Duration("network_delay", scenario.network_delay, usual.network_delay);
  WriteStation(top, scenario.station);
  WritePhases(top, scenario.phases);
  WriteRetries(top, scenario);
  WriteTraffic(top, scenario.traffic);
  WriteFaults(top, scenario);
  WritePolicy(top, scenario.policy, file.scope);
  std::vector<std::string> laws;
  for (const std::string& law : file.laws) laws.push_back(QuotedText(law));
  if (!laws.empty()) top.Raw("laws", absl::StrCat("[", absl::StrJoin(laws, ", "), "]"));
  return top.text();
}

}  // namespace plimsoll::cli
