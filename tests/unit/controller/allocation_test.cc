#include "controller/src/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/allocation_fleet.h"

namespace plimsoll::internal {
namespace {

using ::plimsoll::testing::AllocationFleet;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;

const std::vector<double> kEight(8, 20);

ServiceShare& ShareOf(Policy& policy, const std::string& service) {
  return policy.services[ServiceId(service)];
}

Calls Sum(const std::vector<Calls>& values) {
  return std::accumulate(values.begin(), values.end(), Calls{0});
}

// Results written down by hand: services "a" and "b", with these demands of their instances.
struct Example {
  const char* name;
  Calls quota;
  std::vector<double> a;
  std::vector<double> b;
  std::function<void(Policy&)> set;
  std::vector<Calls> shares;
};

class AllocationExampleTest : public ::testing::TestWithParam<Example> {};

TEST_P(AllocationExampleTest, GivesWhatWasWrittenDown) {
  Policy policy = AllocationFleet::Plain(GetParam().quota);
  GetParam().set(policy);
  AllocationFleet fleet(policy);
  fleet.AddMany("a", GetParam().a);
  fleet.AddMany("b", GetParam().b);
  fleet.Allocate();
  EXPECT_EQ(fleet.Shares(), GetParam().shares);
}

void Nothing(Policy& /*policy*/) {}

INSTANTIATE_TEST_SUITE_P(
    All, AllocationExampleTest,
    ::testing::Values(
        Example{"Even", 50, kEight, {}, Nothing, {7, 7, 6, 6, 6, 6, 6, 6}},
        Example{"FewerCallsThanInstances", 5, kEight, {}, Nothing, {1, 1, 1, 1, 1, 0, 0, 0}},
        Example{"JoinReserve",
                50,
                kEight,
                {},
                [](Policy& p) { p.join_reserve = 2; },
                {6, 6, 6, 6, 6, 6, 6, 6}},
        Example{"InProportionToTheLoad", 50, {1, 20, 20, 20}, {}, Nothing, {1, 17, 16, 16}},
        Example{
            "EqualPartsOfServices", 40, {40, 40}, {40, 40, 40, 40}, Nothing, {10, 10, 5, 5, 5, 5}},
        Example{"Weights",
                40,
                {40, 40},
                {40, 40},
                [](Policy& p) { ShareOf(p, "a").weight = 3; },
                {15, 15, 5, 5}},
        Example{"AnIdleServiceLends", 40, {40, 40}, {0, 0}, Nothing, {19, 19, 1, 1}},
        Example{"WithoutLendingItsHalfIsKept",
                40,
                {40, 40},
                {0, 0},
                [](Policy& p) { ShareOf(p, "b").lend = 0; },
                {10, 10, 10, 10}},
        Example{"PriorityTakesAllButTheMinimum",
                40,
                {40, 40},
                {40, 40},
                [](Policy& p) {
                  ShareOf(p, "b").priority = 1;
                  ShareOf(p, "b").minimum = 6;
                },
                {17, 17, 3, 3}},
        Example{"MinimaThatDoNotFit",
                10,
                {40},
                {40},
                [](Policy& p) {
                  ShareOf(p, "a").minimum = 8;
                  ShareOf(p, "b").minimum = 8;
                  ShareOf(p, "b").priority = 1;
                },
                {8, 2}},
        Example{"AnUnusedMinimumIsLent",
                40,
                {40, 40},
                {0, 0},
                [](Policy& p) { ShareOf(p, "b").minimum = 20; },
                {19, 19, 1, 1}},
        Example{"Maximum",
                50,
                kEight,
                kEight,
                [](Policy& p) { ShareOf(p, "a").maximum = 12; },
                {2, 2, 2, 2, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 4, 4}},
        Example{
            "ThoseWithNothingToDoYieldFirst", 3, {0, 5, 0, 5, 5}, {}, Nothing, {0, 1, 0, 1, 1}}),
    [](const auto& example) { return std::string(example.param.name); });

TEST(AllocationTest, WithACallForEverybodyIdleInstancesKeepOne) {
  AllocationFleet fleet(AllocationFleet::Plain(12));
  fleet.AddMany("a", {0, 50, 0, 50});
  fleet.Allocate();
  EXPECT_THAT(fleet.Shares(), ElementsAre(1, 5, 1, 5));
}

TEST(AllocationTest, AMinimumIsSpreadByNameAsBase) {
  Policy policy = AllocationFleet::Plain(40);
  ShareOf(policy, "a").minimum = 7;
  AllocationFleet fleet(policy);
  fleet.AddMany("a", {1, 1, 1});
  fleet.AddMany("b", {1});
  fleet.session(0).instance = InstanceId("z");
  fleet.Allocate();
  EXPECT_THAT(fleet.Bases(), ElementsAre(2, 3, 2, 1));
}

TEST(AllocationTest, ABaseThatIsSetHolds) {
  Policy policy = AllocationFleet::Plain(40);
  policy.outage.base = 5;
  ShareOf(policy, "a").minimum = 3;
  AllocationFleet fleet(policy);
  fleet.AddMany("a", {1, 1});
  fleet.Allocate();
  EXPECT_THAT(fleet.Bases(), ElementsAre(5, 5));
}

TEST(AllocationTest, WhatASilentSessionHoldsIsNotDivided) {
  AllocationFleet fleet(AllocationFleet::Plain(30));
  const int silent = fleet.Add("a", 20, 12);
  fleet.AddMany("a", {20, 20});
  fleet.session(silent).fenced = true;
  fleet.Allocate();
  EXPECT_THAT(fleet.Shares(), ElementsAre(0, 9, 9));
}

TEST(AllocationTest, ALeavingSessionKeepsWhatRuns) {
  AllocationFleet fleet(AllocationFleet::Plain(30));
  const int leaving = fleet.Add("a", 20, 12);
  fleet.AddMany("a", {20, 20});
  fleet.session(leaving).leaving = true;
  fleet.member(leaving).in_flight = 4;
  fleet.Allocate();
  EXPECT_THAT(fleet.Shares(), ElementsAre(4, 13, 13));
}

TEST(AllocationTest, ServicesAreForgottenWithTheirLastInstance) {
  AllocationFleet fleet(AllocationFleet::Plain(30));
  fleet.AddMany("a", {20});
  fleet.AddMany("b", {20});
  fleet.Allocate();
  EXPECT_EQ(fleet.dependency().services.size(), 2U);
  fleet.dependency().members.Erase(fleet.session(1).id);
  fleet.AllocateOnly();
  EXPECT_EQ(fleet.dependency().services.size(), 1U);
}

TEST(AllocationTest, InstancesTakeTurnsAtTooFewCalls) {
  AllocationFleet fleet(AllocationFleet::Plain(3));
  fleet.AddMany("a", std::vector<double>(8, 5));
  std::vector<int> held(8, 0);
  for (int turn = 0; turn < 80; ++turn) {
    fleet.Allocate();
    fleet.Grant();
    ASSERT_EQ(Sum(fleet.Limits()), 3);
    for (std::size_t i = 0; i < held.size(); ++i) held[i] += fleet.Limits()[i];
    fleet.Pass(absl::Seconds(2));
  }
  EXPECT_THAT(held, Each(::testing::AllOf(Ge(29), ::testing::Le(31))));
}

TEST(AllocationTest, ServicesTakeTurnsAndSoDoTheInstancesInThem) {
  AllocationFleet fleet(AllocationFleet::Plain(1));
  fleet.AddMany("a", {5, 5});
  fleet.AddMany("b", {5, 5});
  std::vector<int> held(4, 0);
  for (int turn = 0; turn < 80; ++turn) {
    fleet.Allocate();
    const std::vector<Calls> shares = fleet.Shares();
    ASSERT_EQ(Sum(shares), 1);
    for (std::size_t i = 0; i < held.size(); ++i) held[i] += shares[i];
    fleet.Pass(absl::Seconds(2));
  }
  EXPECT_THAT(held, Each(::testing::AllOf(Ge(18), ::testing::Le(22))));
}

TEST(AllocationTest, SmallSharesBesideALargeOneAreNotForgotten) {
  Policy policy = AllocationFleet::Plain(6);
  ShareOf(policy, "a").weight = 19;
  AllocationFleet fleet(policy);
  fleet.AddMany("a", {20});
  fleet.AddMany("b", {20});
  fleet.Allocate();
  EXPECT_THAT(fleet.Shares(), ElementsAre(5, 1));
}

TEST(AllocationTest, ASteadyFleetIsSentNothing) {
  AllocationFleet fleet(AllocationFleet::Plain(50));
  fleet.AddMany("a", {3, 9, 20, 20, 0, 1, 7, 5});
  for (int tick = 0; tick < 200; ++tick) {
    fleet.Allocate();
    const int changes = fleet.Grant();
    if (tick > 100) {
      ASSERT_EQ(changes, 0) << "tick " << tick;
    }
    fleet.Pass(absl::Milliseconds(250));
  }
  EXPECT_EQ(Sum(fleet.Limits()), 50);
}

TEST(AllocationTest, HeadroomThatLuckGaveEvensOutWithinSeconds) {
  Policy policy = AllocationFleet::Plain(100);
  policy.algorithm.ceiling = 100;
  AllocationFleet fleet(policy);
  fleet.Add("a", 5, 70);
  fleet.Add("a", 5, 10);
  fleet.Add("a", 5, 20);
  for (int tick = 0; tick < 40; ++tick) {
    fleet.Allocate();
    fleet.Grant();
    fleet.Pass(absl::Milliseconds(250));
  }
  EXPECT_THAT(fleet.Limits(), Each(::testing::AllOf(Ge(32), ::testing::Le(35))));
}

}  // namespace
}  // namespace plimsoll::internal
