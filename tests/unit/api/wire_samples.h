#pragma once

#include "plimsoll/core/protocol.h"

namespace plimsoll {

// Messages in which every field has a value of its own, so that a field that is lost or swapped on
// its way shows.
RegisterRequest SampleRegisterRequest();
RegisterAnswer SampleRegisterAnswer();
SyncRequest SampleSyncRequest();
SyncAnswer SampleSyncAnswer();

}  // namespace plimsoll
