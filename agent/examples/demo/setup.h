#pragma once

#include "absl/time/time.h"

namespace plimsoll::demo {

// The numbers of the story. README.md explains the choice.
inline constexpr char kDependency[] = "provider";
// The same provider in the lane `unlimited`, where the controller only looks on.
inline constexpr char kObservedDependency[] = "provider-by-hand";
inline constexpr char kService[] = "checkout";
inline constexpr int kQuota = 50;
inline constexpr int kReplicas = 8;
inline constexpr int kHandSetLimit = 20;
inline constexpr int kFloor = 2;
// Calls per second of a replica; the first replica gets kBusyFactor times as many.
inline constexpr double kRate = 95;
inline constexpr double kBusyFactor = 3;
inline constexpr absl::Duration kCallDeadline = absl::Seconds(1);
// The most that a request may need from the last look at the clock to the provider's work, and the
// provider's work may overrun.
inline constexpr absl::Duration kTransferTime = absl::Milliseconds(100);
inline constexpr absl::Duration kLease = absl::Seconds(2);
inline constexpr absl::Duration kBaseLease = absl::Seconds(8);

// Milliseconds that the provider may work on the call, counted from its arrival.
inline constexpr char kWorkHeader[] = "Demo-Work-Milliseconds";
// When the call must have ended, on the clock of this machine: only to tell whether it did.
inline constexpr char kDeadlineHeader[] = "Demo-Deadline-Nanoseconds";

}  // namespace plimsoll::demo
