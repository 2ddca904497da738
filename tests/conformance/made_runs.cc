#include "tests/conformance/made_runs.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/conformance/mutants.h"
#include "tests/conformance/replay.h"
#include "tests/conformance/trace.h"

namespace plimsoll {
namespace {

using nlohmann::json;

int AnyWhole(Random& random, int low, int high) {
  return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
}

template <typename T>
T OneOf(Random& random, const std::vector<T>& values) {
  return values[random.Below(values.size())];
}

std::string AnyQueue(Random& random) {
  return absl::StrCat(random.Chance(0.5) ? "fixed:" : "sqrt:", AnyWhole(random, 0, 12));
}

std::string AnyRule(Random& random) {
  const int factor = AnyWhole(random, 0, 9);
  return OneOf<std::string>(
      random, {absl::StrCat("fixed:", factor), "log10", absl::StrCat(factor, "*log10")});
}

json AimdSettings(Random& random) {
  return {{"minLimit", AnyWhole(random, 0, 30)},
          {"maxLimit", AnyWhole(random, 30, 2'000)},
          {"backoffRatio", random.Uniform(0.5, 1)},
          {"timeout_ns", AnyWhole(random, 5'000'000, 50'000'000)}};
}

json Gradient2Settings(Random& random) {
  return {{"minLimit", AnyWhole(random, 1, 20)},    {"maxConcurrency", AnyWhole(random, 50, 2'000)},
          {"smoothing", random.Uniform(0.01, 1)},   {"queueSize", AnyQueue(random)},
          {"longWindow", AnyWhole(random, 1, 900)}, {"warmupWindow", 10},
          {"rttTolerance", random.Uniform(1, 3)}};
}

json GradientSettings(Random& random) {
  json settings = {{"minLimit", AnyWhole(random, 1, 20)},
                   {"maxConcurrency", AnyWhole(random, 50, 2'000)},
                   {"smoothing", random.Uniform(0, 1)},
                   {"queueSize", AnyQueue(random)},
                   {"rttTolerance", random.Uniform(1, 3)},
                   {"backoffRatio", random.Uniform(0.5, 1)},
                   {"probeInterval", -1}};
  if (random.Chance(0.8)) {
    settings["probeInterval"] = AnyWhole(random, 1, 200);
    settings["pin_probeCountdown"] = AnyWhole(random, 0, 400);
  }
  return settings;
}

json VegasSettings(Random& random) {
  return {{"maxConcurrency", AnyWhole(random, 50, 3'000)},
          {"smoothing", random.Chance(0.3) ? 1 : random.Uniform()},
          {"alpha", AnyRule(random)},
          {"beta", AnyRule(random)},
          {"threshold", AnyRule(random)},
          {"increase", OneOf<std::string>(random, {"limit+log10", "limit/2"})},
          {"decrease", OneOf<std::string>(random, {"limit-log10", "limit/2"})},
          {"probeMultiplier", AnyWhole(random, 1, 40)},
          {"pin_probeJitter", random.Uniform(0.5, 1)}};
}

json AnyInner(Random& random, const std::string& algorithm) {
  json settings = algorithm == "aimd"       ? AimdSettings(random)
                  : algorithm == "vegas"    ? VegasSettings(random)
                  : algorithm == "gradient" ? GradientSettings(random)
                                            : Gradient2Settings(random);
  settings["algorithm"] = algorithm;
  settings["initialLimit"] = AnyWhole(random, 1, 1'500);
  return settings;
}

json AnySettings(Random& random, const std::string& algorithm) {
  if (algorithm != "windowed") return AnyInner(random, algorithm);
  const std::string inner = OneOf<std::string>(random, {"aimd", "vegas", "gradient", "gradient2"});
  const int shortest = AnyWhole(random, 5, 200);
  const std::string percentile =
      absl::StrCat("percentile:", random.Uniform(0.5, 0.99), ":", AnyWhole(random, 5, 60));
  return {{"algorithm", "windowed"},
          {"minWindowTime_ns", shortest * 1'000'000LL},
          {"maxWindowTime_ns", (shortest + AnyWhole(random, 0, 300)) * 1'000'000LL},
          {"windowSize", AnyWhole(random, 1, 20)},
          {"minRttThreshold_ns", AnyWhole(random, 0, 9'000'000)},
          {"sampleWindow", random.Chance(0.5) ? "average" : percentile},
          {"delegate", AnyInner(random, inner)}};
}

std::unique_ptr<LimitAlgorithm> SecondLaw(const AlgorithmConfig& config) {
  switch (config.kind) {
    case AlgorithmKind::kAimd:
      return MakeMutant(config, AimdFault::kNone);
    case AlgorithmKind::kVegas:
      return MakeMutant(config, VegasFault::kNone);
    case AlgorithmKind::kGradient:
      return MakeMutant(config, GradientFault::kNone);
    default:
      return MakeMutant(config, Gradient2Fault::kNone);
  }
}

// Latency grows with a load that comes and goes; a few calls are dropped, a few are lucky.
TraceSample AnySample(Random& random, int index, Calls limit) {
  const double phase = std::sin(index / 40.0);
  TraceSample sample;
  sample.start_ns = index * std::int64_t{7'000'000};
  const double wide = random.Chance(0.05) ? random.Uniform(0.1, 20) : random.Uniform(0.9, 1.2);
  sample.rtt_ns = static_cast<std::int64_t>(1e7 * (1.5 + phase) * wide);
  sample.in_flight = static_cast<Calls>(limit * random.Uniform(0.3, 1.1));
  sample.dropped = random.Chance(phase > 0.5 ? 0.1 : 0.01);
  return sample;
}

}  // namespace

json MakeRun(Random& random, const std::string& algorithm) {
  const json settings = AnySettings(random, algorithm);
  const Calls initial = settings.contains("delegate") ? settings["delegate"]["initialLimit"]
                                                      : settings["initialLimit"];
  json run = {{"algorithm", algorithm},    {"settings", settings},
              {"initial_limit", initial},  {"limits", {initial}},
              {"samples", {{0, 1, 1, 0}}}, {"final_state", json::object()}};
  const Trace trace = ParseTraceFile("settings", run.dump()).value().traces.front();
  const auto law = SecondLaw(trace.config);
  const Gather gather =
      trace.windowed ? MakeMutant(*trace.windowed, WindowedFault::kNone) : GatherOf(trace);
  LawState state = law->InitialState();
  run["samples"] = run["limits"] = json::array();
  for (int i = 0; i < 400; ++i) {
    const TraceSample sample = AnySample(random, i, law->Limit(state));
    if (const auto observation = gather(sample)) law->Decide(state, *observation);
    run["samples"].push_back(
        {sample.start_ns, sample.rtt_ns, sample.in_flight, sample.dropped ? 1 : 0});
    run["limits"].push_back(law->Limit(state));
  }
  run["final_state"] = StateByName(state);
  return run;
}

}  // namespace plimsoll
