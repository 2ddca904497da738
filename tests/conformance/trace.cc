#include "tests/conformance/trace.h"

#include <charconv>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace plimsoll {
namespace {

using nlohmann::json;

// Never leaves this file.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <typename... Parts>
[[noreturn]] void Fail(const Parts&... parts) {
  throw TraceError(absl::StrCat(parts...));
}

const json& Member(const json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) Fail("\"", key, "\" is missing");
  return *found;
}

const json& Array(const json& object, const std::string& key) {
  const json& value = Member(object, key);
  if (!value.is_array()) Fail("\"", key, "\" must be an array");
  return value;
}

const json& Object(const json& object, const std::string& key) {
  const json& value = Member(object, key);
  if (!value.is_object()) Fail("\"", key, "\" must be an object");
  return value;
}

std::string Text(const json& object, const std::string& key) {
  const json& value = Member(object, key);
  if (!value.is_string()) Fail("\"", key, "\" must be a string");
  return value.get<std::string>();
}

template <typename Int>
Int Whole(const json& value, const std::string& where) {
  // Not get<Int>() alone: it would truncate fractions and wrap what does not fit.
  const bool fits_64_bits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  const std::int64_t number = fits_64_bits ? value.get<std::int64_t>() : 0;
  if (!fits_64_bits || number < std::numeric_limits<Int>::min() ||
      number > std::numeric_limits<Int>::max()) {
    Fail(where, " must be a whole number of ", 8 * sizeof(Int), " bits");
  }
  return static_cast<Int>(number);
}

template <typename Int>
Int WholeMember(const json& object, const std::string& key) {
  return Whole<Int>(Member(object, key), absl::StrCat("\"", key, "\""));
}

double Real(const json& object, const std::string& key) {
  const json& value = Member(object, key);
  if (!value.is_number()) Fail("\"", key, "\" must be a number");
  return value.get<double>();
}

void RefuseOtherKeys(const json& object, const std::string& where,
                     const std::set<std::string>& known) {
  for (const auto& [key, value] : object.items()) {
    if (known.count(key) == 0) Fail(where, " has an unknown key \"", key, "\"");
  }
}

AlgorithmConfig AimdConfigOf(const json& settings) {
  RefuseOtherKeys(
      settings, "\"settings\"",
      {"algorithm", "initialLimit", "minLimit", "maxLimit", "backoffRatio", "timeout_ns"});
  AlgorithmConfig config;
  config.kind = AlgorithmKind::kAimd;
  config.ceiling = WholeMember<Calls>(settings, "maxLimit");
  config.aimd.backoff = Real(settings, "backoffRatio");
  config.aimd.latency_threshold =
      absl::Nanoseconds(WholeMember<std::int64_t>(settings, "timeout_ns"));
  return config;
}

// "fixed:N" or "sqrt:N".
void ParseQueueSize(const std::string& text, Gradient2Config& gradient2) {
  const bool by_square_root = text.rfind("sqrt:", 0) == 0;
  const bool fixed = text.rfind("fixed:", 0) == 0;
  const char* const number = text.data() + text.find(':') + 1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(number, end, gradient2.queue_size);
  if (!(by_square_root || fixed) || error != std::errc() || stop != end) {
    Fail("\"queueSize\" must be fixed:N or sqrt:N, not \"", text, "\"");
  }
  gradient2.queue_by_square_root = by_square_root;
}

AlgorithmConfig Gradient2ConfigOf(const json& settings) {
  RefuseOtherKeys(settings, "\"settings\"",
                  {"algorithm", "initialLimit", "minLimit", "maxConcurrency", "smoothing",
                   "queueSize", "longWindow", "warmupWindow", "rttTolerance"});
  AlgorithmConfig config;
  config.kind = AlgorithmKind::kGradient2;
  config.ceiling = WholeMember<Calls>(settings, "maxConcurrency");
  config.gradient2.smoothing = Real(settings, "smoothing");
  config.gradient2.rtt_tolerance = Real(settings, "rttTolerance");
  config.gradient2.long_window = WholeMember<int>(settings, "longWindow");
  config.gradient2.warmup_window = WholeMember<int>(settings, "warmupWindow");
  ParseQueueSize(Text(settings, "queueSize"), config.gradient2);
  return config;
}

bool IsSupported(const std::string& algorithm) {
  return algorithm == ToString(AlgorithmKind::kAimd) ||
         algorithm == ToString(AlgorithmKind::kGradient2);
}

