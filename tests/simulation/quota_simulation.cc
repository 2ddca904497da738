// Runs the deterministic simulation over many seeds, or shows one of them.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "controller/simulation/src/fleet.h"
#include "plimsoll/simulation/fleet_simulator.h"
#include "plimsoll/simulation/scenario.h"
#include "tests/simulation/mutants.h"

namespace plimsoll {
namespace {

using internal::Mutant;

constexpr std::string_view kUsage =
    "usage: quota_simulation [--scenario NAME] [--runs N] [--seed S] [--trace] [--json]\n"
    "       quota_simulation --mutants [--mutant NAME] [--runs N]\n"
    "       quota_simulation --mutant NAME [--seed S]\n"
    "  --scenario NAME  one kind of day, see controller/simulation/README.md; all by default\n"
    "  --runs N         seeds S to S + N - 1; 20 by default\n"
    "  --seed S         the first seed; 1 by default\n"
    "  --trace          one run, message by message, up to the first violation\n"
    "  --json           one object per scenario and line\n"
    "  --mutants        the protocol without one of its rules each: which seed breaks what\n"
    "  --mutant NAME    the trace of one of them; with --mutants only this one\n"
    "exit status: 0 all invariants held (--mutants: all were caught), 1 not so, 2 bad arguments\n";

struct Arguments {
  std::string scenario;
  std::uint64_t runs = 20;
  std::uint64_t seed = 1;
  bool trace = false;
  bool json = false;
  bool mutants = false;
  std::string mutant;
};

const Mutant* FindMutant(std::string_view name) {
  for (const Mutant& mutant : internal::Mutants()) {
    if (mutant.name == name) return &mutant;
  }
  return nullptr;
}

bool ParseNumber(std::string_view text, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const bool more = i + 1 < argc;
    if (name == "--trace") {
      arguments.trace = true;
    } else if (name == "--json") {
      arguments.json = true;
    } else if (name == "--mutants") {
      arguments.mutants = true;
    } else if (name == "--mutant" && more) {
      arguments.mutant = argv[++i];
    } else if (name == "--scenario" && more) {
      arguments.scenario = argv[++i];
    } else if (name == "--runs" && more) {
      if (!ParseNumber(argv[++i], arguments.runs)) return false;
    } else if (name == "--seed" && more) {
      if (!ParseNumber(argv[++i], arguments.seed)) return false;
    } else {
      return false;
    }
  }
  return (arguments.scenario.empty() || FindScenario(arguments.scenario).has_value()) &&
         (arguments.mutant.empty() || FindMutant(arguments.mutant) != nullptr);
}

struct Summary {
  std::string scenario;
  std::uint64_t runs = 0;
  std::array<std::uint64_t, kInvariants> broken{};  // runs in which it did not hold
  Calls limits_max = 0;
  Calls in_flight_max = 0;
  std::int64_t reserved_max = 0;
  double usable_share = 0;
  absl::Duration starved_max;
  std::int64_t sessions_max = 0;
  std::int64_t events = 0;
  EtcdCounts etcd;
  TemplateCounts templates;
  bool failed = false;
  SimulationResult first_failure;

