// What operators change: plans, what becomes durable, and what holds.
#include "controller/operations/policy_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const DependencyId kFile("file-db");
const DependencyId kApi("api-db");
constexpr char kBody[] = R"({"quota":{"capacity":50},"floor":2})";
constexpr char kPin[] = R"({"limit":3,"reason":"INC-12","expire_time":"2026-11-29T18:00:00Z"})";

Policy FilePolicy(const DependencyId& name, Calls quota) {
  Policy policy;
  policy.name = name;
  policy.quota = quota;
  return policy;
}

// A store without a disk.
class PolicyBookTest : public ::testing::Test {
 protected:
  PolicyBookTest() {
    EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, "2026-11-29T17:00:00Z", &now_, nullptr));
    options_.file_policies = {{kFile, FilePolicy(kFile, 20)}};
    options_.on_audit = [this](const AuditRecord& record) { told_.push_back(record); };
    Restart();
  }

  void Restart() {
    std::vector<Document> documents;
    for (const auto& [key, body] : disk_) documents.push_back({key, body});
    book_ = std::make_unique<PolicyBook>(options_, documents, now_);
  }

  ChangePlan Ask(ChangeVerb verb, const DependencyId& name, const std::string& body = "") {
    ChangeRequest request;
    request.verb = verb;
    request.name = name.value;
    request.body = body;
    request.who = "alice";
    request.request_id = "r1";
    return Do(request);
  }
  ChangePlan Do(const ChangeRequest& request, const absl::Status& written = absl::OkStatus()) {
    ChangePlan plan = book_->Plan(request, now_);
    Settle(plan, written);
    return plan;
  }
  void Settle(const ChangePlan& plan, const absl::Status& written = absl::OkStatus()) {
    if (written.ok()) {
      for (const DocumentKey& key : plan.batch.erase_documents) disk_.erase(key);
      for (const Document& document : plan.batch.put_documents) disk_[document.key] = document.body;
    }
    book_->Settle(written);
  }
  ChangeRequest Request(ChangeVerb verb, const DependencyId& name, const std::string& body) {
    ChangeRequest request;
    request.verb = verb;
    request.name = name.value;
    request.body = body;
    request.who = "alice";
    return request;
  }
  std::vector<std::string> CodesOf(const ChangePlan& plan) {
    std::vector<std::string> codes;
    for (const ChangeFault& fault : plan.faults) {
      codes.push_back(fault.pointer + " " + fault.code);
    }
    return codes;
  }

  absl::Time now_;
  PolicyBookOptions options_;
  std::map<DocumentKey, std::string> disk_;
  std::vector<AuditRecord> told_;
  std::unique_ptr<PolicyBook> book_;
};

TEST_F(PolicyBookTest, ADependencyIsMadeKeptAndReplaced) {
  EXPECT_EQ(Ask(ChangeVerb::kPutDependency, kApi, kBody).status, 201);
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 50);
  EXPECT_FALSE(book_->Find(kApi)->from_file);
  Restart();
  EXPECT_EQ(book_->InForce().policies.at(kApi).algorithm.floor, 2) << "it outlives a restart";
  const std::int64_t revision = book_->Find(kApi)->revision;
  EXPECT_EQ(Ask(ChangeVerb::kPutDependency, kApi, R"({"quota":{"capacity":30}})").status, 200);
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 30);
  EXPECT_NE(book_->InForce().policies.at(kApi).algorithm.floor, 2) << "replaced, not merged";
  EXPECT_GT(book_->Find(kApi)->revision, revision);
}

