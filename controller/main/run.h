#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/main/config.h"
#include "controller/main/log.h"
#include "plimsoll/core/clock.h"
#include "plimsoll/store/sqlite_store.h"

namespace plimsoll {

// How to run, beside the configuration.
struct RunOptions {
  // Once both listeners are bound, their ports are written there; empty: nowhere.
  std::string port_path = {};
  // Says on standard output where it listens, for people who try it.
  bool announce = false;
  // What the operator says about the store.
  OperatorWord word = OperatorWord::kNone;
  // Reads the configuration anew, for SIGHUP; its errors have one line per fault. Empty: there is
  // none to read.
  std::function<absl::StatusOr<Config>()> reload = {};
};

// Puts store, core and server together and serves until a signal ends it; HoldSignals() must have
// been called. Errors say what to do.
absl::Status RunController(const Config& config, const RunOptions& options, const Logger& logger,
                           const Clock& clock);

}  // namespace plimsoll
