#include "tests/conformance/settings.h"

#include <charconv>
#include <map>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace plimsoll {
namespace {

constexpr char kWindowed[] = "windowed";

// The whole text as a number.
template <typename Number>
bool ReadNumber(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

absl::Duration Time(const Json& settings, const std::string& key) {
  return absl::Nanoseconds(WholeMember<std::int64_t>(settings, key));
}

void ReadAimd(const Json& settings, AlgorithmConfig& config) {
  config.floor = WholeMember<Calls>(settings, "minLimit");
  config.ceiling = WholeMember<Calls>(settings, "maxLimit");
  config.aimd.backoff = Real(settings, "backoffRatio");
  config.aimd.latency_threshold = Time(settings, "timeout_ns");
}

// "fixed:N" or "sqrt:N".
void ReadQueueSize(const Json& settings, Calls& queue_size, bool& by_square_root) {
  const std::string text = Text(settings, "queueSize");
  by_square_root = text.rfind("sqrt:", 0) == 0;
  const bool fixed = text.rfind("fixed:", 0) == 0;
  const std::string_view number = std::string_view(text).substr(text.find(':') + 1);
  if (!(by_square_root || fixed) || !ReadNumber(number, queue_size)) {
    Fail("\"queueSize\" must be fixed:N or sqrt:N, not \"", text, "\"");
  }
}

void ReadGradient2(const Json& settings, AlgorithmConfig& config) {
  Gradient2Config& gradient2 = config.gradient2;
  config.floor = WholeMember<Calls>(settings, "minLimit");
  config.ceiling = WholeMember<Calls>(settings, "maxConcurrency");
  gradient2.smoothing = Real(settings, "smoothing");
  gradient2.rtt_tolerance = Real(settings, "rttTolerance");
  gradient2.long_window = WholeMember<int>(settings, "longWindow");
  // A constant of the reference.
  if (settings.contains("warmupWindow")) {
    gradient2.warmup_window = WholeMember<int>(settings, "warmupWindow");
  }
  ReadQueueSize(settings, gradient2.queue_size, gradient2.queue_by_square_root);
}

void ReadGradient(const Json& settings, AlgorithmConfig& config) {
  GradientConfig& gradient = config.gradient;
  config.floor = WholeMember<Calls>(settings, "minLimit");
  config.ceiling = WholeMember<Calls>(settings, "maxConcurrency");
  gradient.smoothing = Real(settings, "smoothing");
  gradient.rtt_tolerance = Real(settings, "rttTolerance");
  gradient.backoff = Real(settings, "backoffRatio");
  gradient.probe_interval = WholeMember<int>(settings, "probeInterval");
  if (settings.contains("pin_probeCountdown")) {
    gradient.pin_probe_countdown = WholeMember<int>(settings, "pin_probeCountdown");
  }
  ReadQueueSize(settings, gradient.queue_size, gradient.queue_by_square_root);
}

LogRule ReadLogRule(const Json& settings, const std::string& key) {
  const std::string text = Text(settings, key);
  const auto rule = ParseLogRule(text);
  // The plain number is ours, not the format's.
  if (!rule || text.find_first_not_of("0123456789") == std::string::npos) {
    Fail("\"", key, "\" must be fixed:N, log10 or K*log10, not \"", text, "\"");
  }
  return *rule;
}

VegasStep ReadStep(const Json& settings, const std::string& key) {
  static const std::map<std::string, VegasStep> steps = {{"limit+log10", VegasStep::kAddLog10},
                                                         {"limit-log10", VegasStep::kSubtractLog10},
                                                         {"limit/2", VegasStep::kHalve}};
  const std::string text = Text(settings, key);
  const auto found = steps.find(text);
  if (found == steps.end()) {
    Fail("\"", key, "\" must be limit+log10, limit-log10 or limit/2, not \"", text, "\"");
  }
  return found->second;
}

void ReadVegas(const Json& settings, AlgorithmConfig& config) {
  VegasConfig& vegas = config.vegas;
  config.floor = 1;
  config.ceiling = WholeMember<Calls>(settings, "maxConcurrency");
  vegas.smoothing = Real(settings, "smoothing");
  vegas.alpha = ReadLogRule(settings, "alpha");
  vegas.beta = ReadLogRule(settings, "beta");
  vegas.threshold = ReadLogRule(settings, "threshold");
  vegas.increase = ReadStep(settings, "increase");
  vegas.decrease = ReadStep(settings, "decrease");
  vegas.probe_multiplier = WholeMember<int>(settings, "probeMultiplier");
  // Known answers say in words that any jitter will do.
  if (settings.contains("pin_probeJitter") && !settings["pin_probeJitter"].is_string()) {
    vegas.pin_probe_jitter = Real(settings, "pin_probeJitter");
  }
}

struct Reader {
  AlgorithmKind kind;
  void (*read)(const Json& settings, AlgorithmConfig& config);
  std::set<std::string> keys;  // apart from "algorithm" and "initialLimit"
};

const std::map<std::string, Reader>& Readers() {
  static const std::map<std::string, Reader> readers = {
      {"aimd",
       {AlgorithmKind::kAimd, ReadAimd, {"minLimit", "maxLimit", "backoffRatio", "timeout_ns"}}},
      {"vegas",
       {AlgorithmKind::kVegas,
        ReadVegas,
        {"maxConcurrency", "smoothing", "alpha", "beta", "threshold", "increase", "decrease",
         "probeMultiplier", "pin_probeJitter"}}},
      {"gradient",
       {AlgorithmKind::kGradient,
        ReadGradient,
        {"minLimit", "maxConcurrency", "smoothing", "queueSize", "rttTolerance", "backoffRatio",
         "probeInterval", "pin_probeCountdown"}}},
      {"gradient2",
       {AlgorithmKind::kGradient2,
        ReadGradient2,
        {"minLimit", "maxConcurrency", "smoothing", "queueSize", "longWindow", "warmupWindow",
         "rttTolerance"}}}};
  return readers;
}

AlgorithmConfig ConfigOf(const std::string& algorithm, const Json& settings) {
  const Reader& reader = Readers().at(algorithm);
  std::set<std::string> keys = reader.keys;
  keys.insert({"algorithm", "initialLimit"});
  RefuseOtherKeys(settings, "\"settings\"", keys);
  AlgorithmConfig config;
  config.kind = reader.kind;
  config.reference_exact = true;
  config.initial = WholeMember<Calls>(settings, "initialLimit");
  reader.read(settings, config);
  const absl::Status status = Validate(config);
  if (!status.ok()) Fail("\"settings\" are not valid: ", status.message());
  return config;
}

// "average", or "percentile:P:CAP".
void ReadSampleWindow(const std::string& text, WindowedConfig& config) {
  if (text == "average") return;
  constexpr std::string_view prefix = "percentile:";
  const std::size_t colon = text.rfind(':');
  double percentile = 0;
  const bool is_percentile =
      text.rfind(prefix, 0) == 0 && colon >= prefix.size() &&
      ReadNumber(std::string_view(text).substr(prefix.size(), colon - prefix.size()), percentile) &&
      ReadNumber(std::string_view(text).substr(colon + 1), config.percentile_calls);
  if (!is_percentile) {
    Fail("\"sampleWindow\" must be average or percentile:P:CAP, not \"", text, "\"");
  }
  config.percentile = percentile;
}

WindowedConfig WindowedConfigOf(const Json& settings) {
  RefuseOtherKeys(settings, "\"settings\"",
                  {"algorithm", "minWindowTime_ns", "maxWindowTime_ns", "windowSize",
                   "minRttThreshold_ns", "sampleWindow", "delegate"});
  WindowedConfig config;
  config.reference_exact = true;
  config.window_min = Time(settings, "minWindowTime_ns");
  config.window_max = Time(settings, "maxWindowTime_ns");
  config.samples_min = WholeMember<int>(settings, "windowSize");
  config.latency_min = Time(settings, "minRttThreshold_ns");
  ReadSampleWindow(Text(settings, "sampleWindow"), config);
  const absl::Status status = Validate(config);
  if (!status.ok()) Fail("\"settings\" are not valid: ", status.message());
  return config;
}

}  // namespace

bool IsSupported(const std::string& algorithm) {
  return algorithm == kWindowed || Readers().count(algorithm) > 0;
}

LawSettings LawSettingsOf(const std::string& algorithm, const Json& settings) {
  if (settings.contains("algorithm") && Text(settings, "algorithm") != algorithm) {
    Fail("\"settings\" are of another algorithm than \"", algorithm, "\"");
  }
  if (algorithm != kWindowed) return {ConfigOf(algorithm, settings), std::nullopt};
  const Json& delegate = Object(settings, "delegate");
  const std::string inner = Text(delegate, "algorithm");
  if (Readers().count(inner) == 0) Fail("the delegate \"", inner, "\" is not supported");
  return {ConfigOf(inner, delegate), WindowedConfigOf(settings)};
}

}  // namespace plimsoll
