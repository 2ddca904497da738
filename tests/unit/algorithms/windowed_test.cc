#include "plimsoll/algorithms/windowed.h"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

constexpr absl::Duration kFast = absl::Milliseconds(10);
constexpr std::int64_t kMs = 1'000'000;

WindowedConfig Exact(WindowedConfig config = {}) {
  config.reference_exact = true;
  return config;
}

// A gatherer and its window.
class Gatherer {
 public:
  explicit Gatherer(const WindowedConfig& config) : windowed_(config) {
    EXPECT_TRUE(Validate(config).ok()) << Validate(config);
  }

  std::optional<Observation> Add(std::int64_t start_ms, absl::Duration rtt, Calls in_flight = 10,
                                 bool dropped = false) {
    return windowed_.Add(state_, {Instant{start_ms * kMs}, rtt, in_flight, dropped});
  }
  // Calls of 10 ms, from one time to another; the last observation that they yield.
  std::optional<Observation> Run(std::int64_t from_ms, std::int64_t to_ms, std::int64_t every_ms,
                                 absl::Duration rtt = kFast) {
    std::optional<Observation> last;
    count_ = 0;
    for (std::int64_t at = from_ms; at < to_ms; at += every_ms) {
      if (const auto observation = Add(at, rtt)) {
        last = observation;
        ++count_;
      }
    }
    return last;
  }
  int count() const { return count_; }
  const WindowedState& state() const { return state_; }

 private:
  const Windowed windowed_;
  WindowedState state_;
  int count_ = 0;
};

