#pragma once

#include "absl/time/time.h"

namespace plimsoll {

// Makes SIGTERM, SIGINT and SIGHUP wait for NextSignal(), in this thread and in all that it starts,
// and SIGPIPE do nothing. Call it before any other thread exists.
void HoldSignals();

// Waits up to `patience` for one of the signals that are held, and returns it; 0 if there was none.
int NextSignal(absl::Duration patience);

// From now on SIGTERM and SIGINT end the process at once.
void LetSignalsKill();

}  // namespace plimsoll
