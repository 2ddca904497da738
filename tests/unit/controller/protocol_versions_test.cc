// Agents and controllers of different versions: who agrees, who is refused, and what is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "agent/src/session.h"
#include "plimsoll/core/random.h"
#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using internal::SendMessage;
using internal::StepFunction;
using testing::CoreDriver;
using ::testing::HasSubstr;

class QuietPort final : public internal::GrantPort {
 public:
  void Install(const StepFunction& function, Instant /*now*/) override { installed = function; }
  void SetObserve(bool /*observe*/) override {}
  void StopAdmitting() override {}
  internal::Measurement Measure(Instant /*now*/, absl::Duration /*interval*/) override {
    return {};
  }

  StepFunction installed;
};

// An agent's session that speaks to a controller's core, both of which may be of any version.
class VersionedAgent {
 public:
  explicit VersionedAgent(const ProtocolRange& spoken) : session_(Options(spoken), random_) {
    session_.Add(DependencyId("db"), port_);
  }

  // Sends what the session wants sent now, and gives it the answer. Returns the refusal, if any.
  std::optional<Refusal> Talk(CoreDriver& controller) {
    // Past whatever pause the session makes.
    const SendMessage message =
        std::get<SendMessage>(session_.Next(controller.now() + absl::Minutes(1)));
    RequestId request;
    if (const auto* registration = std::get_if<RegisterRequest>(&message.message)) {
      request = controller.Send(RegisterEvent{{}, *registration});
    } else {
      SyncRequest sync = std::get<SyncRequest>(message.message);
      sync.hold = absl::ZeroDuration();
      said_ = sync.protocol;
      request = controller.Send(SyncEvent{{}, sync});
      controller.Pass(absl::Milliseconds(300));
    }
    const CoreDriver::ReplyBody& reply = controller.Reply(request);
    if (const auto* refusal = std::get_if<Refusal>(&reply)) {
      session_.OnRefused(*refusal, controller.now());
      return *refusal;
    }
    if (const auto* registered = std::get_if<RegisterAnswer>(&reply)) {
      session_.OnRegistered(*registered, controller.now());
    } else {
      session_.OnSynced(std::get<SyncAnswer>(reply), controller.now());
    }
    return std::nullopt;
  }

  internal::Session& session() { return session_; }
  // In which version its last sync was.
  int said() const { return said_; }

 private:
  static internal::SessionOptions Options(const ProtocolRange& spoken) {
    internal::SessionOptions options;
    options.service = ServiceId("shop");
    options.instance = InstanceId("shop-1");
    options.protocol = spoken;
    return options;
  }

  Random random_{7};
  QuietPort port_;
  internal::Session session_;
  int said_ = 0;
};

CoreDriver ControllerThatSpeaks(const ProtocolRange& spoken, std::int64_t epoch = 7) {
  CoreOptions options;
  options.protocol = spoken;
  StoreState state = CoreDriver::Fresh();
  state.epoch = Epoch(epoch);
  return CoreDriver(testing::Policies({testing::TestPolicy("db", 10)}), options, state);
}

TEST(ProtocolVersions, TheHighestThatBothSpeakIsAgreedOn) {
  const struct {
    ProtocolRange agent;
    ProtocolRange controller;
    int agreed;
  } kCases[] = {{{1, 1}, {1, 1}, 1},
                {{1, 2}, {1, 1}, 1},
                {{1, 1}, {1, 2}, 1},
                {{1, 3}, {2, 4}, 3},
                {{2, 2}, {1, 3}, 2}};
  for (const auto& one : kCases) {
    CoreDriver controller = ControllerThatSpeaks(one.controller);
    VersionedAgent agent(one.agent);
    EXPECT_EQ(agent.Talk(controller), std::nullopt);
    EXPECT_FALSE(agent.session().session().empty());
    EXPECT_EQ(agent.Talk(controller), std::nullopt) << "the sync that follows";
    EXPECT_EQ(agent.said(), one.agreed);
  }
}

