#pragma once

namespace plimsoll::internal {

// What the kernel knows of this process; zeros where it does not tell.
struct ProcessFacts {
  double cpu_seconds = 0;
  double resident_bytes = 0;
  double open_fds = 0;
  double max_fds = 0;
  double start_time_seconds = 0;  // Unix time
};

// Reads /proc/self. Thread-safe.
ProcessFacts ReadProcessFacts();

}  // namespace plimsoll::internal
