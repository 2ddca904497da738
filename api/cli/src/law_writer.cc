#include "api/cli/src/law_writer.h"

#include <string>

namespace plimsoll::cli {
namespace {

void Flag(YamlWriter& map, const std::string& key, bool value, bool usual) {
  if (value != usual) map.Raw(key, value ? "true" : "false");
}

void WriteAimd(YamlWriter& policy, const AimdConfig& aimd) {
  const AimdConfig usual;
  YamlWriter map = policy.Open();
  map.Duration("latency_threshold", aimd.latency_threshold, usual.latency_threshold);
  map.Number("backoff", aimd.backoff, usual.backoff);
  map.Whole("increase", aimd.increase, usual.increase);
  policy.Close("aimd", map);
}

void WriteRule(YamlWriter& map, const std::string& key, const LogRule& rule, const LogRule& usual) {
  if (ToString(rule) != ToString(usual)) map.Raw(key, QuotedText(ToString(rule)));
}

void WriteVegas(YamlWriter& policy, const VegasConfig& vegas) {
  const VegasConfig usual;
  YamlWriter map = policy.Open();
  WriteRule(map, "alpha", vegas.alpha, usual.alpha);
  WriteRule(map, "beta", vegas.beta, usual.beta);
  WriteRule(map, "threshold", vegas.threshold, usual.threshold);
  if (vegas.decrease != usual.decrease) {
    map.Raw("decrease", vegas.decrease == VegasStep::kHalve ? "limit/2" : "limit-log10");
  }
  map.Number("smoothing", vegas.smoothing, usual.smoothing);
  map.Whole("probe_multiplier", vegas.probe_multiplier, usual.probe_multiplier);
  map.Duration("fixed_baseline", vegas.fixed_baseline, usual.fixed_baseline);
  policy.Close("vegas", map);
}

void WriteGradient(YamlWriter& policy, const GradientConfig& gradient) {
  const GradientConfig usual;
  YamlWriter map = policy.Open();
  map.Number("rtt_tolerance", gradient.rtt_tolerance, usual.rtt_tolerance);
  map.Number("smoothing", gradient.smoothing, usual.smoothing);
  map.Whole("queue_size", gradient.queue_size, usual.queue_size);
  Flag(map, "queue_by_square_root", gradient.queue_by_square_root, usual.queue_by_square_root);
  map.Number("backoff", gradient.backoff, usual.backoff);
  map.Whole("probe_interval", gradient.probe_interval, usual.probe_interval);
  map.Duration("fixed_baseline", gradient.fixed_baseline, usual.fixed_baseline);
  policy.Close("gradient", map);
}

void WriteGradient2(YamlWriter& policy, const Gradient2Config& gradient2) {
  const Gradient2Config usual;
  YamlWriter map = policy.Open();
  map.Number("rtt_tolerance", gradient2.rtt_tolerance, usual.rtt_tolerance);
  map.Number("smoothing", gradient2.smoothing, usual.smoothing);
  map.Whole("queue_size", gradient2.queue_size, usual.queue_size);
  map.Whole("long_window", gradient2.long_window, usual.long_window);
  policy.Close("gradient2", map);
}

void WriteProbe(YamlWriter& map, const ProbeConfig& probe, const ProbeConfig& usual) {
  map.Whole("probe_limit", probe.limit, usual.limit);
  map.Whole("probe_samples", probe.samples, usual.samples);
  map.Duration("probe_interval", probe.interval, usual.interval);
  map.Number("probe_jitter", probe.jitter, usual.jitter);
}

void WriteEnvoyGradient(YamlWriter& policy, const EnvoyGradientConfig& envoy) {
  const EnvoyGradientConfig usual;
  YamlWriter map = policy.Open();
  map.Number("buffer", envoy.buffer, usual.buffer);
  WriteProbe(map, envoy.probe, usual.probe);
  map.Whole("floor_updates", envoy.floor_updates, usual.floor_updates);
  map.Duration("fixed_baseline", envoy.fixed_baseline, usual.fixed_baseline);
  policy.Close("envoy_gradient", map);
}

void WriteBdp(YamlWriter& policy, const BdpConfig& bdp) {
  const BdpConfig usual;
  YamlWriter map = policy.Open();
  map.Number("explore_min", bdp.explore_min, usual.explore_min);
  map.Number("explore_max", bdp.explore_max, usual.explore_max);
  map.Number("buffer", bdp.buffer, usual.buffer);
  map.Number("fail_punish", bdp.fail_punish, usual.fail_punish);
  map.Whole("samples_min", bdp.samples_min, usual.samples_min);
  WriteProbe(map, bdp.probe, usual.probe);
  map.Duration("fixed_baseline", bdp.fixed_baseline, usual.fixed_baseline);
  policy.Close("bdp", map);
}

void WriteFleetKnee(YamlWriter& policy, const FleetKneeConfig& knee) {
  const FleetKneeConfig usual;
  YamlWriter map = policy.Open();
  map.Number("theta", knee.theta, usual.theta);
  map.Duration("epoch_min", knee.epoch_min, usual.epoch_min);
  map.Duration("epoch_max", knee.epoch_max, usual.epoch_max);
  map.Whole("samples_min", knee.samples_min, usual.samples_min);
  map.Number("dither_min", knee.dither_min, usual.dither_min);
  map.Number("dither_max", knee.dither_max, usual.dither_max);
  map.Duration("latency_target", knee.latency_target, usual.latency_target);
  policy.Close("fleet_knee", map);
}

}  // namespace

void WriteLaws(YamlWriter& policy, const AlgorithmConfig& algorithm) {
  WriteAimd(policy, algorithm.aimd);
  WriteVegas(policy, algorithm.vegas);
  WriteGradient(policy, algorithm.gradient);
  WriteGradient2(policy, algorithm.gradient2);
  WriteEnvoyGradient(policy, algorithm.envoy_gradient);
  WriteBdp(policy, algorithm.bdp);
  WriteFleetKnee(policy, algorithm.fleet_knee);
}

}  // namespace plimsoll::cli
