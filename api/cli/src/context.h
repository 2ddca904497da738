#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cli/src/config_check.h"
#include "api/cli/src/rest_transport.h"
#include "api/cli/src/verb.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::cli {

// Of a terminal now; 0: not known.
struct TerminalSize {
  int rows = 0;
  int columns = 0;
};

// All that commands see of the world, handed in. Confined to the main thread.
struct Context {
  std::function<void(const std::string& text)> out;    // data
  std::function<void(const std::string& text)> error;  // messages
  bool out_is_terminal = false;
  std::function<TerminalSize()> out_size = [] { return TerminalSize{}; };
  bool in_is_terminal = false;  // somebody can be asked
  std::function<std::string()> read_line;
  std::function<absl::StatusOr<std::string>(const std::string& path)> read_file;
  std::function<std::string(const std::string& name)> environment;  // empty: not set
  std::function<absl::StatusOr<std::unique_ptr<RestTransport>>(const Connection&)> connect;
  std::function<void(absl::Duration)> pause;
  // Reads a configuration of the controller. The message tells all faults, a line each.
  std::function<absl::StatusOr<ConfigVerdict>(const ConfigCheck& check)> check_config;
  // `plimsoll simulate`.
  std::function<int(const std::vector<std::string>& arguments)> simulate;
  const Clock& clock;
  std::string version;
};

// The whole program but for its main function: understands `arguments`, which are without the name
// of the program, and does what they say. Returns the exit status.
int RunCommandLine(const std::vector<std::string>& arguments, const Context& context);

}  // namespace plimsoll::cli
