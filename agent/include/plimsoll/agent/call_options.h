#pragma once

#include <chrono>
#include <string_view>

#include "plimsoll/agent/deadline.h"

namespace plimsoll {

// Where in the caller's source a permit is asked for; leaks are reported with it. Made by default
// arguments, which name the line of the outermost call; libraries that ask on behalf of their users
// hand on what their own default argument says.
class CallSite {
 public:
  static constexpr CallSite Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return CallSite(file, line);
  }

  constexpr const char* file() const { return file_; }  // of static storage
  constexpr int line() const { return line_; }

 private:
  constexpr CallSite(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

// What one call asks of a bulkhead. The default asks for one unit, as the most important class, and
// does not wait.
struct CallOptions {
  // Units of the limit that the call takes while it is in flight, 1 to 1,000,000. Whatever is
  // counted in calls - in flight, limit, quota, admitted, refused - is then counted in units, so
  // all callers of a dependency must mean the same by a unit. See CostOfBytes(). A call that costs
  // more than the whole limit is refused, since the quota holds for it too: choose units such that
  // the policy's floor is at least the cost of the costliest call. Latencies count once for each
  // unit.
  int cost = 1;

  // Index into BulkheadOptions::classes, at least 0, the most important. Beyond the last: the last.
  int priority = 0;

  // Whom the call is for, if the bulkhead caps tenants. Empty: nobody, no cap. Not a metric label.
  std::string_view tenant = {};

  // When the caller wants to have its answer; it is cut to Deadline::Current(). A call is refused
  // with kDeadline if that has passed, or is nearer than half of the calls took lately. While no
  // call is in flight only the former counts, so that old news cannot keep a bulkhead shut.
  Deadline deadline = {};

  // How long the call may wait for its turn, if the bulkhead has a queue; zero: not at all.
  // TryAcquire() never waits, whatever it says here.
  std::chrono::nanoseconds wait{0};
};

// Bytes as units: one for every `unit` bytes begun, at least 1 and at most 1,000,000. Requires
// bytes >= 0 and unit > 0. With a limit of 64 and units of a mebibyte, 64 MiB may be on their way.
int CostOfBytes(long long bytes, long long unit);

}  // namespace plimsoll
