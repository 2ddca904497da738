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
       {AlgorithmKind::kFixed, AlgorithmKind::kAimd, AlgorithmKind::kGradient2}) {
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
