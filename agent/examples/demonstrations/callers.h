#pragma once

#include <vector>

#include "absl/time/time.h"

namespace plimsoll::demonstrations {

// What a caller got, and how long it took from sending.
struct Answer {
  int status = 0;  // of HTTP; 0: no answer
  bool retry_after = false;
  absl::Duration latency;
};

// So many clients send GET /call to this port of this machine at the same time, each over a
// connection that it has opened before by GET /healthz. Returns when all have their answers.
std::vector<Answer> CallAtOnce(int port, int clients);

}  // namespace plimsoll::demonstrations
