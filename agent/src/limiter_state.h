#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "agent/src/admission_words.h"
#include "agent/src/call_counters.h"
#include "agent/src/grant_port.h"
#include "agent/src/in_flight.h"
#include "agent/src/limit_journal.h"
#include "agent/src/rolling_max.h"
#include "agent/src/service_time.h"
#include "agent/src/time_in_flight.h"
#include "agent/src/window_cutter.h"
#include "plimsoll/agent/bulkhead_options.h"
#include "plimsoll/core/time.h"
#include "plimsoll/core/types.h"
#include "plimsoll/core/window.h"

// What a limiter remembers, by who writes it: what different threads write has cache lines of its
// own. Only the limiter knows what belongs together.
namespace plimsoll::internal {

struct Counted {
  // Written by every call.
  alignas(64) InFlight in_flight;
  std::atomic<Calls> peak{0};
  TimeAtLimit at_limit;

  // Written by refused calls.
  alignas(64) RejectCounters rejected;  // those that were only observed as well
  RejectCounters would_reject;          // of the rejected, those that were admitted

  // Written by admitted calls that are not of the first class, or of more than one unit.
  alignas(64) std::array<std::atomic<std::int64_t>, kPriorityClassesMax> admitted_by_class{};
  std::atomic<std::int64_t> units_beyond_first{0};

  // Written by every call, by each thread in a place of its own.
  TimeInFlight time_in_flight;

  // Written when the calls in flight reach a new height.
  alignas(64) RollingMax in_flight_max;

  // Written at the end of calls.
  alignas(64) CallCounters counters;
};

// Read by every call, written at grants.
struct alignas(64) InForce {
  AdmissionWords words;
  std::atomic<std::int64_t> due_ns{kInfiniteFuture.ns};
  std::atomic<std::int64_t> call_deadline_ns{kInfiniteFuture.ns};
  std::atomic<bool> draining{false};
  std::atomic<bool> observing{false};
  std::atomic<bool> granted{false};
  ServiceTime service_time;
  // For the stage: the ends of the function's steps.
  std::atomic<std::int64_t> limit_end_ns{0};
  std::atomic<std::int64_t> base_end_ns{0};
  std::atomic<std::int64_t> stepped_down{0};
};

// Confined to the agent's thread.
struct alignas(64) Measuring {
  explicit Measuring(Instant opened) : cutter(opened) {}

  StepFunction function;
  LimitJournal journal;     // read by everybody
  bool steps_ended = true;  // the words hold the last step: none is left to end
  Instant next_end;         // else: of the step that the first word holds
  WindowCutter cutter;
  std::vector<Window> windows;  // closed, not yet measured
  Calls window_peak = 0;
  Calls measured_peak = 0;
};

}  // namespace plimsoll::internal
