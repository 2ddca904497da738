// Templates: which one fits, what it makes, and when that goes.
#include "plimsoll/controller/templates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/core_driver.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using testing::CoreDriver;
using ::testing::HasSubstr;
using testing::Policies;
using testing::TestPolicy;

TEST(TemplatesTest, AStarStandsForAnyTextAndAQuestionMarkForOneCharacter) {
  struct Case {
    const char* pattern;
    const char* name;
    bool matches;
  };
  for (const Case& one : {Case{"*", "db", true},
                          {"search-*", "search-", true},
                          {"search-*", "search-eu", true},
                          {"search-*", "research-eu", false},
                          {"*-db", "orders-db", true},
                          {"*-db", "orders-db2", false},
                          {"*-db*-x", "a-db-db-y-x", true},
                          {"*a*b", "aabab", true},
                          {"*a*b", "aaba", false},
                          {"db-?", "db-1", true},
                          {"db-?", "db-", false},
                          {"db-?", "db-12", false},
                          {"a.c*", "abc", false},
                          {"**", "", true}}) {
    EXPECT_EQ(MatchesPattern(one.pattern, one.name), one.matches) << one.pattern << " " << one.name;
  }
}

TEST(TemplatesTest, ManyStarsCostNoMoreThanTheirNumber) {
  std::string pattern;
  for (int i = 0; i < 31; ++i) pattern += "*a";
  EXPECT_FALSE(MatchesPattern(pattern, std::string(63, 'a') + "b"));
}

TEST(TemplatesTest, APatternHasAWildcardAndNothingElseThatANameHasNot) {
  for (const char* good : {"*", "?", "search-*", "a.b_c~d-*"}) EXPECT_TRUE(IsPattern(good)) << good;
  for (const char* bad : {"", "search", "[ab]*", "a b*", "a/*", "\\*"}) {
    EXPECT_FALSE(IsPattern(bad)) << bad;
  }
  EXPECT_FALSE(IsPattern(std::string(63, 'a') + "*"));
}

TEST(TemplatesTest, TheLongestPatternWinsThenTheFirstByLetters) {
  const TemplateSet templates = {{"*", {}}, {"pay*", {}}, {"*-db", {}}, {"pay-*-db", {}}};
  EXPECT_EQ(FindTemplate(templates, DependencyId("x"))->first, "*");
  EXPECT_EQ(FindTemplate(templates, DependencyId("pay-db"))->first, "*-db");
  EXPECT_EQ(FindTemplate(templates, DependencyId("pay-eu-db"))->first, "pay-*-db");
  EXPECT_EQ(FindTemplate({}, DependencyId("x")), nullptr);
}

TEST(TemplatesTest, AFaultyTemplateIsToldLikeAFaultyPolicy) {
  Policy policy = TestPolicy("", 40);
  EXPECT_TRUE(ValidateTemplate({"db-*", policy}, absl::Seconds(10)).ok());
  policy.algorithm.floor = 50;
  EXPECT_THAT(std::string(ValidateTemplate({"db", policy}, absl::Seconds(10)).message()),
              ::testing::AllOf(HasSubstr("match = db: must be"), HasSubstr("floor = 50")));
}

class TemplatesInUseTest : public ::testing::Test {
 protected:
  explicit TemplatesInUseTest(CoreOptions options = {}) : driver_({}, options) { Set({}, Open()); }

  // Of quota 40, by a pattern that fits "db".
  static TemplateSet Open(Calls quota = 40) {
    return {{"d*", MadeFrom(TestPolicy("", quota), DependencyId())}};
  }
  void Set(const std::vector<Policy>& policies, TemplateSet templates, OverrideSet pins = {}) {
    driver_.Apply(PolicyEvent{Policies(policies), std::move(pins), {}, std::move(templates)});
  }
  SessionId Join(const std::string& instance, const std::string& dependency = "db") {
    const SessionId session = driver_.Join(instance, dependency);
    driver_.memory(session).dependency = dependency;
    driver_.memory(session).in_flight_max = 20;
    driver_.memory(session).refused = 20;
    return session;
  }
  std::vector<DependencyRow> Rows() {
    return driver_.core().TakeSnapshot(driver_.now()).dependencies;
  }
  std::vector<std::string> Messages() {
    std::vector<std::string> messages;
    for (const LogEvent& event : driver_.core().log().Find({}, 1000)) {
      messages.push_back(event.message);
    }
    return messages;
  }

  CoreDriver driver_;
};

TEST_F(TemplatesInUseTest, NobodyAskedSoNothingIsMade) { EXPECT_TRUE(Rows().empty()); }

