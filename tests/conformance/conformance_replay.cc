// conformance_replay FILE…: replays recorded runs of the reference implementation through the laws
// in reference-exact mode. Prints a line per file: `agrees`, or the first difference.
// Exit status: 0 if all files agree, 1 if one differs, 2 if one cannot be used.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plimsoll/algorithms/algorithm.h"
#include "tests/conformance/replay.h"
#include "tests/conformance/trace.h"

namespace plimsoll {
namespace {

enum ExitStatus { kAgrees = 0, kDiffers = 1, kUnusable = 2 };

ExitStatus ReplayTrace(const Trace& trace) {
  const auto law = MakeAlgorithm(trace.config);
  if (!law.ok()) {
    std::fprintf(stderr, "%s: %s\n", trace.name.c_str(), law.status().ToString().c_str());
    return kUnusable;
  }
  const std::optional<std::string> difference = FirstDifference(trace, **law);
  if (!difference) return kAgrees;
  std::printf("%s: differs: %s\n", trace.name.c_str(), difference->c_str());
  return kDiffers;
}

std::string Summary(const TraceFile& file) {
  std::size_t samples = 0;
  for (const Trace& trace : file.traces) samples += trace.samples.size();
  std::string summary = absl::StrCat(samples, " samples");
  for (const auto& [algorithm, cases] : file.skipped) {
    absl::StrAppend(&summary, "; skipped: ", cases, " cases of ", algorithm);
  }
  return summary;
}

ExitStatus ReplayFile(const std::string& path) {
  const auto file = ReadTraceFile(path);
  if (!file.ok()) {
    std::fprintf(stderr, "%s\n", std::string(file.status().message()).c_str());
    return kUnusable;
  }
  ExitStatus worst = kAgrees;
  for (const Trace& trace : file->traces) worst = std::max(worst, ReplayTrace(trace));
  if (worst == kAgrees) std::printf("%s: agrees (%s)\n", path.c_str(), Summary(*file).c_str());
  return worst;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: conformance_replay FILE...\n");
    return plimsoll::kUnusable;
  }
  int worst = plimsoll::kAgrees;
  for (int i = 1; i < argc; ++i) worst = std::max<int>(worst, plimsoll::ReplayFile(argv[i]));
  return worst;
}
