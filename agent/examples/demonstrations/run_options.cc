#include "agent/examples/demonstrations/run_options.h"

#include <chrono>
#include <cstddef>
#include <iostream>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::demonstrations {
namespace {

bool SetSwitch(RunOptions& options, const std::string& name) {
  if (name == "--help") return options.help = true;
  if (name == "--json") return options.json = true;
  return false;
}

bool SetValue(RunOptions& options, const std::string& name, const std::string& value) {
  if (name == "--seconds") return absl::SimpleAtod(value, &options.seconds);
  return name == "--seed" && absl::SimpleAtoi(value, &options.seed);
}

}  // namespace

absl::StatusOr<RunOptions> ParseRunOptions(const std::vector<std::string>& arguments,
                                           double least_seconds) {
  RunOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (SetSwitch(options, arguments[i])) continue;
    const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (!SetValue(options, arguments[i], value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", arguments[i], "' with '", value, "' is not understood: see --help"));
    }
    ++i;
  }
  if (!options.help && !(options.seconds >= least_seconds && options.seconds <= 3600)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--seconds is ", options.seconds, ": must lie between ", least_seconds, " and 3600"));
  }
  return options;
}

int RunWithOptions(int argc, char** argv, double least_seconds, const std::string& usage,
                   const std::function<absl::StatusOr<Report>(const RunOptions&)>& run) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const absl::StatusOr<RunOptions> options = ParseRunOptions(arguments, least_seconds);
  if (!options.ok()) {
    std::cerr << options.status().message() << '\n' << usage;
    return 2;
  }
  if (options->help) {
    std::cout << usage;
    return 0;
  }
  const absl::StatusOr<Report> report = run(*options);
  if (!report.ok()) {
    std::cerr << report.status().message() << '\n';
    return 1;
  }
  std::cout << (options->json ? report->Json() : report->Text());
  return report->holds() ? 0 : 1;
}

void SleepUntil(Instant at) {
  const absl::Duration left = at - RealClock().Now();
  if (left > absl::ZeroDuration()) std::this_thread::sleep_for(absl::ToChronoNanoseconds(left));
}

}  // namespace plimsoll::demonstrations
