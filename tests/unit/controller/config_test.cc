#include "controller/main/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/main/etcd_config.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Config Parse(const std::string& text, Profile profile = Profile::kProduction) {
  absl::StatusOr<Config> config = ParseConfig(text, "f.yaml", profile);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : Config{};
}

Policy ParsePolicy(const std::string& settings) {
  const Config config = Parse("dependencies:\n  - {name: d, " + settings + "}\n");
  EXPECT_EQ(config.policies.size(), 1U);
  return config.policies.empty() ? Policy{} : config.policies.begin()->second;
}

std::vector<std::string> FaultsOf(const std::string& text) {
  const absl::StatusOr<Config> config = ParseConfig(text, "f.yaml", Profile::kProduction);
  if (config.ok()) return {};
  EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(std::string(config.status().message()), '\n');
}

TEST(ConfigTest, ThePlainestFileTakesAllDefaults) {
  const Config config = Parse("dependencies: []\n");
  EXPECT_EQ(config.server.api.address, "127.0.0.1");
  EXPECT_EQ(config.server.api.port, 7480);
  EXPECT_EQ(config.server.agents.port, 7481);
  EXPECT_EQ(config.core.lease, absl::Seconds(10));
  EXPECT_EQ(config.core.hold_max, absl::Seconds(1));
  EXPECT_EQ(config.state_mode, StateMode::kEmbedded);
  EXPECT_EQ(config.state_dir, "/var/lib/plimsoll");
  EXPECT_TRUE(config.policies.empty());
}

TEST(ConfigTest, TheDevelopmentProfileChangesDefaultsAndTheFileStillWins) {
  const Config config =
      Parse("agents: {lease: 3s}\ndependencies: [{name: d}]\n", Profile::kDevelopment);
  EXPECT_EQ(config.state_mode, StateMode::kMemory);
  EXPECT_EQ(config.server.state_mode, "MEMORY");
  EXPECT_EQ(config.core.lease, absl::Seconds(3));
  EXPECT_EQ(config.core.hold_max, absl::Milliseconds(200));
  EXPECT_EQ(config.policies.at(DependencyId("d")).outage.base_lease, absl::Seconds(30));
}

TEST(ConfigTest, SeveralControllersShareAnEtcd) {
  const Config config = Parse(
      "state:\n  mode: etcd\n  etcd: {endpoints: [\"http://a:2379\", \"https://b:2379\"], "
      "prefix: /fleet-1, lease: 3s}\n"
      "advertise: {agents: \"http://c:7481\", api: \"http://c:7480\"}\n");
  EXPECT_EQ(config.state_mode, StateMode::kEtcd);
  EXPECT_EQ(config.server.state_mode, "ETCD");
  EXPECT_THAT(config.etcd.endpoints, ElementsAre("http://a:2379", "https://b:2379"));
  EXPECT_EQ(config.etcd.prefix, "/fleet-1");
  EXPECT_EQ(config.etcd.lease, absl::Seconds(3));
  EXPECT_EQ(config.advertise.agents, "http://c:7481");
}

TEST(ConfigTest, AgentsAreMissedSoonEnoughForAnotherToLeadBeforeTheirLeasesEnd) {
  CoreOptions core;
  EXPECT_EQ(UnheardAfter(core), absl::Milliseconds(1500));
  core.hold_max = absl::Milliseconds(200);
  core.lease = absl::Seconds(6);
  EXPECT_EQ(UnheardAfter(core), absl::Seconds(1)) << "as long as an agent waits";
}

TEST(ConfigTest, WhatDoesNotFitWithEtcdIsSaid) {
  const std::pair<std::string, std::string> cases[] = {
      {"state: {mode: etcd}", "/state/etcd: give at least one of endpoints"},
      {"state: {etcd: {endpoints: [\"10.0.0.1:2379\"]}}",
       "/state/etcd/endpoints/0: must be http://host:port"},
      {"state: {etcd: {prefix: plimsoll}}", "/state/etcd/prefix: must begin with '/'"},
      {"state: {etcd: {lease: 2500ms}}", "/state/etcd/lease: lease = 2.5s: must be whole seconds"},
      {"agents: {lease: 6s}\nstate: {mode: etcd, etcd: {endpoints: [\"http://a:1\"]}}",
       "outlast agents.lease - agents.hold_max - 1s"},
      {"state: {mode: etcd, etcd: {endpoints: [\"http://a:1\"], user: u}}",
       "user and password_file belong together"},
      {"listen: {agents: \"0.0.0.0:7481\"}\nauth: {allow_anonymous: [agent]}\n"
       "state: {mode: etcd, etcd: {endpoints: [\"http://a:1\"]}}",
       "say in advertise.agents where others find it"},
      {"advertise: {api: \"a:1\"}", "/advertise/api: must be http://host:port"}};
  for (const auto& [text, fault] : cases) {
    EXPECT_THAT(FaultsOf(text + "\n"), ElementsAre(HasSubstr(fault))) << text;
  }
}

TEST(ConfigTest, TheHistoryAndTheStreamsHaveBounds) {
  const Config config =
      Parse("timeseries: {step: 10s, keep: 2h}\napi: {watchers_max: 8}\ndependencies: []\n");
  EXPECT_EQ(config.server.history_step, absl::Seconds(10));
  EXPECT_EQ(config.server.history_keep, absl::Hours(2));
  EXPECT_EQ(config.server.watchers_max, 8);
  const std::string rest = "\ndependencies: []\n";
  EXPECT_THAT(FaultsOf("timeseries: {step: 10ms}" + rest),
              ElementsAre(HasSubstr("/timeseries/step")));
  EXPECT_THAT(FaultsOf("timeseries: {keep: 1s}" + rest),
              ElementsAre(HasSubstr("/timeseries/keep")));
  EXPECT_THAT(FaultsOf("timeseries: {keep: 24h}" + rest), ElementsAre(HasSubstr("which is 2h")));
  EXPECT_THAT(FaultsOf("api: {watchers_max: -1}" + rest), ElementsAre(HasSubstr("watchers_max")));
}

