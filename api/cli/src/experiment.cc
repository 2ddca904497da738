#include "api/cli/src/experiment.h"

#include <algorithm>
#include <utility>

#include "api/cli/src/job_pool.h"

namespace plimsoll::cli {
namespace {

// What of a run is kept until the means are taken.
struct Lived {
  LoadRun run;  // samples and decisions of the first run only
  std::vector<std::optional<PhaseScore>> scores;
};

struct RunJob {
  std::size_t experiment = 0;
  std::size_t law = 0;
  int run = 0;
};

struct OptimumJob {
  std::size_t experiment = 0;
  std::size_t phase = 0;
};

std::vector<OptimumJob> OptimumJobs(const std::vector<Experiment>& experiments,
                                    const std::vector<Outcome>& outcomes) {
  std::vector<OptimumJob> jobs;
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    const Compare compare = experiments[e].compare;
    for (std::size_t p = 0; p < outcomes[e].overload.size(); ++p) {
      const bool wanted = compare == Compare::kEveryPhase ||
                          (compare == Compare::kOverload && outcomes[e].overload[p]);
      if (wanted) jobs.push_back({e, p});
    }
  }
  return jobs;
}

std::vector<RunJob> RunJobs(const std::vector<Experiment>& experiments) {
  std::vector<RunJob> jobs;
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    for (std::size_t law = 0; law < experiments[e].laws.size(); ++law) {
      for (int run = 0; run < experiments[e].runs; ++run) jobs.push_back({e, law, run});
    }
  }
  return jobs;
}

std::vector<Outcome> Prepare(const std::vector<Experiment>& experiments, const Engine& engine) {
  std::vector<Outcome> outcomes;
  for (const Experiment& experiment : experiments) {
    Outcome outcome;
    outcome.scenario = experiment.scenario;
    outcome.seed = experiment.seed;
    outcome.runs = experiment.runs;
    outcome.optima.resize(experiment.scenario.phases.size());
    for (std::size_t p = 0; p < experiment.scenario.phases.size(); ++p) {
      outcome.overload.push_back(engine.is_overload(experiment.scenario, p));
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

Lived Live(const Experiment& experiment, const Outcome& outcome, const RunJob& job,
           const Engine& engine, bool keep_decisions, std::function<void(double)> progress) {
  LoadOptions options;
  options.seed = experiment.seed + static_cast<std::uint64_t>(job.run);
  options.progress = std::move(progress);
  Lived lived;
  lived.run = engine.simulate(experiment.scenario, experiment.laws[job.law], options);
  for (std::size_t p = 0; p < lived.run.phases.size(); ++p) {
    const bool has = p < outcome.optima.size() && outcome.optima[p].has_value();
    lived.scores.push_back(has ? std::optional(engine.score(lived.run.phases[p], lived.run.samples,
                                                            *outcome.optima[p]))
                               : std::nullopt);
  }
  if (job.run > 0) lived.run.samples = {};
  if (job.run > 0 || !keep_decisions) lived.run.decisions = {};
  return lived;
}

// Adds `part` of one value to its mean.
void Add(double& mean, double value, double part) { mean += value * part; }
void Add(absl::Duration& mean, absl::Duration value, double part) { mean += value * part; }

void AddResult(PhaseResult& mean, const PhaseResult& one, double part) {
  mean.name = one.name;
  mean.start = one.start;
  mean.length = one.length;
  Add(mean.offered, one.offered, part);
  Add(mean.good, one.good, part);
  Add(mean.rejected, one.rejected, part);
  Add(mean.latency_mean, one.latency_mean, part);
  Add(mean.latency_p50, one.latency_p50, part);
  Add(mean.latency_p99, one.latency_p99, part);
  Add(mean.limit_mean, one.limit_mean, part);
  Add(mean.limit_deviation, one.limit_deviation, part);
  Add(mean.limit_max, one.limit_max, part);
  Add(mean.fairness, one.fairness, part);
}

void AddScore(PhaseScore& mean, const PhaseScore& one, double part) {
  Add(mean.goodput, one.goodput, part);
  Add(mean.p99, one.p99, part);
  Add(mean.to_90, one.to_90, part);
  mean.converged = mean.converged && one.converged;
  Add(mean.limit, one.limit, part);
  Add(mean.overshoot, one.overshoot, part);
  Add(mean.oscillation, one.oscillation, part);
  Add(mean.fairness, one.fairness, part);
  Add(mean.probe_cost, one.probe_cost, part);
}

PhaseOutcome EmptyPhase(bool scored) {
  PhaseOutcome phase;
  phase.result.fairness = 0;
  if (scored) {
    phase.score.emplace();
    phase.score->fairness = 0;
    phase.score->converged = true;
  }
  return phase;
}

void AddRun(LawOutcome& law, Lived lived, bool first, double part) {
  if (first) {
    law.law = lived.run.law;
    for (const auto& score : lived.scores) law.phases.push_back(EmptyPhase(score.has_value()));
  }
  for (std::size_t p = 0; p < std::min(lived.run.phases.size(), law.phases.size()); ++p) {
    AddResult(law.phases[p].result, lived.run.phases[p], part);
    if (law.phases[p].score.has_value()) AddScore(*law.phases[p].score, *lived.scores[p], part);
  }
  law.quota_violations += lived.run.quota_violations;
  law.in_flight_max = std::max(law.in_flight_max, lived.run.in_flight_max);
  law.calls += lived.run.calls;
  law.messages += lived.run.messages;
  law.grants += lived.run.grants;
  if (first) law.first = std::move(lived.run);
}

void Gather(const std::vector<Experiment>& experiments, const std::vector<RunJob>& jobs,
            std::vector<Lived> lived, std::vector<Outcome>& outcomes) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const RunJob& job = jobs[i];
    const Experiment& experiment = experiments[job.experiment];
    std::vector<LawOutcome>& laws = outcomes[job.experiment].laws;
    laws.resize(experiment.laws.size());
    AddRun(laws[job.law], std::move(lived[i]), job.run == 0, 1.0 / experiment.runs);
    laws[job.law].law = experiment.laws[job.law].name;
  }
}

}  // namespace

std::vector<Outcome> RunExperiments(const std::vector<Experiment>& experiments,
                                    const Engine& engine, const ExperimentOptions& options) {
  std::vector<Outcome> outcomes = Prepare(experiments, engine);
  const std::vector<OptimumJob> optima = OptimumJobs(experiments, outcomes);
  const std::vector<RunJob> runs = RunJobs(experiments);
  if (options.begin) options.begin(optima.size() + runs.size());
  const auto report = [&](std::size_t job, double share) {
    if (options.report) options.report(job, share);
  };
  ForEach(options.jobs, optima.size(), [&](std::size_t i) {
    const OptimumJob& job = optima[i];
    outcomes[job.experiment].optima[job.phase] =
        engine.find_optimum(experiments[job.experiment].scenario, job.phase);
    report(i, 1);
  });
  std::vector<Lived> lived(runs.size());
  ForEach(options.jobs, runs.size(), [&](std::size_t i) {
    const RunJob& job = runs[i];
    const std::size_t piece = optima.size() + i;
    lived[i] = Live(experiments[job.experiment], outcomes[job.experiment], job, engine,
                    options.keep_decisions, [&](double share) { report(piece, share); });
    report(piece, 1);
  });
  Gather(experiments, runs, std::move(lived), outcomes);
  return outcomes;
}

}  // namespace plimsoll::cli
