#include "plimsoll/wire/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "plimsoll/core/random.h"
#include "tests/unit/api/wire_samples.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const SessionId kSession("7-42");

TEST(Codec, RegistrationSurvivesTheRoundTrip) {
  FieldFaults faults;
  const auto decoded = DecodeRegisterRequest(Encode(SampleRegisterRequest()), faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, SampleRegisterRequest());
  EXPECT_TRUE(faults.empty());
}

TEST(Codec, SyncSurvivesTheRoundTrip) {
  FieldFaults faults;
  const auto decoded = DecodeSyncRequest(Encode(SampleSyncRequest()), kSession, faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, SampleSyncRequest());
}

TEST(Codec, AnswersSurviveTheRoundTrip) {
  const auto registered = DecodeRegisterAnswer(Encode(SampleRegisterAnswer()));
  ASSERT_TRUE(registered.ok()) << registered.status();
  EXPECT_EQ(*registered, SampleRegisterAnswer());
  const auto synced = DecodeSyncAnswer(Encode(SampleSyncAnswer()));
  ASSERT_TRUE(synced.ok()) << synced.status();
  EXPECT_EQ(*synced, SampleSyncAnswer());
}

TEST(Codec, TheIdentityIsThereOnlyIfItWasAskedFor) {
  SyncRequest request = SampleSyncRequest();
  request.identity.reset();
  EXPECT_THAT(Encode(request), Not(HasSubstr("identity")));
  request.identity = Identity{ServiceId("shop"), InstanceId("shop-1"), true};
  FieldFaults faults;
  const auto decoded = DecodeSyncRequest(Encode(request), kSession, faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->identity, request.identity);
}

