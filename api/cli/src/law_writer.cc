#include "api/cli/src/law_writer.h"

#include <map>
#include <string>
#include <type_traits>

#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll::cli {
namespace {

std::string TextOf(absl::Duration value) { return DurationText(value); }
std::string TextOf(double value) { return NumberText(value); }
std::string TextOf(int value) { return absl::StrCat(value); }
std::string TextOf(bool value) { return value ? "true" : "false"; }
std::string TextOf(VegasStep value) { return std::string(ToString(value)); }
std::string TextOf(const LogRule& value) { return QuotedText(ToString(value)); }

}  // namespace

void WriteLaws(YamlWriter& policy, const AlgorithmConfig& algorithm) {
  VisitLaws(algorithm, [&](AlgorithmKind kind, const auto& law) {
    std::map<std::string, std::string> usual;
    const std::remove_cvref_t<decltype(law)> usual_law;
    VisitSettings(usual_law,
                  [&](const std::string& name, const auto& value) { usual[name] = TextOf(value); });
    YamlWriter map = policy.Open();
    VisitSettings(law, [&](const std::string& name, const auto& value) {
      map.Word(name, TextOf(value), usual.at(name));
    });
    policy.Close(std::string(ToString(kind)), map);
  });
}

}  // namespace plimsoll::cli
