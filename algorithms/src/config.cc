#include "plimsoll/algorithms/config.h"

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/violations.h"

namespace plimsoll {
namespace {

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
  violations.Require(config.floor >= 0, "floor", config.floor, "must be at least 0");
  violations.Require(config.ceiling >= 0, "ceiling", config.ceiling, "must be at least 0");
  violations.Require(config.initial >= 0, "initial", config.initial, "must be at least 0");
}

// Written as "is inside" and never as "is outside", so that NaN is a violation.
void CheckAimd(const AimdConfig& aimd, Violations& violations) {
  violations.Require(aimd.latency_threshold > absl::ZeroDuration(), "aimd.latency_threshold",
                     aimd.latency_threshold, "must be above 0");
  violations.Require(aimd.backoff >= 0.5 && aimd.backoff < 1, "aimd.backoff", aimd.backoff,
                     "must be at least 0.5 and below 1");
  violations.Require(aimd.increase >= 1 && aimd.increase <= kCallsMax, "aimd.increase",
                     aimd.increase, absl::StrCat("must be between 1 and ", kCallsMax));
}

// The settings of one law: names begin with its section. In reference-exact mode the least allowed
// number of calls is 0, and so is the least smoothing.
class Section {
 public:
  Section(std::string name, bool exact, Violations& violations)
      : name_(std::move(name)), exact_(exact), violations_(violations) {}

  void Require(bool holds, const std::string& key, const Violations::Value& value,
               const std::string& rule) {
    violations_.Require(holds, absl::StrCat(name_, ".", key), value, rule);
  }
  void WholeIn(const std::string& key, int value, int low, int high) {
    Require(value >= low && value <= high, key, value,
            absl::StrCat("must be between ", low, " and ", high));
  }
  void NumberIn(const std::string& key, double value, double low, double high) {
    Require(value >= low && value <= high, key, value,
            absl::StrCat("must be between ", low, " and ", high));
  }
  void Within(const std::string& key, absl::Duration value, absl::Duration low,
              absl::Duration high) {
    Require(value >= low && value <= high, key, value,
            absl::StrCat("must be between ", absl::FormatDuration(low), " and ",
                         absl::FormatDuration(high)));
  }
  void CallsFrom(const std::string& key, Calls value, Calls low) {
    WholeIn(key, value, exact_ ? 0 : low, exact_ ? std::numeric_limits<Calls>::max() : kCallsMax);
  }
  void Smoothing(double value) {
    Require((value > 0 || (exact_ && value == 0)) && value <= 1, "smoothing", value,
            "must be above 0 and at most 1");
  }
  void Tolerance(double value) {
    Require(value >= 1 && std::isfinite(value), "rtt_tolerance", value,
            "must be at least 1 and finite");
  }
  void Backoff(double value) {
    const bool holds = exact_ ? value > 0 && value <= 1 : value >= 0.5 && value < 1;
    Require(holds, "backoff", value, "must be at least 0.5 and below 1");
  }
  void Baseline(absl::Duration value) {
    Require(value >= absl::ZeroDuration() && value < absl::InfiniteDuration(), "fixed_baseline",
            value, "must be at least 0 and finite");
  }
  void Probe(const ProbeConfig& probe) {
    CallsFrom("probe_limit", probe.limit, 1);
    CallsFrom("probe_samples", probe.samples, 1);
    Within("probe_interval", probe.interval, absl::Seconds(1), absl::Hours(24));
    NumberIn("probe_jitter", probe.jitter, 0, 1);
  }

