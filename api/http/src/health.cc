#include "api/http/src/health.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace plimsoll::internal {
namespace {

struct Check {
  std::string name;
  bool ok;
  bool decides = true;  // false: shown only
  std::string note = {};
};

HealthReport Report(const std::string& what, const std::vector<Check>& checks, bool verbose,
                    const std::string& exclude) {
  HealthReport report;
  std::string lines;
  for (const Check& check : checks) {
    if (check.name == exclude) {
      absl::StrAppend(&lines, "[ ]", check.name, " excluded\n");
      continue;
    }
    const char* mark = !check.decides ? "[~]" : check.ok ? "[+]" : "[-]";
    const std::string note = check.note.empty() ? "" : absl::StrCat(": ", check.note);
    absl::StrAppend(&lines, mark, check.name, check.ok ? " ok" : " failed", note, "\n");
    report.ok = report.ok && (check.ok || !check.decides);
  }
  absl::StrAppend(&lines, what, " check ", report.ok ? "passed\n" : "failed\n");
  // Who asks without `verbose` learns the reasons when it fails.
  report.text = report.ok && !verbose ? "ok\n" : lines;
  return report;
}

}  // namespace

HealthReport CheckLive(bool verbose) { return Report("livez", {{"ping", true}}, verbose, ""); }

HealthReport CheckReady(const HealthInput& input, bool verbose, const std::string& exclude) {
  const std::vector<Check> checks = {{"ping", !input.shutting_down},
                                     {"config", true},
                                     {"state", true},
                                     {"store", input.store_ok},
                                     {"leader", input.leader_known},
                                     {"learning", true, false, input.learning}};
  return Report("readyz", checks, verbose, exclude);
}

}  // namespace plimsoll::internal
