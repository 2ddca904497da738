#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/cli/src/experiment.h"
#include "api/cli/src/figure.h"

namespace plimsoll::cli {

// The first runs of an outcome over time. With one law: limit, calls in flight, throughput and
// latency, and up to `marks_max` decisions. With several they lie over each other.
Figure RunFigure(const Outcome& outcome, std::size_t marks_max);

// The decisions that moved a limit, at most `count`: those of the largest relative steps, by time.
std::vector<LogEvent> NotableDecisions(const std::vector<LogEvent>& decisions, std::size_t count);

// "12.5 s", of a decision.
std::string TimeText(const LogEvent& decision);
// Whose limit: "checkout/replica-3", or "pool".
std::string Whose(const LogEvent& decision);

}  // namespace plimsoll::cli
