#include <functional>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/simulation/load_test_scenarios.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

TEST(LoadScenarioTest, EveryDesignedScenarioIsValid) {
  for (const LoadScenario& scenario : DesignedLoadScenarios()) {
    EXPECT_EQ(Validate(scenario), absl::OkStatus()) << scenario.name;
    EXPECT_FALSE(scenario.description.empty()) << scenario.name;
  }
}

TEST(LoadScenarioTest, EveryDesignedScenarioHasItsOwnName) {
  std::set<std::string> names;
  for (const LoadScenario& scenario : DesignedLoadScenarios()) names.insert(scenario.name);
  EXPECT_EQ(names.size(), DesignedLoadScenarios().size());
  EXPECT_TRUE(names.contains("A"));
  EXPECT_TRUE(names.contains("Y"));
}

TEST(LoadScenarioTest, EveryDrawnScenarioIsValid) {
  for (const LoadScenario& scenario : HoldOutLoadScenarios(7, 200)) {
    EXPECT_EQ(Validate(scenario), absl::OkStatus()) << scenario.name;
  }
}

TEST(LoadScenarioTest, DrawsTheSameForTheSameSeed) {
  const auto one = HoldOutLoadScenarios(5, 3);
  const auto two = HoldOutLoadScenarios(5, 10);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].station.service, two[i].station.service);
    EXPECT_EQ(one[i].phases[2].load, two[i].phases[2].load);
  }
  EXPECT_NE(one[0].station.service, HoldOutLoadScenarios(6, 1)[0].station.service);
}

TEST(LoadScenarioTest, EachDrawnScenarioIsOverloadedAndThenChanges) {
  for (const LoadScenario& scenario : HoldOutLoadScenarios(5, 20)) {
    EXPECT_FALSE(IsOverload(scenario, 0)) << scenario.name;
    EXPECT_TRUE(IsOverload(scenario, 1)) << scenario.name;
    EXPECT_TRUE(scenario.phases[2].servers || scenario.phases[2].delay) << scenario.name;
  }
}

struct Fault {
  const char* name;
  std::function<void(LoadScenario&)> make;
};

// What each of these does to a valid scenario is reported by that name.
const Fault kFaults[] = {
    {"name", [](LoadScenario& s) { s.name = "two words"; }},
    {"replicas", [](LoadScenario& s) { s.replicas = 0; }},
    {"station.servers", [](LoadScenario& s) { s.station.servers = 0; }},
    {"station.service", [](LoadScenario& s) { s.station.service = absl::ZeroDuration(); }},
    {"station.long_share", [](LoadScenario& s) { s.station.long_share = 1; }},
    {"station.long_service", [](LoadScenario& s) { s.station.long_share = 0.1; }},
    {"station.delay", [](LoadScenario& s) { s.station.delay = -absl::Seconds(1); }},
    {"station.retrograde", [](LoadScenario& s) { s.station.retrograde = -1; }},
    {"phases", [](LoadScenario& s) { s.phases.clear(); }},
    {"phases[0].start", [](LoadScenario& s) { s.phases[0].start = absl::Seconds(1); }},
    {"phases[0].load", [](LoadScenario& s) { s.phases[0].load = -1; }},
    {"phases[0].servers", [](LoadScenario& s) { s.phases[0].servers = 0; }},
    {"phases[0].service", [](LoadScenario& s) { s.phases[0].service = absl::ZeroDuration(); }},
    {"phases[0].delay", [](LoadScenario& s) { s.phases[0].delay = -absl::Seconds(1); }},
    {"phases[0].long_share", [](LoadScenario& s) { s.phases[0].long_share = 0.5; }},
    {"phases[0].replicas", [](LoadScenario& s) { s.phases[0].replicas = 0; }},
    {"phases[1].start", [](LoadScenario& s) { s.phases.push_back(s.phases[0]); }},
    {"phases[1].start", [](LoadScenario& s) { s.phases.push_back(PhaseAt(20, 1)); }},
    {"length", [](LoadScenario& s) { s.length = absl::Milliseconds(1); }},
    {"deadline", [](LoadScenario& s) { s.deadline = absl::ZeroDuration(); }},
    {"retries", [](LoadScenario& s) { s.retries = -1; }},
    {"backoff", [](LoadScenario& s) { s.backoff = -absl::Seconds(1); }},
    {"traffic",
     [](LoadScenario& s) {
       s.traffic = {0.5, 0.5};
     }},
    {"traffic[0]", [](LoadScenario& s) { s.traffic = {-0.5}; }},
    {"slow_replica_servers", [](LoadScenario& s) { s.slow_replica_servers = 0; }},
    {"pause", [](LoadScenario& s) { s.pause_every = absl::Seconds(1), s.pause = s.pause_every; }},
    {"noise_every", [](LoadScenario& s) { s.noise_every = absl::ZeroDuration(); }},
    {"noise_every", [](LoadScenario& s) { s.noise_every = absl::Nanoseconds(1); }},
    {"pause_every", [](LoadScenario& s) { s.pause_every = absl::Nanoseconds(1); }},
    {"noise_factor", [](LoadScenario& s) { s.noise_factor = -1; }},
    {"late_replica", [](LoadScenario& s) { s.late_replica = 1; }},
    {"crashes[0].replica",
     [](LoadScenario& s) {
       s.crashes = {{absl::Seconds(1), 1}};
     }},
    {"controller_away", [](LoadScenario& s) { s.controller_away = -absl::Seconds(1); }},
    {"network_delay", [](LoadScenario& s) { s.network_delay = -absl::Seconds(1); }},
    {"call_deadline", [](LoadScenario& s) { s.policy.call_deadline = absl::ZeroDuration(); }},
    {"quota.capacity", [](LoadScenario& s) { s.policy.quota = 0; }},
};