  void Add(const SimulationResult& result) {
    ++runs;
    for (std::size_t i = 0; i < kInvariants; ++i) broken[i] += result.violations[i] > 0 ? 1 : 0;
    limits_max = std::max(limits_max, result.limits_max);
    in_flight_max = std::max(in_flight_max, result.in_flight_max);
    reserved_max = std::max(reserved_max, result.reserved_max);
    usable_share += (result.usable_share - usable_share) / static_cast<double>(runs);
    starved_max = std::max(starved_max, result.starved_max);
    sessions_max = std::max(sessions_max, result.sessions_max);
    events += result.events;
    etcd += result.etcd;
    templates += result.templates;
    if (!result.ok() && !failed) {
      failed = true;
      first_failure = result;
    }
  }
};

Summary Run(const Scenario& scenario, const Arguments& arguments) {
  Summary summary;
  summary.scenario = scenario.name;
  for (std::uint64_t i = 0; i < arguments.runs; ++i) {
    summary.Add(Simulate(scenario, arguments.seed + i));
  }
  return summary;
}

void PrintEtcd(const EtcdCounts& c) {
  absl::PrintF("           reigns %d  take-overs failed %d, unknown %d  leases ended %d", c.reigns,
               c.takes_failed, c.unknown_takes, c.leases_ended);
  absl::PrintF("  pages %d, compacted %d  writes %d, batches split %d\n", c.pages,
               c.compacted_pages, c.writes, c.split_batches);
  absl::PrintF("           no answer: had landed %d, had not %d, landed later %d, refused later %d",
               c.unknown_landed, c.unknown_open, c.landed_late, c.refused_late);
  absl::PrintF("  refused again %d  stale writes %d, confirmations %d, answers %d\n",
               c.refused_again, c.stale_writes, c.stale_confirms, c.stale_answers);
}

void PrintTemplates(const TemplateCounts& c) {
  absl::PrintF("           templates: policies made %d, forgotten %d", c.made, c.forgotten);
  absl::PrintF("  found for inherited reservations %d  lost stores %d\n", c.inherited, c.learning);
}

void PrintText(const Summary& s) {
  absl::PrintF("%-10s runs %d  broken I1 %d I2 %d I3 %d I4 %d", s.scenario, s.runs, s.broken[0],
               s.broken[1], s.broken[2], s.broken[3]);
  absl::PrintF("  largest sums: limits %d, in flight %d, reservations %d", s.limits_max,
               s.in_flight_max, s.reserved_max);
  absl::PrintF("  usable share %.3f  starved at most %.1f s  sessions at most %d\n", s.usable_share,
               absl::ToDoubleSeconds(s.starved_max), s.sessions_max);
  if (s.etcd.reigns > 0) PrintEtcd(s.etcd);
  if (s.templates.made > 0) PrintTemplates(s.templates);
  if (!s.failed) return;
  absl::PrintF("         first failing seed %d: %s\n", s.first_failure.seed,
               s.first_failure.first_violation);
}

void PrintJson(const Summary& s) {
  absl::PrintF(
      "{\"scenario\":\"%s\",\"runs\":%d,\"violations\":{\"i1\":%d,\"i2\":%d,\"i3\":%d,"
      "\"i4\":%d},\"limits_max\":%d,\"in_flight_max\":%d,\"reserved_max\":%d,"
      "\"usable_share\":%.4f,\"starved_max_seconds\":%.2f,\"sessions_max\":%d,\"events\":%d,"
      "\"first_failing_seed\":%s}\n",
      s.scenario, s.runs, s.broken[0], s.broken[1], s.broken[2], s.broken[3], s.limits_max,
      s.in_flight_max, s.reserved_max, s.usable_share, absl::ToDoubleSeconds(s.starved_max),
      s.sessions_max, s.events, s.failed ? absl::StrFormat("%d", s.first_failure.seed) : "null");
}

bool PrintTrace(const SimulationResult& result) {
  for (const std::string& line : result.trace) absl::PrintF("%s\n", line);
  return result.ok();
}

bool PrintMutantTrace(const Mutant& mutant, std::uint64_t seed) {
  const auto sabotage = mutant.make();
  const Scenario scenario = *FindScenario(mutant.scenario);
  return PrintTrace(internal::SimulateUntilBroken(scenario, seed, *sabotage, /*traced=*/true));
}

bool PrintMutants(std::string_view name, std::uint64_t runs) {
  bool all = true;
  for (const Mutant& mutant : internal::Mutants()) {
    if (!name.empty() && mutant.name != name) continue;
    const std::optional<SimulationResult> caught = internal::Catch(mutant, runs);
    all = all && caught.has_value();
    absl::PrintF("%-4s %-26s %-8s ", mutant.rule, mutant.name, mutant.scenario);
    if (caught) {
      absl::PrintF("seed %d %s\n", caught->seed, caught->first_violation);
    } else {
      absl::PrintF("not caught in %d runs\n", runs);
    }
    std::fflush(stdout);
  }
  return all;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    absl::FPrintF(stderr, "%s", kUsage);
    return 2;
  }
  if (arguments.mutants) return PrintMutants(arguments.mutant, arguments.runs) ? 0 : 1;
  if (!arguments.mutant.empty()) {
    return PrintMutantTrace(*FindMutant(arguments.mutant), arguments.seed) ? 0 : 1;
  }
  bool ok = true;
  for (const Scenario& scenario : Scenarios()) {
    if (!arguments.scenario.empty() && scenario.name != arguments.scenario) continue;
    if (arguments.trace) return PrintTrace(Simulate(scenario, arguments.seed, true)) ? 0 : 1;
    const Summary summary = Run(scenario, arguments);
    arguments.json ? PrintJson(summary) : PrintText(summary);
    std::fflush(stdout);
    ok = ok && !summary.failed;
  }
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) { return plimsoll::Main(argc, argv); }
