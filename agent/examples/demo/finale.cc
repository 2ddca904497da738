#include "agent/examples/demo/finale.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/examples/demo/child_process.h"
#include "agent/examples/demo/setup.h"

namespace plimsoll::demo {
namespace {

constexpr absl::Duration kAnswerTimeout = absl::Seconds(10);

// What the command prints, below the command as a user would type it.
absl::StatusOr<std::string> Say(const Places& places, std::vector<std::string> words) {
  std::string text = absl::StrCat("\n$ plimsoll ", absl::StrJoin(words, " "), "\n");
  words.insert(words.begin(), places.cli);
  words.insert(words.end(), {"--addr", places.api_url});
  const absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(words);
  if (!process.ok()) return process.status();
  const bool ended = (*process)->WaitFor(kAnswerTimeout);
  const std::vector<std::string> lines = (*process)->TakeLines();
  if (!ended || (*process)->exit_code() != 0) {
    return absl::UnavailableError(absl::StrCat(absl::StrJoin(words, " "), " failed"));
  }
  for (const std::string& line : lines) {
    absl::StrAppend(&text, line.empty() ? "" : "  ", line, "\n");
  }
  return text;
}

}  // namespace

const Replica& MostRefused(const std::vector<Replica>& replicas) {
  return *std::max_element(replicas.begin(), replicas.end(),
                           [](const Replica& a, const Replica& b) {
                             const bool a_runs = a.process != nullptr;
                             const bool b_runs = b.process != nullptr;
                             if (a_runs != b_runs) return b_runs;
                             return a.total.rejected < b.total.rejected;
                           });
}

absl::StatusOr<std::string> WhySentences(const Places& places, const std::string& instance) {
  const absl::StatusOr<std::string> dependency = Say(places, {"why", kDependency, "--brief"});
  if (!dependency.ok()) return dependency.status();
  const absl::StatusOr<std::string> one = Say(places, {"why", kDependency, instance});
  if (!one.ok()) return one.status();
  return absl::StrCat(*dependency, *one);
}

std::string NextSteps(const Places& places, const std::string& instance) {
  return absl::StrCat("\nWhy was this call refused? While it runs, ask it yourself:\n  ",
                      places.cli, " why ", kDependency, " ", instance, " --addr ", places.api_url,
                      "\n  curl -s '", places.api_url, "/v1/limits?dependency=", kDependency,
                      "'\n  ", places.api_url, "/ui/dependencies/", kDependency, "\n");
}

}  // namespace plimsoll::demo