TEST_F(PolicyBookTest, AllFaultsOfABodyAreToldAtOnceAndNothingChanges) {
  const ChangePlan plan = Ask(ChangeVerb::kPutDependency, kApi,
                              R"({"floor":"x","celing":3,"mode":"Enforce","scope":"fleat",)"
                              R"("call_deadline":"5","window":[],"quota":{"capacity":0},)"
                              R"("ceiling":99999999999,"floor":1})");
  EXPECT_EQ(plan.status, 400);
  EXPECT_EQ(plan.code, "INVALID_ARGUMENT");
  const std::vector<std::string> codes = CodesOf(plan);
  for (const char* const code :
       {"/floor DUPLICATE_KEY", "/floor WRONG_TYPE", "/celing UNKNOWN_KEY", "/scope BAD_ENUM",
        "/call_deadline BAD_FORMAT", "/window WRONG_TYPE", "/quota/capacity OUT_OF_RANGE",
        "/ceiling OUT_OF_RANGE"}) {
    EXPECT_THAT(codes, Contains(code));
  }
  EXPECT_THAT(plan.faults, Contains(::testing::Field(&ChangeFault::detail,
                                                     HasSubstr("did you mean \"ceiling\"?"))));
  EXPECT_FALSE(book_->Find(kApi).has_value());
  EXPECT_THAT(disk_, IsEmpty());
}

TEST_F(PolicyBookTest, WordsHaveEitherCaseAndWhatCanOnlyBeReadIsIgnored) {
  const ChangePlan plan =
      Ask(ChangeVerb::kPutDependency, kApi,
          R"({"name":"api-db","origin":"API","mode":"OBSERVE","algorithm":"GRADIENT2",)"
          R"("quota":{"capacity":50,"policy":"FAIR_SHARE","join_reserve":null},"initial":null,)"
          R"("breaker":null,"status":{"health":"OK"},"revision":"dependencies.1","override":null,)"
          R"("create_time":"2026-11-29T17:00:00Z","update_time":"2026-11-29T17:00:00Z"})");
  EXPECT_EQ(plan.status, 201) << plan.detail;
  EXPECT_EQ(book_->InForce().policies.at(kApi).mode, Mode::kObserve);
  EXPECT_FALSE(book_->InForce().policies.at(kApi).breaker.has_value());
  EXPECT_THAT(disk_.begin()->second, ::testing::Not(HasSubstr("status")));
}

TEST_F(PolicyBookTest, AnotherNameThanThatOfTheAddressIsAConflict) {
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPutDependency, kApi, R"({"name":"other"})")),
              ElementsAre("/name CONFLICT"));
}

TEST_F(PolicyBookTest, APatchMergesAndNullGoesBackToTheDefault) {
  Ask(ChangeVerb::kPutDependency, kApi, R"({"floor":2,"window":{"length":"2s","min_samples":7}})");
  EXPECT_EQ(Ask(ChangeVerb::kPatchDependency, kApi,
                R"({"floor":null,"ceiling":90,"window":{"length":"3s"}})")
                .status,
            200);
  const Policy policy = book_->InForce().policies.at(kApi);
  EXPECT_EQ(policy.algorithm.floor, AlgorithmConfig().floor);
  EXPECT_EQ(policy.algorithm.ceiling, 90);
  EXPECT_EQ(policy.window.length, absl::Seconds(3));
  EXPECT_EQ(policy.window.samples_min, 7);
  EXPECT_EQ(Ask(ChangeVerb::kPatchDependency, DependencyId("none"), "{}").status, 404);
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPatchDependency, kApi, R"({"ceiling":1})")),
              Contains("/ceiling OUT_OF_RANGE"));
}

TEST_F(PolicyBookTest, TheQuotaAloneIsReplaced) {
  Ask(ChangeVerb::kPutDependency, kApi,
      R"({"floor":2,"quota":{"capacity":50,"services":{"shop":{"weight":2}}}})");
  EXPECT_EQ(Ask(ChangeVerb::kPutQuota, kApi, R"({"capacity":40,"granted":3,"shares":[]})").status,
            200);
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 40);
  EXPECT_THAT(book_->InForce().policies.at(kApi).services, IsEmpty());
  EXPECT_EQ(book_->InForce().policies.at(kApi).algorithm.floor, 2);
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPutQuota, kApi, R"({"capacity":0})")),
              Contains("/capacity OUT_OF_RANGE"));
  Restart();
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 40);
}