TEST(ConfigTest, SharesOfServicesAreRead) {
  const Policy policy = ParsePolicy(
      "quota: {capacity: 90, join_reserve: 3, services: {web.v2: {weight: 2.5, min_share: 4, "
      "max_share: 60, priority: 1, lend: 0.5}, batch: {}}}");
  EXPECT_EQ(policy.join_reserve, 3);
  ASSERT_EQ(policy.services.size(), 2U);
  const ServiceShare& web = policy.services.at(ServiceId("web.v2"));
  EXPECT_EQ(web.weight, 2.5);
  EXPECT_EQ(web.minimum, 4);
  EXPECT_EQ(web.maximum, 60);
  EXPECT_EQ(web.priority, 1);
  EXPECT_EQ(web.lend, 0.5);
  const ServiceShare& batch = policy.services.at(ServiceId("batch"));
  EXPECT_EQ(batch.weight, 1);
  EXPECT_FALSE(batch.maximum.has_value());
}

TEST(ConfigTest, ADependencyRefinesTheServicesOfTheDefaults) {
  const Config config = Parse(
      "defaults: {quota: {services: {web: {weight: 2, priority: 3}}}}\n"
      "dependencies: [{name: d, quota: {capacity: 9, services: {web: {priority: 1}}}}]\n");
  const ServiceShare& web = config.policies.at(DependencyId("d")).services.at(ServiceId("web"));
  EXPECT_EQ(web.weight, 2);
  EXPECT_EQ(web.priority, 1);
}

TEST(ConfigTest, ServerSettingsAreRead) {
  const Config config = Parse(R"(
listen: {api: "[::1]:1", agents: "localhost:0"}
api: {connections_max: 7, body_max: 2KiB, hosts: [plimsoll.example.com],
      cors_origins: ["https://grafana.example.com", "http://[::1]:3000"]}
agents: {connections_max: 8, lease: 20s, hold_max: 1.5s, sync_min: 500us, clock_drift: 2e-4,
         tick: 100ms, sessions_max: 9, dependencies_max: 10}
state: {mode: memory, dir: /x}
events: {keep: 11}
log: {level: debug, format: json}
auth: {allow_anonymous: []}
console: {enabled: false, base_path: /plimsoll/ui/}
observe_all: true
)");
  EXPECT_TRUE(config.observe_all);
  EXPECT_FALSE(config.console);
  EXPECT_EQ(config.server.console.base_path, "/plimsoll/ui/");
  EXPECT_EQ(config.server.api.address, "::1");
  EXPECT_EQ(config.server.api.port, 1);
  EXPECT_EQ(config.server.agents.address, "127.0.0.1");
  EXPECT_EQ(config.server.agents.port, 0);
  EXPECT_EQ(config.server.api_limits.connections_max, 7);
  EXPECT_EQ(config.server.api_limits.body_bytes_max, 2048U);
  EXPECT_THAT(config.server.api_hosts, ElementsAre("plimsoll.example.com"));
  EXPECT_THAT(config.server.cors_origins,
              ElementsAre("https://grafana.example.com", "http://[::1]:3000"));
  EXPECT_EQ(config.server.agent_limits.connections_max, 8);
  EXPECT_EQ(config.core.lease, absl::Seconds(20));
  EXPECT_EQ(config.core.hold_max, absl::Milliseconds(1500));
  EXPECT_EQ(config.core.sync_min, absl::Microseconds(500));
  EXPECT_EQ(config.core.clock_rate_error, 2e-4);
  EXPECT_EQ(config.core.tick, absl::Milliseconds(100));
  EXPECT_EQ(config.server.tick, absl::Milliseconds(100));
  EXPECT_EQ(config.core.sessions_max, 9);
  EXPECT_EQ(config.core.dependencies_max, 10);
  EXPECT_EQ(config.core.events_keep, 11);
  EXPECT_EQ(config.state_mode, StateMode::kMemory);
  EXPECT_EQ(config.state_dir, "/x");
  EXPECT_EQ(config.log_level, LogLevel::kDebug);
  EXPECT_EQ(config.log_format, LogFormat::kJson);
}

TEST(ConfigTest, EveryKeyOfADependencyIsRead) {
  const Config config = Parse(R"(
dependencies:
  - name: payments-api
    description: the provider
    mode: observe
    scope: instance
    algorithm: gradient2
    floor: 2
    ceiling: 30
    initial: 10
    window: {length: 2s, min_samples: 30, latency: mean, percentile: 0.5, latency_ceiling: 800ms,
             drop_tolerance: 0.1}
    aimd: {latency_threshold: 250ms, backoff: 0.8, increase: 2}
    gradient2: {rtt_tolerance: 2, smoothing: 0.3, queue_size: 5, long_window: 100}
    call_deadline: 3s
    quota: {capacity: 50, instances_expected: 8}
    outage: {base: 1, base_lease: 5m, reserve: 1}
)");
  const Policy& policy = config.policies.at(DependencyId("payments-api"));
  EXPECT_EQ(policy.description, "the provider");
  EXPECT_EQ(policy.scope, Scope::kInstance);
  EXPECT_EQ(policy.algorithm.kind, AlgorithmKind::kGradient2);
  EXPECT_EQ(policy.algorithm.floor, 2);
  EXPECT_EQ(policy.algorithm.ceiling, 30);
  EXPECT_EQ(policy.initial, 10);
  EXPECT_EQ(policy.algorithm.initial, 10);
  EXPECT_EQ(policy.window.length, absl::Seconds(2));
  EXPECT_EQ(policy.window.samples_min, 30);
  EXPECT_EQ(policy.mode, Mode::kObserve);
  EXPECT_EQ(policy.window.latency, LatencySignal::kMean);
  EXPECT_EQ(policy.window.latency_ceiling, absl::Milliseconds(800));
  EXPECT_EQ(policy.window.percentile, 0.5);
  EXPECT_EQ(policy.window.drop_tolerance, 0.1);
  EXPECT_EQ(policy.algorithm.aimd.latency_threshold, absl::Milliseconds(250));
  EXPECT_EQ(policy.algorithm.aimd.backoff, 0.8);
  EXPECT_EQ(policy.algorithm.aimd.increase, 2);
  EXPECT_EQ(policy.algorithm.gradient2.rtt_tolerance, 2);
  EXPECT_EQ(policy.algorithm.gradient2.smoothing, 0.3);
  EXPECT_EQ(policy.algorithm.gradient2.queue_size, 5);
  EXPECT_EQ(policy.algorithm.gradient2.long_window, 100);
  EXPECT_EQ(policy.call_deadline, absl::Seconds(3));
  EXPECT_EQ(policy.quota, 50);
  EXPECT_EQ(policy.instances_expected, 8);
  EXPECT_EQ(policy.outage.base, 1);
  EXPECT_EQ(policy.outage.base_lease, absl::Minutes(5));
  EXPECT_EQ(policy.outage.reserve, 1);
}

