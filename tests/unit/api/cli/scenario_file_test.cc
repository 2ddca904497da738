#include "api/cli/src/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"
#include "tests/unit/api/cli/fake_engine.h"

namespace plimsoll::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kLeast[] = "name: x\nphases:\n  - {name: all, start: 0s}\n";

ScenarioChecks Checks() {
  return {FakeEngine().Make().validate, [](const std::string& law, const ScenarioFile&) {
            return law == "aimmd" ? absl::InvalidArgumentError("no law is called \"aimmd\"")
                                  : absl::OkStatus();
          }};
}

absl::StatusOr<ScenarioFile> Read(const std::string& text) {
  return ParseScenario(text, "f.yaml", Checks());
}

ScenarioFile Parse(const std::string& text) {
  absl::StatusOr<ScenarioFile> file = Read(text);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : ScenarioFile{};
}

std::vector<std::string> FaultsOf(const std::string& text) {
  const absl::StatusOr<ScenarioFile> file = Read(text);
  if (file.ok()) return {};
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(file.status().message()), '\n');
}

constexpr char kFull[] = R"(name: full
description: "all keys, with \"quotes\" and: colons"
replicas: 5
shared: true
length: 90s
deadline: 250ms
network_delay: 3ms
station:
  servers: 3
  discipline: sharing
  service_time: pareto
  service: 1.5ms
  long_share: 0.1
  long_service: 40ms
  delay: 20ms
  retrograde: 0.02
phases:
  - {name: calm, start: 0s, load: 0.5}
  - {name: odd, start: 30s, load: 1.75, servers: 2, service: 3ms, delay: 5ms, long_share: 0.2,
     replicas: 7}
retries: {count: 3, backoff: 70ms}
traffic: [0.4, 0.25]
faults:
  slow_replica: {servers: 1}
  pause: {every: 5s, length: 300ms}
  noise: {every: 3s, factor: 1.6}
  late_replica: {replica: 4, at: 60s}
  crashes:
    - {at: 10s, replica: 1, down: 4s}
    - {at: 20s, replica: 2, down: 6s}
  controller_away: {at: 40s, length: 30s}
policy:
  scope: instance
  algorithm: aimd
  floor: 2
  ceiling: 90
  initial: 7
  call_deadline: 2s
  window: {length: 500ms, min_samples: 9, percentile: 0.5, drop_tolerance: 0.2}
  aimd: {latency_threshold: 80ms, backoff: 0.8, increase: 2}
  quota: {capacity: 40, instances_expected: 5, join_reserve: 3,
          services: {web: {weight: 2, min_share: 4}}}
  outage: {base: 3, base_lease: 60s, reserve: 1}
laws: [aimd, fleet_knee]
)";

TEST(ScenarioFileTest, ThePlainestFileTakesAllDefaults) {
  const ScenarioFile file = Parse(kLeast);
  const LoadScenario usual;
  EXPECT_EQ(file.scenario.name, "x");
  EXPECT_EQ(file.scenario.replicas, usual.replicas);
  EXPECT_EQ(file.scenario.station.service, usual.station.service);
  EXPECT_EQ(file.scenario.phases.size(), 1U);
  EXPECT_EQ(file.scenario.policy.quota, std::nullopt);
  EXPECT_EQ(file.scope, std::nullopt);
  EXPECT_TRUE(file.laws.empty());
}

TEST(ScenarioFileTest, StationAndTrafficAreRead) {
  const LoadScenario scenario = Parse(kFull).scenario;
  EXPECT_TRUE(scenario.shared);
  EXPECT_EQ(scenario.station.servers, 3);
  EXPECT_EQ(scenario.station.discipline, Discipline::kSharing);
  EXPECT_EQ(scenario.station.service_time, ServiceTime::kPareto);
  EXPECT_EQ(scenario.station.service, absl::Microseconds(1500));
  EXPECT_EQ(scenario.station.long_service, absl::Milliseconds(40));
  EXPECT_EQ(scenario.station.delay, absl::Milliseconds(20));
  EXPECT_DOUBLE_EQ(scenario.station.retrograde, 0.02);
  EXPECT_EQ(scenario.retries, 3);
  EXPECT_EQ(scenario.backoff, absl::Milliseconds(70));
  EXPECT_THAT(scenario.traffic, ElementsAre(0.4, 0.25));
}

TEST(ScenarioFileTest, APhaseChangesWhatItNames) {
  const LoadScenario scenario = Parse(kFull).scenario;
  ASSERT_EQ(scenario.phases.size(), 2U);
  EXPECT_EQ(scenario.phases[0].servers, std::nullopt);
  EXPECT_EQ(scenario.phases[0].delay, std::nullopt);
  const LoadPhase& odd = scenario.phases[1];
  EXPECT_EQ(odd.name, "odd");
  EXPECT_EQ(odd.start, absl::Seconds(30));
  EXPECT_DOUBLE_EQ(odd.load, 1.75);
  EXPECT_EQ(odd.servers, 2);
  EXPECT_EQ(odd.service, absl::Milliseconds(3));
  EXPECT_EQ(odd.delay, absl::Milliseconds(5));
  EXPECT_EQ(odd.long_share, 0.2);
  EXPECT_EQ(odd.replicas, 7);
}

