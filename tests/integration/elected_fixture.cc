#include "tests/integration/elected_fixture.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/child_process.h"
#include "tests/integration/http_probe.h"
#include "tests/integration/waiting.h"

namespace plimsoll {

std::string ElectedFixture::Controller::log() const {
  std::ifstream file(folder + "/controller.log");
  return {std::istreambuf_iterator<char>(file), {}};
}

ElectedFixture::ElectedFixture(const std::vector<std::string>& dependencies, int shards)
    : dependencies_(dependencies), shards_(shards), fleet_(dependencies) {}

void ElectedFixture::SetUp() {
  auto etcd = EtcdProcess::Start(folder_.path() + "/etcd");
  ASSERT_TRUE(etcd.ok()) << etcd.status();
  etcd_ = *std::move(etcd);
  for (int i = 0; i < kControllers; ++i) {
    controllers_.push_back(MakeController(absl::StrCat("c", i), shards_));
    StartController(controllers_.back());
  }
}

void ElectedFixture::TearDown() {
  fleet_.StopWatching();
  EXPECT_LE(fleet_.largest_sum(), kQuota);
}

ElectedFixture::Controller ElectedFixture::MakeController(const std::string& name,
                                                          int shards) const {
  std::string config =
      "agents: {lease: 10s, hold_max: 500ms, tick: 100ms}\n"
      "dependencies:\n";
  for (const std::string& dependency : dependencies_) {
    config += FixedPolicy(dependency, absl::Minutes(1));
  }
  const std::string state =
      absl::StrCat("{mode: etcd, etcd: {endpoints: [\"", etcd_->url(), "\"], lease: 2s",
                   shards == 0 ? "" : absl::StrCat(", shards: ", shards), "}}");
  Controller controller{name, folder_.path() + "/" + name, nullptr};
  std::filesystem::create_directory(controller.folder);
  controller.process = std::make_unique<demo::ControllerProcess>(
      demo::OwnFolder() + "/plimsoll-controller", controller.folder, config, "127.0.0.1", state);
  return controller;
}

void ElectedFixture::StartController(Controller& controller) {
  const absl::Status started = controller.process->Start();
  ASSERT_TRUE(started.ok()) << started << controller.log();
}

void ElectedFixture::StartAgents(int count) {
  std::vector<std::string> urls;
  for (const Controller& controller : controllers_) {
    urls.push_back(absl::StrCat("http://127.0.0.1:", controller.agents()));
  }
  for (int i = 0; i < count; ++i) {
    const absl::Status joined = fleet_.Join(urls);
    ASSERT_TRUE(joined.ok()) << joined;
  }
  ASSERT_TRUE(Until([this] { return fleet_.Least() > kBase; })) << fleet_.Least() << Logs();
  fleet_.WatchForDips();
  fleet_.Watch();
}

std::string ElectedFixture::Ask(const Controller& controller, const std::string& target) {
  HttpProbe probe(controller.api());
  if (!probe.connected() || !probe.Send(Get(target))) return "";
  return probe.Receive();
}

ElectedFixture::Json ElectedFixture::AskJson(const Controller& controller,
                                             const std::string& target) {
  const Json json = Json::parse(BodyOf(Ask(controller, target)), nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::string ElectedFixture::Logs() const {
  std::string logs;
  for (const Controller& controller : controllers_) {
    absl::StrAppend(&logs, "\n", controller.name, ":\n", controller.log());
  }
  return logs;
}

}  // namespace plimsoll