TEST(ConfigTest, EveryKeyOfABreakerIsRead) {
  const Policy policy = ParsePolicy(
      "breaker: {consecutive_failures: 7, failure_rate: 0.4, slow_rate: 0.8, slow_after: 2s, "
      "calls_min: 30, window: 20s, hang_after: 5s, cool_off: 3s, cool_off_max: 30s, "
      "cool_off_growth: 1.5, cool_off_jitter: 0.1, probe_deadline: 4s, probes_to_close: 3, "
      "probe_failures_to_open: 2}");
  ASSERT_TRUE(policy.breaker.has_value());
  BreakerSettings expected;
  expected.rules = {7, 0.4, 0.8, 30};
  expected.slow_after = absl::Seconds(2);
  expected.window = absl::Seconds(20);
  expected.hang_after = absl::Seconds(5);
  expected.cool_off = absl::Seconds(3);
  expected.cool_off_max = absl::Seconds(30);
  expected.cool_off_growth = 1.5;
  expected.cool_off_jitter = 0.1;
  expected.probe_deadline = absl::Seconds(4);
  expected.probes_to_close = 3;
  expected.probe_failures_to_open = 2;
  EXPECT_EQ(*policy.breaker, expected);
}

TEST(ConfigTest, ThereIsABreakerOnlyWhereItIsWritten) {
  EXPECT_FALSE(ParsePolicy("floor: 1").breaker.has_value());
  EXPECT_EQ(ParsePolicy("breaker: {}").breaker, BreakerSettings());
  const Config config = Parse(
      "defaults: {breaker: {cool_off: 3s}}\n"
      "dependencies: [{name: a, breaker: {enabled: false}}, {name: b, breaker: {window: 5s, "
      "hang_after: 5s}}]\n");
  EXPECT_FALSE(config.policies.at(DependencyId("a")).breaker.has_value());
  EXPECT_EQ(config.policies.at(DependencyId("b")).breaker->cool_off, absl::Seconds(3));
  EXPECT_EQ(config.policies.at(DependencyId("b")).breaker->window, absl::Seconds(5));
}

TEST(ConfigTest, EveryKeyOfTheLawsThatLearnABaselineIsRead) {
  const Config config = Parse(R"(
dependencies:
  - name: payments-api
    algorithm: vegas
    vegas: {alpha: 2*log10, beta: 7, threshold: log10, decrease: limit/2, smoothing: 0.5,
            probe_multiplier: 40, fixed_baseline: 20ms}
    gradient: {rtt_tolerance: 3, smoothing: 0.4, queue_size: 6, queue_by_square_root: false,
               backoff: 0.7, probe_interval: 50, fixed_baseline: 30ms}
    envoy_gradient: {buffer: 0.5, probe_limit: 4, probe_samples: 60, probe_interval: 90s,
                     probe_jitter: 0.2, floor_updates: 6, fixed_baseline: 40ms}
    bdp: {explore_min: 0.1, explore_max: 0.4, buffer: 0.6, fail_punish: 2, samples_min: 30,
          probe_limit: 5, probe_samples: 70, probe_interval: 45s, probe_jitter: 0.9,
          fixed_baseline: 50ms}
)");
  const AlgorithmConfig& law = config.policies.at(DependencyId("payments-api")).algorithm;
  EXPECT_EQ(law.kind, AlgorithmKind::kVegas);
  EXPECT_EQ(law.vegas.alpha, (LogRule{true, 2}));
  EXPECT_EQ(law.vegas.beta, (LogRule{false, 7}));
  EXPECT_EQ(law.vegas.threshold, (LogRule{true, 1}));
  EXPECT_EQ(law.vegas.decrease, VegasStep::kHalve);
  EXPECT_EQ(law.vegas.smoothing, 0.5);
  EXPECT_EQ(law.vegas.probe_multiplier, 40);
  EXPECT_EQ(law.vegas.fixed_baseline, absl::Milliseconds(20));
  EXPECT_EQ(law.gradient.rtt_tolerance, 3);
  EXPECT_EQ(law.gradient.smoothing, 0.4);
  EXPECT_EQ(law.gradient.queue_size, 6);
  EXPECT_FALSE(law.gradient.queue_by_square_root);
  EXPECT_EQ(law.gradient.backoff, 0.7);
  EXPECT_EQ(law.gradient.probe_interval, 50);
  EXPECT_EQ(law.gradient.fixed_baseline, absl::Milliseconds(30));
  EXPECT_EQ(law.envoy_gradient.buffer, 0.5);
  EXPECT_EQ(law.envoy_gradient.probe.limit, 4);
  EXPECT_EQ(law.envoy_gradient.probe.samples, 60);
  EXPECT_EQ(law.envoy_gradient.probe.interval, absl::Seconds(90));
  EXPECT_EQ(law.envoy_gradient.probe.jitter, 0.2);
  EXPECT_EQ(law.envoy_gradient.floor_updates, 6);
  EXPECT_EQ(law.envoy_gradient.fixed_baseline, absl::Milliseconds(40));
  EXPECT_EQ(law.bdp.explore_min, 0.1);
  EXPECT_EQ(law.bdp.explore_max, 0.4);
  EXPECT_EQ(law.bdp.buffer, 0.6);
  EXPECT_EQ(law.bdp.fail_punish, 2);
  EXPECT_EQ(law.bdp.samples_min, 30);
  EXPECT_EQ(law.bdp.probe.limit, 5);
  EXPECT_EQ(law.bdp.probe.samples, 70);
  EXPECT_EQ(law.bdp.probe.interval, absl::Seconds(45));
  EXPECT_EQ(law.bdp.probe.jitter, 0.9);
  EXPECT_EQ(law.bdp.fixed_baseline, absl::Milliseconds(50));
}

