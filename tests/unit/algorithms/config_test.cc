#include "plimsoll/algorithms/config.h"

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One change to the default configuration and what Validate then says; empty if nothing.
struct Case {
  std::function<void(AlgorithmConfig&)> change;
  std::string message;
};

void ExpectMessages(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    AlgorithmConfig config;
    test.change(config);
    const absl::Status status = Validate(config);
    EXPECT_EQ(status.message(), test.message);
    EXPECT_EQ(status.code(),
              test.message.empty() ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument);
  }
}

TEST(ValidateTest, AcceptsTheDefaultsOfEveryKind) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kFixed, AlgorithmKind::kAimd, AlgorithmKind::kVegas,
        AlgorithmKind::kGradient, AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
        AlgorithmKind::kBdp, AlgorithmKind::kFleetKnee}) {
    AlgorithmConfig config;
    config.kind = kind;
    EXPECT_EQ(Validate(config), absl::OkStatus());
  }
}

TEST(ValidateTest, KeepsTheBoundsInOrder) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.floor = 1; }, ""},
      {[](C& c) { c.floor = 0; }, "floor = 0: must be at least 1"},
      {[](C& c) { c.floor = -3; }, "floor = -3: must be at least 1"},
      {[](C& c) { c.ceiling = kCallsMax; }, ""},
      {[](C& c) { c.ceiling = kCallsMax + 1; }, "ceiling = 1000001: must be at most 1000000"},
      {[](C& c) { c.floor = c.initial = c.ceiling = 7; }, ""},
      {[](C& c) { c.floor = c.initial = 201; },
       "ceiling = 200: must be at least the floor, 201; "
       "initial = 201: must be at most the ceiling, 200"},
      {[](C& c) { c.initial = 4; }, "initial = 4: must be at least the floor, 5"},
      {[](C& c) { c.initial = 201; }, "initial = 201: must be at most the ceiling, 200"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfAimd) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.aimd.latency_threshold = absl::InfiniteDuration(); }, ""},
      {[](C& c) { c.aimd.latency_threshold = absl::ZeroDuration(); },
       "aimd.latency_threshold = 0: must be above 0"},
      {[](C& c) { c.aimd.latency_threshold = absl::Milliseconds(-2); },
       "aimd.latency_threshold = -2ms: must be above 0"},
      {[](C& c) { c.aimd.backoff = 0.5; }, ""},
      {[](C& c) { c.aimd.backoff = 0.49; },
       "aimd.backoff = 0.49: must be at least 0.5 and below 1"},
      {[](C& c) { c.aimd.backoff = 1; }, "aimd.backoff = 1: must be at least 0.5 and below 1"},
      {[](C& c) { c.aimd.backoff = kNan; }, "aimd.backoff = nan: must be at least 0.5 and below 1"},
      {[](C& c) { c.aimd.increase = 0; }, "aimd.increase = 0: must be between 1 and 1000000"},
      {[](C& c) { c.aimd.increase = kCallsMax; }, ""},
      {[](C& c) { c.aimd.increase = kCallsMax + 1; },
       "aimd.increase = 1000001: must be between 1 and 1000000"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfGradient2) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.gradient2.smoothing = 1; }, ""},
      {[](C& c) { c.gradient2.smoothing = 0; },
       "gradient2.smoothing = 0: must be above 0 and at most 1"},
      {[](C& c) { c.gradient2.smoothing = 1.01; },
       "gradient2.smoothing = 1.01: must be above 0 and at most 1"},
      {[](C& c) { c.gradient2.smoothing = kNan; },
       "gradient2.smoothing = nan: must be above 0 and at most 1"},
      {[](C& c) { c.gradient2.rtt_tolerance = 1; }, ""},
      {[](C& c) { c.gradient2.rtt_tolerance = 0.9; },
       "gradient2.rtt_tolerance = 0.9: must be at least 1 and finite"},
      {[](C& c) { c.gradient2.rtt_tolerance = kInfinity; },
       "gradient2.rtt_tolerance = inf: must be at least 1 and finite"},
      {[](C& c) { c.gradient2.rtt_tolerance = kNan; },
       "gradient2.rtt_tolerance = nan: must be at least 1 and finite"},
      {[](C& c) { c.gradient2.queue_size = 1; }, ""},
      {[](C& c) { c.gradient2.queue_size = 0; },
       "gradient2.queue_size = 0: must be between 1 and 1000000"},
      {[](C& c) { c.gradient2.queue_size = kCallsMax + 1; },
       "gradient2.queue_size = 1000001: must be between 1 and 1000000"},
      {[](C& c) { c.gradient2.long_window = 0; }, "gradient2.long_window = 0: must be at least 1"},
      {[](C& c) { c.gradient2.warmup_window = 0; },
       "gradient2.warmup_window = 0: must be at least 1"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfVegas) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.vegas.smoothing = 0; }, "vegas.smoothing = 0: must be above 0 and at most 1"},
      {[](C& c) { c.vegas.alpha.factor = 0; }, "vegas.alpha = 0: must be between 1 and 1000000"},
      {[](C& c) { c.vegas.beta.factor = -1; }, "vegas.beta = -1: must be between 1 and 1000000"},
      {[](C& c) { c.vegas.threshold.factor = 0; }, ""},
      {[](C& c) { c.vegas.increase = VegasStep::kHalve; },
       "vegas.increase = limit/2: must be limit+log10"},
      {[](C& c) { c.vegas.decrease = VegasStep::kAddLog10; },
       "vegas.decrease = limit+log10: must be limit-log10 or limit/2"},
      {[](C& c) { c.vegas.probe_multiplier = 0; },
       "vegas.probe_multiplier = 0: must be between 1 and 1000000"},
      {[](C& c) { c.vegas.fixed_baseline = absl::InfiniteDuration(); },
       "vegas.fixed_baseline = inf: must be at least 0 and finite"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfGradient) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.gradient.smoothing = kNan; },
       "gradient.smoothing = nan: must be above 0 and at most 1"},
      {[](C& c) { c.gradient.rtt_tolerance = 0.5; },
       "gradient.rtt_tolerance = 0.5: must be at least 1 and finite"},
      {[](C& c) { c.gradient.queue_size = 0; },
       "gradient.queue_size = 0: must be between 1 and 1000000"},
      {[](C& c) { c.gradient.backoff = 1; },
       "gradient.backoff = 1: must be at least 0.5 and below 1"},
      {[](C& c) { c.gradient.probe_interval = -1; }, ""},
      {[](C& c) { c.gradient.probe_interval = 0; },
       "gradient.probe_interval = 0: must be -1 or between 1 and 1000000"},
      {[](C& c) { c.gradient.fixed_baseline = -absl::Seconds(1); },
       "gradient.fixed_baseline = -1s: must be at least 0 and finite"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfEnvoyGradient) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.envoy_gradient.buffer = -0.1; },
       "envoy_gradient.buffer = -0.1: must be between 0 and 10"},
      {[](C& c) { c.envoy_gradient.probe.limit = 0; },
       "envoy_gradient.probe_limit = 0: must be between 1 and 1000000"},
      {[](C& c) { c.envoy_gradient.probe.samples = 0; },
       "envoy_gradient.probe_samples = 0: must be between 1 and 1000000"},
      {[](C& c) { c.envoy_gradient.probe.interval = absl::Milliseconds(10); },
       "envoy_gradient.probe_interval = 10ms: must be between 1s and 24h"},
      {[](C& c) { c.envoy_gradient.probe.jitter = kNan; },
       "envoy_gradient.probe_jitter = nan: must be between 0 and 1"},
      {[](C& c) { c.envoy_gradient.floor_updates = 0; },
       "envoy_gradient.floor_updates = 0: must be between 1 and 1000"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfBdp) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.bdp.explore_min = 0.5; },
       "bdp.explore_max = 0.3: must be at least explore_min, 0.5"},
      {[](C& c) { c.bdp.explore_max = 1.5; }, "bdp.explore_max = 1.5: must be between 0 and 1"},
      {[](C& c) { c.bdp.buffer = kInfinity; }, "bdp.buffer = inf: must be between 0 and 10"},
      {[](C& c) { c.bdp.fail_punish = -1; }, "bdp.fail_punish = -1: must be between 0 and 100"},
      {[](C& c) { c.bdp.samples_min = 0; }, "bdp.samples_min = 0: must be between 1 and 1000000"},
      {[](C& c) { c.bdp.probe.jitter = 2; }, "bdp.probe_jitter = 2: must be between 0 and 1"},
  });
}