TEST_F(PolicyBookTest, WhatTheFileHasIsReadOnlyButForOverrides) {
  for (const ChangeVerb verb : {ChangeVerb::kPutDependency, ChangeVerb::kPatchDependency,
                                ChangeVerb::kDeleteDependency, ChangeVerb::kPutQuota}) {
    EXPECT_EQ(Ask(verb, kFile, "{}").code, "MANAGED_BY_FILE");
  }
  EXPECT_EQ(Ask(ChangeVerb::kPutOverride, kFile, kPin).status, 201);
  EXPECT_EQ(book_->InForce().overrides.at(kFile).limit, 3);
}

TEST_F(PolicyBookTest, WhatIsInUseIsDeletedByForceOnly) {
  Ask(ChangeVerb::kPutDependency, kApi, kBody);
  ChangeRequest request = Request(ChangeVerb::kDeleteDependency, kApi, "");
  request.instances = 2;
  EXPECT_EQ(Do(request).code, "IN_USE");
  request.force = true;
  EXPECT_EQ(Do(request).status, 204);
  EXPECT_FALSE(book_->Find(kApi).has_value());
  EXPECT_THAT(disk_, IsEmpty());
  EXPECT_EQ(Do(request).status, 404);
}

TEST_F(PolicyBookTest, AnOverrideSaysWhyAndUntilWhen) {
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPutOverride, kFile, "{}")),
              ElementsAre(" REQUIRED", "/expire_time REQUIRED", "/reason REQUIRED"));
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPutOverride, kFile,
                          R"({"limit":-2,"reason":"x","expire_time":"2026-11-29T16:00:00Z"})")),
              ElementsAre("/limit OUT_OF_RANGE", "/expire_time OUT_OF_RANGE"));
  EXPECT_THAT(CodesOf(Ask(ChangeVerb::kPutOverride, kFile,
                          R"({"limit":2,"reason":"x","expire_time":"tomorrow"})")),
              ElementsAre("/expire_time BAD_FORMAT"));
  EXPECT_EQ(Ask(ChangeVerb::kPutOverride, kApi, kPin).status, 404);
  EXPECT_THAT(book_->InForce().overrides, IsEmpty());
}

TEST_F(PolicyBookTest, AnOverrideOutlivesARestartAndEndsByItself) {
  const ChangePlan plan = Ask(ChangeVerb::kPutOverride, kFile, kPin);
  EXPECT_EQ(std::get<PolicyEvent>(plan.events.at(0)).notes.at(kFile),
            "Set by alice until 2026-11-29T18:00:00Z: INC-12");
  Restart();
  EXPECT_EQ(book_->Find(kFile)->override_facts->reason, "INC-12");
  EXPECT_EQ(book_->Find(kFile)->override_facts->set_by, "alice");
  EXPECT_FALSE(book_->Expire(now_).has_value());
  now_ += absl::Hours(1);
  const std::optional<ChangePlan> ended = book_->Expire(now_);
  ASSERT_TRUE(ended.has_value());
  Settle(*ended);
  EXPECT_THAT(std::get<PolicyEvent>(ended->events.at(0)).overrides, IsEmpty());
  EXPECT_THAT(book_->InForce().overrides, IsEmpty());
  EXPECT_THAT(disk_, IsEmpty());
  EXPECT_FALSE(book_->Expire(now_).has_value());
}

TEST_F(PolicyBookTest, AnOverrideThatExpiredWhileNobodyReignedIsNotInForce) {
  Ask(ChangeVerb::kPutOverride, kFile, kPin);
  now_ += absl::Hours(2);
  Restart();
  EXPECT_THAT(book_->InForce().overrides, IsEmpty());
  Settle(*book_->Expire(now_));
  EXPECT_THAT(disk_, IsEmpty());
}