TEST(ScenarioFileTest, FaultsAreRead) {
  const LoadScenario scenario = Parse(kFull).scenario;
  EXPECT_EQ(scenario.slow_replica_servers, 1);
  EXPECT_EQ(scenario.pause_every, absl::Seconds(5));
  EXPECT_EQ(scenario.pause, absl::Milliseconds(300));
  EXPECT_EQ(scenario.noise_every, absl::Seconds(3));
  EXPECT_DOUBLE_EQ(scenario.noise_factor, 1.6);
  EXPECT_EQ(scenario.late_replica, 4);
  EXPECT_EQ(scenario.late_at, absl::Seconds(60));
  ASSERT_EQ(scenario.crashes.size(), 2U);
  EXPECT_EQ(scenario.crashes[1].replica, 2);
  EXPECT_EQ(scenario.crashes[1].down, absl::Seconds(6));
  EXPECT_EQ(scenario.controller_away_at, absl::Seconds(40));
  EXPECT_EQ(scenario.controller_away, absl::Seconds(30));
}

TEST(ScenarioFileTest, ThePolicyHasTheKeysOfADependency) {
  const ScenarioFile file = Parse(kFull);
  EXPECT_EQ(file.scope, Scope::kInstance);
  EXPECT_EQ(file.scenario.policy.algorithm.kind, AlgorithmKind::kAimd);
  EXPECT_EQ(file.scenario.policy.algorithm.aimd.latency_threshold, absl::Milliseconds(80));
  EXPECT_EQ(file.scenario.policy.algorithm.initial, 7);
  EXPECT_EQ(file.scenario.policy.quota, 40);
  EXPECT_EQ(file.scenario.policy.outage.base, 3);
  EXPECT_THAT(file.laws, ElementsAre("aimd", "fleet_knee"));
}

TEST(ScenarioFileTest, WhatIsPrintedIsReadBackAsItWas) {
  for (const std::string text : {kFull, kLeast}) {
    const std::string printed = PrintScenario(Parse(text));
    const ScenarioFile again = Parse(printed);
    EXPECT_EQ(PrintScenario(again), printed);
    EXPECT_EQ(again.scenario.description, Parse(text).scenario.description);
  }
  // Each key of the full file survives.
  const std::string printed = PrintScenario(Parse(kFull));
  for (const char* const key :
       {"retrograde: 0.02", "long_share: 0.2", "backoff: 70ms", "[0.4, 0.25]", "factor: 1.6",
        "replica: 4", "down: 6s", "at: 40s", "scope: instance", "initial: 7", "min_samples: 9",
        "latency_threshold: 80ms", "capacity: 40", "weight: 2", "base_lease: 60s", "fleet_knee"}) {
    EXPECT_THAT(printed, HasSubstr(key));
  }
}

TEST(ScenarioFileTest, EachFaultIsToldWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"replica: 3", "f.yaml:4:1: /replica: unknown key (did you mean \"replicas\"?)"},
      {"replicas: many", "f.yaml:4:1: /replicas: must be a whole number such as 20, not \"many\""},
      {"deadline: 5", "f.yaml:4:1: /deadline: a duration needs a unit: 5s or 5ms, not \"5\""},
      {"shared: yes", "f.yaml:4:1: /shared: must be true or false, not \"yes\""},
      {"station: {discipline: lifo}",
       "f.yaml:4:11: /station/discipline: must be one of fifo, sharing, not \"lifo\" (did you mean "
       "\"fifo\"?)"},
      {"faults: {pause: {every: 5s}}", "f.yaml:4:10: /faults/pause: has no \"length\""},
      {"faults: {crashes: [{replica: 1}]}", "f.yaml:4:20: /faults/crashes/0: has no \"at\""},
      {"policy: {floor: 0}", "f.yaml:4:10: /policy/floor: floor = 0: must be at least 1"},
      {"laws: [aimd, aimmd]", "f.yaml:4:14: /laws/1: no law is called \"aimmd\""},
      {"traffic: [a]", "f.yaml:4:11: /traffic/0: must be a number such as 0.5, not \"a\""},
  };
  for (const auto& [line, fault] : cases) {
    EXPECT_THAT(FaultsOf(kLeast + line + "\n"), Contains(fault)) << line;
  }
}

TEST(ScenarioFileTest, AFileWithoutPhasesIsRefused) {
  EXPECT_THAT(FaultsOf("name: x\n"), ElementsAre("f.yaml:1:1: has no \"phases\""));
}

TEST(ScenarioFileTest, WhatTheSimulatorRefusesIsShownAtItsKey) {
  EXPECT_THAT(
      FaultsOf("name: x\nreplicas: 2000\nretries: {count: 9}\nphases:\n- {name: a, start: 0s}\n"
               "- {name: b, start: 1s, load: 3}\n"),
      ElementsAre("f.yaml:2:1: /replicas: replicas = 2000: must be between 1 and 1000",
                  "f.yaml:3:11: /retries/count: retries = 9: must be few",
                  "f.yaml:6:24: /phases/1/load: phases[1].load = 3: too much"));
}

TEST(ScenarioFileTest, AFileThatIsNotThereIsNamed) {
  const absl::StatusOr<ScenarioFile> file = LoadScenarioFile("/nowhere/x.yaml", Checks());
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr("/nowhere/x.yaml: cannot be read"));
}

TEST(ScenarioFileTest, WhatIsAdvisedIsAScenario) {
  constexpr char kAdvised[] = "{name: mine, phases: [{name: all, start: 0s}]}";
  EXPECT_THAT(FaultsOf(""), ElementsAre(HasSubstr(kAdvised)));
  EXPECT_THAT(FaultsOf("- a\n"), ElementsAre(HasSubstr(kAdvised)));
  EXPECT_THAT(FaultsOf(kAdvised), ElementsAre());
  EXPECT_THAT(FaultsOf("policy:\n  <<: {floor: 1}\n"),
              Contains("f.yaml:2:3: /policy/<<: merge keys are not supported: write the settings "
                       "out"));
}

}  // namespace
}  // namespace plimsoll::cli
