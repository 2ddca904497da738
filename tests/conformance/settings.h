#pragma once

#include <optional>
#include <string>

#include "plimsoll/algorithms/config.h"
#include "plimsoll/algorithms/windowed.h"
#include "tests/conformance/json_fields.h"

namespace plimsoll {

// The settings of a recorded run, as ours. Throw TraceError.

bool IsSupported(const std::string& algorithm);

struct LawSettings {
  AlgorithmConfig law;                     // of the inner law, if calls are gathered in windows
  std::optional<WindowedConfig> windowed;  // if they are
};

LawSettings LawSettingsOf(const std::string& algorithm, const Json& settings);

}  // namespace plimsoll
