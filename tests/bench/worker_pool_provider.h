#pragma once

#include "absl/time/time.h"

namespace plimsoll::bench {

// A provider with as many workers as it says, each a thread that sleeps through a call; calls that
// find none free wait in a queue without bound, first come, first served. Over HTTP, on a port of
// the system's choice:
//   POST /call        200 once a worker was done with it
//   POST /workers/N   from now on N workers take calls, 1 <= N <= the first number; answers with
//                     the most calls that were in flight here since the last such request
// Prints the port as a line, and serves until the process is killed. `workers` is at least 1.
// Returns only if it cannot listen, with an exit status.
int RunWorkerPoolProvider(int workers, absl::Duration service_time);

}  // namespace plimsoll::bench
