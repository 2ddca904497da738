#include <limits>

#include "gtest/gtest.h"
#include "tests/unit/algorithms/laws.h"

namespace plimsoll {
namespace {

TEST(MakeAlgorithmTest, MakesTheLawThatTheKindNames) {
  for (const AlgorithmKind kind :
       {AlgorithmKind::kFixed, AlgorithmKind::kAimd, AlgorithmKind::kVegas,
        AlgorithmKind::kGradient, AlgorithmKind::kGradient2, AlgorithmKind::kEnvoyGradient,
        AlgorithmKind::kBdp}) {
    const auto law = LawOf(ConfigOf(kind, 5, 20, 200));
    EXPECT_EQ(law->name(), ToString(kind));
    EXPECT_EQ(law->Limit(law->InitialState()), 20);
  }
}

TEST(MakeAlgorithmTest, ReturnsWhatValidateFinds) {
  const AlgorithmConfig config = ConfigOf(AlgorithmKind::kAimd, 0, 20, 200);
  const auto law = MakeAlgorithm(config);
  EXPECT_EQ(law.status(), Validate(config));
  EXPECT_EQ(law.status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace plimsoll