TEST_F(TemplatesInUseTest, TheFirstRegistrationIsToldThePolicyAndGranted) {
  RegisterRequest request;
  request.service = ServiceId("shop");
  request.instance = InstanceId("a");
  request.nonce = "x";
  request.dependencies = {DependencyId("db"), DependencyId("queue")};
  const auto answer =
      std::get<RegisterAnswer>(driver_.Reply(driver_.Send(RegisterEvent{{}, request})));
  EXPECT_TRUE(answer.settings.at(0).known);
  EXPECT_EQ(answer.settings.at(0).call_deadline, absl::Seconds(3));
  EXPECT_FALSE(answer.settings.at(1).known) << "no template fits";
  ASSERT_EQ(Rows().size(), 1U);
  EXPECT_EQ(Rows()[0].made_from, "d*");
  EXPECT_EQ(Rows()[0].policy.quota, 40);
  EXPECT_THAT(Messages(), Contains("db has a policy now: quota 40. It is made from the template "
                                   "\"d*\", since shop asked for it."));
  driver_.memory(answer.session).in_flight_max = 20;
  const RequestId sync = driver_.Sync(answer.session);
  driver_.Pass(absl::Milliseconds(250));
  EXPECT_TRUE(driver_.Take(answer.session, sync)) << "with the next tick, as always";
  EXPECT_GT(driver_.limit(answer.session), 0);
}

TEST_F(TemplatesInUseTest, ADependencyThatASyncNamesFirstIsMadeToo) {
  const SessionId session = Join("a");
  driver_.memory(session).dependency = "disk";
  driver_.Converse({session}, absl::Seconds(2));
  EXPECT_GT(driver_.limit(session), 0);
  EXPECT_EQ(Rows().size(), 2U);
}

TEST_F(TemplatesInUseTest, EachOfThemHasAQuotaOfItsOwn) {
  const std::vector<SessionId> agents = {Join("a", "db-1"), Join("b", "db-1"), Join("c", "db-1"),
                                         Join("d", "db-2")};
  driver_.Converse(agents, absl::Seconds(8));
  EXPECT_EQ(driver_.reserved("db-1"), 40);
  EXPECT_EQ(driver_.limit(agents[3]), 20) << "the ceiling";
}

TEST_F(TemplatesInUseTest, APolicyOfItsOwnWinsAndGivesWayAgain) {
  const std::vector<SessionId> agents = {Join("a"), Join("b"), Join("c")};
  driver_.Converse(agents, absl::Seconds(5));
  Set({TestPolicy("db", 12)}, Open());
  EXPECT_EQ(Rows()[0].made_from, "");
  driver_.Converse(agents, absl::Seconds(3));
  EXPECT_EQ(driver_.reserved(), 12);
  Set({}, Open());
  EXPECT_EQ(Rows()[0].made_from, "d*");
  EXPECT_FALSE(Rows()[0].retired);
  driver_.Converse(agents, absl::Seconds(5));
  EXPECT_EQ(driver_.reserved(), 40);
}

TEST_F(TemplatesInUseTest, AChangedTemplateChangesWhatItHasMade) {
  const std::vector<SessionId> agents = {Join("a"), Join("b"), Join("c")};
  driver_.Converse(agents, absl::Seconds(5));
  ASSERT_EQ(driver_.reserved(), 40);
  Set({}, Open(9));
  driver_.Converse(agents, absl::Seconds(3));
  EXPECT_EQ(driver_.reserved(), 9);
}

TEST_F(TemplatesInUseTest, WithoutItsTemplateItIsTakenBack) {
  const std::vector<SessionId> agents = {Join("a")};
  driver_.Converse(agents, absl::Seconds(2));
  Set({}, {});
  EXPECT_TRUE(Rows()[0].retired);
  EXPECT_EQ(Rows()[0].made_from, "");
  driver_.Converse(agents, absl::Seconds(2));
  EXPECT_EQ(driver_.reserved(), 0);
}

TEST_F(TemplatesInUseTest, ItGoesWithTheLastThatUsesIt) {
  const SessionId a = Join("a");
  const SessionId b = Join("b");
  driver_.Converse({a, b}, absl::Seconds(2));
  driver_.Send(ReleaseEvent{{}, {a}});
  driver_.Pass(absl::Seconds(1));
  EXPECT_EQ(Rows().size(), 1U);
  driver_.Send(ReleaseEvent{{}, {b}});
  driver_.Pass(absl::Seconds(1));
  EXPECT_TRUE(Rows().empty());
  EXPECT_THAT(Messages(), Contains(HasSubstr("db is forgotten: nobody uses it any more")));
}