TEST_F(PolicyBookTest, AnOverrideGoesWithItsDependency) {
  Ask(ChangeVerb::kPutDependency, kApi, kBody);
  Ask(ChangeVerb::kPutOverride, kApi, kPin);
  EXPECT_THAT(disk_, SizeIs(2));
  Ask(ChangeVerb::kDeleteDependency, kApi);
  EXPECT_THAT(disk_, IsEmpty());
}

TEST_F(PolicyBookTest, WhatCouldNotBeWrittenHasNotHappenedAndIsPutRightLater) {
  Ask(ChangeVerb::kPutOverride, kFile, kPin);
  ChangeRequest request = Request(ChangeVerb::kDeleteOverride, kFile, "");
  const absl::Status failed = absl::UnavailableError("disk");
  Do(request, failed);
  EXPECT_EQ(book_->InForce().overrides.at(kFile).limit, 3);
  EXPECT_EQ(told_.back().result, "STORE_UNAVAILABLE");
  // The outcome of a failed write is unknown: what holds is written again.
  disk_.clear();
  const std::optional<ChangePlan> again = book_->Expire(now_);
  ASSERT_TRUE(again.has_value());
  EXPECT_THAT(again->events, IsEmpty());
  Settle(*again);
  Restart();
  EXPECT_EQ(book_->InForce().overrides.at(kFile).limit, 3);
}

TEST_F(PolicyBookTest, AStaleIfMatchIsRefusedWithTheCurrentOne) {
  Ask(ChangeVerb::kPutDependency, kApi, kBody);
  const std::string current = "\"dependencies." + std::to_string(book_->Find(kApi)->revision);
  ChangeRequest request = Request(ChangeVerb::kPatchDependency, kApi, R"({"floor":3})");
  request.if_match = "\"dependencies.1\"";
  ChangePlan plan = Do(request);
  EXPECT_EQ(plan.status, 412);
  EXPECT_EQ(plan.code, "ETAG_MISMATCH");
  EXPECT_EQ(plan.current_etag, current + "\"");
  request.if_match = current + ".77\"";
  EXPECT_EQ(Do(request).status, 200) << "the generation does not matter";
  ChangeRequest create = Request(ChangeVerb::kPutDependency, DependencyId("new"), kBody);
  create.if_match = "*";
  EXPECT_EQ(Do(create).status, 412);
}

TEST_F(PolicyBookTest, ValidateOnlyTellsAndChangesNothing) {
  ChangeRequest request = Request(ChangeVerb::kPutDependency, kApi, kBody);
  request.validate_only = true;
  const ChangePlan plan = Do(request);
  EXPECT_EQ(plan.status, 200);
  EXPECT_EQ(plan.preview->quota, 50);
  EXPECT_TRUE(plan.batch.empty());
  EXPECT_THAT(plan.events, IsEmpty());
  EXPECT_FALSE(book_->Find(kApi).has_value());
}

TEST_F(PolicyBookTest, EveryChangeHasARecord) {
  Ask(ChangeVerb::kPutDependency, kApi, kBody);
  const ChangePlan plan =
      Ask(ChangeVerb::kPutDependency, kApi, R"({"quota":{"capacity":30},"floor":2})");
  EXPECT_THAT(plan.batch.audit,
              ElementsAre(R"({"time":"2026-11-29T17:00:00Z","who":"alice","request_id":"r1",)"
                          R"("what":"PUT_DEPENDENCY","target":"api-db",)"
                          R"("before":{"quota":{"capacity":50},"floor":2},)"
                          R"("after":{"quota":{"capacity":30},"floor":2},"result":"OK"})"));
  EXPECT_EQ(told_.back().what, "PUT_DEPENDENCY");
}