TEST(WindowedTest, EndsAWindowWithTheFirstCallThatEndsAfterItIsDue) {
  Gatherer gatherer{WindowedConfig()};
  EXPECT_FALSE(gatherer.Run(0, 1'010, 10));  // due at 1010 ms
  const auto observation = gatherer.Add(1'010, 2 * kFast, 30);
  ASSERT_TRUE(observation);
  EXPECT_EQ(observation->samples, 102);
  EXPECT_EQ(observation->in_flight, 30);
  EXPECT_EQ(observation->latency, absl::Nanoseconds(10'098'039));  // (101 * 10 + 20) / 102
  EXPECT_EQ(observation->length, absl::Milliseconds(1'030));
  EXPECT_EQ(observation->elapsed, absl::Milliseconds(1'030));
  EXPECT_FALSE(observation->dropped);
}

TEST(WindowedTest, LastsTwiceTheShortestCallBetweenItsBounds) {
  WindowedConfig config;
  config.window_min = absl::Milliseconds(100);
  config.window_max = absl::Milliseconds(500);
  for (const auto& [rtt_ms, length_ms] :
       std::vector<std::array<int, 2>>{{10, 100}, {100, 200}, {400, 500}}) {
    Gatherer gatherer(config);
    gatherer.Run(0, 1'000, 1, absl::Milliseconds(rtt_ms));
    EXPECT_EQ(gatherer.state().due_ns - gatherer.state().opened_ns, length_ms * kMs) << rtt_ms;
  }
}

TEST(WindowedTest, TakesThePercentileOfTheFirstCalls) {
  WindowedConfig config;
  config.percentile = 0.9;
  config.percentile_calls = 10;
  Gatherer gatherer(config);
  for (int i = 1; i <= 10; ++i) gatherer.Add(0, i * kFast);
  for (int i = 0; i < 20; ++i) gatherer.Add(500, 50 * kFast);
  const auto observation = gatherer.Add(2'000, kFast);
  ASSERT_TRUE(observation);
  EXPECT_EQ(observation->latency, 9 * kFast);
  EXPECT_EQ(observation->samples, 31);
}

TEST(WindowedTest, CountsADropHoweverShort) {
  for (const bool exact : {true, false}) {
    Gatherer gatherer{exact ? Exact() : WindowedConfig()};
    gatherer.Run(0, 500, 10);
    for (int i = 0; i < 8; ++i) gatherer.Add(500, absl::Microseconds(50), 10, true);
    const auto observation = gatherer.Run(510, 1'200, 10);
    ASSERT_TRUE(observation);
    EXPECT_EQ(observation->dropped, !exact);
    EXPECT_EQ(observation->failed, exact ? 0 : 8);
    EXPECT_EQ(observation->latency, kFast);  // that of the others
  }
}

TEST(WindowedTest, LeavesTheTimeOfDroppedCallsOutOfTheLatency) {
  Gatherer reference(Exact());
  Gatherer ours{WindowedConfig()};
  std::optional<Observation> seen[2];
  int index = 0;
  for (Gatherer* gatherer : {&reference, &ours}) {
    gatherer->Run(0, 1'300, 10);
    for (int i = 0; i < 5; ++i) gatherer->Add(1'300, 20 * kFast, 10, true);
    seen[index++] = gatherer->Run(1'510, 2'100, 10);
  }
  ASSERT_TRUE(seen[0] && seen[1]);
  EXPECT_GT(seen[0]->latency, 1.5 * kFast);
  EXPECT_EQ(seen[1]->latency, kFast);
}

TEST(WindowedTest, HandsOnTheTimeOfDropsIfThereIsNothingElse) {
  Gatherer gatherer{WindowedConfig()};
  std::optional<Observation> observation;
  for (int at = 0; at < 200 && !observation; at += 10) {
    observation = gatherer.Add(at, absl::ZeroDuration(), 10, true);
  }
  ASSERT_TRUE(observation);
  EXPECT_TRUE(observation->dropped);
  EXPECT_EQ(observation->latency, absl::Nanoseconds(1));
}

// 3 % of slow calls count as overload of every window in the reference.
TEST(WindowedTest, FewTimeoutsDoNotMakeAWindowADrop) {
  const AlgorithmConfig aimd = ConfigOf(AlgorithmKind::kAimd, 5, 100, 200);
  const auto law = LawOf(aimd);
  Calls limits[2];
  for (const bool exact : {true, false}) {
    Gatherer gatherer{exact ? Exact() : WindowedConfig()};
    LawState state = law->InitialState();
    for (int i = 0; i < 6'000; ++i) {
      if (const auto seen = gatherer.Add(10 * i, kFast, law->Limit(state), i % 33 == 0)) {
        law->Decide(state, *seen);
      }
    }
    limits[exact ? 0 : 1] = law->Limit(state);
  }
  EXPECT_EQ(limits[0], 5);
  EXPECT_GT(limits[1], 140);
}

TEST(WindowedTest, CarriesTooFewCallsOnInsteadOfDiscardingThemForEver) {
  Gatherer reference(Exact());
  EXPECT_FALSE(reference.Run(0, 60'000, 300));
  Gatherer ours{WindowedConfig()};
  const auto observation = ours.Run(0, 60'000, 300);
  ASSERT_TRUE(observation);
  EXPECT_EQ(observation->samples, 10);
  EXPECT_EQ(ours.count(), 20);
}

TEST(WindowedTest, HandsAWindowOnAfterTenTimesTheLongestWithWhatItHas) {
  Gatherer gatherer{WindowedConfig()};
  const auto observation = gatherer.Run(0, 61'000, 4'000);
  ASSERT_TRUE(observation);
  EXPECT_EQ(observation->samples, 3);
  EXPECT_EQ(observation->length, absl::Seconds(12));
}

TEST(WindowedTest, ForgetsWhatWasBeforeIdleHours) {
  std::optional<Observation> seen[2];
  for (const bool exact : {true, false}) {
    Gatherer gatherer{exact ? Exact() : WindowedConfig()};
    gatherer.Run(0, 1'900, 50, 20 * kFast);
    constexpr std::int64_t kHour = 3'600'000;
    seen[exact ? 0 : 1] = gatherer.Add(kHour, kFast);
    if (!exact) {
      const auto next = gatherer.Run(kHour, kHour + 1'500, 100);
      ASSERT_TRUE(next);
      EXPECT_EQ(next->latency, kFast);
      EXPECT_LE(next->length, absl::Seconds(2));
      EXPECT_GT(next->elapsed, absl::Minutes(59));
    }
  }
  EXPECT_FALSE(seen[1]);
  ASSERT_TRUE(seen[0]);  // one window of an hour, with calls from both of its ends
  EXPECT_GT(seen[0]->length, absl::Minutes(59));
}

TEST(WindowedTest, WorksWithAClockBelowZero) {
  Gatherer reference(Exact());
  EXPECT_FALSE(reference.Run(-100'000, -50'000, 10));
  Gatherer ours{WindowedConfig()};
  EXPECT_TRUE(ours.Run(-100'000, -50'000, 10));
  EXPECT_NEAR(ours.count(), 49, 1);
}

TEST(WindowedTest, AnswersABurstOfRefusalsWhileItLasts) {
  for (const bool exact : {true, false}) {
    Gatherer gatherer{exact ? Exact() : WindowedConfig()};
    gatherer.Run(0, 1'050, 10);  // a window has just begun
    std::optional<Observation> first;
    std::int64_t at = 1'050;
    for (; at < 5'000 && !first; ++at) first = gatherer.Add(at, kFast / 10, 10, true);
    ASSERT_TRUE(first);
    EXPECT_TRUE(first->dropped);
    EXPECT_EQ(at < 1'200, !exact) << at;
  }
}

TEST(WindowedTest, AnswersTenTimesPerWindowAtMost) {
  Gatherer gatherer{WindowedConfig()};
  int answers = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (gatherer.Add(i, kFast / 10, 10, true)) ++answers;
  }
  EXPECT_LE(answers, 100);
  EXPECT_GE(answers, 90);
}

TEST(WindowedTest, IgnoresLatenciesThatAreNone) {
  Gatherer gatherer{WindowedConfig()};
  gatherer.Run(0, 500, 10);
  const WindowedState before = gatherer.state();
  for (const absl::Duration rtt :
       {absl::ZeroDuration(), -kFast, -absl::InfiniteDuration(), absl::Microseconds(99)}) {
    EXPECT_FALSE(gatherer.Add(600, rtt));
    EXPECT_EQ(gatherer.state(), before);
  }
  gatherer.Add(std::numeric_limits<std::int64_t>::max() / kMs, absl::InfiniteDuration());
  gatherer.Add(std::numeric_limits<std::int64_t>::min() / kMs, kFast);
}

// From 20 to 200 by one a window, and by ten.
TEST(WindowedTest, LetsAimdRiseByItsIncrease) {
  for (const auto& [increase, seconds] : std::vector<std::array<int, 2>>{{1, 181}, {10, 19}}) {
    AlgorithmConfig config = ConfigOf(AlgorithmKind::kAimd, 20, 20, 200);
    config.aimd.increase = increase;
    const auto law = LawOf(config);
    LawState state = law->InitialState();
    Gatherer gatherer(Exact());
    int at = 10;
    for (; law->Limit(state) < 200; at += 5) {
      if (const auto seen = gatherer.Add(at, kFast, law->Limit(state))) law->Decide(state, *seen);
    }
    EXPECT_NEAR(at / 1'000.0, seconds, 1.5);
  }
}

TEST(WindowedTest, ValidatesItsSettings) {
  const auto message = [](void (*change)(WindowedConfig&)) {
    WindowedConfig config;
    change(config);
    return std::string(Validate(config).message());
  };
  EXPECT_EQ(message([](WindowedConfig&) {}), "");
  EXPECT_EQ(message([](WindowedConfig& c) { c.window_min = absl::Milliseconds(99); }),
            "windowed.window_min = 99ms: must be between 100ms and 1m");
  EXPECT_EQ(message([](WindowedConfig& c) { c.window_max = absl::Milliseconds(200); }),
            "windowed.window_max = 200ms: must be at least window_min, 1s");
  EXPECT_EQ(message([](WindowedConfig& c) { c.samples_min = 0; }),
            "windowed.samples_min = 0: must be between 1 and 1000000");
  EXPECT_EQ(message([](WindowedConfig& c) { c.latency_min = -kFast; }),
            "windowed.latency_min = -10ms: must be at least 0");
  EXPECT_EQ(message([](WindowedConfig& c) { c.percentile = 1; }),
            "windowed.percentile = 1: must be above 0 and below 1");
  EXPECT_EQ(message([](WindowedConfig& c) { c.percentile_calls = 0; }),
            "windowed.percentile_calls = 0: must be between 1 and 10000");
  EXPECT_EQ(message([](WindowedConfig& c) { c.drop_tolerance = 1; }),
            "windowed.drop_tolerance = 1: must be at least 0 and below 1");
}

}  // namespace
}  // namespace plimsoll
