// "Why was this call refused?", asked of a fleet that refuses: the three steps by `plimsoll` and
// the three steps by curl, as api/cli/README.md tells them, with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/examples/demo/controller_process.h"
#include "agent/examples/demo/fleet.h"
#include "agent/examples/demo/provider.h"
#include "agent/examples/demo/setup.h"
#include "agent/examples/demo/temporary_folder.h"
#include "plimsoll/core/clock.h"
#include "tests/integration/cli_program.h"
#include "tests/integration/http_probe.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr absl::Duration kPatience = absl::Seconds(20);

class WhyWalkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(provider_.Start().ok());
    const absl::Status started = controller_.Start();
    ASSERT_TRUE(started.ok()) << started;
    fleet_ = std::make_unique<demo::Fleet>(
        demo::FleetOptions{std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-demo", provider_.port(),
                           controller_.agent_port(), 1});
    // Together nearly twice what the provider can do.
    ASSERT_TRUE(fleet_->Start("checkout-0", 600).ok());
    ASSERT_TRUE(fleet_->Start("checkout-1", 400).ok());
    cli_.set_environment(absl::StrCat("PLIMSOLL_ADDR=http://127.0.0.1:", controller_.api_port()));
    ASSERT_TRUE(Until([this] { return Refuses(); }));
  }
  void TearDown() override { fleet_->StopAll(); }

  bool Refuses() {
    const Json dependency = Ask("/v1/dependencies/provider");
    const Json limits = Ask("/v1/limits?dependency=provider")["items"];
    return dependency["status"]["rejected_per_second"] > 1 && limits.size() == 2 &&
           limits[0]["binding_constraint"] == "QUOTA" && limits[0]["in_flight"] > 0;
  }
  bool Until(const std::function<bool()>& condition) {
    for (const Instant end = RealClock().Now() + kPatience; RealClock().Now() < end;) {
      EXPECT_TRUE(fleet_->Read(absl::Milliseconds(100)).ok());
      if (condition()) return true;
    }
    return false;
  }

  // What curl would get.
  Json Ask(const std::string& target) { return Answer(Get(target)); }
  Json Answer(const std::string& request) {
    HttpProbe probe(static_cast<std::uint16_t>(controller_.api_port()));
    probe.Send(request);
    const std::string response = probe.Receive();
    EXPECT_EQ(StatusOf(response), 200) << response;
    return Json::parse(BodyOf(response), nullptr, false);
  }
  int Run(const std::string& arguments) { return cli_.Run(arguments); }

  const demo::TemporaryFolder folder_;
  demo::Provider provider_{demo::ProviderModel{}, demo::kQuota, 1};
  demo::ControllerProcess controller_{std::string(PLIMSOLL_BIN_DIR) + "/plimsoll-controller",
                                      folder_.path(), demo::DemoConfig()};
  std::unique_ptr<demo::Fleet> fleet_;
  CliProgram cli_{folder_.path()};
};

TEST_F(WhyWalkTest, ThreeCommandsTellWhoRefusesWhatDecidesAndSinceWhen) {
  ASSERT_EQ(Run("status"), 0) << cli_.error();
  EXPECT_THAT(cli_.out(), ContainsRegex("provider +ENFORCE +LIMITED"));

  ASSERT_EQ(Run("why provider"), 0) << cli_.error();
  EXPECT_THAT(cli_.out(), ContainsRegex("[0-9.]+ calls/s to provider are refused"));
  EXPECT_THAT(cli_.out(), HasSubstr("the quota decides for 2"));

  // The words and the numbers are of one look.
  ASSERT_EQ(Run("why provider checkout-1 -o json"), 0) << cli_.error();
  const Json why = Json::parse(cli_.out(), nullptr, false);
  const Json& limit = why["limit"];
  EXPECT_EQ(why["dependency"], "provider");
  EXPECT_EQ(why["instance_id"], "checkout-1");
  std::string words = why["verdict"].get<std::string>();
  for (const Json& section : why["sections"]) {
    for (const Json& line : section["lines"]) words += "\n" + line.get<std::string>();
  }
  EXPECT_THAT(words, HasSubstr(absl::StrCat("It may have ", limit["enforced"].get<int>(),
                                            " calls in flight; it has ")));
  EXPECT_THAT(words,
              HasSubstr(absl::StrCat("The quota decides: its share is ",
                                     limit["quota_share"].get<int>(), " of ", demo::kQuota)));
  EXPECT_THAT(words, HasSubstr(limit["last_change"]["reason"].get<std::string>()));
  EXPECT_THAT(words, ContainsRegex("Since [0-9:]+ UTC"));
  EXPECT_THAT(words, HasSubstr("plimsoll set quota provider"));

  ASSERT_EQ(Run("why provider checkout-1 --brief"), 0) << cli_.error();
  EXPECT_THAT(cli_.out(), AllOf(HasSubstr("are refused"), HasSubstr("The quota decides"),
                                testing::Not(HasSubstr("Step by step"))));
}

TEST_F(WhyWalkTest, ThreeRequestsTellTheSame) {
  const Json dependency = Ask("/v1/dependencies/provider");
  EXPECT_EQ(dependency["status"]["health"], "LIMITED");
  EXPECT_GT(dependency["status"]["rejected_per_second"], 0);
  EXPECT_EQ(dependency["quota"]["capacity"], demo::kQuota);

  const Json limits = Ask("/v1/limits?dependency=provider&instance_id=checkout-1")["items"];
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0]["binding_constraint"], "QUOTA");
  for (const char* const number : {"enforced", "quota_share", "algorithm_limit", "in_flight"}) {
    EXPECT_TRUE(limits[0][number].is_number()) << number;
  }

  const Json explained =
      Answer(Post("/v1/dependencies/provider:explain", R"({"instance_id":"checkout-1"})"));
  EXPECT_EQ(explained["binding_constraint"], "QUOTA");
  std::string words;
  for (const Json& step : explained["steps"]) words += step["text"].get<std::string>() + "\n";
  EXPECT_THAT(words, ContainsRegex("The share of checkout-1 is [0-9]+ of 50"));
}

}  // namespace
}  // namespace plimsoll
