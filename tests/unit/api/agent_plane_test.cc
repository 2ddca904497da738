// The routes of agents at a controller with several shards of which it leads none.
#include "api/http/src/agent_plane.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "plimsoll/core/shard.h"

namespace plimsoll::internal {
namespace {

using Json = nlohmann::json;

class AgentPlaneTest : public ::testing::Test {
 protected:
  AgentPlaneTest() {
    for (int shard = 0; shard < 2; ++shard) {
      CoreDriver::Host host;
      host.leader = [shard]() -> std::optional<Leader> {
        const std::string at = absl::StrCat("http://10.0.0.", shard);
        return Leader{absl::StrCat(shard), at + ":7481", at + ":7480"};
      };
      drivers_.push_back(std::make_unique<CoreDriver>(nullptr, RealClock(), host));
    }
    plane_ = std::make_unique<AgentPlane>(
        std::vector<CoreDriver*>{drivers_[0].get(), drivers_[1].get()});
  }

  Json Ask(const std::string& method, const std::string& path, const std::string& body = "{}") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.has_length = true;
    request.content_type = "application/json";
    request.identity.role = Role::kAgent;
    const auto exchange = std::make_shared<Exchange>();
    plane_->Handle(request, exchange);
    EXPECT_TRUE(exchange->replied());
    HttpResponse response = exchange->TakeResponse();
    RenderProblem(request, response);
    status_ = response.status;
    return Json::parse(response.body);
  }
  static std::string Registration(const std::string& dependency) {
    RegisterRequest request;
    request.service = ServiceId("shop");
    request.instance = InstanceId("shop-0");
    request.nonce = "00112233445566778899aabbccddeeff";
    request.dependencies = {DependencyId(dependency)};
    return Encode(request);
  }
  static std::string NameIn(int shard) {
    for (int i = 0;; ++i) {
      std::string name = absl::StrCat("d", i);
      if (ShardOf(DependencyId(name), 2) == shard) return name;
    }
  }

  std::vector<std::unique_ptr<CoreDriver>> drivers_;
  std::unique_ptr<AgentPlane> plane_;
  int status_ = 0;
};

TEST_F(AgentPlaneTest, TellsHowManyShardsThereAreAndWhoLeadsThem) {
  const Json answer = Ask("GET", "/v1/agent/shards");
  EXPECT_EQ(status_, 200);
  EXPECT_EQ(answer, Json::parse(R"({"shards": 2, "leaders": [
      {"shard": 0, "agents": "http://10.0.0.0:7481"},
      {"shard": 1, "agents": "http://10.0.0.1:7481"}]})"));
}

// This text is what agents of before shards get to read.
TEST_F(AgentPlaneTest, WhoKnowsOfNoShardsIsToldThatItIsTooOld) {
  const Json answer = Ask("POST", "/v1/agent/sessions", Registration("db"));
  EXPECT_EQ(status_, 400);
  EXPECT_EQ(answer["code"], "AGENT_TOO_OLD");
  EXPECT_EQ(answer["shards"], 2);
  EXPECT_EQ(answer["detail"],
            "this fleet has 2 shards, and each wants a session of its own, below "
            "/v1/agent/shards/{shard}: update the agent if it does not know of them");
  Ask("POST", "/v1/agent/sessions/1-1/sync");
  EXPECT_EQ(status_, 400);
  Ask("DELETE", "/v1/agent/sessions/1-1");
  EXPECT_EQ(status_, 400);
}

TEST_F(AgentPlaneTest, TheOwnerOfTheShardIsNamed) {
  for (int shard = 0; shard < 2; ++shard) {
    const Json answer = Ask("POST", absl::StrCat("/v1/agent/shards/", shard, "/sessions"),
                            Registration(NameIn(shard)));
    EXPECT_EQ(status_, 421);
    EXPECT_EQ(answer["code"], "NOT_LEADER");
    EXPECT_EQ(answer["leader"], absl::StrCat("http://10.0.0.", shard, ":7481"));
  }
}

// A core that heard of it would grant its quota a second time.
TEST_F(AgentPlaneTest, ADependencyOfAnotherShardIsRefused) {
  const std::string body = Registration(NameIn(1));
  const Json answer = Ask("POST", "/v1/agent/shards/0/sessions", body);
  EXPECT_EQ(status_, 400);
  EXPECT_EQ(answer["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(answer["shards"], 2);
  SyncRequest sync;
  sync.n = SyncNumber(1);
  DependencyReport report;
  report.dependency = DependencyId(NameIn(1));
  sync.dependencies = {report};
  EXPECT_EQ(Ask("POST", "/v1/agent/shards/0/sessions/1-1/sync", Encode(sync))["code"],
            "INVALID_ARGUMENT");
  EXPECT_EQ(Ask("POST", "/v1/agent/shards/1/sessions/1-1/sync", Encode(sync))["code"],
            "NOT_LEADER");
}

TEST_F(AgentPlaneTest, ThereAreNoOtherShards) {
  for (const char* shard : {"2", "-1", "x", "99999999999"}) {
    Ask("POST", absl::StrCat("/v1/agent/shards/", shard, "/sessions"), Registration("db"));
    EXPECT_EQ(status_, 404) << shard;
  }
}

}  // namespace
}  // namespace plimsoll::internal