TEST_F(PolicyBookTest, ResetAndEvictionAreToldToTheCore) {
  EXPECT_EQ(std::get<ResetEvent>(Ask(ChangeVerb::kReset, kFile).events.at(0)).dependency, kFile);
  EXPECT_EQ(Ask(ChangeVerb::kReset, kApi).status, 404);
  ChangeRequest request = Request(ChangeVerb::kEvict, DependencyId("shop-1"), "");
  EXPECT_EQ(Do(request).status, 404);
  request.sessions = {SessionId("7-1")};
  const ChangePlan plan = Do(request);
  EXPECT_EQ(plan.status, 204);
  EXPECT_EQ(std::get<EvictEvent>(plan.events.at(0)).session, SessionId("7-1"));
}

TEST_F(PolicyBookTest, AQuestionMayHaveSamples) {
  std::vector<ChangeFault> faults;
  const Operations::Question question = book_->ReadQuestion(
      R"({"instance_id":"a","samples":[{"latency_seconds":0.012,"succeeded":212,"dropped":1,)"
      R"("in_flight_max":40,"rejected":3},{"length_seconds":2.5,"latency_seconds":1}]})",
      faults);
  EXPECT_THAT(faults, IsEmpty());
  ASSERT_EQ(question.samples.size(), 2u);
  EXPECT_EQ(question.samples[0].length, absl::Seconds(1));
  EXPECT_EQ(question.samples[0].latency, absl::Milliseconds(12));
  EXPECT_EQ(question.samples[0].succeeded, 212);
  EXPECT_EQ(question.samples[0].dropped, 1);
  EXPECT_EQ(question.samples[0].in_flight_max, 40);
  EXPECT_EQ(question.samples[0].rejected, 3);
  EXPECT_EQ(question.samples[1].length, absl::Milliseconds(2500));
}

TEST_F(PolicyBookTest, SamplesThatCannotBeAreRefusedAllAtOnce) {
  const std::pair<const char*, const char*> table[] = {
      {R"([{"succeeded":1}])", "/samples/0/latency_seconds"},
      {R"([{"latency_seconds":0}])", "/samples/0/latency_seconds"},
      {R"([{"latency_seconds":1,"length_seconds":-1}])", "/samples/0/length_seconds"},
      {R"([{"latency_seconds":1,"length_seconds":1e9}])", "/samples/0/length_seconds"},
      {R"([{"latency_seconds":1,"dropped":-1}])", "/samples/0/dropped"},
      {R"([{"latency_seconds":1,"succeeded":1000001}])", "/samples/0/succeeded"},
      {R"([{"latency_seconds":1,"latancy":1}])", "/samples/0/latancy"},
      {R"({"latency_seconds":1})", "/samples"},
  };
  for (const auto& [samples, pointer] : table) {
    std::vector<ChangeFault> faults;
    book_->ReadQuestion(std::string(R"({"instance_id":"a","samples":)") + samples + "}", faults);
    ASSERT_EQ(faults.size(), 1u) << samples;
    EXPECT_EQ(faults[0].pointer, pointer);
  }
  std::string many = R"({"latency_seconds":1})";
  for (int i = 0; i < 100; ++i) many += R"(,{"latency_seconds":1})";
  std::vector<ChangeFault> faults;
  book_->ReadQuestion(R"({"instance_id":"a","samples":[)" + many + "]}", faults);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].pointer, "/samples");
}

TEST_F(PolicyBookTest, AnOverrideMayDisable) {
  const auto plan = Ask(ChangeVerb::kPutOverride, kFile,
                        R"({"mode":"DISABLED","reason":"load test","expire_time":")" +
                            TimeText(now_ + absl::Hours(1)) + "\"}");
  EXPECT_EQ(plan.status, 201) << plan.detail;
  Restart();
  EXPECT_EQ(book_->InForce().overrides.at(kFile).mode, Mode::kDisabled);
}

