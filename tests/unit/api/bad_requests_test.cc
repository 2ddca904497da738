// Every way a request can be wrong, with the fault it must give.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "plimsoll/wire/codec.h"
#include "tests/unit/api/wire_samples.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;

struct BadValue {
  const char* at;  // where the value is put
  Json value;
  const char* code;
  const char* pointer = nullptr;  // where the fault is, if elsewhere
};

const Json kBig = 9007199254740993;  // 2^53 + 1

void ExpectFault(const absl::Status& status, const FieldFaults& faults, const BadValue& row) {
  const std::string pointer = row.pointer == nullptr ? row.at : row.pointer;
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.at << " " << row.value;
  ASSERT_EQ(faults.size(), 1u) << row.at << " " << row.value;
  EXPECT_EQ(faults[0].pointer, pointer) << row.value;
  EXPECT_EQ(faults[0].code, row.code) << row.at << " " << row.value;
  EXPECT_FALSE(faults[0].detail.empty());
}

TEST(BadSync, EachWrongValueIsNamed) {
  const std::string window = "/dependencies/0/windows/0";
  const BadValue table[] = {
      {"/n", 0, "OUT_OF_RANGE"},
      {"/n", -3, "OUT_OF_RANGE"},
      {"/n", kBig, "OUT_OF_RANGE"},
      {"/n", 1e300, "WRONG_TYPE"},
      {"/n", 1.5, "WRONG_TYPE"},
      {"/n", "91", "WRONG_TYPE"},
      {"/n", nullptr, "WRONG_TYPE"},
      {"/n", true, "WRONG_TYPE"},
      {"/n", Json::array({91}), "WRONG_TYPE"},
      {"/epoch", -1, "OUT_OF_RANGE"},
      {"/epoch", kBig, "OUT_OF_RANGE"},
      {"/hold_ms", -1, "OUT_OF_RANGE"},
      {"/hold_ms", 86'400'001, "OUT_OF_RANGE"},
      {"/hold_ms", 0.5, "WRONG_TYPE"},
      {"/leaving", 1, "WRONG_TYPE"},
      {"/leaving", "true", "WRONG_TYPE"},
      {"/session", "7-42", "UNKNOWN_KEY"},
      {"/a~1b~0c", 1, "UNKNOWN_KEY"},
      {"/dependencies", Json::object(), "WRONG_TYPE"},
      {"/dependencies/0", 5, "WRONG_TYPE"},
      {"/dependencies/0/name", "", "BAD_FORMAT"},
      {"/dependencies/0/name", "a/b", "BAD_FORMAT"},
      {"/dependencies/0/name", "-a", "BAD_FORMAT"},
      {"/dependencies/0/name", std::string(64, 'a'), "BAD_FORMAT"},
      {"/dependencies/0/name", 5, "WRONG_TYPE"},
      {"/dependencies/1/name", "payments-api", "CONFLICT"},
      {"/dependencies/0/installed_epoch", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/installed_seq", kBig, "OUT_OF_RANGE"},
      {"/dependencies/0/enforced", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/enforced", 1'000'001, "OUT_OF_RANGE"},
      {"/dependencies/0/base", 1'000'001, "OUT_OF_RANGE"},
      {"/dependencies/0/reserve", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/in_flight", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/in_flight", 1'000'001, "OUT_OF_RANGE"},
      {"/dependencies/0/in_flight_max", "9", "WRONG_TYPE"},
      {"/dependencies/0/waiting", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/limit", 5, "UNKNOWN_KEY"},
      {"/dependencies/0/windows", 5, "WRONG_TYPE"},
      {"/dependencies/0/windows/0", Json::array(), "WRONG_TYPE"},
      {"/dependencies/0/windows/0/epoch", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/seq", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/length_ms", 0, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/length_ms", -5.5, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/length_ms", 86'400'000.5, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/length_ms", "1000", "WRONG_TYPE"},
      {"/dependencies/0/windows/0/admitted", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/admitted", 2'147'483'649, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/succeeded", 1.5, "WRONG_TYPE"},
      {"/dependencies/0/windows/0/dropped", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/ignored", false, "WRONG_TYPE"},
      {"/dependencies/0/windows/0/rejected", 5, "WRONG_TYPE"},
      {"/dependencies/0/windows/0/rejected/limit", -1, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/rejected/whim", 1, "UNKNOWN_KEY"},
      {"/dependencies/0/windows/0/in_flight_max", 1'000'001, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/in_flight_ms", -0.001, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/in_flight_ms", 1e13, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/at_limit_ms", 86'400'001, "OUT_OF_RANGE"},
      {"/dependencies/0/windows/0/errors", Json::object(), "UNKNOWN_KEY"},
      {"/dependencies/0/windows/0/latency", Json::array({1, 2, 3}), "BAD_FORMAT"},
      {"/dependencies/0/windows/0/latency", Json::array({450, 1}), "OUT_OF_RANGE",
       "/dependencies/0/windows/0/latency/0"},
      {"/dependencies/0/windows/0/latency", Json::array({-1, 1}), "OUT_OF_RANGE",
       "/dependencies/0/windows/0/latency/0"},
      {"/dependencies/0/windows/0/latency", Json::array({5, 1, 5, 1}), "CONFLICT",
       "/dependencies/0/windows/0/latency/2"},
      {"/dependencies/0/windows/0/latency", Json::array({5, 1, 4, 1}), "CONFLICT",
       "/dependencies/0/windows/0/latency/2"},
      {"/dependencies/0/windows/0/latency", Json::array({5, 0}), "OUT_OF_RANGE",
       "/dependencies/0/windows/0/latency/1"},
      {"/dependencies/0/windows/0/latency", Json::array({5, 2'147'483'649}), "OUT_OF_RANGE",
       "/dependencies/0/windows/0/latency/1"},
      {"/dependencies/0/windows/0/latency", "5", "WRONG_TYPE"},
  };
  for (const BadValue& row : table) {
    Json body = Json::parse(Encode(SampleSyncRequest()));
    body[Json::json_pointer(row.at)] = row.value;
    FieldFaults faults;
    ExpectFault(DecodeSyncRequest(body.dump(), SessionId("7-42"), faults).status(), faults, row);
  }
}

TEST(BadSync, EachMissingKeyIsNamed) {
  for (const std::string pointer : {"/n",
                                    "/epoch",
                                    "/hold_ms",
                                    "/dependencies",
                                    "/dependencies/0/name",
                                    "/dependencies/0/installed_epoch",
                                    "/dependencies/0/installed_seq",
                                    "/dependencies/0/enforced",
                                    "/dependencies/0/base",
                                    "/dependencies/0/reserve",
                                    "/dependencies/0/in_flight",
                                    "/dependencies/0/in_flight_max",
                                    "/dependencies/0/windows/1/epoch",
                                    "/dependencies/0/windows/1/seq",
                                    "/dependencies/0/windows/1/length_ms",
                                    "/dependencies/0/windows/1/admitted",
                                    "/dependencies/0/windows/1/succeeded",
                                    "/dependencies/0/windows/1/dropped",
                                    "/dependencies/0/windows/1/ignored",
                                    "/dependencies/0/windows/1/in_flight_max",
                                    "/dependencies/0/windows/1/in_flight_ms",
                                    "/dependencies/0/windows/1/at_limit_ms"}) {
    Json body = Json::parse(Encode(SampleSyncRequest()));
    const Json::json_pointer at(pointer);
    body[at.parent_pointer()].erase(at.back());
    FieldFaults faults;
    ExpectFault(DecodeSyncRequest(body.dump(), SessionId("7-42"), faults).status(), faults,
                {pointer.c_str(), nullptr, "REQUIRED"});
  }
}

TEST(BadRegistration, EachWrongValueIsNamed) {
  const BadValue table[] = {
      {"/service", "", "BAD_FORMAT"},
      {"/service", "a b", "BAD_FORMAT"},
      {"/service", 5, "WRONG_TYPE"},
      {"/instance_id", "x:y", "BAD_FORMAT"},
      {"/unique_instance", "yes", "WRONG_TYPE"},
      {"/zone", std::string(65, 'z'), "OUT_OF_RANGE"},
      {"/zone", "a\nb", "BAD_FORMAT"},
      {"/agent_version", 1, "WRONG_TYPE"},
      {"/protocol", -1, "OUT_OF_RANGE"},
      {"/protocol", 1001, "OUT_OF_RANGE"},
      {"/protocol", "1", "WRONG_TYPE"},
      {"/protocol_min", 2, "CONFLICT"},
      {"/protocol_min", -1, "OUT_OF_RANGE"},
      {"/nonce", "", "OUT_OF_RANGE"},
      {"/nonce", std::string(65, 'n'), "OUT_OF_RANGE"},
      {"/dependencies", "payments-api", "WRONG_TYPE"},
      {"/dependencies/0", "", "BAD_FORMAT"},
      {"/dependencies/1", "payments-api", "CONFLICT"},
      {"/instance", "checkout-0", "UNKNOWN_KEY"},
  };
  for (const BadValue& row : table) {
    Json body = Json::parse(Encode(SampleRegisterRequest()));
    body[Json::json_pointer(row.at)] = row.value;
    FieldFaults faults;
    ExpectFault(DecodeRegisterRequest(body.dump(), faults).status(), faults, row);
  }
}

struct BadText {
  std::string body;
  const char* pointer;
  const char* code;
};

TEST(BadRequest, TextThatIsNotTheExpectedDocumentIsNamed) {
  const std::string valid = Encode(SampleRegisterRequest());
  const BadText table[] = {
      {"", "", "BAD_FORMAT"},
      {"{", "", "BAD_FORMAT"},
      {valid + "x", "", "BAD_FORMAT"},
      {valid + valid, "", "BAD_FORMAT"},
      {"[]", "", "WRONG_TYPE"},
      {"null", "", "WRONG_TYPE"},
      {"5", "", "WRONG_TYPE"},
      {R"({"service":"\ud800"})", "", "BAD_FORMAT"},
      {"{\"service\":\"\xff\"}", "", "BAD_FORMAT"},
      {R"({"n":1e999})", "", "BAD_FORMAT"},
      {R"({"n":01})", "", "BAD_FORMAT"},
      {R"({"n":NaN})", "", "BAD_FORMAT"},
      {std::string(32'000, '[') + std::string(32'000, ']'), "", "BAD_FORMAT"},
      {R"({"service":"a",)" + valid.substr(1), "/service", "DUPLICATE_KEY"},
      {R"({"dependencies":[],)" + valid.substr(1), "/dependencies", "DUPLICATE_KEY"},
  };
  for (const BadText& row : table) {
    FieldFaults faults;
    const auto decoded = DecodeRegisterRequest(row.body, faults);
    EXPECT_FALSE(decoded.ok()) << row.body.substr(0, 80);
    ASSERT_EQ(faults.size(), 1u) << row.body.substr(0, 80);
    EXPECT_EQ(faults[0].pointer, row.pointer) << row.body.substr(0, 80);
    EXPECT_EQ(faults[0].code, row.code) << row.body.substr(0, 80);
  }
}

TEST(BadRequest, WholeNumbersBeyond64BitsAreOutOfRange) {
  for (const char* number : {"18446744073709551616", "99999999999999999999999",
                             "-9223372036854775809", "18446744073709551615"}) {
    std::string body = Encode(SampleSyncRequest());
    body.replace(body.find("91"), 2, number);
    FieldFaults faults;
    EXPECT_FALSE(DecodeSyncRequest(body, SessionId("7-42"), faults).ok());
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0],
              (FieldFault{"/n", "OUT_OF_RANGE", "must be between 1 and 9007199254740992"}));
  }
}

TEST(BadRequest, AllFaultsAreListedAtOnce) {
  FieldFaults faults;
  EXPECT_FALSE(
      DecodeSyncRequest(R"({"n":0,"epoch":"x","hold_ms":-1,"extra":1})", SessionId("s"), faults)
          .ok());
  EXPECT_EQ(faults.size(), 5u);
}

TEST(BadRequest, TheListOfFaultsIsCapped) {
  std::string body = "{";
  for (int i = 0; i < 500; ++i) body += "\"k" + std::to_string(i) + "\":1,";
  body.back() = '}';
  FieldFaults faults;
  EXPECT_FALSE(DecodeRegisterRequest(body, faults).ok());
  EXPECT_EQ(faults.size(), 32u);
}

TEST(BadRequest, TooManyDependenciesAndWindowsAreRefusedAsOneFault) {
  SyncRequest request = SampleSyncRequest();
  request.dependencies[0].windows.resize(kWindowsPerReportMax + 1,
                                         request.dependencies[0].windows[0]);
  FieldFaults faults;
  EXPECT_FALSE(DecodeSyncRequest(Encode(request), request.session, faults).ok());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].pointer, "/dependencies/0/windows");

  RegisterRequest registration = SampleRegisterRequest();
  registration.dependencies.assign(kDependenciesPerMessageMax + 1, DependencyId("a"));
  faults.clear();
  EXPECT_FALSE(DecodeRegisterRequest(Encode(registration), faults).ok());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].code, "OUT_OF_RANGE");
}

}  // namespace
}  // namespace plimsoll
