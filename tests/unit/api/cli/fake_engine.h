#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "api/cli/src/engine.h"

namespace plimsoll::cli {

// Two phases of 30 s, the second one in overload; quota 64.
LoadScenario SampleScenario(const std::string& name = "A");

// What a law and a seed make of a scenario: round numbers that depend on both.
LoadRun SampleRun(const LoadScenario& scenario, const std::string& law, std::uint64_t seed);

// An engine that answers at once: designed scenarios A, B and halved, laws "good" and "poor".
struct FakeEngine {
  std::int64_t quota_violations = 0;                                                 // of each run
  std::shared_ptr<std::atomic<int>> optima = std::make_shared<std::atomic<int>>(0);  // looked for

  Engine Make() const;
};

}  // namespace plimsoll::cli
