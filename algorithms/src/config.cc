#include "plimsoll/algorithms/config.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace plimsoll {
namespace {

// Collects violations as `name = value: rule`.
class Violations {
 public:
  template <typename T>
  void Require(bool holds, const std::string& name, const T& value, const std::string& rule) {
    if (!holds) found_.push_back(absl::StrCat(name, " = ", value, ": ", rule));
  }

  absl::Status ToStatus() const {
    if (found_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(found_, "; "));
  }

 private:
  std::vector<std::string> found_;
};

void CheckBounds(const AlgorithmConfig& config, Violations& violations) {
  const std::string at_most = absl::StrCat("must be at most ", kCallsMax);
  violations.Require(config.floor >= 1, "floor", config.floor, "must be at least 1");
  violations.Require(config.ceiling <= kCallsMax, "ceiling", config.ceiling, at_most);
  violations.Require(config.ceiling >= config.floor, "ceiling", config.ceiling,
                     absl::StrCat("must be at least the floor, ", config.floor));
  violations.Require(config.initial >= config.floor, "initial", config.initial,
                     absl::StrCat("must be at least the floor, ", config.floor));
  violations.Require(config.initial <= config.ceiling, "initial", config.initial,
                     absl::StrCat("must be at most the ceiling, ", config.ceiling));
}

void CheckReferenceBounds(const AlgorithmConfig& config, Violations& violations) {
  const std::string range = absl::StrCat("must be between 0 and ", kCallsMax);
  const auto fits = [](Calls calls) { return calls >= 0 && calls <= kCallsMax; };
  violations.Require(fits(config.floor), "floor", config.floor, range);
  violations.Require(fits(config.ceiling), "ceiling", config.ceiling, range);
  violations.Require(fits(config.initial), "initial", config.initial, range);
}

// Written as "is inside" and never as "is outside", so that NaN is a violation.
void CheckAimd(const AimdConfig& aimd, Violations& violations) {
  violations.Require(aimd.latency_threshold > absl::ZeroDuration(), "aimd.latency_threshold",
                     absl::FormatDuration(aimd.latency_threshold), "must be above 0");
  violations.Require(aimd.backoff >= 0.5 && aimd.backoff < 1, "aimd.backoff", aimd.backoff,
                     "must be at least 0.5 and below 1");
  violations.Require(aimd.increase >= 1 && aimd.increase <= kCallsMax, "aimd.increase",
                     aimd.increase, absl::StrCat("must be between 1 and ", kCallsMax));
}

void CheckGradient2(const Gradient2Config& gradient2, Calls queue_min, Violations& violations) {
  violations.Require(gradient2.smoothing > 0 && gradient2.smoothing <= 1, "gradient2.smoothing",
                     gradient2.smoothing, "must be above 0 and at most 1");
  violations.Require(gradient2.rtt_tolerance >= 1 && std::isfinite(gradient2.rtt_tolerance),
                     "gradient2.rtt_tolerance", gradient2.rtt_tolerance,
                     "must be at least 1 and finite");
  violations.Require(gradient2.queue_size >= queue_min && gradient2.queue_size <= kCallsMax,
                     "gradient2.queue_size", gradient2.queue_size,
                     absl::StrCat("must be between ", queue_min, " and ", kCallsMax));
  violations.Require(gradient2.long_window >= 1, "gradient2.long_window", gradient2.long_window,
                     "must be at least 1");
  violations.Require(gradient2.warmup_window >= 1, "gradient2.warmup_window",
                     gradient2.warmup_window, "must be at least 1");
}

}  // namespace

std::string_view ToString(AlgorithmKind kind) {
  switch (kind) {
    case AlgorithmKind::kFixed:
      return "fixed";
    case AlgorithmKind::kAimd:
      return "aimd";
    case AlgorithmKind::kVegas:
      return "vegas";
    case AlgorithmKind::kGradient:
      return "gradient";
    case AlgorithmKind::kGradient2:
      return "gradient2";
    case AlgorithmKind::kEnvoyGradient:
      return "envoy_gradient";
    case AlgorithmKind::kBdp:
      return "bdp";
    case AlgorithmKind::kFleetKnee:
      return "fleet_knee";
  }
  return "unknown";
}

absl::Status Validate(const AlgorithmConfig& config) {
  Violations violations;
  violations.Require(ToString(config.kind) != "unknown", "kind", static_cast<int>(config.kind),
                     "must be the kind of a law that there is");
  if (config.reference_exact) {
    CheckReferenceBounds(config, violations);
  } else {
    CheckBounds(config, violations);
  }
  CheckAimd(config.aimd, violations);
  CheckGradient2(config.gradient2, config.reference_exact ? 0 : 1, violations);
  return violations.ToStatus();
}

}  // namespace plimsoll
