#pragma once

namespace plimsoll {

// Makes SIGTERM, SIGINT and SIGHUP wait for NextSignal(), in this thread and in all that it starts,
// and SIGPIPE do nothing. Call it before any other thread exists.
void HoldSignals();

// Waits for one of the signals that are held, and returns it.
int NextSignal();

// From now on SIGTERM and SIGINT end the process at once.
void LetSignalsKill();

}  // namespace plimsoll