TEST(LoadScenarioTest, ReportsEachFaultByName) {
  ASSERT_EQ(Validate(SmallScenario(1)), absl::OkStatus());
  for (const Fault& fault : kFaults) {
    LoadScenario scenario = SmallScenario(1);
    fault.make(scenario);
    EXPECT_THAT(std::string(Validate(scenario).message()),
                HasSubstr(std::string(fault.name) + " = "))
        << fault.name;
  }
}

TEST(LoadScenarioTest, WhatWouldTakeHoursIsRefusedWithTheBoundAndAWayOut) {
  LoadScenario scenario = SmallScenario(1);
  scenario.station.servers = 40;
  const double per_second =
      scenario.station.servers / absl::ToDoubleSeconds(scenario.station.service);
  scenario.length = absl::Seconds(0.99e8 / per_second);
  ASSERT_LT(scenario.length, absl::Hours(24));
  EXPECT_EQ(Validate(scenario), absl::OkStatus());
  scenario.retries = 1;
  const std::string message(Validate(scenario).message());
  EXPECT_THAT(message, HasSubstr("198000000 calls and retries would be simulated, at most "
                                 "100000000 are: shorten the length, or lower the load"));
}

TEST(LoadScenarioTest, ManyIdleReplicasForLongAreRefusedToo) {
  LoadScenario scenario = SmallScenario(1);
  scenario.phases[0].load = 0;
  scenario.phases[0].replicas = 1000;
  scenario.length = absl::Seconds(1000);
  EXPECT_EQ(Validate(scenario), absl::OkStatus());
  scenario.length = absl::Seconds(1001);
  EXPECT_THAT(std::string(Validate(scenario).message()),
              HasSubstr("replicas times seconds are 1001000, and may be 1000000: shorten"));
}

TEST(LoadScenarioTest, ReportsAllFaultsAtOnce) {
  LoadScenario scenario = SmallScenario(1);
  scenario.replicas = 0;
  scenario.retries = -1;
  const std::string message(Validate(scenario).message());
  EXPECT_THAT(message, HasSubstr("replicas = 0"));
  EXPECT_THAT(message, HasSubstr("retries = -1"));
}

}  // namespace
}  // namespace plimsoll