TEST(ProtocolVersions, WhoeverIsTooOldIsToldAndNothingIsGranted) {
  const struct {
    ProtocolRange agent;
    ProtocolRange controller;
    RefusalCode code;
    std::string advice;
  } kCases[] = {{{1, 1},
                 {2, 3},
                 RefusalCode::kAgentTooOld,
                 "protocol 1, this controller 2 to 3: upgrade the agent"},
                {{2, 3},
                 {1, 1},
                 RefusalCode::kControllerTooOld,
                 "upgrade all controllers first, then agents"},
                {{0, 0}, {1, 1}, RefusalCode::kAgentTooOld, "upgrade the agent"}};
  for (const auto& one : kCases) {
    CoreDriver controller = ControllerThatSpeaks(one.controller);
    VersionedAgent agent(one.agent);
    const std::optional<Refusal> refusal = agent.Talk(controller);
    ASSERT_TRUE(refusal.has_value());
    EXPECT_EQ(refusal->code, one.code);
    EXPECT_THAT(refusal->detail, HasSubstr(one.advice));
    EXPECT_TRUE(agent.session().session().empty());
    EXPECT_EQ(controller.reserved(), 0);
  }
}

// A rolling upgrade, backwards: the agent spoke to a newer controller, an older one takes over.
TEST(ProtocolVersions, AnOlderControllerThatTakesOverMakesTheAgentAgreeAnew) {
  CoreDriver newer = ControllerThatSpeaks({1, 2});
  VersionedAgent agent({1, 2});
  agent.Talk(newer);
  agent.Talk(newer);
  EXPECT_EQ(agent.said(), 2);
  CoreDriver older = ControllerThatSpeaks({1, 1}, 8);
  const std::optional<Refusal> refusal = agent.Talk(older);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->code, RefusalCode::kControllerTooOld);
  EXPECT_TRUE(agent.session().session().empty()) << "it registers anew";
  EXPECT_EQ(agent.Talk(older), std::nullopt);
  EXPECT_EQ(agent.Talk(older), std::nullopt);
  EXPECT_EQ(agent.said(), 1);
}

TEST(ProtocolVersions, ANewerControllerThatTakesOverAnswersInTheVersionItIsAskedIn) {
  CoreDriver older = ControllerThatSpeaks({1, 1});
  VersionedAgent agent({1, 2});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(agent.Talk(older), std::nullopt);
  EXPECT_GT(older.DurableSum(), 0) << "its session is one that a successor knows";
  CoreDriver newer(testing::Policies({testing::TestPolicy("db", 10)}), {.protocol = {1, 2}},
                   older.Successor(8));
  EXPECT_EQ(agent.Talk(newer), std::nullopt);
  EXPECT_EQ(agent.said(), 1);
}

// What a controller must not do, and an agent does not rely on.
TEST(ProtocolVersions, AnAnswerInAnotherVersionIsNotObeyed) {
  Random random(7);
  QuietPort port;
  internal::SessionOptions options;
  options.service = ServiceId("shop");
  options.instance = InstanceId("shop-1");
  internal::Session session(options, random);
  session.Add(DependencyId("db"), port);
  const Instant now{1'000'000'000};
  session.Next(now);
  RegisterAnswer foreign;
  foreign.session = SessionId("7-1");
  foreign.epoch = Epoch(7);
  foreign.protocol = kProtocolVersion + 1;
  session.OnRegistered(foreign, now);
  EXPECT_TRUE(session.session().empty());
  EXPECT_FALSE(session.connected());

  RegisterAnswer registered = foreign;
  registered.protocol = 1;
  session.Next(now + absl::Minutes(1));
  session.OnRegistered(registered, now + absl::Minutes(1));
  session.Next(now + absl::Minutes(2));
  SyncAnswer answer;
  answer.epoch = Epoch(7);
  answer.protocol = kProtocolVersion + 1;
  Grant grant;
  grant.dependency = DependencyId("db");
  grant.stamp = {Epoch(7), Seq(1)};
  grant.anchor = SyncNumber(1);
  grant.steps = {5, 1, 0};
  grant.lease = grant.base_lease = absl::Seconds(10);
  answer.grants = {grant};
  session.OnSynced(answer, now + absl::Minutes(2));
  EXPECT_FALSE(session.Installed(DependencyId("db")).has_value());
}

}  // namespace
}  // namespace plimsoll