TEST(ConfigTest, EveryKeyOfFleetKneeIsRead) {
  const Config config = Parse(R"(
dependencies:
  - name: payments-api
    algorithm: fleet_knee
    fleet_knee: {theta: 0.2, epoch_min: 1s, epoch_max: 5s, samples_min: 30, dither_min: 0.1,
                 dither_max: 0.2, latency_target: 250ms}
)");
  const AlgorithmConfig& law = config.policies.at(DependencyId("payments-api")).algorithm;
  EXPECT_EQ(law.kind, AlgorithmKind::kFleetKnee);
  EXPECT_EQ(law.fleet_knee.theta, 0.2);
  EXPECT_EQ(law.fleet_knee.epoch_min, absl::Seconds(1));
  EXPECT_EQ(law.fleet_knee.epoch_max, absl::Seconds(5));
  EXPECT_EQ(law.fleet_knee.samples_min, 30);
  EXPECT_EQ(law.fleet_knee.dither_min, 0.1);
  EXPECT_EQ(law.fleet_knee.dither_max, 0.2);
  EXPECT_EQ(law.fleet_knee.latency_target, absl::Milliseconds(250));
}

TEST(ConfigTest, EveryLawHasAName) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kFixed, AlgorithmKind::kAimd, AlgorithmKind::kVegas,
        AlgorithmKind::kGradient, AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
        AlgorithmKind::kBdp, AlgorithmKind::kFleetKnee}) {
    const Config config = Parse(absl::StrCat(
        "dependencies:\n  - {name: a, algorithm: ", std::string(ToString(kind)), "}\n"));
    EXPECT_EQ(config.policies.at(DependencyId("a")).algorithm.kind, kind);
  }
}

TEST(ConfigTest, DefaultsHoldForEveryDependencyThatDoesNotSayOtherwise) {
  const Config config = Parse(R"(
defaults: {floor: 3, ceiling: 60, quota: {capacity: 80}, window: {length: 2s}}
dependencies:
  - name: a
  - {name: b, floor: 4, window: {min_samples: 5}}
)");
  const Policy& a = config.policies.at(DependencyId("a"));
  const Policy& b = config.policies.at(DependencyId("b"));
  EXPECT_EQ(a.algorithm.floor, 3);
  EXPECT_EQ(b.algorithm.floor, 4);
  EXPECT_EQ(b.algorithm.ceiling, 60);
  EXPECT_EQ(b.quota, 80);
  EXPECT_EQ(b.window.length, absl::Seconds(2));
  EXPECT_EQ(b.window.samples_min, 5);
}

TEST(ConfigTest, AShortLeaseShortensTheDefaultHold) {
  EXPECT_EQ(Parse("agents: {lease: 1s}\n").core.hold_max, absl::Milliseconds(100));
}

TEST(ConfigTest, ALowCeilingLowersTheDefaultInitialLimit) {
  EXPECT_EQ(ParsePolicy("scope: instance, ceiling: 10").algorithm.initial, 10);
}

TEST(ConfigTest, ATemplateIsAPolicyWithoutAName) {
  const Config config = Parse(
      "defaults: {floor: 2}\n"
      "dependencies:\n"
      "  - {match: \"search-*\", quota: {capacity: 30}}\n"
      "  - {name: search-eu, quota: {capacity: 50}}\n"
      "  - {match: \"?\"}\n");
  EXPECT_EQ(config.policies.size(), 1U);
  ASSERT_EQ(config.templates.size(), 2U);
  EXPECT_EQ(config.templates.at("search-*").quota, 30);
  EXPECT_EQ(config.templates.at("search-*").algorithm.floor, 2);
  EXPECT_TRUE(config.templates.at("search-*").name.empty());
  EXPECT_EQ(ValidText("f", config), "f: valid, 1 dependency, 2 templates\n");
}

TEST(ConfigTest, ForDevelopmentEveryDependencyHasAPolicyUntilTheFileNamesSome) {
  const Config empty = Parse("defaults: {floor: 3}\n", Profile::kDevelopment);
  EXPECT_EQ(empty.templates.at("*").algorithm.floor, 3);
  EXPECT_EQ(empty.templates.at("*").outage.base_lease, absl::Seconds(30));
  EXPECT_EQ(DefaultConfig(Profile::kDevelopment).templates.size(), 1U);
  EXPECT_TRUE(Parse("dependencies: []\n", Profile::kDevelopment).templates.empty());
  EXPECT_TRUE(Parse("defaults: {floor: 3}\n").templates.empty());
}

TEST(ConfigTest, WithoutCapacityThereIsNoQuota) {
  EXPECT_FALSE(ParsePolicy("floor: 1").quota.has_value());
}

TEST(ConfigTest, AliasesAreResolved) {
  const Config config = Parse(R"(
dependencies:
  - {name: a, window: &w {length: 3s}}
  - {name: b, window: *w}
)");
  EXPECT_EQ(config.policies.at(DependencyId("b")).window.length, absl::Seconds(3));
}

TEST(ConfigTest, JsonIsYaml) {
  EXPECT_EQ(Parse(R"({"dependencies": [{"name": "a", "floor": 3}]})").policies.size(), 1U);
}

TEST(ConfigTest, ListeningForOtherMachinesIsAllowedToThoseWhoSaySo) {
  const Config config = Parse(R"(
listen: {api: "0.0.0.0:7480", agents: "[::]:7481"}
auth: {allow_anonymous: [viewer, agent]}
)");
  EXPECT_EQ(config.server.api.address, "0.0.0.0");
  EXPECT_EQ(config.server.agents.address, "::");
}

