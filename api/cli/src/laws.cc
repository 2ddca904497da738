#include "api/cli/src/laws.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

constexpr char kStatic[] = "static:";

constexpr AlgorithmKind kKinds[] = {AlgorithmKind::kFixed,     AlgorithmKind::kAimd,
                                    AlgorithmKind::kVegas,     AlgorithmKind::kGradient,
                                    AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
                                    AlgorithmKind::kBdp,       AlgorithmKind::kFleetKnee};

std::optional<LawUnderTest> FindKind(const std::string& name, const ScenarioFile& file) {
  for (const AlgorithmKind kind : kKinds) {
    if (name != ToString(kind)) continue;
    LawUnderTest law = OwnLaw(file);
    law.name = name;
    law.algorithm.kind = kind;
    return law;
  }
  return std::nullopt;
}

std::optional<LawUnderTest> FindInSuite(const std::string& name,
                                        const std::vector<LawUnderTest>& suite) {
  for (const LawUnderTest& law : suite) {
    if (law.name == name) return law;
  }
  return std::nullopt;
}

absl::StatusOr<LawUnderTest> Static(const std::string& name) {
  LawUnderTest law;
  law.name = name;
  Calls limit = 0;
  const std::string number = name.substr(sizeof(kStatic) - 1);
  if (!absl::SimpleAtoi(number, &limit) || limit < 1 || limit > kCallsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the limit in ", Quoted(name), " must be between 1 and ", kCallsMax));
  }
  law.static_limit = limit;
  return law;
}

absl::Status Unknown(const std::string& name, const std::vector<LawUnderTest>& suite) {
  std::vector<std::string> names;
  for (const AlgorithmKind kind : kKinds) names.emplace_back(ToString(kind));
  for (const LawUnderTest& law : suite) {
    const bool listed = std::find(names.begin(), names.end(), law.name) != names.end();
    if (!listed) names.push_back(law.name);
  }
  return absl::InvalidArgumentError(absl::StrCat("no law is called ", Quoted(name),
                                                 Suggestion(name, names), "; there are ",
                                                 absl::StrJoin(names, ", "), " and static:N"));
}

}  // namespace

LawUnderTest OwnLaw(const ScenarioFile& file) {
  LawUnderTest law;
  law.name = std::string(ToString(file.scenario.policy.algorithm.kind));
  law.algorithm = file.scenario.policy.algorithm;
  law.scope = file.scope;
  return law;
}

absl::StatusOr<LawUnderTest> FindLaw(const std::string& name, const ScenarioFile& file,
                                     const std::vector<LawUnderTest>& suite, bool suite_first) {
  if (absl::StartsWith(name, kStatic)) return Static(name);
  std::optional<LawUnderTest> law = suite_first ? FindInSuite(name, suite) : FindKind(name, file);
  if (!law.has_value()) law = suite_first ? FindKind(name, file) : FindInSuite(name, suite);
  if (law.has_value()) return *law;
  return Unknown(name, suite);
}

}  // namespace plimsoll::cli
