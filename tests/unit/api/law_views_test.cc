#include "api/http/src/law_views.h"

#include <string>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

TEST(LawViewsTest, ShowTheSettingsOfTheLawThatIsChosenAndOfNoOther) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kAimd, AlgorithmKind::kVegas, AlgorithmKind::kGradient,
        AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient, AlgorithmKind::kBdp,
        AlgorithmKind::kFleetKnee}) {
    AlgorithmConfig config;
    config.kind = kind;
    Json view = Json::object();
    AddLawSettings(config, view);
    ASSERT_EQ(view.size(), 1U);
    EXPECT_FALSE(view.at(std::string(ToString(kind))).empty());
  }
  Json view = Json::object();
  AddLawSettings(AlgorithmConfig{}, view);
  EXPECT_TRUE(view.empty());
}

TEST(LawViewsTest, ShowABaselineThatIsLearntAsNull) {
  AlgorithmConfig config;
  config.kind = AlgorithmKind::kBdp;
  Json view;
  AddLawSettings(config, view);
  EXPECT_TRUE(view["bdp"]["fixed_baseline"].is_null());
  EXPECT_EQ(view["bdp"]["probe_interval"], "25s");
  config.bdp.fixed_baseline = absl::Milliseconds(20);
  AddLawSettings(config, view);
  EXPECT_EQ(view["bdp"]["fixed_baseline"], "20ms");
}

TEST(LawViewsTest, ShowTheRulesOfVegasAsTheyAreWritten) {
  AlgorithmConfig config;
  config.kind = AlgorithmKind::kVegas;
  Json view;
  AddLawSettings(config, view);
  EXPECT_EQ(view["vegas"]["alpha"], "3*log10");
  EXPECT_EQ(view["vegas"]["decrease"], "limit-log10");
}

}  // namespace
}  // namespace plimsoll::internal