TEST(ConfigTest, TheFingerprintFollowsTheText) {
  EXPECT_EQ(Parse("events: {keep: 1}").server.config_hash,
            Parse("events: {keep: 1}").server.config_hash);
  EXPECT_NE(Parse("events: {keep: 1}").server.config_hash,
            Parse("events: {keep: 2}").server.config_hash);
}

// A file with one fault, and the line that tells it.
struct FaultCase {
  std::string name;
  std::string text;
  std::string line;
};

void PrintTo(const FaultCase& fault, std::ostream* out) { *out << fault.name; }

class ConfigFaultTest : public ::testing::TestWithParam<FaultCase> {};

TEST_P(ConfigFaultTest, IsToldWithPlaceKeyAndRemedy) {
  EXPECT_THAT(FaultsOf(GetParam().text), ElementsAre("f.yaml:" + GetParam().line));
}

std::string DescribeCase(const ::testing::TestParamInfo<FaultCase>& info) {
  return info.param.name;
}

// One dependency in flow style: its settings begin in line 2, column 15.
std::string Dependency(const std::string& settings) {
  return "dependencies:\n  - {name: d, " + settings + "}\n";
}

const std::vector<FaultCase>& ShapeCases() {
  static const auto& cases = *new std::vector<FaultCase>{
      {"Empty", "", "1:1: the file is empty: it must hold at least \"dependencies: []\""},
      {"TopIsAList", "- a\n",
       "1:1: the top must be a map such as \"dependencies: []\", not a list"},
      {"TopIsAWord", "hello\n",
       "1:1: the top must be a map such as \"dependencies: []\", not \"hello\""},
      {"TwoDocuments", "events: {keep: 1}\n---\nevents: {keep: 2}\n",
       "3:1: more than one document: remove the line \"---\" before this one"},
      {"NotYaml", "events: {keep: 1\nlog: x\n",
       "2:4: nested too deeply or not YAML: end of map flow not found"},
      {"TooDeep", std::string(2000, '['), "1:1: nested too deeply or not YAML: bad file"},
      {"MergeKey", "defaults:\n  <<: {floor: 1}\n",
       "2:3: /defaults/<<: merge keys are not supported: write the settings out, or put what "
       "dependencies have in common under \"defaults\""},
      {"Tag", "events: {keep: !!int 5}\n",
       "1:10: /events/keep: tags are not supported: remove \"tag:yaml.org,2002:int\""},
      {"KeyIsAList", "events:\n  [a, b]: 1\n", "2:3: /events: a key must be a single word"},
      {"DuplicateKey", "events: {keep: 5}\nlog: {level: info}\nevents: {keep: 6}\n",
       "3:1: /events: duplicate key, first written at line 1, column 1: remove one of the two"},
      {"DuplicateKeyInADependency", "dependencies:\n  - name: d\n    floor: 1\n    floor: 2\n",
       "4:5: /dependencies/0/floor: duplicate key, first written at line 3, column 5: remove one "
       "of the two"},
      {"MapIsAList", "events: [1]\n", "1:1: /events: must be a map, not a list"},
      {"ListIsAMap", "dependencies: {a: 1}\n", "1:1: /dependencies: must be a list, not a map"},
      {"DependencyIsAWord", "dependencies:\n  - payments\n",
       "2:5: /dependencies/0: must be a map, not \"payments\""},
      {"DependencyIsNothing", "dependencies:\n  -\n  - name: d\n",
       "1:1: /dependencies/0: has no \"name\", and no \"match\" for all whose names are like a "
       "pattern"},
      {"NameAndPattern", "dependencies: [{name: d, match: \"d*\"}]\n",
       "1:26: /dependencies/0/match: has a \"name\" as well: one of the two must go"},
      {"PatternWithoutWildcard", "dependencies: [{match: d}]\n",
       "1:17: /dependencies/0/match: must be a pattern such as \"search-*\": letters, digits, '.', "
       "'_', '~', '-', '*' for any text and '?' for one character, not \"d\"; what has no '*' or "
       "'?' is a \"name\""},
      {"SamePatternTwice", "dependencies: [{match: \"d*\"}, {match: \"d*\"}]\n",
       "1:32: /dependencies/1/match: \"d*\" is taken by /dependencies/0: patterns must be unique"},
      {"EmptyName", "dependencies: [{name: \"\"}]\n",
       "1:17: /dependencies/0/name: must not be empty"},
  };
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Shape, ConfigFaultTest, ::testing::ValuesIn(ShapeCases()), DescribeCase);

