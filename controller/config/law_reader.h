#pragma once

#include "controller/config/map_reader.h"
#include "plimsoll/algorithms/config.h"

namespace plimsoll {

// Reads the key "algorithm" and the section of each law. Ranges are not looked at.
void ReadLaws(MapReader& map, AlgorithmConfig& target, Faults& faults);

}  // namespace plimsoll
