#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plimsoll/algorithms/config.h"
#include "plimsoll/algorithms/windowed.h"
#include "plimsoll/core/types.h"

namespace plimsoll {

// The arguments of one call of the reference.
struct TraceSample {
  std::int64_t start_ns = 0;
  std::int64_t rtt_ns = 0;
  Calls in_flight = 0;
  bool dropped = false;
};

// One run of the reference: settings, samples, and what it answered. Thread-compatible.
struct Trace {
  std::string name;                        // the file, and the case within it
  AlgorithmConfig config;                  // of the (inner) law; reference_exact is set
  std::optional<WindowedConfig> windowed;  // if samples are gathered in windows
  Calls initial_limit = 0;                 // before the first sample
  std::vector<TraceSample> samples;
  std::vector<Calls> limits;                  // after each sample
  std::map<std::string, double> final_state;  // of the (inner) law, by the reference's names
};

struct TraceFile {
  std::vector<Trace> traces;           // never empty
  std::map<std::string, int> skipped;  // cases of laws that are not here, by the law's name
};

// Reads a trace, or a list of cases as in known-answers.json, in the format of README.md. Strict: a
// setting that is missing, unknown or of the wrong type is an error, because a replay that ignored
// it would be no evidence. kInvalidArgument names `name`, the place, and what is wrong.
absl::StatusOr<TraceFile> ParseTraceFile(const std::string& name, const std::string& text);

// The same for a file on disk. kNotFound if it cannot be read.
absl::StatusOr<TraceFile> ReadTraceFile(const std::string& path);

}  // namespace plimsoll