TEST(ValidateTest, ChecksTheSettingsOfFleetKnee) {
  using C = AlgorithmConfig;
  ExpectMessages({
      {[](C& c) { c.fleet_knee.theta = 0.04; },
       "fleet_knee.theta = 0.04: must be between 0.05 and 0.3"},
      {[](C& c) { c.fleet_knee.epoch_min = absl::Milliseconds(99); },
       "fleet_knee.epoch_min = 99ms: must be between 100ms and 1m"},
      {[](C& c) { c.fleet_knee.epoch_min = absl::Seconds(5); },
       "fleet_knee.epoch_max = 4s: must be at least epoch_min, 5s"},
      {[](C& c) { c.fleet_knee.epoch_max = absl::Seconds(61); },
       "fleet_knee.epoch_max = 1m1s: must be between 100ms and 1m"},
      {[](C& c) { c.fleet_knee.samples_min = 4; },
       "fleet_knee.samples_min = 4: must be between 5 and 1000"},
      {[](C& c) { c.fleet_knee.dither_min = kNan; },
       "fleet_knee.dither_min = nan: must be between 0.01 and 0.5"},
      {[](C& c) { c.fleet_knee.dither_min = 0.4; },
       "fleet_knee.dither_max = 0.3: must be at least dither_min, 0.4"},
      {[](C& c) { c.fleet_knee.latency_target = absl::ZeroDuration(); },
       "fleet_knee.latency_target = 0: must be above 0"},
  });
}

TEST(ValidateTest, RefusesAKindThatDoesNotExist) {
  AlgorithmConfig config;
  config.kind = static_cast<AlgorithmKind>(9);
  EXPECT_EQ(Validate(config).message(), "kind = 9: must be the kind of a law that there is");
}

TEST(ValidateTest, ListsEveryViolationAtOnce) {
  AlgorithmConfig config;
  config.floor = 0;
  config.aimd.backoff = 2;
  config.gradient2.long_window = -1;
  EXPECT_EQ(Validate(config).message(),
            "floor = 0: must be at least 1; "
            "aimd.backoff = 2: must be at least 0.5 and below 1; "
            "gradient2.long_window = -1: must be at least 1");
}

TEST(ValidateTest, AllowsWhatTheReferenceAllowsInReferenceExactModeOnly) {
  AlgorithmConfig config;
  config.floor = 0;
  config.initial = 500;
  config.gradient2.queue_size = 0;
  EXPECT_FALSE(Validate(config).ok());
  config.reference_exact = true;
  EXPECT_EQ(Validate(config), absl::OkStatus());
  config.floor = 300;
  EXPECT_EQ(Validate(config), absl::OkStatus());
  config.floor = -1;
  config.initial = kCallsMax + 1;
  EXPECT_EQ(Validate(config).message(), "floor = -1: must be at least 0");
}

}  // namespace
}  // namespace plimsoll
