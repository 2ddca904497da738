#include "plimsoll/controller/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "plimsoll/controller/options.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

Policy Good() {
  Policy policy;
  policy.name = DependencyId("payments-api");
  policy.quota = 50;
  return policy;
}

constexpr absl::Duration kLease = absl::Seconds(10);

TEST(PolicyTest, TheDefaultsAreValid) {
  EXPECT_TRUE(Validate(Good(), kLease).ok());
  EXPECT_TRUE(Validate(CoreOptions{}).ok());
}

TEST(PolicyTest, EachViolationIsNamed) {
  struct Case {
    std::function<void(Policy&)> spoil;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](Policy& p) { p.name = DependencyId("a/b"); }, "name = a/b"},
      {[](Policy& p) { p.quota = 0; }, "quota.capacity = 0"},
      {[](Policy& p) { p.quota = 4; }, "floor = 5: must not be above the quota, 4"},
      {[](Policy& p) { p.instances_expected = 11; }, "times 11 expected instances is 55"},
      {[](Policy& p) { p.initial = 51; }, "initial = 51"},
      {[](Policy& p) { p.call_deadline = absl::ZeroDuration(); }, "call_deadline = 0"},
      {[](Policy& p) { p.outage.base = 201; }, "outage.base = 201"},
      {[](Policy& p) { p.outage.reserve = 6; }, "outage.reserve = 6"},
      {[](Policy& p) { p.outage.base_lease = absl::Seconds(9); }, "outage.base_lease = 9s"},
      {[](Policy& p) { p.window.length = absl::Milliseconds(99); }, "window.length = 99ms"},
      {[](Policy& p) { p.window.samples_min = 0; }, "window.min_samples = 0"},
      {[](Policy& p) { p.window.percentile = 0; }, "window.percentile = 0"},
      {[](Policy& p) { p.window.latency_ceiling = absl::ZeroDuration(); },
       "window.latency_ceiling = 0: must be above 0"},
      {[](Policy& p) { p.window.drop_tolerance = 1; }, "window.drop_tolerance = 1"},
      {[](Policy& p) { p.algorithm.floor = 0; }, "floor = 0"},
      {[](Policy& p) { p.services[ServiceId("a-b")].weight = 0; },
       "quota.services.a-b.weight = 0: must be a finite number above 0"},
      {[](Policy& p) { p.services[ServiceId("a")].weight = std::nan(""); },
       "quota.services.a.weight = nan"},
      {[](Policy& p) { p.services[ServiceId("a")].minimum = -1; },
       "quota.services.a.min_share = -1"},
      {[](Policy& p) {
         p.services[ServiceId("a")].minimum = 9;
         p.services[ServiceId("a")].maximum = 8;
       },
       "quota.services.a.max_share = 8: must be between the min_share, 9, and"},
      {[](Policy& p) { p.services[ServiceId("a")].priority = 8; },
       "quota.services.a.priority = 8: must be between 0, served first, and 7"},
      {[](Policy& p) { p.services[ServiceId("a")].lend = 1.1; }, "quota.services.a.lend = 1.1"},
      {[](Policy& p) { p.services[ServiceId("a/b")]; }, "quota.services = a/b"},
      {[](Policy& p) {
         p.services[ServiceId("a")].minimum = 30;
         p.services[ServiceId("b")].minimum = 21;
         p.services[ServiceId("c")];
       },
       "quota.services = 51: the sum of min_share (a 30, b 21) must not be above the quota, 50"},
      {[](Policy& p) { p.join_reserve = 50; },
       "quota.join_reserve = 50: must be at least 0 and below the quota, 50"},
      {[](Policy& p) { p.join_reserve = -1; }, "quota.join_reserve = -1"},
  };
  for (const Case& c : cases) {
    Policy policy = Good();
    c.spoil(policy);
    const absl::Status status = Validate(policy, kLease);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
}

TEST(PolicyTest, AllViolationsAreNamedAtOnce) {
  Policy policy = Good();
  policy.quota = 0;
  policy.window.samples_min = 0;
  const std::string message(Validate(policy, kLease).message());
  EXPECT_THAT(message, HasSubstr("quota.capacity"));
  EXPECT_THAT(message, HasSubstr("window.min_samples"));
}

TEST(PolicyTest, WithoutAQuotaFloorsAreFree) {
  Policy policy = Good();
  policy.quota.reset();
  policy.instances_expected = 100'000;
  EXPECT_TRUE(Validate(policy, kLease).ok());
}

TEST(PolicyTest, SharesAtTheirBoundsAreValid) {
  Policy policy = Good();
  policy.services[ServiceId("a")] = {0.001, 30, 30, 7, 0};
  policy.services[ServiceId("b")] = {1e6, 20, 50, 0, 1};
  policy.join_reserve = 49;
  EXPECT_TRUE(Validate(policy, kLease).ok()) << Validate(policy, kLease);
}

TEST(PolicyTest, TheJoinReserveIsTwoPercentOfALargeQuota) {
  Policy policy = Good();
  EXPECT_EQ(policy.join_reserve_or_default(), 1);
  policy.quota = 49;
  EXPECT_EQ(policy.join_reserve_or_default(), 0);
  policy.quota = 101;
  EXPECT_EQ(policy.join_reserve_or_default(), 3);
  policy.join_reserve = 7;
  EXPECT_EQ(policy.join_reserve_or_default(), 7);
  policy.join_reserve.reset();
  policy.quota.reset();
  EXPECT_EQ(policy.join_reserve_or_default(), 0);
}

TEST(PolicyTest, TheBaseIsTheFloorUnlessItIsSet) {
  Policy policy = Good();
  EXPECT_EQ(policy.base(), policy.algorithm.floor);
  policy.outage.base = 0;
  EXPECT_EQ(policy.base(), 0);
}

TEST(CoreOptionsTest, EachViolationIsNamed) {
  struct Case {
    std::function<void(CoreOptions&)> spoil;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](CoreOptions& o) { o.lease = absl::Milliseconds(499); }, "lease = 499ms"},
      {[](CoreOptions& o) { o.hold_max = absl::Seconds(2); }, "hold_max = 2s"},
      {[](CoreOptions& o) { o.sync_min = -absl::Seconds(1); }, "sync_min"},
      {[](CoreOptions& o) { o.tick = absl::ZeroDuration(); }, "tick = 0"},
      {[](CoreOptions& o) { o.clock_rate_error = 0.3; }, "clock_drift = 0.3"},
      {[](CoreOptions& o) { o.sessions_max = 0; }, "sessions_max = 0"},
      {[](CoreOptions& o) { o.dependencies_max = 0; }, "dependencies_max = 0"},
      {[](CoreOptions& o) { o.events_keep = 0; }, "events.keep = 0"},
  };
  for (const Case& c : cases) {
    CoreOptions options;
    c.spoil(options);
    EXPECT_THAT(std::string(Validate(options).message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace plimsoll
