#include "agent/src/law_settings.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace plimsoll::internal {
namespace {

std::optional<double> ParseNumber(const std::string& text) {
  double value = 0;
  return absl::SimpleAtod(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<std::int32_t> ParseWhole(const std::string& text) {
  std::int32_t value = 0;
  return absl::SimpleAtoi(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<absl::Duration> ParseDuration(const std::string& text) {
  absl::Duration value;
  return absl::ParseDuration(text, &value) ? std::optional(value) : std::nullopt;
}
std::optional<bool> ParseBool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}
std::optional<VegasStep> ParseDecrease(const std::string& text) {
  for (const VegasStep step : {VegasStep::kSubtractLog10, VegasStep::kHalve}) {
    if (text == ToString(step)) return step;
  }
  return std::nullopt;
}
std::optional<LogRule> ParseRule(const std::string& text) { return ParseLogRule(text); }

// Hands out settings by name, and knows in the end which were not asked for.
class Reader {
 public:
  explicit Reader(const LawSettings& settings) : settings_(settings) {}

  void Number(const std::string& name, double& into) { Read(name, ParseNumber, "a number", into); }
  void Whole(const std::string& name, std::int32_t& into) {
    Read(name, ParseWhole, "a whole number", into);
  }
  void Duration(const std::string& name, absl::Duration& into) {
    Read(name, ParseDuration, "a time with a unit, such as 250ms", into);
  }
  void Bool(const std::string& name, bool& into) { Read(name, ParseBool, "true or false", into); }
  void Rule(const std::string& name, LogRule& into) {
    Read(name, ParseRule, "a whole number, log10 or N*log10", into);
  }
  void Decrease(const std::string& name, VegasStep& into) {
    Read(name, ParseDecrease, "limit-log10 or limit/2", into);
  }

  std::vector<std::string> Finish(const std::string& law) {
    for (const auto& [name, text] : settings_) {
      if (known_.contains(name)) continue;
      const std::string has = known_.empty() ? "none" : absl::StrJoin(known_, ", ");
      faults_.push_back(
          absl::StrCat("settings.", name, ": ", law, " has no such setting; it has: ", has));
    }
    return std::move(faults_);
  }

 private:
  template <typename T, typename Parse>
  void Read(const std::string& name, const Parse& parse, const std::string& expected, T& into) {
    known_.insert(name);
    const auto found = settings_.find(name);
    if (found == settings_.end()) return;
    if (const std::optional<T> value = parse(found->second)) {
      into = *value;
    } else {
      faults_.push_back(
          absl::StrCat("settings.", name, " is '", found->second, "': must be ", expected));
    }
  }

  const LawSettings& settings_;
  std::set<std::string> known_;
  std::vector<std::string> faults_;
};

void Read(Reader& reader, AimdConfig& aimd) {
  reader.Duration("latency_threshold", aimd.latency_threshold);
  reader.Number("backoff", aimd.backoff);
  reader.Whole("increase", aimd.increase);
}

void Read(Reader& reader, VegasConfig& vegas) {
  reader.Rule("alpha", vegas.alpha);
  reader.Rule("beta", vegas.beta);
  reader.Rule("threshold", vegas.threshold);
  reader.Decrease("decrease", vegas.decrease);
  reader.Number("smoothing", vegas.smoothing);
  reader.Whole("probe_multiplier", vegas.probe_multiplier);
  reader.Duration("fixed_baseline", vegas.fixed_baseline);
}

void Read(Reader& reader, GradientConfig& gradient) {
  reader.Number("rtt_tolerance", gradient.rtt_tolerance);
  reader.Number("smoothing", gradient.smoothing);
  reader.Whole("queue_size", gradient.queue_size);
  reader.Bool("queue_by_square_root", gradient.queue_by_square_root);
  reader.Number("backoff", gradient.backoff);
  reader.Whole("probe_interval", gradient.probe_interval);
  reader.Duration("fixed_baseline", gradient.fixed_baseline);
}

void Read(Reader& reader, Gradient2Config& gradient2) {
  reader.Number("rtt_tolerance", gradient2.rtt_tolerance);
  reader.Number("smoothing", gradient2.smoothing);
  reader.Whole("queue_size", gradient2.queue_size);
  reader.Whole("long_window", gradient2.long_window);
}

void Read(Reader& reader, ProbeConfig& probe) {
  reader.Whole("probe_limit", probe.limit);
  reader.Whole("probe_samples", probe.samples);
  reader.Duration("probe_interval", probe.interval);
  reader.Number("probe_jitter", probe.jitter);
}

void Read(Reader& reader, EnvoyGradientConfig& envoy) {
  reader.Number("buffer", envoy.buffer);
  Read(reader, envoy.probe);
  reader.Whole("floor_updates", envoy.floor_updates);
  reader.Duration("fixed_baseline", envoy.fixed_baseline);
}

void Read(Reader& reader, BdpConfig& bdp) {
  reader.Number("explore_min", bdp.explore_min);
  reader.Number("explore_max", bdp.explore_max);
  reader.Number("buffer", bdp.buffer);
  reader.Number("fail_punish", bdp.fail_punish);
  reader.Whole("samples_min", bdp.samples_min);
  Read(reader, bdp.probe);
  reader.Duration("fixed_baseline", bdp.fixed_baseline);
}

void ReadSection(Reader& reader, AlgorithmConfig& config) {
  switch (config.kind) {
    case AlgorithmKind::kAimd:
      return Read(reader, config.aimd);
    case AlgorithmKind::kVegas:
      return Read(reader, config.vegas);
    case AlgorithmKind::kGradient:
      return Read(reader, config.gradient);
    case AlgorithmKind::kGradient2:
      return Read(reader, config.gradient2);
    case AlgorithmKind::kEnvoyGradient:
      return Read(reader, config.envoy_gradient);
    case AlgorithmKind::kBdp:
      return Read(reader, config.bdp);
    case AlgorithmKind::kFixed:
    case AlgorithmKind::kFleetKnee:
      return;
  }
}

}  // namespace

std::vector<std::string> ReadLawSettings(const LawSettings& settings, AlgorithmConfig& config) {
  Reader reader(settings);
  ReadSection(reader, config);
  return reader.Finish(std::string(ToString(config.kind)));
}

}  // namespace plimsoll::internal
