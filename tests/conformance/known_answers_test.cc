// The tables of known-answers.json that are no runs.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/algorithms/windowed.h"

namespace plimsoll {
namespace {

using nlohmann::json;

// Lives as long as the program: parts of it are looped over.
const json& KnownAnswers() {
  static const json& answers = *new json([] {
    std::ifstream input(std::string(PLIMSOLL_TRACES_DIR) + "/known-answers.json");
    return json::parse(input);
  }());
  return answers;
}

AlgorithmConfig Exact(AlgorithmKind kind, Calls initial) {
  AlgorithmConfig config;
  config.kind = kind;
  config.reference_exact = true;
  config.floor = 1;
  config.initial = initial;
  config.ceiling = kCallsMax;
  return config;
}

Observation Saw(std::int64_t latency_ns, Calls in_flight) {
  return {.latency = absl::Nanoseconds(latency_ns), .in_flight = in_flight, .samples = 1};
}

// No queue: vegas adds beta, here once the logarithm.
TEST(KnownAnswersTest, OfTheLogarithmAgree) {
  for (const auto& [limit_text, root] : KnownAnswers()["log10root"].items()) {
    const Calls limit = std::stoi(limit_text);
    if (limit == 0) continue;
    AlgorithmConfig config = Exact(AlgorithmKind::kVegas, limit);
    config.vegas.beta.factor = 1;
    const auto law = MakeAlgorithm(config).value();
    LawState state = law->InitialState();
    law->Decide(state, Saw(1'000, limit));
    EXPECT_EQ(law->Decide(state, Saw(1'000, limit)).limit, limit + root.get<Calls>()) << limit;
  }
}

TEST(KnownAnswersTest, OfTheSquareRootAgree) {
  for (const auto& [limit_text, root] : KnownAnswers()["sqrtroot_baseline4"].items()) {
    const Calls limit = std::stoi(limit_text);
    const auto law = MakeAlgorithm(Exact(AlgorithmKind::kGradient, limit)).value();
    LawState state = law->InitialState();
    EXPECT_EQ(law->Decide(state, Saw(1'000, limit)).limit, limit + root.get<Calls>()) << limit;
  }
}

TEST(KnownAnswersTest, OfTheLongAverageAgree) {
  const json known = KnownAnswers()["expavg_window100_warmup10"];
  AlgorithmConfig config = Exact(AlgorithmKind::kGradient2, 20);
  config.gradient2.long_window = 100;
  const auto law = MakeAlgorithm(config).value();
  LawState state = law->InitialState();
  for (std::size_t i = 0; i < known["inputs"].size(); ++i) {
    auto& own = std::get<Gradient2State>(state);
    // The law lowers an average of more than twice the latency; the average alone does not.
    if (i > 0) own.long_latency_ns = known["values"][i - 1];
    const double input = known["inputs"][i];
    const Decision decision = law->Decide(state, Saw(std::llround(input), 1));
    EXPECT_EQ(decision.baseline, absl::Nanoseconds(known["values"][i].get<double>())) << i;
  }
}

// All calls but the last end before the window is due, which it is at 0.
std::optional<Observation> Gather(const WindowedConfig& config, const json& samples) {
  const Windowed windowed(config);
  WindowedState state;
  std::optional<Observation> observation;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const json& sample = samples[i];
    const Instant start{i + 1 < samples.size() ? -std::int64_t{1'000'000'000} : 0};
    observation = windowed.Add(state, {.start = start,
                                       .rtt = absl::Nanoseconds(sample[0].get<std::int64_t>()),
                                       .in_flight = sample[1],
                                       .dropped = sample[2] != 0});
    EXPECT_EQ(observation.has_value(), i + 1 == samples.size());
  }
  return observation;
}

WindowedConfig ExactWindow() {
  WindowedConfig config;
  config.reference_exact = true;
  config.samples_min = 1;
  config.latency_min = absl::ZeroDuration();
  return config;
}

TEST(KnownAnswersTest, OfTheAveragingWindowAgree) {
  const json known = KnownAnswers()["sample_window_average"];
  const auto observation = Gather(ExactWindow(), known["samples_rtt_inflight_drop"]);
  ASSERT_TRUE(observation);
  EXPECT_EQ(observation->latency, absl::Nanoseconds(known["tracked"].get<std::int64_t>()));
  EXPECT_EQ(observation->in_flight, known["maxInFlight"]);
  EXPECT_EQ(observation->samples, known["count"]);
  EXPECT_EQ(observation->dropped, known["drop"]);
}

TEST(KnownAnswersTest, OfThePercentileWindowAgree) {
  for (const json& known : KnownAnswers()["sample_window_percentile"]) {
    WindowedConfig config = ExactWindow();
    config.percentile = known["p"].get<double>();
    config.percentile_calls = known["cap"];
    json samples = json::array();
    for (int i = 0; i < known["n"]; ++i) {
      samples.push_back({100 * ((7 * i) % 11 + 1), 1, i == 12 ? 1 : 0});
    }
    const auto observation = Gather(config, samples);
    ASSERT_TRUE(observation) << known;
    EXPECT_EQ(observation->latency, absl::Nanoseconds(known["tracked"].get<std::int64_t>()))
        << known;
    EXPECT_EQ(observation->samples, known["count"]) << known;
    EXPECT_EQ(observation->dropped, known["drop"]) << known;
  }
}

}  // namespace
}  // namespace plimsoll
