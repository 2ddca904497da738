#include "api/http/src/law_views.h"

#include <string>
#include <utility>

#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(absl::Duration setting) { return absl::FormatDuration(setting); }

// Null: learnt.
Json Baseline(absl::Duration pinned) {
  if (pinned <= absl::ZeroDuration()) return nullptr;
  return Text(pinned);
}

Json View(const AimdConfig& aimd) {
  return {{"latency_threshold", Text(aimd.latency_threshold)},
          {"backoff", aimd.backoff},
          {"increase", aimd.increase}};
}

Json View(const VegasConfig& vegas) {
  return {{"alpha", ToString(vegas.alpha)},
          {"beta", ToString(vegas.beta)},
          {"threshold", ToString(vegas.threshold)},
          {"decrease", std::string(ToString(vegas.decrease))},
          {"smoothing", vegas.smoothing},
          {"probe_multiplier", vegas.probe_multiplier},
          {"fixed_baseline", Baseline(vegas.fixed_baseline)}};
}

Json View(const GradientConfig& gradient) {
  return {{"rtt_tolerance", gradient.rtt_tolerance},
          {"smoothing", gradient.smoothing},
          {"queue_size", gradient.queue_size},
          {"queue_by_square_root", gradient.queue_by_square_root},
          {"backoff", gradient.backoff},
          {"probe_interval", gradient.probe_interval},
          {"fixed_baseline", Baseline(gradient.fixed_baseline)}};
}

Json View(const Gradient2Config& gradient2) {
  return {{"rtt_tolerance", gradient2.rtt_tolerance},
          {"smoothing", gradient2.smoothing},
          {"queue_size", gradient2.queue_size},
          {"long_window", gradient2.long_window},
          {"warmup_window", gradient2.warmup_window}};
}

void AddProbe(const ProbeConfig& probe, Json& view) {
  view["probe_limit"] = probe.limit;
  view["probe_samples"] = probe.samples;
  view["probe_interval"] = Text(probe.interval);
  view["probe_jitter"] = probe.jitter;
}

Json View(const EnvoyGradientConfig& envoy) {
  Json view = {{"buffer", envoy.buffer},
               {"floor_updates", envoy.floor_updates},
               {"fixed_baseline", Baseline(envoy.fixed_baseline)}};
  AddProbe(envoy.probe, view);
  return view;
}

Json View(const BdpConfig& bdp) {
  Json view = {{"explore_min", bdp.explore_min}, {"explore_max", bdp.explore_max},
               {"buffer", bdp.buffer},           {"fail_punish", bdp.fail_punish},
               {"samples_min", bdp.samples_min}, {"fixed_baseline", Baseline(bdp.fixed_baseline)}};
  AddProbe(bdp.probe, view);
  return view;
}

Json View(const FleetKneeConfig& knee) {
  const bool has_target = knee.latency_target < absl::InfiniteDuration();
  return {{"theta", knee.theta},
          {"epoch_min", Text(knee.epoch_min)},
          {"epoch_max", Text(knee.epoch_max)},
          {"samples_min", knee.samples_min},
          {"dither_min", knee.dither_min},
          {"dither_max", knee.dither_max},
          {"latency_target", has_target ? Json(Text(knee.latency_target)) : Json(nullptr)}};
}

Json ViewOf(const AlgorithmConfig& config) {
  switch (config.kind) {
    case AlgorithmKind::kFixed:
      return nullptr;
    case AlgorithmKind::kAimd:
      return View(config.aimd);
    case AlgorithmKind::kVegas:
      return View(config.vegas);
    case AlgorithmKind::kGradient:
      return View(config.gradient);
    case AlgorithmKind::kGradient2:
      return View(config.gradient2);
    case AlgorithmKind::kEnvoyGradient:
      return View(config.envoy_gradient);
    case AlgorithmKind::kBdp:
      return View(config.bdp);
    case AlgorithmKind::kFleetKnee:
      return View(config.fleet_knee);
  }
  return nullptr;
}

}  // namespace

void AddLawSettings(const AlgorithmConfig& config, Json& view) {
  Json settings = ViewOf(config);
  if (!settings.is_null()) view[std::string(ToString(config.kind))] = std::move(settings);
}

}  // namespace plimsoll::internal
