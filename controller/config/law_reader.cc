#include "controller/config/law_reader.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {
namespace {

void ReadAimd(MapReader aimd, AimdConfig& target) {
  aimd.Duration("latency_threshold", target.latency_threshold);
  aimd.Number("backoff", target.backoff);
  aimd.Whole("increase", target.increase);
  aimd.Finish();
}

void ReadRule(MapReader& vegas, const std::string& key, LogRule& target, Faults& faults) {
  const YamlNode* const node = vegas.Find(key);
  if (node == nullptr) return;
  const bool is_scalar = node->kind == YamlNode::Kind::kScalar;
  if (const auto rule = is_scalar ? ParseLogRule(node->text) : std::nullopt) {
    target = *rule;
  } else {
    faults.Add(vegas.Pointer(key),
               absl::StrCat("must be a whole number, log10 or N*log10, not ", Describe(*node)));
  }
}

void ReadVegas(MapReader vegas, VegasConfig& target, Faults& faults) {
  ReadRule(vegas, "alpha", target.alpha, faults);
  ReadRule(vegas, "beta", target.beta, faults);
  ReadRule(vegas, "threshold", target.threshold, faults);
  vegas.Word<VegasStep>(
      "decrease", {{"limit-log10", VegasStep::kSubtractLog10}, {"limit/2", VegasStep::kHalve}}, {},
      target.decrease);
  vegas.Number("smoothing", target.smoothing);
  vegas.Whole("probe_multiplier", target.probe_multiplier);
  vegas.Duration("fixed_baseline", target.fixed_baseline);
  vegas.Finish();
}

void ReadGradient(MapReader gradient, GradientConfig& target) {
  gradient.Number("rtt_tolerance", target.rtt_tolerance);
  gradient.Number("smoothing", target.smoothing);
  gradient.Whole("queue_size", target.queue_size);
  gradient.Word<bool>("queue_by_square_root", {{"true", true}, {"false", false}}, {},
                      target.queue_by_square_root);
  gradient.Number("backoff", target.backoff);
  gradient.Whole("probe_interval", target.probe_interval);
  gradient.Duration("fixed_baseline", target.fixed_baseline);
  gradient.Finish();
}

void ReadGradient2(MapReader gradient2, Gradient2Config& target) {
  gradient2.Number("rtt_tolerance", target.rtt_tolerance);
  gradient2.Number("smoothing", target.smoothing);
  gradient2.Whole("queue_size", target.queue_size);
  gradient2.Whole("long_window", target.long_window);
  gradient2.Finish();
}

void ReadProbe(MapReader& map, ProbeConfig& target) {
  map.Whole("probe_limit", target.limit);
  map.Whole("probe_samples", target.samples);
  map.Duration("probe_interval", target.interval);
  map.Number("probe_jitter", target.jitter);
}

void ReadEnvoyGradient(MapReader envoy, EnvoyGradientConfig& target) {
  envoy.Number("buffer", target.buffer);
  ReadProbe(envoy, target.probe);
  envoy.Whole("floor_updates", target.floor_updates);
  envoy.Duration("fixed_baseline", target.fixed_baseline);
  envoy.Finish();
}

void ReadBdp(MapReader bdp, BdpConfig& target) {
  bdp.Number("explore_min", target.explore_min);
  bdp.Number("explore_max", target.explore_max);
  bdp.Number("buffer", target.buffer);
  bdp.Number("fail_punish", target.fail_punish);
  bdp.Whole("samples_min", target.samples_min);
  ReadProbe(bdp, target.probe);
  bdp.Duration("fixed_baseline", target.fixed_baseline);
  bdp.Finish();
}

void ReadFleetKnee(MapReader knee, FleetKneeConfig& target) {
  knee.Number("theta", target.theta);
  knee.Duration("epoch_min", target.epoch_min);
  knee.Duration("epoch_max", target.epoch_max);
  knee.Whole("samples_min", target.samples_min);
  knee.Number("dither_min", target.dither_min);
  knee.Number("dither_max", target.dither_max);
  knee.Duration("latency_target", target.latency_target);
  knee.Finish();
}

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
  ReadAimd(map.Map("aimd"), target.aimd);
  ReadVegas(map.Map("vegas"), target.vegas, faults);
  ReadGradient(map.Map("gradient"), target.gradient);
  ReadGradient2(map.Map("gradient2"), target.gradient2);
  ReadEnvoyGradient(map.Map("envoy_gradient"), target.envoy_gradient);
  ReadBdp(map.Map("bdp"), target.bdp);
  ReadFleetKnee(map.Map("fleet_knee"), target.fleet_knee);
}

}  // namespace plimsoll
