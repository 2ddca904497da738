#include <utility>

#include "plimsoll/algorithms/algorithm.h"
#include "plimsoll/simulation/load_simulator.h"

namespace plimsoll {
namespace {

constexpr Calls kUnlimited = 1000;

WindowConfig Percentile(absl::Duration length, double percentile) {
  WindowConfig window;
  window.length = length;
  window.percentile = percentile;
  return window;
}

WindowConfig Mean(absl::Duration length) {
  WindowConfig window;
  window.length = length;
  window.latency = LatencySignal::kMean;
  return window;
}

LawUnderTest Unlimited() {
  LawUnderTest law;
  law.name = "unlimited";
  law.static_limit = kUnlimited;
  return law;
}

LawUnderTest Law(AlgorithmKind kind, const WindowConfig& window) {
  LawUnderTest law;
  law.name = std::string(ToString(kind));
  law.algorithm.kind = kind;
  law.algorithm.floor = 1;
  law.algorithm.ceiling = kUnlimited;
  law.window = window;
  return law;
}

bool IsThere(const LawUnderTest& law) {
  return law.static_limit || law.algorithm.kind == AlgorithmKind::kFleetKnee ||
         MakeAlgorithm(law.algorithm).ok();
}

}  // namespace

std::vector<LawUnderTest> SuiteLaws(const LoadScenario& scenario) {
  constexpr absl::Duration often = absl::Milliseconds(100);
  constexpr absl::Duration steady = absl::Milliseconds(500);
  std::vector<LawUnderTest> candidates = {
      Unlimited(),
      Law(AlgorithmKind::kAimd, Percentile(steady, 0.9)),
      Law(AlgorithmKind::kGradient2, Mean(steady)),
      Law(AlgorithmKind::kVegas, Mean(steady)),
      Law(AlgorithmKind::kGradient, Mean(steady)),
      Law(AlgorithmKind::kEnvoyGradient, Percentile(often, 0.5)),
      Law(AlgorithmKind::kBdp, Mean(often)),
      Law(AlgorithmKind::kFleetKnee, Mean(often)),
  };
  std::vector<LawUnderTest> laws;
  for (LawUnderTest& law : candidates) {
    law.algorithm.aimd.latency_threshold = scenario.deadline;
    if (IsThere(law)) laws.push_back(std::move(law));
  }
  return laws;
}

std::vector<LawUnderTest> SuiteLaws() { return SuiteLaws(LoadScenario()); }

}  // namespace plimsoll