// Its calls may still run, and its base is still in force.
TEST_F(TemplatesInUseTest, ItStaysAsLongAsSomethingIsReserved) {
  const SessionId a = Join("a");
  driver_.Converse({a}, absl::Seconds(2));
  driver_.Pass(absl::Seconds(50));
  EXPECT_GT(driver_.reserved(), 0);
  EXPECT_EQ(Rows().size(), 1U);
  driver_.Pass(absl::Seconds(30));
  EXPECT_EQ(driver_.reserved(), 0);
  EXPECT_TRUE(Rows().empty());
}

TEST_F(TemplatesInUseTest, AnOverrideHoldsFromTheFirstGrant) {
  Override pin;
  pin.limit = 3;
  Set({}, Open(), {{DependencyId("db"), pin}});
  EXPECT_TRUE(Rows().empty());
  const SessionId a = Join("a");
  driver_.Converse({a}, absl::Seconds(2));
  EXPECT_EQ(driver_.limit(a), 3);
}

// What the reign before has granted counts, under the terms and the quota of the template.
TEST_F(TemplatesInUseTest, WhatWasGrantedSurvivesARestart) {
  const std::vector<SessionId> agents = {Join("a"), Join("b"), Join("c")};
  driver_.Converse(agents, absl::Seconds(5));
  ASSERT_EQ(driver_.reserved(), 40);
  const Core next({}, {}, driver_.Successor(8), driver_.now(), Open());
  EXPECT_EQ(next.Reserved(DependencyId("db"), driver_.now()), 40);
  const Snapshot snapshot = next.TakeSnapshot(driver_.now());
  ASSERT_EQ(snapshot.dependencies.size(), 1U);
  EXPECT_FALSE(snapshot.dependencies[0].retired);
  EXPECT_EQ(snapshot.dependencies[0].made_from, "d*");
  EXPECT_EQ(snapshot.dependencies[0].policy.quota, 40);
}

// Nobody knows any more what templates made before.
TEST_F(TemplatesInUseTest, ALostStoreIsLearntForAsLongAsATemplateMayHaveGranted) {
  StoreState lost = CoreDriver::Fresh();
  lost.condition = StoreCondition::kLost;
  const Core core({}, {}, lost, Instant{}, Open());
  const Snapshot snapshot = core.TakeSnapshot(Instant{});
  EXPECT_TRUE(snapshot.learning);
  EXPECT_GE(snapshot.learning_until - Instant{}, absl::Seconds(63));
}

class TemplateCapTest : public TemplatesInUseTest {
 protected:
  TemplateCapTest() : TemplatesInUseTest(ThreeAtMost()) {}
  static CoreOptions ThreeAtMost() {
    CoreOptions options;
    options.dependencies_max = 3;
    return options;
  }
};

TEST_F(TemplateCapTest, AllTogetherTheyAreBounded) {
  std::vector<SessionId> agents;
  for (const char* name : {"d1", "d2", "d3", "d4"}) agents.push_back(Join(name, name));
  EXPECT_EQ(Rows().size(), 3U);
  EXPECT_THAT(Messages(), Contains(HasSubstr(
                              "d4 asked for d4, for which the template \"d*\" would be, but 3 "
                              "dependencies are in use already: raise agents.dependencies_max")));
  driver_.Converse(agents, absl::Seconds(1));
  EXPECT_EQ(driver_.limit(agents[3]), 0);
  driver_.Send(ReleaseEvent{{}, {agents[0]}});
  agents.erase(agents.begin());
  driver_.Converse(agents, absl::Seconds(2));
  EXPECT_GT(driver_.limit(agents[2]), 0) << "there is room again";
}

TEST_F(TemplateCapTest, OneSessionCannotTakeMoreThanItsOwn) {
  Set({TestPolicy("a1", 5), TestPolicy("a2", 5), TestPolicy("a3", 5)}, Open());
  const SessionId agent = Join("a", "a1");
  for (const char* name : {"a2", "a3", "d1"}) {
    driver_.memory(agent).dependency = name;
    driver_.Sync(agent);
  }
  EXPECT_EQ(Rows().size(), 3U) << "those with policies of their own";
}

TEST_F(TemplatesInUseTest, ANameThatIsNoneMakesNothing) {
  Set({}, {{"*", MadeFrom(TestPolicy("", 40), DependencyId())}});
  Join("a", "no name");
  EXPECT_TRUE(Rows().empty());
}

}  // namespace
}  // namespace plimsoll
