// What an older or newer peer says is understood, or refused before it is misunderstood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "plimsoll/wire/codec.h"
#include "tests/unit/api/wire_samples.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A message as version 1 wrote it. These files are never changed: a version that cannot read them
// any more cannot talk to that one, and must say so by kProtocolVersionMin.
std::string Golden(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_WIRE_V1_DIR) + "/" + name + ".json");
  EXPECT_TRUE(file.is_open()) << name;
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string With(std::string message, const std::string& members) {
  return message.insert(1, members + ",");
}

TEST(WireVersion1, RequestsOfItsAgentsAreUnderstood) {
  FieldFaults faults;
  const auto registration = DecodeRegisterRequest(Golden("register_request"), faults);
  ASSERT_TRUE(registration.ok()) << registration.status();
  EXPECT_EQ(*registration, SampleRegisterRequest());
  const auto sync = DecodeSyncRequest(Golden("sync_request"), SessionId("7-42"), faults);
  ASSERT_TRUE(sync.ok()) << sync.status();
  EXPECT_EQ(*sync, SampleSyncRequest());
}

TEST(WireVersion1, AnswersOfItsControllersAreUnderstood) {
  const auto registered = DecodeRegisterAnswer(Golden("register_answer"));
  ASSERT_TRUE(registered.ok()) << registered.status();
  EXPECT_EQ(*registered, SampleRegisterAnswer());
  const auto synced = DecodeSyncAnswer(Golden("sync_answer"));
  ASSERT_TRUE(synced.ok()) << synced.status();
  EXPECT_EQ(*synced, SampleSyncAnswer());
  const auto refused = DecodeRefusal(Golden("refusal"));
  ASSERT_TRUE(refused.ok()) << refused.status();
  EXPECT_EQ(*refused, (Refusal{RefusalCode::kStaleSync, "n 3 is not above 4", Epoch(7)}));
}

// Its peers, which are out there, get to read the same; only the version has been added, to an
// answer.
TEST(WireVersion1, IsStillWrittenByteForByte) {
  EXPECT_EQ(Encode(SampleRegisterRequest()), Golden("register_request"));
  EXPECT_EQ(Encode(SampleSyncRequest()), Golden("sync_request"));
  EXPECT_EQ(Encode(SampleSyncAnswer()), Golden("sync_answer"));
  std::string registered = Golden("register_answer");
  registered.insert(registered.size() - 1, R"(,"protocol":1)");
  EXPECT_EQ(Encode(SampleRegisterAnswer()), registered);
}

TEST(WireVersions, ANewerAgentMaySayMoreWhenItRegisters) {
  RegisterRequest request = SampleRegisterRequest();
  request.protocol = {1, kProtocolVersion + 1};
  FieldFaults faults;
  const auto decoded =
      DecodeRegisterRequest(With(Encode(request), R"("encodings":["dense"])"), faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, request);
}

TEST(WireVersions, AnAgentOfTheSameVersionMayNot) {
  FieldFaults faults;
  const auto decoded = DecodeRegisterRequest(
      With(Encode(SampleRegisterRequest()), R"("encodings":["dense"])"), faults);
  EXPECT_FALSE(decoded.ok());
  ASSERT_THAT(faults, SizeIs(1));
  EXPECT_EQ(faults[0].code, "UNKNOWN_KEY");
}

// So that the core can refuse it for what it is, and not for a key.
TEST(WireVersions, OfANewerSyncOnlyTheVersionIsRead) {
  FieldFaults faults;
  const auto decoded = DecodeSyncRequest(R"({"protocol":2,"n":"all is different","reports":{}})",
                                         SessionId("7-42"), faults);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->protocol, 2);
  EXPECT_EQ(decoded->session, SessionId("7-42"));
}

TEST(WireVersions, AVersionThatIsNoNumberIsAFault) {
  for (const char* version : {R"("2")", "-1", "1001", "{}", "1.5"}) {
    FieldFaults faults;
    const std::string sync =
        With(Encode(SampleSyncRequest()), R"("protocol":)" + std::string(version));
    EXPECT_FALSE(DecodeSyncRequest(sync, SessionId("7-42"), faults).ok()) << version;
  }
}

TEST(WireVersions, AnswersSayTheirsUnlessItIsTheFirst) {
  SyncAnswer answer = SampleSyncAnswer();
  EXPECT_THAT(Encode(answer), Not(HasSubstr("protocol")));
  answer.protocol = 2;
  const auto decoded = DecodeSyncAnswer(Encode(answer));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->protocol, 2);
}

// Before there were versions in answers, all were of the first.
TEST(WireVersions, AnAnswerWithoutAVersionIsOfTheFirst) {
  std::string text = Encode(SampleRegisterAnswer());
  const std::string said = R"(,"protocol":1)";
  ASSERT_THAT(text, HasSubstr(said));
  text.erase(text.find(said), said.size());
  const auto decoded = DecodeRegisterAnswer(text);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->protocol, 1);
}

}  // namespace
}  // namespace plimsoll