const std::vector<FaultCase>& KeyCases() {
  static const auto& cases = *new std::vector<FaultCase>{
      {"Typo", "dependencies:\n  - name: d\n    celing: 5\n",
       "3:5: /dependencies/0/celing: unknown key (did you mean \"ceiling\"?)"},
      {"SwappedLetters", "agents: {laese: 5s}\n",
       "1:10: /agents/laese: unknown key (did you mean \"lease\"?)"},
      {"UnknownSection", "deps: []\n",
       "1:1: /deps: unknown key (known here: auth, tls, listen, api, metrics, agents, advertise, "
       "state, console, events, timeseries, log, defaults, dependencies, observe_all)"},
      {"SlashInAKey", "events: {a/b~c: 1}\n",
       "1:10: /events/a~1b~0c: unknown key (known here: keep)"},
      {"LineBreakInAKey", "events: {\"a\\nb\": 1}\n",
       "1:10: /events/a\\nb: unknown key (known here: keep)"},
      {"CertificateWithoutKey", "tls: {cert_file: x}\n",
       "1:7: /tls/cert_file: cert_file and key_file belong together: give both or none"},
      {"KeyWithoutCertificate", "tls: {key_file: x}\n",
       "1:7: /tls/key_file: cert_file and key_file belong together: give both or none"},
      {"ClientsWithoutEncryption", "tls: {client_ca_file: x}\n",
       "1:7: /tls/client_ca_file: needs cert_file and key_file: without them there is no "
       "encryption, and nobody shows a certificate"},
      {"ClientsOfNobody", "tls: {cert_file: x, key_file: y, require_client_cert: true}\n",
       "1:34: /tls/require_client_cert: needs client_ca_file: who may vouch for clients?"},
      {"OldTls", "tls: {cert_file: x, key_file: y, min_version: \"1.1\"}\n",
       "1:34: /tls/min_version: must be one of 1.2, 1.3, not \"1.1\" (did you mean "
       "\"1.2\"?)"},
      {"TlsTypo", "tls: {cert: x}\n",
       "1:7: /tls/cert: unknown key (known here: cert_file, key_file, client_ca_file, "
       "require_client_cert, min_version)"},
      {"IdentityWithoutAuthority",
       "auth: {identities: [{san: a.example.org, name: a, role: agent}]}\n",
       "1:8: /auth/identities: needs tls.client_ca_file: without it nobody is asked for a "
       "certificate"},
      {"RateOfZero", "api: {rate_limit: {per_second: 0}}\n",
       "1:20: /api/rate_limit/per_second: per_second = 0: must be between 0.01 and 1e+06"},
      {"BurstOfZero", "api: {rate_limit: {burst: 0}}\n",
       "1:20: /api/rate_limit/burst: burst = 0: must be between 1 and 1e+06"},
      {"MetricsFlag", "metrics: {require_auth: yes}\n",
       "1:11: /metrics/require_auth: must be true or false, not \"yes\""},
      {"ConsolePath", "console: {base_path: /console}\n",
       "1:11: /console/base_path: must be a path that begins with '/' and ends with \"/ui/\", such "
       "as \"/plimsoll/ui/\", not \"/console\""},
      {"LatencySignal", Dependency("window: {latency: median}"),
       "2:24: /dependencies/0/window/latency: must be one of percentile, mean, not \"median\" (did "
       "you mean \"mean\"?)"},
      {"AlgorithmTypo", Dependency("algorithm: gradeint2"),
       "2:15: /dependencies/0/algorithm: must be one of fixed, aimd, vegas, gradient, gradient2, "
       "envoy_gradient, bdp, fleet_knee, not \"gradeint2\" (did you mean \"gradient2\"?)"},
      {"VegasRule", Dependency("vegas: {alpha: log2}"),
       "2:23: /dependencies/0/vegas/alpha: must be a whole number, log10 or N*log10, not "
       "\"log2\""},
      {"VegasDecrease", Dependency("vegas: {decrease: limit/3}"),
       "2:23: /dependencies/0/vegas/decrease: must be one of limit-log10, limit/2, not "
       "\"limit/3\" (did you mean \"limit/2\"?)"},
      {"ServicesNoMap", Dependency("quota: {capacity: 9, services: 3}"),
       "2:36: /dependencies/0/quota/services: must be a map, not \"3\""},
      {"ServiceName", Dependency("quota: {services: {a/b: {}}}"),
       "2:34: /dependencies/0/quota/services/a~1b: \"a/b\" is no name of a service: they have 1 to "
       "63 letters, digits, '.', '_', '-' or '~'"},
      {"ServiceKey", Dependency("quota: {services: {web: {min: 3}}}"),
       "2:40: /dependencies/0/quota/services/web/min: unknown key (known here: weight, min_share, "
       "max_share, priority, lend)"},
      {"ServiceWeight", Dependency("quota: {services: {web.v-2: {weight: 0}}}"),
       "2:44: /dependencies/0/quota/services/web.v-2/weight: quota.services.web.v-2.weight = 0: "
       "must "
       "be a finite number above 0"},
      {"ServiceMinima",
       Dependency("quota: {capacity: 9, services: {a: {min_share: 5}, b: {min_share: 6}}}"),
       "2:36: /dependencies/0/quota/services: quota.services = 11: the sum of min_share (a 5, b 6) "
       "must not be above the quota, 9"},
      {"JoinReserve", Dependency("quota: {capacity: 9, join_reserve: 9}"),
       "2:36: /dependencies/0/quota/join_reserve: quota.join_reserve = 9: must be at least 0 and "
       "below the quota, 9"},
  };
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Keys, ConfigFaultTest, ::testing::ValuesIn(KeyCases()), DescribeCase);

