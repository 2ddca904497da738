#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace plimsoll::fleet {

struct MemberOptions {
  std::string name;
  std::string controller;  // its agent plane: "http://127.0.0.1:7481"
  std::uint64_t seed = 1;
  absl::Duration period = absl::Seconds(60);
};

// One process of the fleet. Writes the port of its page of metrics to standard output and calls its
// dependencies until SIGTERM or SIGINT.
absl::Status RunMember(const MemberOptions& options);

}  // namespace plimsoll::fleet
