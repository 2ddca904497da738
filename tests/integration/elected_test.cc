// Three controllers that share an etcd, and an agent: who leads while they die, stop and return,
// and while etcd is away. The limit in force never exceeds the quota, and an election is over
// before the lease of what was granted ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plimsoll/core/clock.h"
#include "tests/integration/chaos/control_plane.h"
#include "tests/integration/elected_fixture.h"
#include "tests/integration/http_probe.h"
#include "tests/integration/waiting.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

class ElectedTest : public ElectedFixture {
 protected:
  ElectedTest() : ElectedFixture({"db"}, /*shards=*/0) {}
  void SetUp() override {
    if (chaos::EtcdProgram().empty()) {
      GTEST_SKIP() << "there is no etcd: install etcd-server, as .ci/setup does";
    }
    ElectedFixture::SetUp();
    if (!HasFatalFailure()) StartAgents(1);
  }

  // Sets an override of the dependency.
  static void PinTo(int limit, const Controller& controller) {
    const absl::Time end = absl::Now() + absl::Hours(1);
    const std::string body =
        absl::StrCat("{\"limit\":", limit, ",\"reason\":\"test\",\"expire_time\":\"",
                     absl::FormatTime(absl::RFC3339_full, end, absl::UTCTimeZone()), "\"}");
    HttpProbe probe(controller.api());
    probe.Send(
        absl::StrCat("PUT /v1/dependencies/db/override HTTP/1.1\r\nHost: localhost\r\n"
                     "Content-Type: application/json\r\nContent-Length: ",
                     body.size(), "\r\n\r\n", body));
    EXPECT_EQ(StatusOf(probe.Receive()), 201);
  }

  int limit() const { return fleet_.limit(0); }

  static Json Status(const Controller& controller) { return AskJson(controller, "/v1/status"); }
  static bool Leads(const Controller& controller) {
    return Status(controller).value("role", "") == "LEADER";
  }
  static std::int64_t Epoch(const Controller& controller) {
    return Status(controller).value("epoch", std::int64_t{0});
  }
  // The one that leads, other than `not_this`; null if there is none within a minute.
  Controller* Leader(const Controller* not_this = nullptr) {
    Controller* leader = nullptr;
    Until([&] {
      for (Controller& controller : controllers_) {
        if (&controller != not_this && controller.process->Running() && Leads(controller)) {
          leader = &controller;
        }
      }
      return leader != nullptr;
    });
    return leader;
  }
};

TEST_F(ElectedTest, OneLeadsAndTheOthersSendThere) {
  Controller* const leader = Leader();
  ASSERT_NE(leader, nullptr) << Logs();
  EXPECT_THAT(Ask(*leader, "/metrics"), HasSubstr("\nplimsoll_controller_leader 1"));
  const std::string at = absl::StrCat("http://127.0.0.1:", leader->api());
  for (const Controller& controller : controllers_) {
    if (&controller == leader) continue;
    EXPECT_EQ(Status(controller)["role"], "STANDBY");
    EXPECT_EQ(Status(controller)["leader"], at);
    EXPECT_EQ(StatusOf(Ask(controller, "/readyz")), 200);
    EXPECT_THAT(Ask(controller, "/metrics"), HasSubstr("\nplimsoll_controller_leader 0"));
    const std::string sent = Ask(controller, "/v1/dependencies/db");
    EXPECT_EQ(StatusOf(sent), 307);
    EXPECT_THAT(sent, HasSubstr(absl::StrCat("Location: ", at, "/v1/dependencies/db\r\n")));
    HttpProbe agents(controller.agents());
    agents.Send("DELETE /v1/agent/sessions/1-1 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const std::string refused = agents.Receive();
    EXPECT_EQ(StatusOf(refused), 421) << refused;
    EXPECT_THAT(refused,
                HasSubstr(absl::StrCat("\"leader\":\"http://127.0.0.1:", leader->agents(), "\"")));
  }
}

TEST_F(ElectedTest, AKilledLeaderIsReplacedBeforeTheLeaseOfTheAgentEnds) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const std::int64_t epoch = Status(*former)["epoch"];
  fleet_.WatchForDips();
  former->process->Kill();
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  EXPECT_GT(Status(*next)["epoch"], epoch);
  EXPECT_THAT(next->log(), HasSubstr("inherited_bounds=1"));
  // Longer than the lease from before could have lasted.
  Pass(absl::Seconds(11));
  EXPECT_GT(fleet_.least(), kBase) << "the limit has stepped down" << Logs();
  EXPECT_GT(limit(), kBase);
  StartController(*former);
  EXPECT_TRUE(Until([&] { return Status(*former).value("role", "") == "STANDBY"; }));
}

TEST_F(ElectedTest, ALeaderThatWasStoppedNeverGrantsAfterIt) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const std::int64_t old_epoch = Epoch(*former);
  former->process->Signal(SIGSTOP);
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  // Another quota, so that a grant of the former would be seen.
  PinTo(5, *next);
  ASSERT_TRUE(Until([this] { return limit() <= 5; })) << limit() << Logs();
  former->process->Signal(SIGCONT);
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(limit(), 5);
    Pass(absl::Milliseconds(30));
  }
  EXPECT_TRUE(Until([&] {
    return Status(*former).value("role", "") == "STANDBY" || Epoch(*former) > old_epoch;
  })) << former->log();
  EXPECT_NE(Leader(), nullptr) << Logs();
}

TEST_F(ElectedTest, WithoutEtcdNothingRisesAndAllGoesOnWhenItIsBack) {
  Controller* leader = Leader();
  ASSERT_NE(leader, nullptr) << Logs();
  etcd_->Kill();
  const int before = limit();
  for (int i = 0; i < 120; ++i) {
    EXPECT_LE(limit(), before);
    Pass(absl::Milliseconds(50));
  }
  for (Controller& controller : controllers_) EXPECT_TRUE(controller.process->Running());
  const absl::Status back = etcd_->Restart();
  ASSERT_TRUE(back.ok()) << back;
  ASSERT_NE(Leader(), nullptr) << Logs();
  EXPECT_TRUE(Until([this] { return limit() > kBase; })) << limit() << Logs();
}

TEST_F(ElectedTest, AnEtcdThatOnlyPausesDoesNotEndTheFleet) {
  ASSERT_NE(Leader(), nullptr) << Logs();
  etcd_->Signal(SIGSTOP);
  Pass(absl::Seconds(5));
  etcd_->Signal(SIGCONT);
  ASSERT_NE(Leader(), nullptr) << Logs();
  EXPECT_TRUE(Until([this] { return limit() > kBase; })) << limit() << Logs();
}

TEST_F(ElectedTest, WhoIsToldToStopHandsOverAtOnce) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  const Instant begin = RealClock().Now();
  EXPECT_EQ(former->process->Terminate(), 0) << former->log();
  ASSERT_NE(Leader(former), nullptr) << Logs();
  EXPECT_LT(RealClock().Now() - begin, absl::Seconds(8));
}

TEST_F(ElectedTest, WhatOperatorsHaveSetOutlivesTheLeader) {
  Controller* const former = Leader();
  ASSERT_NE(former, nullptr) << Logs();
  PinTo(3, *former);
  former->process->Kill();
  Controller* const next = Leader(former);
  ASSERT_NE(next, nullptr) << Logs();
  const Json view = Json::parse(BodyOf(Ask(*next, "/v1/dependencies/db")));
  EXPECT_EQ(view["override"]["limit"], 3) << view;
}

}  // namespace
}  // namespace plimsoll
