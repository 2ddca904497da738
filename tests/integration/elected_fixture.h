#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/temporary_folder.h"
#include "tests/integration/etcd_process.h"
#include "tests/integration/watched_fleet.h"

namespace plimsoll {

// Some controllers that share an etcd, and agents that know them all. Each test has its own, and
// fails at its end if the agents ever had more than the quota together.
class ElectedFixture : public ::testing::Test {
 protected:
  struct Controller {
    std::string name;
    std::string folder;
    std::unique_ptr<demo::ControllerProcess> process;

    std::uint16_t agents() const { return static_cast<std::uint16_t>(process->agent_port()); }
    std::uint16_t api() const { return static_cast<std::uint16_t>(process->api_port()); }
    std::string log() const;
  };
  using Json = nlohmann::json;
  static constexpr int kControllers = 3;

  // `shards`: how many there are; 0: the controllers do not share the dependencies.
  ElectedFixture(const std::vector<std::string>& dependencies, int shards);
  // Starts etcd, which must be there, and the controllers.
  void SetUp() override;
  void TearDown() override;

  // With its configuration, but it is not started.
  Controller MakeController(const std::string& name, int shards) const;
  // On the ports that it has had before.
  static void StartController(Controller& controller);
  // Their sums and least limits are watched from when each has more than its base.
  void StartAgents(int count);

  // The answer to a GET at the plane of operators; empty if there is none.
  static std::string Ask(const Controller& controller, const std::string& target);
  // Its body; an empty object if that is none.
  static Json AskJson(const Controller& controller, const std::string& target);
  // Of all controllers, to be shown when something fails.
  std::string Logs() const;

  const demo::TemporaryFolder folder_;
  const std::vector<std::string> dependencies_;
  const int shards_;
  std::unique_ptr<EtcdProcess> etcd_;
  std::vector<Controller> controllers_;
  WatchedFleet fleet_;
};

}  // namespace plimsoll
