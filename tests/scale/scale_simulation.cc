// Simulates a fleet of controllers, and prints what it came to.

#include <ctime>

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "tests/scale/report.h"
#include "tests/scale/simulation.h"

namespace plimsoll::scale {
namespace {

constexpr std::string_view kUsage =
    "usage: scale_simulation [--NAME VALUE]... [--json] [--measure]\n"
    "  --controllers N --agents N --dependencies N --shards N   100, 100000, 1000, 256\n"
    "  --per-agent N             an agent uses 1 to N dependencies; 3\n"
    "  --popularity X            exponent of Zipf's law; 0.6. 0: all alike\n"
    "  --demand-every S          seconds from one change of demand to the next, mean; 30\n"
    "  --seconds S               of virtual time; 120\n"
    "  --ramp S                  within which the agents start; 10\n"
    "  --lease S                 of a limit; 10\n"
    "  --hold S                  how long a sync may be held, at most a tenth of the lease; 1\n"
    "  --seed N                  1\n"
    "  --failures KIND           none, rolling, zone or crash; none\n"
    "  --failures-per-minute X   of all controllers, with crash; 30\n"
    "  --confirm-gather S        how long a confirmation waits for more syncs; 0\n"
    "  --etcd-requests-per-second X   how far behind an etcd would fall that does so many\n"
    "  --sample N                only so many shards, and counts as if it had been all\n"
    "  --threads N               1\n"
    "  --measure                 how long the core takes: CPU time, differs from run to run\n"
    "  --json                    one object\n"
    "exit status: 0 the quotas were kept, 1 they were not, 2 bad arguments\n";

std::int64_t CpuNanoseconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

bool ParseFailures(std::string_view name, Failures& failures) {
  static const std::map<std::string_view, Failures> kKinds = {{"none", Failures::kNone},
                                                              {"rolling", Failures::kRolling},
                                                              {"zone", Failures::kZone},
                                                              {"crash", Failures::kCrash}};
  const auto found = kKinds.find(name);
  if (found == kKinds.end()) return false;
  failures = found->second;
  return true;
}

bool ParseInt(std::string_view name, const std::string& text, Options& options) {
  const std::map<std::string_view, int*> numbers = {{"--controllers", &options.controllers},
                                                    {"--agents", &options.agents},
                                                    {"--dependencies", &options.dependencies},
                                                    {"--shards", &options.shards},
                                                    {"--per-agent", &options.per_agent},
                                                    {"--sample", &options.sample},
                                                    {"--threads", &options.threads}};
  const auto found = numbers.find(name);
  return found != numbers.end() && absl::SimpleAtoi(text, found->second);
}

bool ParseReal(std::string_view name, const std::string& text, Options& options) {
  const std::map<std::string_view, double*> numbers = {
      {"--popularity", &options.popularity},
      {"--failures-per-minute", &options.failures_per_minute},
      {"--etcd-requests-per-second", &options.etcd_requests_per_second}};
  const std::map<std::string_view, absl::Duration*> durations = {
      {"--demand-every", &options.demand_every},
      {"--seconds", &options.length},
      {"--ramp", &options.ramp},
      {"--hold", &options.hold_max},
      {"--lease", &options.lease},
      {"--confirm-gather", &options.confirm_gather}};
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !(number >= 0)) return false;
  if (const auto found = numbers.find(name); found != numbers.end()) {
    *found->second = number;
    return true;
  }
  const auto found = durations.find(name);
  if (found == durations.end()) return false;
  *found->second = absl::Seconds(number);
  return true;
}

bool ParseOne(std::string_view name, const std::string& value, Options& options) {
  if (name == "--failures") return ParseFailures(value, options.failures);
  if (name == "--seed") return absl::SimpleAtoi(value, &options.seed);
  return ParseInt(name, value, options) || ParseReal(name, value, options);
}

bool Parse(int argc, char** argv, Options& options, bool& json) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--json") {
      json = true;
    } else if (name == "--measure") {
      options.stopwatch = CpuNanoseconds;
    } else if (i + 1 >= argc || !ParseOne(name, argv[++i], options)) {
      return false;
    }
  }
  return true;
}

int Main(int argc, char** argv) {
  Options options;
  bool json = false;
  if (!Parse(argc, argv, options, json)) {
    absl::FPrintF(stderr, "%s", kUsage);
    return 2;
  }
  if (const absl::Status valid = Validate(options); !valid.ok()) {
    absl::FPrintF(stderr, "scale_simulation: %s\n", std::string(valid.message()));
    return 2;
  }
  const Figures figures = Simulate(options);
  const std::vector<Line> lines = Report(options, figures, SampledPart(options));
  absl::PrintF("%s", json ? AsJson(lines) : AsText(lines));
  if (figures.violations == 0) return 0;
  absl::FPrintF(stderr, "the first violation: %s\n", figures.first_violation);
  return 1;
}

}  // namespace
}  // namespace plimsoll::scale

int main(int argc, char** argv) { return plimsoll::scale::Main(argc, argv); }
