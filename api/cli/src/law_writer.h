#pragma once

#include "api/cli/src/yaml_writer.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll::cli {

// Writes the sections of the laws, with the keys that controller/config/law_reader.cc reads.
void WriteLaws(YamlWriter& policy, const AlgorithmConfig& algorithm);

}  // namespace plimsoll::cli
