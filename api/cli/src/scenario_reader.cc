#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/cli/src/scenario_file.h"
#include "api/cli/src/scenario_words.h"
#include "controller/config/map_reader.h"
#include "controller/config/policy_reader.h"
#include "controller/config/read_file.h"
#include "controller/config/scalars.h"
#include "controller/config/yaml_tree.h"
#include "plimsoll/controller/options.h"

namespace plimsoll::cli {
namespace {

// Where the fields of a scenario stand in the file, if not under their own name.
const std::vector<std::pair<std::string, std::string>>& Places() {
  static const auto& places = *new std::vector<std::pair<std::string, std::string>>{
      {"retries", "retries/count"},
      {"backoff", "retries/backoff"},
      {"slow_replica_servers", "faults/slow_replica/servers"},
      {"pause_every", "faults/pause/every"},
      {"pause", "faults/pause/length"},
      {"noise_every", "faults/noise/every"},
      {"noise_factor", "faults/noise/factor"},
      {"late_replica", "faults/late_replica/replica"},
      {"late_at", "faults/late_replica/at"},
      {"controller_away_at", "faults/controller_away/at"},
      {"controller_away", "faults/controller_away/length"},
      {"policy/quota", "policy/quota/capacity"}};
  return places;
}

// "crashes[1].at" is faults/crashes/1/at.
std::string PointerOf(const std::string& name) {
  std::string path = absl::StrReplaceAll(name, {{".", "/"}, {"[", "/"}, {"]", ""}});
  for (const auto& [field, place] : Places()) {
    if (path == field) return absl::StrCat("/", place);
  }
  if (absl::StartsWith(path, "crashes")) path = absl::StrCat("faults/", path);
  return absl::StrCat("/", path);
}

void ReportScenario(const absl::Status& status, Faults& faults) {
  if (status.ok()) return;
  for (const std::string& violation : SplitViolations(std::string(status.message()))) {
    faults.Add(PointerOf(violation.substr(0, violation.find(" = "))), violation);
  }
}

// Each reads a key that may be missing, and is then absent; a value that does not fit is reported.
void ReadOptional(MapReader& map, const std::string& key, std::optional<int>& target) {
  if (map.Find(key) == nullptr) return;
  map.Whole(key, target.emplace(0));
}
void ReadOptional(MapReader& map, const std::string& key, std::optional<double>& target) {
  if (map.Find(key) == nullptr) return;
  map.Number(key, target.emplace(0));
}
void ReadOptional(MapReader& map, const std::string& key, std::optional<absl::Duration>& target) {
  if (map.Find(key) == nullptr) return;
  map.Duration(key, target.emplace());
}

bool Require(MapReader& map, const std::string& key, Faults& faults) {
  if (map.Find(key) != nullptr) return true;
  faults.Add(map.pointer(), absl::StrCat("has no \"", key, "\""));
  return false;
}

void ReadStation(MapReader map, Station& station) {
  map.Whole("servers", station.servers);
  map.Word<Discipline>("discipline", DisciplineWords(), {}, station.discipline);
  map.Word<ServiceTime>("service_time", ServiceTimeWords(), {}, station.service_time);
  map.Duration("service", station.service);
  map.Number("long_share", station.long_share);
  map.Duration("long_service", station.long_service);
  map.Duration("delay", station.delay);
  map.Number("retrograde", station.retrograde);
  map.Finish();
}

LoadPhase ReadPhase(MapReader map, Faults& faults) {
  LoadPhase phase;
  map.Text("name", phase.name);
  map.Duration("start", phase.start);
  map.Number("load", phase.load);
  ReadOptional(map, "servers", phase.servers);
  ReadOptional(map, "service", phase.service);
  ReadOptional(map, "delay", phase.delay);
  ReadOptional(map, "long_share", phase.long_share);
  ReadOptional(map, "replicas", phase.replicas);
  Require(map, "name", faults);
  Require(map, "start", faults);
  map.Finish();
  return phase;
}

void ReadPhases(MapReader& top, LoadScenario& scenario, Faults& faults) {
  const std::vector<YamlNode>& items = top.List("phases");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = Below(top.Pointer("phases"), absl::StrCat(i));
    scenario.phases.push_back(ReadPhase(MapReader(items[i], pointer, faults), faults));
  }
}

Crash ReadCrash(MapReader map, Faults& faults) {
  Crash crash;
  Require(map, "at", faults);
  map.Duration("at", crash.at);
  map.Whole("replica", crash.replica);
  map.Duration("down", crash.down);
  map.Finish();
  return crash;
}

void ReadCrashes(MapReader& map, std::vector<Crash>& crashes, Faults& faults) {
  const std::vector<YamlNode>& items = map.List("crashes");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string pointer = Below(map.Pointer("crashes"), absl::StrCat(i));
    crashes.push_back(ReadCrash(MapReader(items[i], pointer, faults), faults));
  }
}

