#include "api/cli/src/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/api/cli/fake_rest.h"
#include "tests/unit/api/cli/why_facts.h"

namespace plimsoll::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Tell(const WhyFacts& facts, const std::string& instance = "") {
  return ToText(TellWhy(facts, ChooseRow(facts.limits, instance)));
}

TEST(WhyTest, AQuotaThatBindsIsToldWithItsHoldersAndAWayOut) {
  const std::string text = Tell(QuotaBinds());
  EXPECT_EQ(text, Golden("why_quota.txt", text));
}

TEST(WhyTest, TheInstanceClosestToItsLimitIsChosenUnlessOneIsNamed) {
  const WhyFacts facts = QuotaBinds();
  EXPECT_EQ(TextAt(*ChooseRow(facts.limits, ""), "/instance_id"), "checkout-0");
  EXPECT_EQ(TextAt(*ChooseRow(facts.limits, "orders-0"), "/instance_id"), "orders-0");
  EXPECT_EQ(ChooseRow(facts.limits, "nobody"), nullptr);
  EXPECT_EQ(ChooseRow({}, ""), nullptr);
}

TEST(WhyTest, ASupersededSessionIsNeverPreferred) {
  WhyFacts facts = QuotaBinds();
  facts.limits[0]["fenced"] = true;
  EXPECT_EQ(TextAt(*ChooseRow(facts.limits, ""), "/instance_id"), "checkout-1");
}

TEST(WhyTest, ALimitThatIsNotItsShareYetIsSaidToBeOnItsWay) {
  WhyFacts facts = QuotaBinds();
  facts.limits[0]["enforced"] = 36;
  EXPECT_THAT(Tell(facts, "checkout-0"),
              HasSubstr("on the way from 36 to 38: others have to give"));
  facts.limits[0]["enforced"] = 40;
  EXPECT_THAT(Tell(facts, "checkout-0"), HasSubstr("on the way down from 40 to 38."));
  facts.limits[0]["enforced"] = nullptr;
  EXPECT_THAT(Tell(facts, "checkout-0"),
              AllOf(HasSubstr("The quota would decide: its share"), Not(HasSubstr("on the way"))));
}

// Each constraint says who decides and what to do about it, and not what to do about another one.
TEST(WhyTest, EachConstraintHasItsSentenceAndItsAdvice) {
  struct Case {
    const char* binding;
    const char* sentence;
    const char* advice;
  };
  for (const Case& one : {
           Case{"QUOTA", "The quota decides: its share is 38 of 120, and it could use 61.",
                "plimsoll set quota payments-db --capacity N"},
           Case{
               "OVERRIDE",
               "An override decides: alice pinned the limit to 38 until 18:20:00 UTC (in 59 min 37 "
               "s), because: INC-12.",
               "plimsoll unset override payments-db"},
           Case{"CEILING", "The ceiling of 200 decides: the algorithm would allow 61.",
                "raise its ceiling"},
           Case{"FLOOR", "The floor of 5 decides: the algorithm would allow only 61.",
                "Look at payments-db itself"},
           Case{"FALLBACK",
                "Its lease has ended (stage base): the controller heard of it 400 ms ago",
                "Look why checkout-0 does not reach the controller"},
           Case{"ALGORITHM",
                "The algorithm gradient2 decides: it allows 61, between floor 5 and ceiling 200.",
                "The limit rises by itself when latency falls"},
       }) {
    WhyFacts facts = QuotaBinds();
    facts.dependency["override"] = {{"limit", 38},
                                    {"set_by", "alice"},
                                    {"reason", "INC-12"},
                                    {"expire_time", "2026-11-29T18:20:00Z"}};
    facts.limits[0]["binding_constraint"] = one.binding;
    if (one.binding == std::string("FALLBACK")) facts.limits[0]["lease_stage"] = "BASE";
    const std::string text = Tell(facts);
    EXPECT_THAT(text, AllOf(HasSubstr(one.sentence), HasSubstr(one.advice)));
    if (one.binding != std::string("QUOTA")) {
      EXPECT_THAT(text, Not(HasSubstr("set quota")));
    }
  }
}

TEST(WhyTest, WhatAnInstanceCouldUseIsToldOnlyIfItIsShortOfIt) {
  WhyFacts facts = QuotaBinds();
  facts.limits[0]["wanted"] = 6;
  EXPECT_THAT(Tell(facts), AllOf(HasSubstr("The quota decides: its share is 38 of 120.\n"),
                                 Not(HasSubstr("could use 6."))));
}

