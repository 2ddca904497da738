#include "tests/unit/api/cli/fake_engine.h"

#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

PhaseResult SamplePhase(const LoadPhase& phase, double factor) {
  PhaseResult result;
  result.name = phase.name;
  result.start = phase.start;
  result.length = absl::Seconds(30);
  result.offered = 1000 * phase.load;
  result.good = 900 * factor;
  result.rejected = 1000 * phase.load - result.good;
  result.latency_mean = absl::Milliseconds(12);
  result.latency_p50 = absl::Milliseconds(10);
  result.latency_p99 = absl::Milliseconds(40);
  result.limit_mean = 10 * factor;
  result.limit_max = 12;
  result.fairness = 0.99;
  return result;
}

LogEvent SampleDecision(int second) {
  LogEvent event;
  event.type = EventType::kLimitChanged;
  event.at = Instant{second * std::int64_t{1'000'000'000}};
  event.service = ServiceId("svc");
  event.instance = InstanceId("replica-1");
  event.from = 10;
  event.to = 10 + second % 7;
  event.reason = Reason::kThroughputGrew;
  event.message = "more <calls> & \"more\" throughput";
  return event;
}

PhaseScore SampleScore(const PhaseResult& phase, const Optimum& optimum) {
  PhaseScore score;
  score.goodput = phase.good / optimum.good;
  score.p99 = absl::FDivDuration(phase.latency_p99, optimum.latency_p99);
  score.to_90 = absl::Seconds(2);
  score.converged = score.goodput > 0.85;
  score.overshoot = 1.2;
  score.oscillation = 0.05;
  score.fairness = phase.fairness;
  score.probe_cost = 0.001;
  return score;
}

LawUnderTest SampleLaw(const std::string& name) {
  LawUnderTest law;
  law.name = name;
  law.algorithm.kind = AlgorithmKind::kAimd;
  return law;
}

}  // namespace

LoadScenario SampleScenario(const std::string& name) {
  LoadScenario scenario;
  scenario.name = name;
  scenario.description = absl::StrCat("what ", name, " is about");
  scenario.length = absl::Seconds(60);
  LoadPhase calm;
  calm.name = "calm";
  calm.load = 0.5;
  LoadPhase busy;
  busy.name = "busy";
  busy.start = absl::Seconds(30);
  busy.load = 2;
  scenario.phases = {calm, busy};
  scenario.policy.name = DependencyId("simulated");
  scenario.policy.quota = 64;
  return scenario;
}

LoadRun SampleRun(const LoadScenario& scenario, const std::string& law, std::uint64_t seed) {
  const double factor = (law == "poor" ? 0.7 : 1.0) + 0.01 * static_cast<double>(seed % 10);
  LoadRun run;
  run.law = law;
  run.seed = seed;
  for (const LoadPhase& phase : scenario.phases) {
    run.phases.push_back(SamplePhase(phase, factor));
  }
  for (int i = 1; i <= 120; ++i) {
    LoadSample sample;
    sample.at = absl::Milliseconds(500) * i;
    sample.replicas = 8;
    sample.limit = 10 * factor + i % 3;
    sample.limits = 80 + i % 3;
    sample.in_flight = 60;
    sample.offered = i <= 60 ? 500 : 2000;
    sample.good = 450 * factor;
    sample.rejected = 10;
    sample.latency_mean = absl::Milliseconds(12);
    sample.latency_p99 = i % 10 == 0 ? absl::ZeroDuration() : absl::Milliseconds(40 + i);
    run.samples.push_back(sample);
  }
  for (int second = 1; second < 60; ++second) run.decisions.push_back(SampleDecision(second));
  run.in_flight_max = 60;
  run.calls = 75'000;
  run.messages = 1000;
  run.grants = 59;
  return run;
}

Engine FakeEngine::Make() const {
  Engine engine;
  engine.validate = [](const LoadScenario& scenario) {
    if (scenario.replicas <= 1000) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("replicas = ", scenario.replicas, ": must be between 1 and 1000; retries = ",
                     scenario.retries, ": must be few; phases[1].load = 3: too much"));
  };
  engine.simulate = [violations = quota_violations](const LoadScenario& scenario,
                                                    const LawUnderTest& law,
                                                    const LoadOptions& options) {
    if (options.progress) options.progress(0.5);
    LoadRun run = SampleRun(scenario, law.name, options.seed);
    run.quota_violations = violations;
    return run;
  };
  engine.find_optimum = [count = optima](const LoadScenario&, std::size_t phase) {
    ++*count;
    Optimum optimum;
    optimum.limit = 12;
    optimum.good = phase == 0 ? 500 : 1000;
    optimum.latency_p99 = absl::Milliseconds(32);
    return optimum;
  };
  engine.score = [](const PhaseResult& phase, const std::vector<LoadSample>&,
                    const Optimum& optimum) { return SampleScore(phase, optimum); };
  engine.is_overload = [](const LoadScenario& scenario, std::size_t phase) {
    return scenario.phases[phase].load > 1;
  };
  engine.designed = [] {
    return std::vector<LoadScenario>{SampleScenario("A"), SampleScenario("B"),
                                     SampleScenario("halved")};
  };
  engine.hold_out = [](std::uint64_t, int count) {
    std::vector<LoadScenario> scenarios;
    for (int i = 0; i < count; ++i) scenarios.push_back(SampleScenario(absl::StrCat("random-", i)));
    return scenarios;
  };
  engine.suite_laws = [](const LoadScenario&) {
    return std::vector<LawUnderTest>{SampleLaw("good"), SampleLaw("poor")};
  };
  return engine;
}

}  // namespace plimsoll::cli