// A section with two keys that mean nothing without each other.
template <typename First, typename Second>
void ReadPair(MapReader& faults_map, const std::string& section, const std::string& first,
              const std::string& second, First read_first, Second read_second, Faults& faults) {
  if (faults_map.Find(section) == nullptr) return;
  MapReader map = faults_map.Map(section);
  Require(map, first, faults);
  Require(map, second, faults);
  read_first(map, first);
  read_second(map, second);
  map.Finish();
}

auto DurationInto(absl::Duration& target) {
  return [&target](MapReader& map, const std::string& key) { map.Duration(key, target); };
}

void ReadFaults(MapReader map, LoadScenario& scenario, Faults& faults) {
  if (map.Find("slow_replica") != nullptr) {
    MapReader slow = map.Map("slow_replica");
    Require(slow, "servers", faults);
    ReadOptional(slow, "servers", scenario.slow_replica_servers);
    slow.Finish();
  }
  ReadPair(map, "pause", "every", "length", DurationInto(scenario.pause_every),
           DurationInto(scenario.pause), faults);
  ReadPair(
      map, "noise", "every", "factor", DurationInto(scenario.noise_every),
      [&](MapReader& noise, const std::string& key) { noise.Number(key, scenario.noise_factor); },
      faults);
  ReadPair(
      map, "late_replica", "replica", "at",
      [&](MapReader& late, const std::string& key) {
        ReadOptional(late, key, scenario.late_replica);
      },
      DurationInto(scenario.late_at), faults);
  ReadCrashes(map, scenario.crashes, faults);
  ReadPair(map, "controller_away", "at", "length", DurationInto(scenario.controller_away_at),
           DurationInto(scenario.controller_away), faults);
  map.Finish();
}

template <typename Value, typename Parse>
std::vector<Value> ReadList(MapReader& top, const std::string& key, Parse parse, Faults& faults) {
  std::vector<Value> values;
  const std::vector<YamlNode>& items = top.List(key);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto value = parse(items[i]);
    if (value.ok()) {
      values.push_back(*std::move(value));
    } else {
      faults.Add(Below(top.Pointer(key), absl::StrCat(i)), std::string(value.status().message()));
    }
  }
  return values;
}

void ReadPolicySection(MapReader& top, ScenarioFile& file, Faults& faults) {
  file.scenario.policy.name = DependencyId("simulated");
  file.scenario.policy =
      ReadPolicy(top.Map("policy"), file.scenario.policy, CoreOptions().lease, faults);
  if (faults.Written("/policy/scope")) file.scope = file.scenario.policy.scope;
}

void ReadTop(const YamlNode& root, ScenarioFile& file, Faults& faults) {
  MapReader top(root, "", faults);
  LoadScenario& scenario = file.scenario;
  Require(top, "name", faults);
  top.Text("name", scenario.name);
  top.Text("description", scenario.description);
  top.Whole("replicas", scenario.replicas);
  top.Flag("shared", scenario.shared);
  top.Duration("length", scenario.length);
  top.Duration("deadline", scenario.deadline);
  top.Duration("network_delay", scenario.network_delay);
  ReadStation(top.Map("station"), scenario.station);
  Require(top, "phases", faults);
  ReadPhases(top, scenario, faults);
  MapReader retries = top.Map("retries");
  retries.Whole("count", scenario.retries);
  retries.Duration("backoff", scenario.backoff);
  retries.Finish();
  scenario.traffic = ReadList<double>(top, "traffic", ParseNumber, faults);
  ReadFaults(top.Map("faults"), scenario, faults);
  ReadPolicySection(top, file, faults);
  file.laws = ReadList<std::string>(top, "laws", ParseText, faults);
  top.Finish();
}

void ReportLaws(const ScenarioFile& file, const ScenarioChecks& checks, Faults& faults) {
  for (std::size_t i = 0; i < file.laws.size(); ++i) {
    const absl::Status fits = checks.law(file.laws[i], file);
    if (!fits.ok()) faults.Add(absl::StrCat("/laws/", i), std::string(fits.message()));
  }
}

}  // namespace

absl::StatusOr<ScenarioFile> ParseScenario(const std::string& text, const std::string& name,
                                           const ScenarioChecks& checks) {
  ScenarioFile file;
  Faults faults;
  const YamlAdvice advice{"{name: mine, phases: [{name: all, start: 0s}]}", ""};
  const std::optional<YamlNode> root = ParseYaml(text, advice, faults);
  if (root.has_value()) ReadTop(*root, file, faults);
  // What could not be read has a default that may collide with the rest.
  if (faults.empty()) ReportScenario(checks.scenario(file.scenario), faults);
  if (faults.empty()) ReportLaws(file, checks, faults);
  if (faults.empty()) return file;
  return absl::InvalidArgumentError(absl::StrJoin(faults.ToLines(name), "\n"));
}

absl::StatusOr<ScenarioFile> LoadScenarioFile(const std::string& path,
                                              const ScenarioChecks& checks) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  return ParseScenario(*text, path, checks);
}

}  // namespace plimsoll::cli
