#include "api/cli/src/simulate.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/cli/src/experiment.h"
#include "api/cli/src/html_report.h"
#include "api/cli/src/json_report.h"
#include "api/cli/src/laws.h"
#include "api/cli/src/progress.h"
#include "api/cli/src/run_table.h"
#include "api/cli/src/scenario_file.h"
#include "api/cli/src/simulate_options.h"
#include "api/cli/src/suite_table.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

int Fail(const absl::Status& status, int exit_status, const Console& console) {
  console.error(absl::StrCat(std::string(status.message()), "\n"));
  return exit_status;
}

absl::Status WriteFile(const std::string& path, const std::string& text, std::ios::openmode mode) {
  std::ofstream file(path, std::ios::binary | mode);
  file << text;
  file.close();
  if (file) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat(path, ": cannot be written: ", std::generic_category().message(errno)));
}

// A path that cannot be written is told before the work, not after it. Leaves nothing behind.
absl::Status CheckWritable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code unknown;
    const bool was_there = std::filesystem::exists(path, unknown);
    const absl::Status status = WriteFile(path, "", std::ios::app);
    if (!status.ok()) return status;
    if (!was_there && !unknown) std::filesystem::remove(path, unknown);
  }
  return absl::OkStatus();
}

int Jobs(const SimulateOptions& options) {
  if (options.jobs > 0) return options.jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::vector<Outcome> RunShowingProgress(const std::vector<Experiment>& experiments,
                                        const SimulateOptions& options, bool keep_decisions,
                                        const Engine& engine, const Console& console) {
  ProgressStyle style = console.error_is_terminal ? ProgressStyle::kBar : ProgressStyle::kLines;
  if (options.quiet) style = ProgressStyle::kNone;
  std::unique_ptr<Progress> progress;
  ExperimentOptions how;
  how.jobs = Jobs(options);
  how.keep_decisions = keep_decisions;
  how.begin = [&](std::size_t jobs) {
    progress = std::make_unique<Progress>(style, jobs, console.clock, console.error);
  };
  how.report = [&](std::size_t job, double share) { progress->Report(job, share); };
  std::vector<Outcome> outcomes = RunExperiments(experiments, engine, how);
  progress->Finish();
  return outcomes;
}

std::vector<std::string> NamesOf(const std::vector<LoadScenario>& scenarios) {
  std::vector<std::string> names;
  for (const LoadScenario& scenario : scenarios) names.push_back(scenario.name);
  return names;
}

absl::StatusOr<LoadScenario> FindDesigned(const std::string& name, const Engine& engine) {
  const std::vector<LoadScenario> designed = engine.designed();
  for (const LoadScenario& scenario : designed) {
    if (scenario.name == name) return scenario;
  }
  const std::vector<std::string> names = NamesOf(designed);
  return absl::InvalidArgumentError(absl::StrCat("no designed scenario is called ", Quoted(name),
                                                 Suggestion(name, names), "; there are ",
                                                 absl::StrJoin(names, ", ")));
}

int List(const Engine& engine, const Console& console) {
  for (const LoadScenario& scenario : engine.designed()) {
    const std::string pad(
        std::max<std::size_t>(12, scenario.name.size() + 2) - scenario.name.size(), ' ');
    console.out(absl::StrCat(scenario.name, pad, scenario.description, "\n"));
  }
  return kExitFine;
}

// A designed scenario says nothing of a law; it is lived under this one of the suite, if there is.
constexpr char kUsualLaw[] = "fleet_knee";

std::optional<LawUnderTest> UsualLaw(const LoadScenario& scenario, const Engine& engine) {
  for (LawUnderTest& law : engine.suite_laws(scenario)) {
    if (law.name == kUsualLaw) return std::move(law);
  }
  return std::nullopt;
}

ScenarioFile WithUsualLaw(LoadScenario scenario, const Engine& engine) {
  const std::optional<LawUnderTest> law = UsualLaw(scenario, engine);
  if (!law.has_value()) return {std::move(scenario), {}, std::nullopt};
  AlgorithmConfig algorithm = law->algorithm;
  algorithm.floor = scenario.policy.algorithm.floor;
  algorithm.ceiling = scenario.policy.algorithm.ceiling;
  algorithm.initial = scenario.policy.algorithm.initial;
  scenario.policy.algorithm = algorithm;
  scenario.policy.window = law->window.value_or(scenario.policy.window);
  return {std::move(scenario), {}, law->scope};
}

int PrintDesigned(const std::string& name, const Engine& engine, const Console& console) {
  absl::StatusOr<LoadScenario> scenario = FindDesigned(name, engine);
  if (!scenario.ok()) return Fail(scenario.status(), kExitUsage, console);
  console.out(PrintScenario(WithUsualLaw(*std::move(scenario), engine)));
  return kExitFine;
}

// A law by its name, if it is fit for the scenario.
absl::StatusOr<LawUnderTest> FitLaw(const std::string& name, const ScenarioFile& file,
                                    const Engine& engine, bool suite_first) {
  absl::StatusOr<LawUnderTest> law =
      FindLaw(name, file, engine.suite_laws(file.scenario), suite_first);
  if (!law.ok()) return law;
  LoadScenario scenario = file.scenario;
  if (!law->static_limit) scenario.policy.algorithm = law->algorithm;
  const absl::Status fits = engine.validate(scenario);
  if (fits.ok()) return law;
  return absl::InvalidArgumentError(absl::StrCat("law ", Quoted(name), " in scenario ",
                                                 Quoted(scenario.name), ": ",
                                                 std::string(fits.message())));
}

absl::StatusOr<ScenarioFile> Load(const SimulateOptions& options, const Engine& engine) {
  if (!options.file.empty()) {
    const auto fits = [&](const std::string& law, const ScenarioFile& file) {
      return FitLaw(law, file, engine, false).status();
    };
    return LoadScenarioFile(options.file, {engine.validate, fits});
  }
  absl::StatusOr<LoadScenario> scenario = FindDesigned(options.scenario, engine);
  if (!scenario.ok()) return scenario.status();
  return WithUsualLaw(*std::move(scenario), engine);
}

// The laws that were asked for, each fit for the scenario.
absl::StatusOr<std::vector<LawUnderTest>> ChooseLaws(const SimulateOptions& options,
                                                     const ScenarioFile& file,
                                                     const Engine& engine) {
  const std::vector<std::string>& names = options.laws.empty() ? file.laws : options.laws;
  if (names.empty()) return std::vector<LawUnderTest>{OwnLaw(file)};
  std::vector<LawUnderTest> laws;
  for (const std::string& name : names) {
    absl::StatusOr<LawUnderTest> law = FitLaw(name, file, engine, options.file.empty());
    if (!law.ok()) return law.status();
    laws.push_back(*std::move(law));
  }
  return laws;
}

bool Violated(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    for (const LawOutcome& law : outcome.laws) {
      if (law.quota_violations > 0) return true;
    }
  }
  return false;
}

