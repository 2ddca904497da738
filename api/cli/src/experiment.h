#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/cli/src/engine.h"

namespace plimsoll::cli {

// Which phases are held against their optimum.
enum class Compare {
  kNothing,
  kOverload,  // those that offer more than the dependency can do
  kEveryPhase,
};

// A scenario, lived under several laws with several seeds.
struct Experiment {
  LoadScenario scenario;
  std::vector<LawUnderTest> laws;
  std::uint64_t seed = 1000;  // of the first run; each further one has the next
  int runs = 1;
  Compare compare = Compare::kEveryPhase;
};

// A phase under one law: means over the runs.
struct PhaseOutcome {
  PhaseResult result;
  std::optional<PhaseScore> score;  // converged: in every run
};

struct LawOutcome {
  std::string law;
  std::vector<PhaseOutcome> phases;
  std::int64_t quota_violations = 0;  // of all runs
  Calls in_flight_max = 0;            // likewise
  std::int64_t calls = 0;             // likewise
  std::int64_t messages = 0;
  std::int64_t grants = 0;
  // The first run as it was, decisions left out unless they are to be kept.
  LoadRun first;
};

struct Outcome {
  LoadScenario scenario;
  std::uint64_t seed = 0;
  int runs = 0;
  std::vector<std::optional<Optimum>> optima;  // by phase; nothing where none was asked for
  std::vector<bool> overload;                  // by phase
  std::vector<LawOutcome> laws;                // in the order of the experiment
};

struct ExperimentOptions {
  int jobs = 1;
  bool keep_decisions = false;
  // Number of pieces of work, before it begins; then how far each of them is. May be empty, and
  // `report` is called from several threads.
  std::function<void(std::size_t jobs)> begin;
  std::function<void(std::size_t job, double share)> report;
};

// Runs all of them. The result does not depend on the number of jobs.
std::vector<Outcome> RunExperiments(const std::vector<Experiment>& experiments,
                                    const Engine& engine, const ExperimentOptions& options);

}  // namespace plimsoll::cli
