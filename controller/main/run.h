#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controller/main/config.h"
#include "controller/main/config_source.h"
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
  // Where the service manager listens (sd_notify), and how often it wants a sign of life; empty and
  // zero: there is none.
  std::string notify_socket = {};
  absl::Duration watchdog = absl::ZeroDuration();
  // What the operator says about the store.
  OperatorWord word = OperatorWord::kNone;
  Profile profile = Profile::kProduction;
  // Reads the configuration anew, for SIGHUP and POST /v1/config:reload. Empty: there is none to
  // read.
  ConfigSource::Load load = {};
  // Reads a text instead, for POST /v1/config:validate.
  ConfigSource::Parse parse = {};
  std::string config_name = {};  // the path of the file, for messages
};

// Puts store, core and server together and serves until a signal ends it; HoldSignals() must have
// been called. Errors say what to do.
absl::Status RunController(const Config& config, const RunOptions& options, const Logger& logger,
                           const Clock& clock);

}  // namespace plimsoll
