#pragma once

#include <type_traits>

#include "plimsoll/algorithms/config.h"

namespace plimsoll {

// What an operator may set of each law, and how it is called: the one table from which files are
// read and written, settings are shown, and changes are told. Members that are not here belong to
// tests. Ranges and meanings are in config.h. Pure.

namespace internal {

template <typename Probe, typename Visit>
void VisitProbe(Probe& probe, Visit& visit) {
  visit("probe_limit", probe.limit);
  visit("probe_samples", probe.samples);
  visit("probe_interval", probe.interval);
  visit("probe_jitter", probe.jitter);
}

template <typename Law, typename Visit>
void VisitSimple(Law& law, Visit& visit) {
  using Plain = std::remove_const_t<Law>;
  if constexpr (std::is_same_v<Plain, AimdConfig>) {
    visit("latency_threshold", law.latency_threshold);
    visit("backoff", law.backoff);
    visit("increase", law.increase);
  } else if constexpr (std::is_same_v<Plain, VegasConfig>) {
    visit("alpha", law.alpha);
    visit("beta", law.beta);
    visit("threshold", law.threshold);
    visit("decrease", law.decrease);
    visit("smoothing", law.smoothing);
    visit("probe_multiplier", law.probe_multiplier);
    visit("fixed_baseline", law.fixed_baseline);
  } else if constexpr (std::is_same_v<Plain, GradientConfig>) {
    visit("rtt_tolerance", law.rtt_tolerance);
    visit("smoothing", law.smoothing);
    visit("queue_size", law.queue_size);
    visit("queue_by_square_root", law.queue_by_square_root);
    visit("backoff", law.backoff);
    visit("probe_interval", law.probe_interval);
    visit("fixed_baseline", law.fixed_baseline);
  } else {
    static_assert(std::is_same_v<Plain, Gradient2Config>);
    visit("rtt_tolerance", law.rtt_tolerance);
    visit("smoothing", law.smoothing);
    visit("queue_size", law.queue_size);
    visit("long_window", law.long_window);
  }
}

}  // namespace internal

// Calls visit(name, member) for each setting of one law, the config of which may be const. A member
// is a double, an int, a bool, an absl::Duration, a LogRule or a VegasStep.
template <typename Law, typename Visit>
void VisitSettings(Law& law, Visit&& visit) {
  using Plain = std::remove_const_t<Law>;
  if constexpr (std::is_same_v<Plain, EnvoyGradientConfig>) {
    visit("buffer", law.buffer);
    internal::VisitProbe(law.probe, visit);
    visit("floor_updates", law.floor_updates);
    visit("fixed_baseline", law.fixed_baseline);
  } else if constexpr (std::is_same_v<Plain, BdpConfig>) {
    visit("explore_min", law.explore_min);
    visit("explore_max", law.explore_max);
    visit("buffer", law.buffer);
    visit("fail_punish", law.fail_punish);
    visit("samples_min", law.samples_min);
    internal::VisitProbe(law.probe, visit);
    visit("fixed_baseline", law.fixed_baseline);
  } else if constexpr (std::is_same_v<Plain, FleetKneeConfig>) {
    visit("theta", law.theta);
    visit("epoch_min", law.epoch_min);
    visit("epoch_max", law.epoch_max);
    visit("samples_min", law.samples_min);
    visit("dither_min", law.dither_min);
    visit("dither_max", law.dither_max);
    visit("latency_target", law.latency_target);
  } else {
    internal::VisitSimple(law, visit);
  }
}

// Calls visit(kind, config) for each law that has settings. Its section in a file is called
// ToString(kind).
template <typename Laws, typename Visit>
void VisitLaws(Laws& laws, Visit&& visit) {
  visit(AlgorithmKind::kAimd, laws.aimd);
  visit(AlgorithmKind::kVegas, laws.vegas);
  visit(AlgorithmKind::kGradient, laws.gradient);
  visit(AlgorithmKind::kGradient2, laws.gradient2);
  visit(AlgorithmKind::kEnvoyGradient, laws.envoy_gradient);
  visit(AlgorithmKind::kBdp, laws.bdp);
  visit(AlgorithmKind::kFleetKnee, laws.fleet_knee);
}

}  // namespace plimsoll
