#include <memory>

#include "absl/status/status.h"
#include "algorithms/src/aimd.h"
#include "algorithms/src/bdp.h"
#include "algorithms/src/envoy_gradient.h"
#include "algorithms/src/fixed.h"
#include "algorithms/src/gradient.h"
#include "algorithms/src/gradient2.h"
#include "algorithms/src/vegas.h"
#include "plimsoll/algorithms/algorithm.h"

namespace plimsoll {

absl::StatusOr<std::unique_ptr<LimitAlgorithm>> MakeAlgorithm(const AlgorithmConfig& config) {
  if (absl::Status status = Validate(config); !status.ok()) return status;
  switch (config.kind) {
    case AlgorithmKind::kFixed:
      return std::make_unique<internal::FixedLaw>(config);
    case AlgorithmKind::kAimd:
      return std::make_unique<internal::AimdLaw>(config);
    case AlgorithmKind::kGradient2:
      return std::make_unique<internal::Gradient2Law>(config);
    case AlgorithmKind::kVegas:
      return std::make_unique<internal::VegasLaw>(config);
    case AlgorithmKind::kGradient:
      return std::make_unique<internal::GradientLaw>(config);
    case AlgorithmKind::kEnvoyGradient:
      return std::make_unique<internal::EnvoyGradientLaw>(config);
    case AlgorithmKind::kBdp:
      return std::make_unique<internal::BdpLaw>(config);
    case AlgorithmKind::kFleetKnee:
      return absl::InvalidArgumentError(
          "algorithm = fleet_knee: is a law of pools, made by MakeFleetKnee");
  }
  return absl::InternalError("a valid configuration names a law that cannot be made");
}

}  // namespace plimsoll