class PolicyBookReloadTest : public PolicyBookTest {
 protected:
  PolicyBookReloadTest() {
    options_.reread = [this] { return reading_; };
    Restart();
  }

  FileReading reading_;
};

TEST_F(PolicyBookReloadTest, TheFileIsTakenEvenIfTheStoreFails) {
  reading_.policies = PolicySet{{kFile, FilePolicy(kFile, 10)}};
  reading_.hash = "new";
  bool accepted = false;
  reading_.accept = [&accepted] { accepted = true; };
  Do(Request(ChangeVerb::kReload, DependencyId(), ""), absl::UnavailableError("disk"));
  EXPECT_EQ(book_->InForce().policies.at(kFile).quota, 10);
  EXPECT_EQ(book_->config().hash, "new");
  EXPECT_TRUE(accepted);
}

TEST_F(PolicyBookReloadTest, TheEmergencySwitchOfTheFileComesWithEveryChange) {
  reading_.policies = options_.file_policies;
  reading_.observe_all = true;
  const ChangePlan plan = Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_TRUE(std::get<PolicyEvent>(plan.events.at(0)).observe_all);
  EXPECT_TRUE(book_->InForce().observe_all);
  const ChangePlan other = Do(Request(ChangeVerb::kPutDependency, kApi, kBody));
  EXPECT_TRUE(std::get<PolicyEvent>(other.events.at(0)).observe_all);
  reading_.observe_all = false;
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_FALSE(book_->InForce().observe_all);
}

TEST_F(PolicyBookReloadTest, AFileThatCannotBeUsedChangesNothingAndIsTold) {
  reading_.faults = {{"/dependencies/0/celing", "UNKNOWN_KEY", "unknown", "x.yaml", 3, 5}};
  const ChangePlan plan = Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_EQ(plan.code, "CONFIG_INVALID");
  EXPECT_EQ(plan.faults, reading_.faults);
  EXPECT_EQ(std::get<NoteEvent>(plan.events.at(0)).type, EventType::kConfigReloadFailed);
  EXPECT_EQ(book_->InForce().policies.at(kFile).quota, 20);
  EXPECT_FALSE(book_->config().last_load_ok);
  EXPECT_EQ(book_->config().faults, reading_.faults);
  reading_.faults.clear();
  reading_.policies = options_.file_policies;
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_TRUE(book_->config().last_load_ok);
  EXPECT_THAT(book_->config().faults, IsEmpty());
}

TEST_F(PolicyBookReloadTest, TheFileWinsANameAndTheOtherComesBackWhenItLetsGo) {
  Ask(ChangeVerb::kPutDependency, kApi, kBody);
  reading_.policies = PolicySet{{kApi, FilePolicy(kApi, 7)}};
  const ChangePlan plan = Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 7);
  EXPECT_TRUE(book_->Find(kApi)->from_file);
  EXPECT_THAT(std::get<NoteEvent>(plan.events.at(1)).message, HasSubstr("claims api-db"));
  EXPECT_EQ(Ask(ChangeVerb::kPutDependency, kApi, kBody).code, "MANAGED_BY_FILE");
  options_.file_policies = *reading_.policies;
  Restart();
  EXPECT_THAT(book_->notices(), SizeIs(1));
  reading_.policies = PolicySet{};
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_EQ(book_->InForce().policies.at(kApi).quota, 50);
}

class PolicyBookTemplateTest : public PolicyBookReloadTest {
 protected:
  PolicyBookTemplateTest() {
    options_.file_templates = {{"search-*", FilePolicy(DependencyId(), 30)}};
    Restart();
  }
  ChangePlan AskOfOneInUse(ChangeVerb verb, const std::string& body = "") {
    ChangeRequest request = Request(verb, kSearch, body);
    request.exists = true;
    return Do(request);
  }
  const DependencyId kSearch{"search-eu"};
};

