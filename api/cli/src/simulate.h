#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/cli/src/engine.h"
#include "api/cli/src/exit_status.h"
#include "plimsoll/core/clock.h"

namespace plimsoll::cli {

// Where a command writes. `error` may be called from several threads, one at a time.
struct Console {
  std::function<void(const std::string&)> out;
  std::function<void(const std::string&)> error;
  bool error_is_terminal = false;
  const Clock& clock;
};

// The command `plimsoll simulate`. Returns the exit status.
int Simulate(const std::vector<std::string>& arguments, const Engine& engine,
             const Console& console);

}  // namespace plimsoll::cli