int Write(const SimulateOptions& options,
          const std::function<std::string(const std::string&)>& text, const Console& console) {
  for (const std::string& path : options.reports) {
    const absl::Status status = WriteFile(path, text(path), std::ios::trunc);
    if (!status.ok()) return Fail(status, kExitFailure, console);
    if (!options.quiet) console.error(absl::StrCat("wrote ", path, "\n"));
  }
  return kExitFine;
}

int RunOne(const SimulateOptions& options, const Engine& engine, const Console& console) {
  absl::StatusOr<ScenarioFile> file = Load(options, engine);
  if (!file.ok()) return Fail(file.status(), kExitUsage, console);
  absl::StatusOr<std::vector<LawUnderTest>> laws = ChooseLaws(options, *file, engine);
  if (!laws.ok()) return Fail(laws.status(), kExitUsage, console);
  Experiment experiment;
  experiment.scenario = file->scenario;
  experiment.laws = *std::move(laws);
  experiment.seed = options.seed;
  experiment.runs = options.runs;
  experiment.compare = options.no_optimum ? Compare::kNothing : Compare::kEveryPhase;
  const std::vector<Outcome> outcomes =
      RunShowingProgress({experiment}, options, !options.reports.empty(), engine, console);
  console.out(options.json ? OutcomeJson(outcomes[0]) : OutcomeText(outcomes[0]));
  const int written = Write(
      options,
      [&](const std::string& path) {
        return absl::EndsWith(path, ".svg") ? OutcomeSvg(outcomes[0]) : OutcomeHtml(outcomes[0]);
      },
      console);
  return Violated(outcomes) ? kExitFailure : written;
}