const std::vector<FaultCase>& TypeCases() {
  static const auto& cases = *new std::vector<FaultCase>{
      {"QuotedNumber", Dependency("floor: \"5\""),
       "2:15: /dependencies/0/floor: must be a whole number such as 20; without the quotes: 5, "
       "not \"5\""},
      {"Octal", Dependency("floor: 010"),
       "2:15: /dependencies/0/floor: must be a whole number such as 20; without leading zeros: "
       "10, not \"010\""},
      {"Hexadecimal", Dependency("floor: 0x10"),
       "2:15: /dependencies/0/floor: must be a whole number such as 20; in decimal digits, not "
       "\"0x10\""},
      {"Underscore", Dependency("ceiling: 1_000"),
       "2:15: /dependencies/0/ceiling: must be a whole number such as 20; without underscores, "
       "not \"1_000\""},
      {"YesIsNoNumber", Dependency("floor: yes"),
       "2:15: /dependencies/0/floor: must be a whole number such as 20, not \"yes\""},
      {"Fraction", Dependency("floor: 1.5"),
       "2:15: /dependencies/0/floor: must be a whole number such as 20, not \"1.5\""},
      {"HugeNumber", Dependency("ceiling: 99999999999"),
       "2:15: /dependencies/0/ceiling: must be at most 2147483647, not \"99999999999\""},
      {"NullNumber", "dependencies:\n  - name: d\n    floor:\n    ceiling: 9\n",
       "3:5: /dependencies/0/floor: must be a whole number such as 20, not nothing"},
      {"InfiniteNumber", "agents: {clock_drift: .inf}\n",
       "1:10: /agents/clock_drift: must be a number such as 0.5, not \".inf\""},
      {"DurationWithoutUnit", "agents: {lease: 10}\n",
       "1:10: /agents/lease: a duration needs a unit: 10s or 10ms, not \"10\""},
      {"DurationWithStrangeUnit", "agents: {lease: 10sec}\n",
       "1:10: /agents/lease: must be a duration such as 250ms, 1.5s, 2m or 4h, not \"10sec\""},
      {"NegativeDuration", "agents: {lease: -1s}\n",
       "1:10: /agents/lease: must be a duration such as 250ms, 1.5s, 2m or 4h, not \"-1s\""},
      {"SizeWithoutUnit", "api: {body_max: 1024}\n",
       "1:7: /api/body_max: a size needs a unit: 1024B or 1024KiB, not \"1024\""},
      {"SizeInMegabytes", "api: {body_max: 1MB}\n",
       "1:7: /api/body_max: must be a size such as 512B, 64KiB or 1MiB, at most 1GiB, not \"1MB\""},
      {"NumberForAString", "dependencies: [{name: 5}]\n",
       "1:17: /dependencies/0/name: must be a string; in quotes: \"5\""},
      {"LineBreakInAValue", "agents: {lease: \"1\\ns\"}\n",
       "1:10: /agents/lease: must be a duration such as 250ms, 1.5s, 2m or 4h, not \"1\\ns\""},
      {"WordThatIsNone", "log: {level: LOUD}\n",
       "1:7: /log/level: must be one of debug, info, warning, error, not \"LOUD\""},
      {"UnknownRole", "auth: {allow_anonymous: [veiwer]}\n",
       "1:26: /auth/allow_anonymous/0: must be one of viewer, agent, operator, not \"veiwer\" (did "
       "you mean \"viewer\"?)"},
      {"EveryOrigin", "api: {cors_origins: ['*']}\n",
       "1:22: /api/cors_origins/0: must be one origin such as \"https://grafana.example.com\", in "
       "small letters and without a path or a pattern, not \"*\""},
      {"OriginWithPath", "api: {cors_origins: ['https://a.example/']}\n",
       "1:22: /api/cors_origins/0: must be one origin such as \"https://grafana.example.com\", in "
       "small letters and without a path or a pattern, not \"https://a.example/\""},
      {"OriginOfFiles", "api: {cors_origins: ['null']}\n",
       "1:22: /api/cors_origins/0: must be one origin such as \"https://grafana.example.com\", in "
       "small letters and without a path or a pattern, not \"null\""},
      {"HostWithPath", "api: {hosts: [a/b]}\n",
       "1:15: /api/hosts/0: must be a host name such as \"plimsoll.example.com\", not \"a/b\""},
  };
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Types, ConfigFaultTest, ::testing::ValuesIn(TypeCases()), DescribeCase);

const std::vector<FaultCase>& SenseCases() {
  static const auto& cases = *new std::vector<FaultCase>{
      {"FloorAboveCeiling", Dependency("floor: 9, ceiling: 5"),
       "2:25: /dependencies/0/ceiling: ceiling = 5: must be at least the floor, 9"},
      {"FloorAboveTheDefaultCeiling", Dependency("floor: 300"),
       "2:15: /dependencies/0/floor: ceiling = 200: must be at least the floor, 300"},
      {"FloorAboveTheCeilingOfDefaults",
       "defaults:\n  ceiling: 8\ndependencies:\n  - name: d\n    floor: 9\n",
       "2:3: /defaults/ceiling: ceiling = 8: must be at least the floor, 9"},
      {"FloorsDoNotFit", Dependency("floor: 7, quota: {capacity: 50, instances_expected: 8}"),
       "2:15: /dependencies/0/floor: floor = 7: times 8 expected instances is 56, above the quota "
       "of 50; lower the floor or raise the quota"},
      {"DefaultFloorAboveTheQuota", Dependency("quota: {capacity: 3}"),
       "2:23: /dependencies/0/quota/capacity: floor = 5: must not be above the quota, 3"},
      {"BreakerRate", Dependency("breaker: {failure_rate: 2}"),
       "2:25: /dependencies/0/breaker/failure_rate: breaker.failure_rate = 2: must be 0 to 1"},
      {"FloorZero", Dependency("floor: 0"),
       "2:15: /dependencies/0/floor: floor = 0: must be at least 1"},
      {"InitialAboveTheQuota", Dependency("initial: 60, quota: {capacity: 50}"),
       "2:15: /dependencies/0/initial: initial = 60: must be between the floor, 5, and the quota, "
       "50"},
      {"InitialAboveTheCeiling", Dependency("scope: instance, ceiling: 30, initial: 31"),
       "2:45: /dependencies/0/initial: initial = 31: must be between the floor, 5, and the "
       "ceiling, 30"},
      {"QuotaTooLarge", Dependency("floor: 1, quota: {capacity: 1000001}"),
       "2:33: /dependencies/0/quota/capacity: quota.capacity = 1000001: must be between 1 and "
       "1000000"},
      {"Percentile", Dependency("window: {percentile: 90}"),
       "2:24: /dependencies/0/window/percentile: window.percentile = 90: must be above 0 and at "
       "most 1"},
      {"WindowTooShort", Dependency("window: {length: 50ms}"),
       "2:24: /dependencies/0/window/length: window.length = 50ms: must be between 100ms and 1m"},
      {"Backoff", Dependency("aimd: {backoff: 1}"),
       "2:22: /dependencies/0/aimd/backoff: aimd.backoff = 1: must be at least 0.5 and below 1"},
      {"Tolerance", Dependency("gradient2: {rtt_tolerance: 0.9}"),
       "2:27: /dependencies/0/gradient2/rtt_tolerance: gradient2.rtt_tolerance = 0.9: must be at "
       "least 1 and finite"},
      {"ProbeLimit", Dependency("envoy_gradient: {probe_limit: 0}"),
       "2:32: /dependencies/0/envoy_gradient/probe_limit: envoy_gradient.probe_limit = 0: must be "
       "between 1 and 1000000"},
      {"Theta", Dependency("fleet_knee: {theta: 0.5}"),
       "2:28: /dependencies/0/fleet_knee/theta: fleet_knee.theta = 0.5: must be between 0.05 and "
       "0.3"},
      {"ReserveAboveBase", Dependency("outage: {base: 1, reserve: 2}"),
       "2:33: /dependencies/0/outage/reserve: outage.reserve = 2: must be between 0 and the base, "
       "1"},
      {"BaseAboveCeiling", Dependency("ceiling: 9, outage: {base: 10}"),
       "2:36: /dependencies/0/outage/base: outage.base = 10: must be between 0 and the ceiling, "
       "9"},
      {"BaseLeaseBelowLease", Dependency("outage: {base_lease: 1s}"),
       "2:24: /dependencies/0/outage/base_lease: outage.base_lease = 1s: must be between the "
       "lease, 10s, and 24h"},
      {"BadName", "dependencies: [{name: -x}]\n",
       "1:17: /dependencies/0/name: name = -x: must be 1 to 63 letters, digits, '.', '_' or '-'"},
      {"NoName", "dependencies:\n  - floor: 5\n",
       "2:5: /dependencies/0: has no \"name\", and no \"match\" for all whose names are "
       "like a pattern"},
      {"NameTwice", "dependencies:\n  - name: d\n  - name: d\n",
       "3:5: /dependencies/1/name: \"d\" is taken by /dependencies/0: names must be unique"},
      {"HoldAgainstLease", "agents: {lease: 5s, hold_max: 1s}\n",
       "1:21: /agents/hold_max: hold_max = 1s: must be between 0 and a tenth of the lease, since "
       "a hold costs lease time"},
      {"LeaseTooShort", "agents: {lease: 100ms}\n",
       "1:10: /agents/lease: lease = 100ms: must be between 500ms and 10m"},
      {"Drift", "agents: {clock_drift: 0.5}\n",
       "1:10: /agents/clock_drift: clock_drift = 0.5: must be between 0 and 0.2"},
      {"KeepNoEvents", "events: {keep: 0}\n",
       "1:10: /events/keep: events.keep = 0: must be between 1 and 1000000"},
      {"NoConnections", "agents: {connections_max: 0}\n",
       "1:10: /agents/connections_max: connections_max = 0: must be between 1 and 1000000"},
      {"BadDefaultWithoutDependencies", "defaults: {call_deadline: 0s}\n",
       "1:12: /defaults/call_deadline: call_deadline = 0: must be between 1ms and 24h"},
      {"AddressWithoutPort", "listen: {api: localhost}\n",
       "1:10: /listen/api: must be a numeric address and a port such as \"127.0.0.1:7480\", "
       "\"0.0.0.0:7480\" or \"[::1]:7480\", not \"localhost\""},
      {"PortTooLarge", "listen: {api: \"127.0.0.1:65536\"}\n",
       "1:10: /listen/api: must be a numeric address and a port such as \"127.0.0.1:7480\", "
       "\"0.0.0.0:7480\" or \"[::1]:7480\", not \"127.0.0.1:65536\""},
      {"OnePortTwice", "listen: {api: \"127.0.0.1:7000\", agents: \"127.0.0.1:7000\"}\n",
       "1:33: /listen/agents: port 7000 is taken by listen.api: choose another"},
      {"OpenToOtherMachines",
       "listen: {agents: \"0.0.0.0:7481\"}\nauth: {allow_anonymous: [viewer]}\n",
       "1:10: /listen/agents: \"0.0.0.0\" is open to other machines, and nobody is asked who they "
       "are: set auth.tokens_file (plimsoll-controller hash-token makes tokens), listen on "
       "127.0.0.1, or add \"agent\" to auth.allow_anonymous if only friends can reach this port"},
      {"EmptyDirectory", "state: {dir: \"\"}\n",
       "1:9: /state/dir: must be the path of a directory"},
  };
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Sense, ConfigFaultTest, ::testing::ValuesIn(SenseCases()), DescribeCase);

