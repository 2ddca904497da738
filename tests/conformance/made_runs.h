#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "plimsoll/core/random.h"

namespace plimsoll {

// A trace with settings and samples that nobody chose, in the format of the recorded ones: what the
// second implementation answers to 400 samples.
nlohmann::json MakeRun(Random& random, const std::string& algorithm);

}  // namespace plimsoll