// An older controller refuses keys that it does not know, and never asks for breakers; an older
// agent ignores what it is told of them.
TEST(Codec, BreakersAreNamedOnlyWhereTheyAre) {
  SyncRequest request = SampleSyncRequest();
  request.dependencies[0].breaker.reset();
  EXPECT_THAT(Encode(request), Not(HasSubstr(R"("breaker":)")));
  SyncAnswer answer = SampleSyncAnswer();
  answer.breakers.clear();
  answer.settings[0].breaker.reset();
  EXPECT_THAT(Encode(answer), Not(HasSubstr(R"("breaker)")));
}

// A command of a newer controller must not take the grants with it.
TEST(Codec, AnUnknownCommandIsReadAsTheHarmlessOne) {
  std::string text = Encode(SampleSyncAnswer());
  const std::string said = R"("command":"OPEN")";
  ASSERT_THAT(text, HasSubstr(said));
  text.replace(text.find(said), said.size(), R"("command":"SLOWLY","how":1)");
  const auto decoded = DecodeSyncAnswer(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->breakers.at(0).command, BreakerCommand::kClose);
}

TEST(Codec, ARenewalNamesTheGrantItRenews) {
  SyncAnswer answer = SampleSyncAnswer();
  answer.grants[0].renews = GrantStamp{Epoch(6), Seq(12)};
  const auto decoded = DecodeSyncAnswer(Encode(answer));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->grants[0].renews, answer.grants[0].renews);
}

TEST(Codec, MeasuredDurationsAreExactToTheMicrosecond) {
  Random random(20);
  SyncRequest request = SampleSyncRequest();
  for (int i = 0; i < 300; ++i) {
    Window& window = request.dependencies[0].windows[0];
    window.length = absl::Microseconds(1 + static_cast<std::int64_t>(random.Below(86'400'000'000)));
    window.in_flight =
        absl::Microseconds(static_cast<std::int64_t>(random.Below(1'000'000'000'000'000)));
    window.at_limit = absl::Microseconds(static_cast<std::int64_t>(random.Below(100'000)));
    FieldFaults faults;
    const auto decoded = DecodeSyncRequest(Encode(request), kSession, faults);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_EQ(*decoded, request);
  }
}

TEST(Codec, RejectionsAreKeyedInLowerCaseAndZeroOnesAreLeftOut) {
  EXPECT_THAT(Encode(SampleSyncRequest()),
              HasSubstr(R"("rejected":{"limit":9,"queue_full":8,"breaker_open":7,"draining":6})"));
}

TEST(Codec, UniqueInstanceIsFalseIfAbsent) {
  FieldFaults faults;
  const auto decoded = DecodeRegisterRequest(
      R"({"service":"a","instance_id":"b","protocol":1,"nonce":"n","dependencies":[]})", faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_FALSE(decoded->unique_instance);
}

TEST(Codec, WindowTooShortForTheWireIsStillAccepted) {
  SyncRequest request = SampleSyncRequest();
  request.dependencies[0].windows[0].length = absl::Nanoseconds(40);
  FieldFaults faults;
  const auto decoded = DecodeSyncRequest(Encode(request), kSession, faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->dependencies[0].windows[0].length, absl::Microseconds(1));
}

TEST(Codec, AnswersMayCarryUnknownKeysAndWords) {
  std::string body = Encode(SampleSyncAnswer());
  body.replace(body.find("QUOTA_REBALANCED"), 16, "SOMETHING_NEW");
  body.insert(1, R"("future":{"a":[1,{}]},)");
  const auto decoded = DecodeSyncAnswer(body);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->grants[0].steps, (Steps{34, 10, 3}));
}

TEST(Codec, AControllerThatSaysNothingOfObservingEnforces) {
  std::string body = Encode(SampleSyncAnswer());
  const std::string said = R"(,"observe":true)";
  ASSERT_NE(body.find(said), std::string::npos) << body;
  body.erase(body.find(said), said.size());
  const auto decoded = DecodeSyncAnswer(body);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ASSERT_FALSE(decoded->settings.empty());
  for (const DependencySettings& settings : decoded->settings) EXPECT_FALSE(settings.observe);
}

struct BadAnswer {
  const char* from;
  const char* to;
  const char* says;
};

TEST(Codec, AnswersThatBreakTheirRulesAreDataLoss) {
  const BadAnswer table[] = {
      {R"("limit":34)", R"("limit":9)", "/grants/0: limit, base and reserve"},
      {R"("base":10)", R"("base":2)", "/grants/0: limit, base and reserve"},
      {R"("limit":34)", R"("limit":-1)", "/grants/0/limit"},
      {R"("limit":34)", R"("limit":"34")", "/grants/0/limit"},
      {R"("limit":34)", R"("limit":1000001)", "/grants/0/limit"},
      {R"("limit":34,)", "", "/grants/0/limit: must be present"},
      {R"("lease_ms":10000)", R"("lease_ms":0)", "/grants/0/lease_ms"},
      {R"("base_lease_ms":900000)", R"("base_lease_ms":9000)", "base_lease_ms must not be smaller"},
      {R"("seq":41811)", R"("seq":1e3)", "/grants/0/seq"},
      {R"("epoch":7,"superseded")", R"("epoch":7,"epoch":7,"superseded")",
       "/epoch: must not appear"},
      {R"("known":true)", R"("known":1)", "/settings/payments-api/known"},
      {R"("observe":true)", R"("observe":"yes")", "/settings/payments-api/observe"},
      {R"("next_sync_ms":120)", R"("next_sync_ms":-1)", "/next_sync_ms"},
      {"{", "[", "not valid JSON"},
  };
  for (const BadAnswer& row : table) {
    std::string body = Encode(SampleSyncAnswer());
    const std::size_t at = body.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    body.replace(at, std::string(row.from).size(), row.to);
    const auto decoded = DecodeSyncAnswer(body);
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss) << body;
    EXPECT_THAT(std::string(decoded.status().message()), HasSubstr(row.says));
  }
}

TEST(Codec, ProblemDocumentCarriesWhatIsKnownAndNothingElse) {
  Problem problem;
  problem.status = 404;
  problem.code = "SESSION_UNKNOWN";
  problem.detail = "register again";
  EXPECT_EQ(Encode(problem),
            R"({"type":"urn:plimsoll:problem:session-unknown","title":"Session unknown",)"
            R"("status":404,"code":"SESSION_UNKNOWN","detail":"register again"})");
  problem.epoch = Epoch(7);
  problem.instance = "/v1/agent/sessions/x/sync";
  problem.request_id = "r1";
  problem.errors = {{"/n", "REQUIRED", "must be present"}};
  EXPECT_THAT(
      Encode(problem),
      HasSubstr(R"("instance":"/v1/agent/sessions/x/sync","request_id":"r1","epoch":7,)"
                R"("errors":[{"pointer":"/n","code":"REQUIRED","detail":"must be present"}]})"));
}

TEST(Codec, ARefusalSaysWhoLeadsIfItIsKnown) {
  Problem problem;
  problem.status = 421;
  problem.code = "NOT_LEADER";
  EXPECT_EQ(DecodeLeader(Encode(problem)), "");
  problem.leader = "http://10.0.0.5:7481";
  EXPECT_EQ(DecodeLeader(Encode(problem)), "http://10.0.0.5:7481");
  EXPECT_EQ(DecodeRefusal(Encode(problem))->code, RefusalCode::kNotLeader);
  EXPECT_EQ(DecodeLeader("{"), "");
  EXPECT_EQ(DecodeLeader(R"({"code":"NOT_LEADER","leader":7})"), "");
}

TEST(Codec, ARefusalSaysHowManyShardsThereAreIfItShould) {
  Problem problem;
  problem.status = 400;
  problem.code = "AGENT_TOO_OLD";
  EXPECT_EQ(DecodeShards(Encode(problem)), std::nullopt);
  problem.shards = 6;
  EXPECT_EQ(DecodeShards(Encode(problem)), 6);
  EXPECT_EQ(DecodeRefusal(Encode(problem))->code, RefusalCode::kAgentTooOld);
  EXPECT_EQ(DecodeShards(R"({"code":"AGENT_TOO_OLD","shards":257})"), std::nullopt);
  EXPECT_EQ(DecodeShards(R"({"code":"AGENT_TOO_OLD","shards":"6"})"), std::nullopt);
}

TEST(Codec, ProblemDocumentIsJsonWhateverItQuotes) {
  Problem problem;
  problem.code = "NOT_FOUND";
  problem.detail = "no '\xff\xfe\"\\\n' here";
  const std::string body = Encode(problem);
  EXPECT_THAT(body, Not(HasSubstr("\xff")));
  EXPECT_THAT(body, HasSubstr(R"(\"\\\n)"));
}

TEST(Codec, EveryRefusalSurvivesItsProblemDocument) {
  for (const RefusalCode code :
       {RefusalCode::kInvalidArgument, RefusalCode::kAgentTooOld, RefusalCode::kControllerTooOld,
        RefusalCode::kSessionUnknown, RefusalCode::kSessionSuperseded, RefusalCode::kStaleSync,
        RefusalCode::kRateLimited, RefusalCode::kIdentityRequired, RefusalCode::kNotLeader,
        RefusalCode::kNotReady}) {
    Problem problem;
    problem.status = HttpStatus(code);
    problem.code = std::string(ToString(code));
    problem.detail = "what to do";
    problem.epoch = Epoch(3);
    const auto refusal = DecodeRefusal(Encode(problem));
    ASSERT_TRUE(refusal.ok()) << refusal.status();
    EXPECT_EQ(*refusal, (Refusal{code, "what to do", Epoch(3)}));
  }
}

TEST(Codec, RefusalOfAnUnknownKindIsDataLoss) {
  EXPECT_EQ(DecodeRefusal(R"({"code":"BODY_TOO_LARGE"})").status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(DecodeRefusal("<html>").status().code(), absl::StatusCode::kDataLoss);
}

// Flips, cuts, doubles or drops a few bytes.
std::string Mutate(std::string body, Random& random) {
  const int edits = 1 + static_cast<int>(random.Below(4));
  for (int i = 0; i < edits && !body.empty(); ++i) {
    const std::size_t at = random.Below(body.size());
    const std::size_t size = 1 + random.Below(12);
    switch (random.Below(5)) {
      case 0:
        body[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        body.erase(at, size);
        break;
      case 2:
        body.insert(at, body.substr(random.Below(body.size()), size));
        break;
      case 3:
        body[at] = "0123456789-.eE,:{}[]\"\\ntf"[random.Below(26)];
        break;
      default:
        body.resize(at);
    }
  }
  return body;
}

TEST(CodecProperty, MutatedRequestsDecodeOrNameAFault) {
  Random random(7);
  const std::string sync = Encode(SampleSyncRequest());
  const std::string registration = Encode(SampleRegisterRequest());
  int accepted = 0;
  for (int i = 0; i < 5'000; ++i) {
    FieldFaults faults;
    const std::string body = Mutate(i % 2 == 0 ? sync : registration, random);
    const bool ok = i % 2 == 0 ? DecodeSyncRequest(body, kSession, faults).ok()
                               : DecodeRegisterRequest(body, faults).ok();
    ASSERT_EQ(ok, faults.empty()) << body;
    accepted += ok;
  }
  // The mutations are small enough that some bodies stay valid: both ways are covered.
  EXPECT_GT(accepted, 20);
}

TEST(CodecProperty, MutatedAnswersDecodeToSoundGrantsOrAreDataLoss) {
  Random random(8);
  const std::string answer = Encode(SampleSyncAnswer());
  for (int i = 0; i < 5'000; ++i) {
    const auto decoded = DecodeSyncAnswer(Mutate(answer, random));
    if (!decoded.ok()) {
      ASSERT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
      continue;
    }
    for (const Grant& grant : decoded->grants) {
      ASSERT_GE(grant.steps.limit, grant.steps.base);
      ASSERT_GE(grant.steps.base, grant.steps.reserve);
      ASSERT_GE(grant.steps.reserve, 0);
      ASSERT_GT(grant.lease, absl::ZeroDuration());
      ASSERT_GE(grant.base_lease, grant.lease);
    }
  }
}

}  // namespace
}  // namespace plimsoll