TEST(ConfigTest, AllFaultsAreToldAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(FaultsOf("log: {level: loud}\n"
                       "agents: {lease: 1}\n"
                       "dependencies:\n"
                       "  - {name: a, floor: 9, ceiling: 5, celing: 1}\n"
                       "  - {name: b, window: {percentile: 2, min_samples: 0}}\n"),
              ElementsAre(HasSubstr(":1:7: /log/level:"), HasSubstr(":2:10: /agents/lease:"),
                          HasSubstr(":4:25: /dependencies/0/ceiling:"),
                          HasSubstr(":4:37: /dependencies/0/celing:"),
                          HasSubstr(":5:24: /dependencies/1/window/percentile:"),
                          HasSubstr(":5:39: /dependencies/1/window/min_samples:")));
}

TEST(ConfigTest, AFaultOfDefaultsIsToldOnce) {
  EXPECT_THAT(FaultsOf("defaults: {window: {percentile: 2}}\ndependencies: [{name: a}, {name: b}]"),
              ElementsAre(HasSubstr(":1:21: /defaults/window/percentile:")));
}

TEST(ConfigTest, AliasesThatExplodeAreRefused) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 8; ++i) {
    const std::string previous = absl::StrCat("*a", i - 1);
    absl::StrAppend(&bomb, "a", i, ": &a", i, " [", previous);
    for (int j = 1; j < 10; ++j) absl::StrAppend(&bomb, ", ", previous);
    absl::StrAppend(&bomb, "]\n");
  }
  EXPECT_THAT(FaultsOf(bomb), ElementsAre(HasSubstr("expand beyond 100000 values")));
}

TEST(ConfigTest, AnAliasOfItselfIsRefused) {
  EXPECT_THAT(FaultsOf("a: &a [*a]\n"), ElementsAre(HasSubstr("or 64 levels")));
}

TEST(ConfigTest, AHugeFileIsRefusedUnread) {
  EXPECT_THAT(FaultsOf(std::string((4 << 20) + 1, '#')),
              ElementsAre("f.yaml:1:1: the file has 4194305 bytes: at most 4194304 are read"));
}

TEST(ConfigTest, AMissingFileAndADirectoryAreNamed) {
  const absl::Status missing = LoadConfig("/no/such.yaml", Profile::kProduction).status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("/no/such.yaml: cannot be read"));
  EXPECT_EQ(LoadConfig("/tmp", Profile::kProduction).status().code(),
            absl::StatusCode::kUnavailable);
}

TEST(ConfigTest, TheExampleIsValid) {
  const absl::StatusOr<Config> config = LoadConfig(PLIMSOLL_EXAMPLE_CONFIG, Profile::kProduction);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_FALSE(config->policies.empty());
}

}  // namespace
}  // namespace plimsoll
