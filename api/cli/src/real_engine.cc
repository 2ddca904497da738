#include "api/cli/src/engine.h"

namespace plimsoll::cli {

Engine RealEngine() {
  Engine engine;
  engine.validate = [](const LoadScenario& scenario) { return Validate(scenario); };
  engine.simulate = SimulateLoad;
  engine.find_optimum = FindOptimum;
  engine.score = Score;
  engine.is_overload = IsOverload;
  engine.designed = DesignedLoadScenarios;
  engine.hold_out = HoldOutLoadScenarios;
  engine.suite_laws = [](const LoadScenario& scenario) { return SuiteLaws(scenario); };
  return engine;
}

}  // namespace plimsoll::cli