AlgorithmConfig ConfigOf(const std::string& algorithm, const json& settings) {
  if (settings.contains("algorithm") && Text(settings, "algorithm") != algorithm) {
    Fail("\"settings\" are of another algorithm than \"", algorithm, "\"");
  }
  AlgorithmConfig config = algorithm == ToString(AlgorithmKind::kAimd)
                               ? AimdConfigOf(settings)
                               : Gradient2ConfigOf(settings);
  config.initial = WholeMember<Calls>(settings, "initialLimit");
  config.floor = WholeMember<Calls>(settings, "minLimit");
  config.reference_exact = true;
  const absl::Status status = Validate(config);
  if (!status.ok()) Fail("\"settings\" are not valid: ", status.message());
  return config;
}

TraceSample SampleOf(const json& fields, std::size_t index) {
  const std::string where = absl::StrCat("sample ", index);
  if (!fields.is_array() || fields.size() != 4) {
    Fail(where, " must be [start_ns, rtt_ns, inflight, dropped]");
  }
  const int dropped = Whole<int>(fields[3], absl::StrCat("dropped of ", where));
  if (dropped != 0 && dropped != 1) Fail("dropped of ", where, " must be 0 or 1");
  return {.start_ns = Whole<std::int64_t>(fields[0], absl::StrCat("start_ns of ", where)),
          .rtt_ns = Whole<std::int64_t>(fields[1], absl::StrCat("rtt_ns of ", where)),
          .in_flight = Whole<Calls>(fields[2], absl::StrCat("inflight of ", where)),
          .dropped = dropped == 1};
}

// What traces and cases have in common.
Trace RunOf(const std::string& name, const std::string& algorithm, const json& run) {
  Trace trace{.name = name,
              .config = ConfigOf(algorithm, Object(run, "settings")),
              .initial_limit = WholeMember<Calls>(run, "initial_limit"),
              .samples = {},
              .limits = {},
              .final_state = std::nullopt};
  for (const json& fields : Array(run, "samples")) {
    trace.samples.push_back(SampleOf(fields, trace.samples.size()));
  }
  for (const json& limit : Array(run, "limits")) {
    trace.limits.push_back(Whole<Calls>(limit, absl::StrCat("limit ", trace.limits.size())));
  }
  if (trace.samples.empty()) Fail("there are no samples");
  if (trace.samples.size() != trace.limits.size()) {
    Fail("there are ", trace.samples.size(), " samples, but ", trace.limits.size(), " limits");
  }
  return trace;
}

TraceFile SingleTrace(const std::string& name, const json& run) {
  const std::string algorithm = Text(run, "algorithm");
  if (!IsSupported(algorithm)) {
    Fail("the algorithm \"", algorithm, "\" is not supported; aimd and gradient2 are");
  }
  Trace trace = RunOf(name, algorithm, run);
  const json& final_state = Object(run, "final_state");
  if (trace.config.kind == AlgorithmKind::kGradient2) {
    RefuseOtherKeys(final_state, "\"final_state\"", {"estimatedLimit", "longRtt"});
    trace.final_state =
        TraceFinalState{Real(final_state, "estimatedLimit"), Real(final_state, "longRtt")};
  } else {
    RefuseOtherKeys(final_state, "\"final_state\" of aimd", {});
  }
  return {.traces = {std::move(trace)}, .skipped = {}};
}

TraceFile Cases(const std::string& name, const json& document) {
  TraceFile file;
  for (const json& run : Array(document, "cases")) {
    if (!run.is_object()) Fail("each of \"cases\" must be an object");
    const std::string algorithm = Text(Object(run, "settings"), "algorithm");
    if (IsSupported(algorithm)) {
      file.traces.push_back(RunOf(absl::StrCat(name, ": ", Text(run, "case")), algorithm, run));
    } else {
      ++file.skipped[algorithm];
    }
  }
  if (file.traces.empty()) Fail("none of \"cases\" is of aimd or gradient2");
  return file;
}

TraceFile Parse(const std::string& name, const std::string& text) {
  const json document = json::parse(text);
  if (!document.is_object()) Fail("the document must be an object");
  return document.contains("cases") ? Cases(name, document) : SingleTrace(name, document);
}

}  // namespace

absl::StatusOr<TraceFile> ParseTraceFile(const std::string& name, const std::string& text) {
  try {
    return Parse(name, text);
  } catch (const std::exception& error) {  // TraceError, or the JSON parser's own
    return absl::InvalidArgumentError(absl::StrCat(name, ": ", error.what()));
  }
}

absl::StatusOr<TraceFile> ReadTraceFile(const std::string& path) {
  std::ifstream input(path, std::ios::binary);
  std::ostringstream text;
  if (!input || !(text << input.rdbuf())) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read, or is empty"));
  }
  return ParseTraceFile(path, text.str());
}

}  // namespace plimsoll
