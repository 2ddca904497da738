// The laws side by side with real processes: one controller and one provider for each law, and
// replicas that call the provider over HTTP. README.md tells how to read the figures.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/setup.h"
#include "agent/examples/demo/temporary_folder.h"
#include "tests/bench/law_load.h"
#include "tests/bench/process_usage.h"
#include "tests/bench/worker_pool_provider.h"

namespace plimsoll::bench {
namespace {

constexpr int kStartPolls = 500;
constexpr absl::Duration kStartPoll = absl::Milliseconds(10);
// A call is answered at the latest when all of the quota were before it, with half of the workers.
constexpr absl::Duration kCallDeadline = absl::Seconds(5);

struct Options {
  std::string laws = "aimd,gradient2,fleet_knee,fixed";
  int phase_seconds = 15;
  int workers = 16;
  int service_ms = 40;
  int deadline_ms = 120;
  int replicas = 6;
  int quota = 200;
  int initial = 40;
  int seed = 1;
  bool json = false;
  bool is_provider = false;
  std::string controller = demo::OwnFolder() + "/plimsoll-controller";

  double Capacity(int of_workers) const { return of_workers * 1000.0 / service_ms; }
};

struct Phase {
  std::string name;
  double load;  // of the full capacity
  int workers;
};

struct PhaseResult {
  Phase phase;
  PhaseFigures figures;
};

struct LawResult {
  std::string law;
  std::vector<PhaseResult> phases;
  // CPU, in cores.
  double load_cores = 0;
  double provider_cores = 0;
  double controller_cores = 0;
};

std::vector<Phase> Phases(const Options& options) {
  const int half = std::max(1, options.workers / 2);
  return {{"0.6x", 0.6, options.workers},
          {"2x", 2, options.workers},
          {"2x, capacity halved", 2, half},
          {"2x, restored", 2, options.workers}};
}

// All laws get the same policy; `fixed` stays at the quota.
std::string Config(const Options& options, const std::string& law) {
  return absl::StrFormat(
      "agents: {lease: 10s, hold_max: 1s}\n"
      "dependencies:\n"
      "  - {name: %s, scope: fleet, algorithm: %s, aimd: {latency_threshold: %dms}, floor: 1,\n"
      "     ceiling: %d, initial: %d, call_deadline: %s, quota: {capacity: %d}}\n",
      demo::kDependency, law, options.deadline_ms, options.quota,
      law == "fixed" ? options.quota : options.initial, absl::FormatDuration(kCallDeadline),
      options.quota);
}

// Starts the provider, a process of its own, and puts its port in `port`.
absl::StatusOr<std::unique_ptr<demo::ChildProcess>> StartProvider(const Options& options,
                                                                  int& port) {
  absl::StatusOr<std::unique_ptr<demo::ChildProcess>> process = demo::ChildProcess::Start(
      {demo::OwnFolder() + "/law_comparison", "--provider", "--workers",
       absl::StrCat(options.workers), "--service-ms", absl::StrCat(options.service_ms)});
  if (!process.ok()) return process.status();
  for (int i = 0; i < kStartPolls && !(*process)->WaitFor(kStartPoll); ++i) {
    const std::vector<std::string> lines = (*process)->TakeLines();
    if (!lines.empty() && absl::SimpleAtoi(lines[0], &port)) return process;
  }
  return absl::UnavailableError("the provider did not start");
}

// What a limit that is right could let through: what arrives, up to the capacity.
double Possible(const Options& options, const PhaseResult& result) {
  return std::min(static_cast<double>(result.figures.arrived) / result.figures.seconds,
                  options.Capacity(result.phase.workers));
}
double Goodput(const PhaseResult& result) {
  return static_cast<double>(result.figures.good) / result.figures.seconds;
}
double Share(const Options& options, const PhaseResult& result) {
  return Goodput(result) / std::max(1e-9, Possible(options, result));
}
double RejectedPerSecond(const PhaseResult& result) {
  return static_cast<double>(result.figures.rejected) / result.figures.seconds;
}
double P99Milliseconds(const PhaseResult& result) {
  return absl::ToDoubleMilliseconds(result.figures.latency.Quantile(0.99));
}

absl::Status CheckPhase(const Options& options, const PhaseResult& result,
                        demo::ControllerProcess& controller, demo::ChildProcess& provider) {
  if (!controller.Running()) return absl::AbortedError("the controller has ended");
  if (!provider.Running()) return absl::AbortedError("the provider has ended");
  if (result.figures.failed > 0) {
    return absl::AbortedError(absl::StrCat(result.figures.failed, " calls were not answered"));
  }
  if (result.figures.in_flight_max <= options.quota) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat("the provider counted ", result.figures.in_flight_max,
                                         " calls in flight, and the quota is ", options.quota));
}

absl::Status RunPhases(const Options& options, demo::ControllerProcess& controller,
                       demo::ChildProcess& provider, LawLoad& load, LawResult& result) {
  const double load_before = UsageOf(getpid()).cpu_seconds;
  for (const Phase& phase : Phases(options)) {
    if (!options.json) std::fprintf(stderr, "%s: %s\n", result.law.c_str(), phase.name.c_str());
    result.phases.push_back({phase, {}});
    PhaseResult& latest = result.phases.back();
    absl::Status status =
        load.RunPhase(phase.workers, phase.load * options.Capacity(options.workers),
                      absl::Seconds(options.phase_seconds), latest.figures);
    if (status.ok()) status = CheckPhase(options, latest, controller, provider);
    if (!status.ok()) return status;
  }
  const double seconds = 1.0 * options.phase_seconds * static_cast<double>(result.phases.size());
  result.load_cores = (UsageOf(getpid()).cpu_seconds - load_before) / seconds;
  result.provider_cores = UsageOf(provider.pid()).cpu_seconds / seconds;
  result.controller_cores = UsageOf(controller.pid()).cpu_seconds / seconds;
  return absl::OkStatus();
}

absl::StatusOr<LawResult> RunLaw(const Options& options, const std::string& law) {
  const demo::TemporaryFolder folder;
  demo::ControllerProcess controller(options.controller, folder.path(), Config(options, law));
  absl::Status status = controller.Start();
  if (!status.ok()) return status;
  int port = 0;
  const absl::StatusOr<std::unique_ptr<demo::ChildProcess>> provider = StartProvider(options, port);
  if (!provider.ok()) return provider.status();
  LawLoad load({options.replicas, controller.agent_port(), port,
                absl::Milliseconds(options.deadline_ms), static_cast<std::uint64_t>(options.seed)});
  status = load.Start();
  LawResult result;
  result.law = law;
  if (status.ok()) status = RunPhases(options, controller, **provider, load, result);
  if (!status.ok()) return status;
  return result;
}

std::string PhaseLine(const Options& options, const std::string& law, const PhaseResult& result) {
  return absl::StrFormat("| %-10s | %-19s | %9.0f | %5.2f | %7.0f | %10.1f | %9d | %10.0f |\n", law,
                         result.phase.name, Goodput(result), Share(options, result),
                         P99Milliseconds(result), result.figures.mean_limit,
                         result.figures.in_flight_max, RejectedPerSecond(result));
}

std::string Setup(const Options& options) {
  return absl::StrFormat(
      "%d workers of %d ms (%.0f calls/s), halved to %d; callers wait %d ms; %d replicas, quota "
      "%d,\nlimits start at %d, those of `fixed` at the quota; phases of %d s, seed %d\n\n",
      options.workers, options.service_ms, options.Capacity(options.workers),
      std::max(1, options.workers / 2), options.deadline_ms, options.replicas, options.quota,
      options.initial, options.phase_seconds, options.seed);
}

std::string SideBySide(const Options& options, const std::vector<LawResult>& laws) {
  std::string text = "| share of the possible |";
  for (const LawResult& law : laws) absl::StrAppend(&text, " ", law.law, " |");
  absl::StrAppend(&text, "\n|---|");
  for (std::size_t i = 0; i < laws.size(); ++i) absl::StrAppend(&text, "---|");
  absl::StrAppend(&text, "\n");
  for (std::size_t i = 0; i < laws[0].phases.size(); ++i) {
    absl::StrAppendFormat(&text, "| %-21s |", laws[0].phases[i].phase.name);
    for (const LawResult& law : laws) {
      absl::StrAppendFormat(&text, " %.2f |", Share(options, law.phases[i]));
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

std::string Text(const Options& options, const std::vector<LawResult>& laws) {
  std::string text = Setup(options);
  absl::StrAppend(&text,
                  "| law        | load                | goodput/s | share | p99, ms | mean limit | "
                  "in flight | rejected/s |\n|---|---|---|---|---|---|---|---|\n");
  for (const LawResult& law : laws) {
    for (const PhaseResult& phase : law.phases) {
      absl::StrAppend(&text, PhaseLine(options, law.law, phase));
    }
  }
  absl::StrAppend(&text, "\n", SideBySide(options, laws), "\nCPU in cores:\n");
  for (const LawResult& law : laws) {
    absl::StrAppendFormat(&text, "  %-10s replicas %.2f, provider %.2f, controller %.2f\n", law.law,
                          law.load_cores, law.provider_cores, law.controller_cores);
  }
  return text;
}

std::string Json(const Options& options, const std::vector<LawResult>& laws) {
  std::vector<std::string> entries;
  for (const LawResult& law : laws) {
    std::vector<std::string> phases;
    for (const PhaseResult& phase : law.phases) {
      phases.push_back(absl::StrFormat(
          R"({"load":"%s","capacity":%.1f,"seconds":%.2f,"arrived":%d,"good":%d,"late":%d,)"
          R"("rejected":%d,"goodput_per_second":%.1f,"share":%.4f,"p99_ms":%.2f,)"
          R"("mean_limit":%.2f,"in_flight_max":%d})",
          phase.phase.name, options.Capacity(phase.phase.workers), phase.figures.seconds,
          phase.figures.arrived, phase.figures.good, phase.figures.late, phase.figures.rejected,
          Goodput(phase), Share(options, phase), P99Milliseconds(phase), phase.figures.mean_limit,
          phase.figures.in_flight_max));
    }
    entries.push_back(absl::StrFormat(
        R"({"law":"%s","load_cores":%.3f,"provider_cores":%.3f,"controller_cores":%.3f,)"
        R"("phases":[%s]})",
        law.law, law.load_cores, law.provider_cores, law.controller_cores,
        absl::StrJoin(phases, ",")));
  }
  return absl::StrFormat(
      R"({"workers":%d,"service_ms":%d,"deadline_ms":%d,"replicas":%d,"quota":%d,"initial":%d,)"
      R"("phase_seconds":%d,"seed":%d,"laws":[%s]})"
      "\n",
      options.workers, options.service_ms, options.deadline_ms, options.replicas, options.quota,
      options.initial, options.phase_seconds, options.seed, absl::StrJoin(entries, ","));
}

int Run(const Options& options) {
  if (options.is_provider) {
    return RunWorkerPoolProvider(options.workers, absl::Milliseconds(options.service_ms));
  }
  std::vector<LawResult> results;
  const std::vector<std::string> laws = absl::StrSplit(options.laws, ',');
  for (const std::string& law : laws) {
    absl::StatusOr<LawResult> result = RunLaw(options, law);
    if (!result.ok()) {
      std::fprintf(stderr, "law_comparison: %s: %s\n", law.c_str(),
                   std::string(result.status().message()).c_str());
      return 1;
    }
    results.push_back(*std::move(result));
  }
  std::fputs((options.json ? Json(options, results) : Text(options, results)).c_str(), stdout);
  return 0;
}

bool SetOption(Options& options, const std::string& name, const std::string& value) {
  if (name == "--controller" || name == "--laws") {
    (name == "--laws" ? options.laws : options.controller) = value;
    return true;
  }
  const std::map<std::string, int*> numbers = {{"--phase-seconds", &options.phase_seconds},
                                               {"--workers", &options.workers},
                                               {"--service-ms", &options.service_ms},
                                               {"--deadline-ms", &options.deadline_ms},
                                               {"--replicas", &options.replicas},
                                               {"--quota", &options.quota},
                                               {"--initial", &options.initial},
                                               {"--seed", &options.seed}};
  const auto number = numbers.find(name);
  return number != numbers.end() && absl::SimpleAtoi(value, number->second) && *number->second >= 1;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  plimsoll::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--json" || name == "--provider") {
      (name == "--json" ? options.json : options.is_provider) = true;
    } else if (i + 1 == argc || !plimsoll::bench::SetOption(options, name, argv[i + 1])) {
      std::fprintf(stderr,
                   "usage: law_comparison [--laws LAW,...] [--phase-seconds S] [--workers C]\n"
                   "                      [--service-ms MS] [--deadline-ms MS] [--replicas N]\n"
                   "                      [--quota Q] [--initial L] [--seed S] [--json]\n"
                   "                      [--controller PATH]\n");
      return 2;
    } else {
      ++i;
    }
  }
  return plimsoll::bench::Run(options);
}
