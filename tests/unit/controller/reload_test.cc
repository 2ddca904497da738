#include "controller/main/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Config Parse(const std::string& text) {
  const absl::StatusOr<Config> config = ParseConfig(text, "test.yaml", Profile::kProduction);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(Config{});
}

Config WithQuota(int quota) {
  return Parse("dependencies: [{name: payments-api, quota: {capacity: " + std::to_string(quota) +
               "}}]\n");
}

TEST(ReloadTest, TheSameTextChangesNothing) {
  const ConfigChanges changes = Compare(WithQuota(50), WithQuota(50));
  EXPECT_THAT(changes.policies, IsEmpty());
  EXPECT_THAT(changes.needs_restart, IsEmpty());
}

TEST(ReloadTest, AChangedSettingIsToldWithBothValues) {
  EXPECT_THAT(Compare(WithQuota(50), WithQuota(20)).policies,
              ElementsAre("payments-api: quota 50 -> 20"));
}

TEST(ReloadTest, DependenciesThatComeAndGoAreTold) {
  const Config other = Parse("dependencies: [{name: orders-db, quota: {capacity: 8}}]\n");
  EXPECT_THAT(Compare(WithQuota(50), other).policies,
              ElementsAre("payments-api: removed", "orders-db: added, quota 8"));
}

TEST(ReloadTest, TemplatesAreToldLikeDependencies) {
  const Config before = Parse("dependencies: [{match: \"a*\"}, {match: \"b*\", floor: 2}]\n");
  const Config after = Parse("dependencies: [{match: \"b*\", floor: 3}, {match: \"c*\"}]\n");
  EXPECT_THAT(Compare(before, after).policies,
              ElementsAre("template a*: removed", "template b*: floor 2 -> 3",
                          "template c*: added, quota none"));
}

TEST(ReloadTest, AChangedDefaultIsAChangeOfEachDependencyThatUsesIt) {
  const Config after = Parse(
      "defaults: {call_deadline: 2s}\n"
      "dependencies: [{name: payments-api, quota: {capacity: 50}}]\n");
  EXPECT_THAT(Compare(WithQuota(50), after).policies,
              ElementsAre("payments-api: call_deadline 30s -> 2s"));
}

TEST(ReloadTest, WhatCannotChangeAtRunTimeNeedsARestart) {
  const Config before = Parse("dependencies: []\n");
  const Config after = Parse(
      "dependencies: []\n"
      "listen: {api: \"127.0.0.1:1234\"}\n"
      "agents: {lease: 20s}\n"
      "state: {dir: /elsewhere}\n"
      "log: {level: debug}\n");
  const ConfigChanges changes = Compare(before, after);
  EXPECT_THAT(changes.policies, IsEmpty());
  EXPECT_THAT(changes.needs_restart,
              ElementsAre("agents.lease 10s -> 20s", "listen.api 127.0.0.1:7480 -> 127.0.0.1:1234",
                          "log.level info -> debug", "state.dir /var/lib/plimsoll -> /elsewhere"));
}

TEST(ReloadTest, APolicyMustFitTheLeaseThatStaysInForce) {
  const Config running = Parse("agents: {lease: 20s}\ndependencies: []\n");
  const Config after = Parse(
      "dependencies: [{name: payments-api, quota: {capacity: 50}, outage: {base_lease: 12s}}]\n");
  EXPECT_TRUE(CheckReload(after, after).ok());
  EXPECT_THAT(std::string(CheckReload(running, after).message()),
              AllOf(HasSubstr("payments-api"), HasSubstr("20s"), HasSubstr("base_lease")));
}

}  // namespace
}  // namespace plimsoll