TEST_F(PolicyBookTemplateTest, TheCoreIsToldOfTemplates) {
  EXPECT_EQ(book_->InForce().templates.at("search-*").quota, 30);
  EXPECT_FALSE(book_->InForce().policies.contains(kSearch));
  EXPECT_EQ(book_->Find(kSearch)->made_from, "search-*");
  EXPECT_EQ(book_->Find(kFile)->made_from, "");
  EXPECT_FALSE(book_->Find(DependencyId("other")).has_value());
}

TEST_F(PolicyBookTemplateTest, WhatATemplateHasMadeIsReadOnlyButPutGivesItAPolicyOfItsOwn) {
  for (const ChangeVerb verb :
       {ChangeVerb::kPatchDependency, ChangeVerb::kDeleteDependency, ChangeVerb::kPutQuota}) {
    const ChangePlan plan = AskOfOneInUse(verb, kBody);
    EXPECT_EQ(plan.status, 409);
    EXPECT_EQ(plan.code, "MANAGED_BY_FILE");
    EXPECT_THAT(plan.detail, HasSubstr("is made from the template \"search-*\""));
  }
  EXPECT_EQ(AskOfOneInUse(ChangeVerb::kPutDependency, kBody).status, 201);
  EXPECT_EQ(book_->InForce().policies.at(kSearch).quota, 50);
  EXPECT_EQ(book_->Find(kSearch)->made_from, "");
  EXPECT_FALSE(book_->Find(kSearch)->from_file);
  EXPECT_EQ(AskOfOneInUse(ChangeVerb::kDeleteDependency).status, 204);
  EXPECT_EQ(book_->Find(kSearch)->made_from, "search-*");
}

TEST_F(PolicyBookTemplateTest, AnOverrideOfOneInUseOutlivesARestart) {
  EXPECT_EQ(AskOfOneInUse(ChangeVerb::kPutOverride, kPin).status, 201);
  Restart();
  EXPECT_EQ(book_->InForce().overrides.at(kSearch).limit, 3);
  EXPECT_EQ(AskOfOneInUse(ChangeVerb::kReset).status, 200);
}

TEST_F(PolicyBookTemplateTest, ANameThatNobodyUsesIsNotTakenForOneThatATemplateWouldMake) {
  for (const ChangeVerb verb : {ChangeVerb::kPutOverride, ChangeVerb::kReset}) {
    const ChangePlan plan = Do(Request(verb, DependencyId("search-ue"), kPin));
    EXPECT_EQ(plan.status, 404);
    EXPECT_THAT(plan.detail, HasSubstr("when an instance asks for it"));
  }
}

TEST_F(PolicyBookTemplateTest, AReloadChangesTemplates) {
  AskOfOneInUse(ChangeVerb::kPutOverride, kPin);
  const std::int64_t revision = book_->Find(kSearch)->revision;
  reading_.policies = options_.file_policies;
  reading_.templates = options_.file_templates;
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_EQ(book_->Find(kSearch)->revision, revision) << "it is the same";
  reading_.templates = {{"search-*", FilePolicy(DependencyId(), 9)}};
  const ChangePlan plan = Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_EQ(std::get<PolicyEvent>(plan.events.at(0)).templates.at("search-*").quota, 9);
  EXPECT_GT(book_->Find(kSearch)->revision, revision);
  reading_.templates.clear();
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_FALSE(book_->Find(kSearch).has_value());
  EXPECT_THAT(book_->InForce().overrides, IsEmpty());
}

TEST_F(PolicyBookReloadTest, AnOverrideOfWhatIsNotInTheFileAnyMoreIsDropped) {
  Ask(ChangeVerb::kPutOverride, kFile, kPin);
  reading_.policies = PolicySet{};
  Do(Request(ChangeVerb::kReload, DependencyId(), ""));
  EXPECT_THAT(book_->InForce().overrides, IsEmpty());
  EXPECT_THAT(disk_, IsEmpty());
}

}  // namespace
}  // namespace plimsoll
