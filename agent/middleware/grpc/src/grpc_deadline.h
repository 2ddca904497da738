#pragma once

#include <grpc/support/time.h>

#include <chrono>
#include <cstdint>

#include "plimsoll/agent/deadline.h"

namespace plimsoll::internal {

inline constexpr std::int64_t kSecondsMax = 1'000'000'000;

// gRPC's deadlines are of its own clocks; what both have in common is the time left.
inline Deadline FromGrpc(gpr_timespec deadline) {
  const gpr_timespec end = gpr_convert_clock_type(deadline, GPR_CLOCK_MONOTONIC);
  if (gpr_time_cmp(end, gpr_inf_future(GPR_CLOCK_MONOTONIC)) == 0) return Deadline::Never();
  const gpr_timespec left = gpr_time_sub(end, gpr_now(GPR_CLOCK_MONOTONIC));
  if (left.tv_sec >= kSecondsMax) return Deadline::Never();
  if (left.tv_sec < -kSecondsMax) return Deadline::In(std::chrono::nanoseconds(0));
  return Deadline::In(std::chrono::seconds(left.tv_sec) + std::chrono::nanoseconds(left.tv_nsec));
}

inline gpr_timespec ToGrpc(Deadline deadline) {
  if (deadline.never()) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
  const gpr_timespec left = gpr_time_from_nanos(deadline.left().count(), GPR_TIMESPAN);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), left);
}

}  // namespace plimsoll::internal
