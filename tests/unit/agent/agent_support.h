#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "agent/src/agent_factory.h"
#include "plimsoll/agent/agent.h"
#include "plimsoll/agent/options.h"
#include "tests/unit/agent/fake_transport.h"
#include "tests/unit/agent/manual_clock.h"

namespace plimsoll {

// What an agent needs that says nothing and does not wait when it goes.
inline AgentOptions QuietOptions() {
  AgentOptions options;
  options.controllers = {"http://127.0.0.1:7481"};
  options.service = "checkout";
  options.release_timeout = std::chrono::milliseconds(0);
  options.log = [](std::string_view) {};
  return options;
}

inline std::unique_ptr<Agent> StartAgent(FakeNetwork& network, const Clock& clock,
                                         AgentOptions options = QuietOptions()) {
  auto agent = AgentFactory::Start(std::move(options), {clock, Random(1), network.MakeTransport()});
  EXPECT_TRUE(agent.ok()) << agent.status();
  return *std::move(agent);
}

}  // namespace plimsoll