TEST(WhyTest, ReasonsOfOthersDoNotDriveTheTerminal) {
  WhyFacts facts = QuotaBinds();
  facts.events[0]["message"] = "\x1b[2Jgone";
  EXPECT_THAT(Tell(facts), AllOf(Not(HasSubstr("\x1b")), HasSubstr(" [2Jgone")));
}

TEST(WhyTest, ASlowDependencyIsNotToBeGivenMore) {
  WhyFacts facts = QuotaBinds();
  facts.dependency["status"]["latency_p50_seconds"] = 0.05;
  EXPECT_THAT(Tell(facts),
              AllOf(HasSubstr("Do not raise the quota yet"), Not(HasSubstr("set quota"))));
}

TEST(WhyTest, SharesOfSilentInstancesArePointedOut) {
  WhyFacts facts = QuotaBinds();
  facts.quota["orphaned"] = 12;
  EXPECT_THAT(Tell(facts), HasSubstr("12 are reserved for instances that went silent"));
}

TEST(WhyTest, AnOpenBreakerComesBeforeAllLimits) {
  WhyFacts facts = QuotaBinds();
  facts.dependency["status"]["breaker"] = Json::parse(
      R"({"state":"OPEN","next_probe_seconds":4.2,
          "last_change":{"time":"2026-11-29T17:20:00Z",
          "message":"opened: 9 of 10 failed"}})");
  EXPECT_THAT(Tell(facts), AllOf(HasSubstr("The breaker of payments-db is open"),
                                 HasSubstr("due in 4.2 s"), HasSubstr("9 of 10 failed"),
                                 HasSubstr("closes by itself"), Not(HasSubstr("set quota"))));
}

TEST(WhyTest, WhatOnlyObservesRefusesNobody) {
  WhyFacts facts = QuotaBinds();
  facts.dependency["mode"] = "OBSERVE";
  facts.limits[0]["enforced"] = nullptr;
  EXPECT_THAT(
      Tell(facts, "checkout-0"),
      AllOf(HasSubstr("payments-db is in mode observe: nothing is refused; 14.2 calls/s would be."),
            HasSubstr("no limit is enforced"), HasSubstr("Nothing: calls pass.")));
}

TEST(WhyTest, WithoutRefusalsItSaysWhereElseToLook) {
  WhyFacts facts = QuotaBinds();
  facts.dependency["status"]["rejected_per_second"] = 0;
  EXPECT_THAT(Tell(facts, "orders-0"), AllOf(HasSubstr("No call to payments-db is refused now."),
                                             HasSubstr("There is room for 22 more."),
                                             HasSubstr("dependency_bulkhead_rejected_total")));
}

TEST(WhyTest, WithoutInstancesThereIsNobodyToRefuse) {
  WhyFacts facts = QuotaBinds();
  facts.limits.clear();
  EXPECT_THAT(Tell(facts), HasSubstr("No instance uses payments-db"));
}

TEST(WhyTest, StepsOfTheControllerTakeThePlaceOfOurOwn) {
  WhyFacts facts = QuotaBinds();
  facts.explanation =
      Json::parse(R"({"steps":[{"name":"algorithm","value":61,"text":"So it is."}]})");
  EXPECT_THAT(Tell(facts),
              AllOf(HasSubstr("So it is."), Not(HasSubstr("What the algorithm proposes"))));
}

// Missing members, wrong types: an older or newer controller must not break the sentences.
TEST(WhyTest, WhateverIsMissingItStillAnswers) {
  const WhyFacts whole = QuotaBinds();
  for (const auto& [key, value] : whole.limits[0].items()) {
    WhyFacts facts = whole;
    facts.limits[0][key] = nullptr;
    EXPECT_THAT(Tell(facts), HasSubstr("What to do")) << key;
    facts.limits[0][key] = Json::array({1});
    EXPECT_THAT(Tell(facts), HasSubstr("What to do")) << key;
    facts.limits[0].erase(key);
    EXPECT_THAT(Tell(facts), HasSubstr("What to do")) << key;
  }
  WhyFacts none;
  none.limits.push_back(Json::object());
  EXPECT_THAT(Tell(none), HasSubstr("What to do"));
}

}  // namespace
}  // namespace plimsoll::cli
