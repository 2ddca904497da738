#include "plimsoll/simulation/scenario.h"

namespace plimsoll {
namespace {

// No faults at all; clocks are wrong and demand changes, as always, but not so often.
Scenario Calm() {
  Scenario scenario;
  scenario.name = "calm";
  scenario.demand_every = absl::Seconds(10);
  return scenario;
}

// What a bad day in production looks like.
Scenario Mild() {
  Scenario scenario;
  scenario.name = "mild";
  scenario.network = {.loss = 0.01, .duplicate = 0.01, .late = 0.005};
  scenario.disk.failure = 0.01;
  scenario.fault_every = absl::Seconds(20);
  scenario.controller_up = {absl::Seconds(40), absl::Seconds(80)};
  return scenario;
}

// What no day looks like: a fault every few seconds.
Scenario Harsh() {
  Scenario scenario;
  scenario.name = "harsh";
  scenario.network = {.loss = 0.05, .duplicate = 0.03, .late = 0.04};
  scenario.disk = {.commit = {absl::Milliseconds(1), absl::Milliseconds(80)}, .failure = 0.05};
  scenario.fault_every = absl::Milliseconds(2500);
  scenario.controller_up = {absl::Seconds(8), absl::Seconds(25)};
  return scenario;
}

// Instances come and go all the time, and many messages of the dead arrive late.
Scenario Churn() {
  Scenario scenario = Harsh();
  scenario.name = "churn";
  scenario.network.late = 0.15;
  scenario.fault_every = absl::Milliseconds(600);
  scenario.agent_down = {absl::Milliseconds(50), absl::Milliseconds(800)};
  scenario.controller_up = {absl::Seconds(40), absl::Seconds(80)};
  return scenario;
}

// The clocks conspire: what the controller believes to have ended has just not ended.
Scenario Extreme() {
  Scenario scenario = Harsh();
  scenario.name = "extreme";
  scenario.extreme_clocks = true;
  return scenario;
}

}  // namespace

std::vector<Scenario> Scenarios() { return {Calm(), Mild(), Harsh(), Churn(), Extreme()}; }

std::optional<Scenario> FindScenario(std::string_view name) {
  for (Scenario& scenario : Scenarios()) {
    if (scenario.name == name) return scenario;
  }
  return std::nullopt;
}

}  // namespace plimsoll
