#include "tests/conformance/trace.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/conformance/json_fields.h"
#include "tests/conformance/settings.h"

namespace plimsoll {
namespace {

TraceSample SampleOf(const Json& fields, std::size_t index) {
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
Trace RunOf(const std::string& name, const std::string& algorithm, const Json& run) {
  const LawSettings settings = LawSettingsOf(algorithm, Object(run, "settings"));
  Trace trace{.name = name,
              .config = settings.law,
              .windowed = settings.windowed,
              .initial_limit = WholeMember<Calls>(run, "initial_limit"),
              .samples = {},
              .limits = {},
              .final_state = {}};
  for (const Json& fields : Array(run, "samples")) {
    trace.samples.push_back(SampleOf(fields, trace.samples.size()));
  }
  for (const Json& limit : Array(run, "limits")) {
    trace.limits.push_back(Whole<Calls>(limit, absl::StrCat("limit ", trace.limits.size())));
  }
  if (trace.samples.empty()) Fail("there are no samples");
  if (trace.samples.size() != trace.limits.size()) {
    Fail("there are ", trace.samples.size(), " samples, but ", trace.limits.size(), " limits");
  }
  return trace;
}

// The keys of a final state, by the law.
std::set<std::string> FinalKeys(AlgorithmKind kind) {
  switch (kind) {
    case AlgorithmKind::kVegas:
      return {"estimatedLimit", "rtt_noload", "probeCount"};
    case AlgorithmKind::kGradient:
      return {"estimatedLimit", "rttNoLoad", "resetRttCounter"};
    case AlgorithmKind::kGradient2:
      return {"estimatedLimit", "longRtt"};
    default:
      return {};
  }
}

TraceFile SingleTrace(const std::string& name, const Json& run) {
  const std::string algorithm = Text(run, "algorithm");
  if (!IsSupported(algorithm)) {
    Fail("the algorithm \"", algorithm,
         "\" is not supported; aimd, vegas, gradient, gradient2 and windowed are");
  }
  Trace trace = RunOf(name, algorithm, run);
  const Json& final_state = Object(run, "final_state");
  RefuseOtherKeys(final_state, "\"final_state\"", FinalKeys(trace.config.kind));
  for (const auto& [key, value] : final_state.items()) {
    trace.final_state[key] = Real(final_state, key);
  }
  return {.traces = {std::move(trace)}, .skipped = {}};
}

TraceFile Cases(const std::string& name, const Json& document) {
  TraceFile file;
  for (const Json& run : Array(document, "cases")) {
    if (!run.is_object()) Fail("each of \"cases\" must be an object");
    const std::string algorithm = Text(Object(run, "settings"), "algorithm");
    if (IsSupported(algorithm)) {
      file.traces.push_back(RunOf(absl::StrCat(name, ": ", Text(run, "case")), algorithm, run));
    } else {
      ++file.skipped[algorithm];
    }
  }
  if (file.traces.empty()) Fail("none of \"cases\" is of a law that is here");
  return file;
}

TraceFile Parse(const std::string& name, const std::string& text) {
  const Json document = Json::parse(text);
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
