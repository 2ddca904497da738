#pragma once

#include "absl/time/time.h"

namespace plimsoll::demo {

// The numbers of the story. README.md explains the choice.
inline constexpr char kDependency[] = "provider";
inline constexpr char kService[] = "checkout";
inline constexpr int kQuota = 50;
inline constexpr int kReplicas = 8;
inline constexpr int kHandSetLimit = 20;
inline constexpr int kFloor = 2;
// Calls per second of a replica; the first replica gets kBusyFactor times as many.
inline constexpr double kRate = 95;
inline constexpr double kBusyFactor = 3;
inline constexpr absl::Duration kCallDeadline = absl::Seconds(1);
inline constexpr absl::Duration kLease = absl::Seconds(2);
inline constexpr absl::Duration kBaseLease = absl::Seconds(8);

}  // namespace plimsoll::demo
