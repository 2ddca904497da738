#pragma once

#include "plimsoll/controller/snapshot.h"

namespace plimsoll {

// Two dependencies, one with a quota; two instances at the first.
Snapshot SampleSnapshot();

}  // namespace plimsoll
