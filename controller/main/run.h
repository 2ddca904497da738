#pragma once

#include <string>

#include "absl/status/status.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "plimsoll/core/clock.h"

namespace plimsoll {

// Puts store, core and server together and serves until a signal ends it; HoldSignals() must have
// been called. Once both listeners are bound, their ports are written to `port_path` if that is not
// empty. Errors say what to do.
absl::Status RunController(const Config& config, const std::string& port_path, const Logger& logger,
                           const Clock& clock);

}  // namespace plimsoll
