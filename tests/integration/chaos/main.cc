// Chaos with real processes. README.md tells what it does to them.

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "tests/integration/chaos/network.h"
#include "tests/integration/chaos/run.h"
#include "tests/integration/chaos/world.h"

namespace plimsoll::chaos {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;
constexpr int kInterrupted = 130;
constexpr double kShortestSeconds = 25;
constexpr int kSeveralMax = 7;
// What CTest takes for a test that was skipped.
constexpr int kSkipped = 77;

constexpr char kUsage[] =
    "usage: plimsoll_chaos [--seconds N] [--seed S] [--json] [--keep-logs DIR] [--no-network]\n"
    "\n"
    "  --seconds N      length of the run (default 60), at least 25\n"
    "  --seed S         which faults, and when (default 1)\n"
    "  --json           the result as one JSON object\n"
    "  --keep-logs DIR  logs, state and trace go to a new folder there, and stay\n"
    "  --no-network     only faults that need no network namespaces\n"
    "  --controllers N  how many; several need --etcd (default 1)\n"
    "  --etcd M         members of the etcd that elects one of them (default 0), at least 3\n"
    "  --slow-election  etcd elects when leases have ended: this run must fail\n"
    "  --careless-provider  it ignores call deadlines: this run must fail\n"
    "\n"
    "The trace goes to standard error, the result to standard output. Exit status: 0 passed,\n"
    "1 failed or did not start, 2 usage, 77 there is no etcd, 130 interrupted.\n";

struct Options {
  RunOptions run;
  bool network = true;
  bool json = false;
  bool help = false;
  std::string logs;
};

bool SetSwitch(Options& options, const std::string& name) {
  if (name == "--json") return options.json = true;
  if (name == "--help") return options.help = true;
  if (name == "--slow-election") return options.run.slow_election = true;
  if (name == "--careless-provider") return options.run.careless_provider = true;
  if (name != "--no-network") return false;
  options.network = false;
  options.run.no_network_because = name;
  return true;
}

bool SetValue(Options& options, const std::string& name, const std::string& value) {
  if (name == "--keep-logs") options.logs = value;
  if (name == "--seconds") return absl::SimpleAtod(value, &options.run.seconds);
  if (name == "--seed") return absl::SimpleAtoi(value, &options.run.seed);
  if (name == "--controllers") return absl::SimpleAtoi(value, &options.run.controllers);
  if (name == "--etcd") return absl::SimpleAtoi(value, &options.run.members);
  return name == "--keep-logs";
}

std::optional<Options> Parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (SetSwitch(options, arguments[i])) continue;
    if (i + 1 == arguments.size() || !SetValue(options, arguments[i], arguments[i + 1])) {
      return std::nullopt;
    }
    ++i;
  }
  if (!(options.run.seconds >= kShortestSeconds)) return std::nullopt;
  const RunOptions& run = options.run;
  const bool one = run.controllers == 1 && run.members == 0 && !run.slow_election;
  const bool several = run.controllers >= 2 && run.controllers <= kSeveralMax && run.members >= 3 &&
                       run.members <= kSeveralMax;
  if (!one && !several) return std::nullopt;
  return options;
}

absl::StatusOr<std::unique_ptr<ChaosNetwork>> MakeNetwork(const RunOptions& options) {
  absl::Status status = LeaveTheNetwork();
  if (!status.ok()) return status;
  return ChaosNetwork::Make(PlacesFor(options.controllers, options.members), options.seed);
}

// Null if there can be none, which is said loudly.
std::unique_ptr<ChaosNetwork> MakeNetworkIfPossible(RunOptions& options) {
  absl::StatusOr<std::unique_ptr<ChaosNetwork>> network = MakeNetwork(options);
  if (network.ok()) return *std::move(network);
  options.no_network_because = std::string(network.status().message());
  std::fprintf(stderr,
               "plimsoll_chaos: NO NETWORK FAULTS, only kills, pauses, surges and quota changes:\n"
               "  %s\n  run it as root, or where users may have network namespaces\n",
               options.no_network_because.c_str());
  return nullptr;
}

int Show(const Options& options, const absl::StatusOr<Result>& result) {
  if (!result.ok()) {
    std::fprintf(stderr, "plimsoll_chaos: %s\n", std::string(result.status().message()).c_str());
    return absl::IsCancelled(result.status()) ? kInterrupted : kFailed;
  }
  std::fputs((options.json ? ToJson(*result) + "\n" : ToText(*result)).c_str(), stdout);
  if (options.json) {
    for (const std::string& line : result->breach) std::fprintf(stderr, "%s\n", line.c_str());
  }
  return Complaints(*result).empty() ? 0 : kFailed;
}

int Main(const std::vector<std::string>& arguments) {
  std::optional<Options> options = Parse(arguments);
  if (!options || options->help) {
    std::fputs(kUsage, options ? stdout : stderr);
    return options ? 0 : kUsageError;
  }
  if (options->run.members > 0 && EtcdProgram().empty()) {
    std::fputs("plimsoll_chaos: there is no etcd: install etcd-server, as .ci/setup does\n",
               stderr);
    return kSkipped;
  }
  const demo::TemporaryFolder temporary;
  RunOptions& run = options->run;
  run.folder = temporary.path();
  if (!options->logs.empty()) {
    run.keep_logs = true;
    run.folder =
        std::filesystem::absolute(absl::StrCat(options->logs, "/chaos-", run.seed, "-", getpid()));
    std::error_code ignored;
    std::filesystem::create_directories(run.folder, ignored);
  }
  std::ofstream trace(run.folder + "/trace.txt");
  run.trace = [&](const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
    trace << line << std::endl;
  };
  run.programs = demo::OwnFolder();
  std::unique_ptr<ChaosNetwork> network;
  if (options->network) network = MakeNetworkIfPossible(run);
  run.network = network.get();
  CatchSignals();
  return Show(*options, Run(run));
}

}  // namespace
}  // namespace plimsoll::chaos

int main(int argc, char** argv) {
  return plimsoll::chaos::Main(std::vector<std::string>(argv + 1, argv + argc));
}