// "ABC", "A,halved" or one name.
absl::StatusOr<std::vector<LoadScenario>> ChooseScenarios(const std::string& names,
                                                          const Engine& engine) {
  if (names.empty()) return engine.designed();
  std::vector<std::string> parts = absl::StrSplit(names, ',');
  if (parts.size() == 1 && !FindDesigned(names, engine).ok()) {
    parts.clear();
    for (const char letter : names) parts.emplace_back(1, letter);
  }
  std::vector<LoadScenario> chosen;
  for (const std::string& part : parts) {
    absl::StatusOr<LoadScenario> scenario = FindDesigned(part, engine);
    if (!scenario.ok()) return scenario.status();
    chosen.push_back(*std::move(scenario));
  }
  return chosen;
}

// Those of `all` with these names; without names all of them.
absl::StatusOr<std::vector<LawUnderTest>> ChooseSuiteLaws(const std::vector<std::string>& names,
                                                          const std::vector<LawUnderTest>& all) {
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const LawUnderTest& law : all) known.push_back(law.name);
  std::vector<LawUnderTest> chosen;
  for (const std::string& name : names) {
    const auto law = std::find(known.begin(), known.end(), name);
    if (law == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat("no law of the suite is called ", Quoted(name),
                                                     Suggestion(name, known), "; there are ",
                                                     absl::StrJoin(known, ", ")));
    }
    chosen.push_back(all[static_cast<std::size_t>(law - known.begin())]);
  }
  return chosen;
}

absl::Status AddExperiments(const std::vector<LoadScenario>& scenarios,
                            const SimulateOptions& options, const Engine& engine,
                            std::vector<Experiment>& experiments) {
  for (const LoadScenario& scenario : scenarios) {
    absl::StatusOr<std::vector<LawUnderTest>> laws =
        ChooseSuiteLaws(options.laws, engine.suite_laws(scenario));
    if (!laws.ok()) return laws.status();
    experiments.push_back(
        {scenario, *std::move(laws), options.seed, options.runs, Compare::kOverload});
  }
  return absl::OkStatus();
}

std::vector<SuitePart> SplitParts(std::vector<Outcome> outcomes, std::size_t designed,
                                  const SimulateOptions& options) {
  const auto middle = outcomes.begin() + static_cast<std::ptrdiff_t>(designed);
  std::vector<SuitePart> parts;
  parts.push_back({"designed", 0, {outcomes.begin(), middle}});
  if (middle != outcomes.end()) {
    parts.push_back({absl::StrCat("hold-out, made with seed ", options.seed),
                     options.seed,
                     {middle, outcomes.end()}});
  }
  return parts;
}

std::string SuiteText(const std::vector<SuitePart>& parts) {
  std::vector<std::string> texts;
  for (const SuitePart& part : parts) texts.push_back(PartText(part));
  return absl::StrJoin(texts, "\n");
}

int RunSuite(const SimulateOptions& options, const Engine& engine, const Console& console) {
  const absl::StatusOr<std::vector<LoadScenario>> designed =
      ChooseScenarios(options.scenarios, engine);
  if (!designed.ok()) return Fail(designed.status(), kExitUsage, console);
  std::vector<LoadScenario> scenarios = *designed;
  for (LoadScenario& random : engine.hold_out(options.seed, options.hold_out)) {
    scenarios.push_back(std::move(random));
  }
  std::vector<Experiment> experiments;
  const absl::Status added = AddExperiments(scenarios, options, engine, experiments);
  if (!added.ok()) return Fail(added, kExitUsage, console);
  std::vector<Outcome> outcomes = RunShowingProgress(experiments, options, false, engine, console);
  const bool violated = Violated(outcomes);
  const std::vector<SuitePart> parts = SplitParts(std::move(outcomes), designed->size(), options);
  console.out(options.json ? SuiteJson(parts) : SuiteText(parts));
  const int written = Write(
      options, [&](const std::string&) { return SuiteHtml(parts); }, console);
  return violated ? kExitFailure : written;
}

}  // namespace

int Simulate(const std::vector<std::string>& arguments, const Engine& engine,
             const Console& console) {
  const absl::StatusOr<SimulateOptions> options = ParseSimulateOptions(arguments);
  if (!options.ok()) return Fail(options.status(), kExitUsage, console);
  if (options->help) {
    console.out(SimulateUsage());
    return kExitFine;
  }
  if (options->list) return List(engine, console);
  if (!options->print.empty()) return PrintDesigned(options->print, engine, console);
  const absl::Status writable = CheckWritable(options->reports);
  if (!writable.ok()) return Fail(writable, kExitFailure, console);
  return options->suite.empty() ? RunOne(*options, engine, console)
                                : RunSuite(*options, engine, console);
}

}  // namespace plimsoll::cli
