#include "controller/config/law_reader.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "plimsoll/algorithms/law_settings.h"

namespace plimsoll {
namespace {

// Reads one setting, whatever its type.
class SettingReader {
 public:
  SettingReader(MapReader& law, Faults& faults) : law_(law), faults_(faults) {}

  void operator()(const std::string& key, absl::Duration& target) { law_.Duration(key, target); }
  void operator()(const std::string& key, double& target) { law_.Number(key, target); }
  void operator()(const std::string& key, int& target) { law_.Whole(key, target); }
  void operator()(const std::string& key, bool& target) { law_.Flag(key, target); }
  void operator()(const std::string& key, VegasStep& target) {
    law_.Word<VegasStep>(
        key, {{"limit-log10", VegasStep::kSubtractLog10}, {"limit/2", VegasStep::kHalve}}, {},
        target);
  }
  void operator()(const std::string& key, LogRule& target) {
    const YamlNode* const node = law_.Find(key);
    if (node == nullptr) return;
    const bool is_scalar = node->kind == YamlNode::Kind::kScalar;
    if (const auto rule = is_scalar ? ParseLogRule(node->text) : std::nullopt) {
      target = *rule;
    } else {
      faults_.Add(law_.Pointer(key),
                  absl::StrCat("must be a whole number, log10 or N*log10, not ", Describe(*node)));
    }
  }

 private:
  MapReader& law_;
  Faults& faults_;
};

}  // namespace

void ReadLaws(MapReader& map, AlgorithmConfig& target, Faults& faults) {
  map.Word<AlgorithmKind>("algorithm",
                          {{"fixed", AlgorithmKind::kFixed},
                           {"aimd", AlgorithmKind::kAimd},
                           {"vegas", AlgorithmKind::kVegas},
                           {"gradient", AlgorithmKind::kGradient},
                           {"gradient2", AlgorithmKind::kGradient2},
                           {"envoy_gradient", AlgorithmKind::kEnvoyGradient},
                           {"bdp", AlgorithmKind::kBdp},
                           {"fleet_knee", AlgorithmKind::kFleetKnee}},
                          {}, target.kind);
  VisitLaws(target, [&](AlgorithmKind kind, auto& law) {
    MapReader section = map.Map(std::string(ToString(kind)));
    VisitSettings(law, SettingReader(section, faults));
    section.Finish();
  });
}

}  // namespace plimsoll