 private:
  const std::string name_;
  const bool exact_;
  Violations& violations_;
};

void CheckGradient2(const Gradient2Config& gradient2, bool exact, Violations& violations) {
  Section section("gradient2", exact, violations);
  section.Smoothing(gradient2.smoothing);
  section.Tolerance(gradient2.rtt_tolerance);
  section.CallsFrom("queue_size", gradient2.queue_size, 1);
  const int least = exact ? 0 : 1;
  section.Require(gradient2.long_window >= least, "long_window", gradient2.long_window,
                  "must be at least 1");
  section.Require(gradient2.warmup_window >= least, "warmup_window", gradient2.warmup_window,
                  "must be at least 1");
}

void CheckVegas(const VegasConfig& vegas, bool exact, Violations& violations) {
  Section section("vegas", exact, violations);
  section.Smoothing(vegas.smoothing);
  section.CallsFrom("alpha", vegas.alpha.factor, 1);
  section.CallsFrom("beta", vegas.beta.factor, 1);
  section.CallsFrom("threshold", vegas.threshold.factor, 0);
  section.Require(exact || vegas.increase == VegasStep::kAddLog10, "increase",
                  ToString(vegas.increase), "must be limit+log10");
  section.Require(
      exact || vegas.decrease == VegasStep::kSubtractLog10 || vegas.decrease == VegasStep::kHalve,
      "decrease", ToString(vegas.decrease), "must be limit-log10 or limit/2");
  section.CallsFrom("probe_multiplier", vegas.probe_multiplier, 1);
  section.Baseline(vegas.fixed_baseline);
}

void CheckGradient(const GradientConfig& gradient, bool exact, Violations& violations) {
  Section section("gradient", exact, violations);
  section.Smoothing(gradient.smoothing);
  section.Tolerance(gradient.rtt_tolerance);
  section.CallsFrom("queue_size", gradient.queue_size, 1);
  section.Backoff(gradient.backoff);
  const int interval = gradient.probe_interval;
  section.Require(interval == -1 || (interval >= 1 && (exact || interval <= kCallsMax)),
                  "probe_interval", interval,
                  absl::StrCat("must be -1 or between 1 and ", kCallsMax));
  section.Baseline(gradient.fixed_baseline);
}

void CheckEnvoyGradient(const EnvoyGradientConfig& envoy, bool exact, Violations& violations) {
  Section section("envoy_gradient", exact, violations);
  section.NumberIn("buffer", envoy.buffer, 0, 10);
  section.Probe(envoy.probe);
  section.WholeIn("floor_updates", envoy.floor_updates, 1, 1000);
  section.Baseline(envoy.fixed_baseline);
}

void CheckBdp(const BdpConfig& bdp, bool exact, Violations& violations) {
  Section section("bdp", exact, violations);
  section.NumberIn("explore_min", bdp.explore_min, 0, 1);
  section.NumberIn("explore_max", bdp.explore_max, 0, 1);
  section.Require(!(bdp.explore_max < bdp.explore_min), "explore_max", bdp.explore_max,
                  absl::StrCat("must be at least explore_min, ", bdp.explore_min));
  section.NumberIn("buffer", bdp.buffer, 0, 10);
  section.NumberIn("fail_punish", bdp.fail_punish, 0, 100);
  section.CallsFrom("samples_min", bdp.samples_min, 1);
  section.Probe(bdp.probe);
  section.Baseline(bdp.fixed_baseline);
}

void CheckFleetKnee(const FleetKneeConfig& knee, Violations& violations) {
  Section section("fleet_knee", false, violations);
  section.NumberIn("theta", knee.theta, 0.05, 0.30);
  section.Within("epoch_min", knee.epoch_min, absl::Milliseconds(100), absl::Minutes(1));
  section.Within("epoch_max", knee.epoch_max, absl::Milliseconds(100), absl::Minutes(1));
  section.Require(
      knee.epoch_max >= knee.epoch_min, "epoch_max", knee.epoch_max,
      absl::StrCat("must be at least epoch_min, ", absl::FormatDuration(knee.epoch_min)));
  section.WholeIn("samples_min", knee.samples_min, 5, 1000);
  section.NumberIn("dither_min", knee.dither_min, 0.01, 0.5);
  section.NumberIn("dither_max", knee.dither_max, 0.01, 0.5);
  section.Require(!(knee.dither_max < knee.dither_min), "dither_max", knee.dither_max,
                  absl::StrCat("must be at least dither_min, ", knee.dither_min));
  section.Require(knee.latency_target > absl::ZeroDuration(), "latency_target", knee.latency_target,
                  "must be above 0");
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
  const bool exact = config.reference_exact;
  CheckVegas(config.vegas, exact, violations);
  CheckGradient(config.gradient, exact, violations);
  CheckGradient2(config.gradient2, exact, violations);
  CheckEnvoyGradient(config.envoy_gradient, exact, violations);
  CheckBdp(config.bdp, exact, violations);
  CheckFleetKnee(config.fleet_knee, violations);
  return violations.ToStatus();
}

}  // namespace plimsoll
